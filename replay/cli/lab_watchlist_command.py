"""``trialtape lab watchlist``: guards and flaky tasks for small runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal

import click

from cassettes.errors import BadInput
from replay.analysis.watching_tasks import Watched, WatchedList, watched
from replay.home import Home
from replay.plural import number
from replay.report.stats_text import not_counted_lines
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .options import FiniteRange, errors_option, json_option, score_of_each_option
from .output import console, echo_json, say

__all__ = ["command"]


@click.command("watchlist")
@click.argument("run", metavar="RUN")
@click.option("--size", type=click.IntRange(min=2), default=20, show_default=True, help="Tasks on both lists together.")
@click.option("--check", "later", metavar="RUN", help="Test this later run on each list; exit code 1 if one fell.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Which guards are drawn: change it to rotate them."
)
@click.option(
    "--alpha",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="With --check: chance of a false alarm, both lists together.",
)
@score_of_each_option
@errors_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    size: int,
    later: str | None,
    seed: int,
    alpha: float,
    score: str | None,
    errors: Literal["exclude", "fail"],
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Choose few tasks of RUN for small runs in CI: guards, which always passed, and flaky ones.

    Guards tell that something broke, flaky tasks that everything shifted; each list is tested on its own.
    """
    if later == run:
        raise BadInput(f"{run!r} is checked against its own lists; name a later run with --check")
    place = Home.find(home)
    wanted = [run, *([later] if later else [])]
    for name in wanted:
        load_run(place, name)
    with Store(place) as store:
        tell_troubles(store.refresh(wanted))
        found = watched(store, run, size=size, seed=seed, later=later, score=score, errors=errors)
    tests = [one.test for one in (found.guards, found.flaky) if one.test is not None]
    fell = any(test.p <= alpha / len(tests) for test in tests)
    if as_json:
        echo_json({**found.to_dict(), "alpha": alpha, "fell": fell if later else None})
    else:
        out = console()
        for line in _lines(found, alpha, len(tests)):
            say(out, line)
    sys.exit(1 if fell else 0)


def _lines(found: Watched, alpha: float, tests: int) -> Iterator[str]:
    yield from not_counted_lines(found.not_counted)
    for name, what, one in (
        ("guards", "always passed; drawn at random, rotate them with --seed", found.guards),
        ("flaky", "flip most", found.flaky),
    ):
        yield f"{name}: {number(len(one.tasks), 'task')} of {found.run} ({what})"
        if found.later is None:
            yield from (f"  {task}" for task in one.tasks)
        else:
            yield from _checked(one, alpha / max(tests, 1))


def _checked(one: WatchedList, level: float) -> Iterator[str]:
    if one.test is not None:
        fell = "FELL" if one.test.p <= level else "no more than luck"
        yield (
            f"  {one.test.passed} of {number(one.test.trials, 'trial')} passed, {one.test.expected:.1f} expected, "
            f"p = {one.test.p:.4f}: {fell} (below {level:g})"
        )
    yield from (f"  {task} {passed}/{trials}" for task, passed, trials in one.fallen)
    for tasks, why in ((one.missing, "without a counted trial"), (one.changed, "changed since, not used")):
        if tasks:
            yield f"  {why}: {', '.join(tasks)}"
