"""``trialtape fork``: go on from a step of a recorded trial, or find the step that lost it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from attrs import asdict

from cassettes.errors import BadInput, BudgetReached
from cassettes.model import Ending, TrialId
from replay.branching.blame import Blame, blame
from replay.branching.editing import UNEDITED, read_edit
from replay.branching.fork_points import points_of, stretches
from replay.branching.fork_run import Continued, Terms, continue_from
from replay.branching.forking import Wish, fork_of
from replay.branching.forks import bars_of, parting
from replay.breaking import may_stop
from replay.given_policy import GivenPolicy, settled
from replay.home import Home
from replay.orchestration.suites import load_suite, suite_of_run
from replay.report.blame_text import blame_table, left_out_text, share_line, verdict_lines
from replay.report.trial_text import caught_up_lines
from replay.runs import load_run
from replay.scores.scorefile import read_scores
from replay.selection import find_trial
from replay.spending import money
from replay.view import View
from replay.writes import DivergentWrite

from .fork_bar import ForkBar
from .options import FiniteFloat, FiniteRange, catch_up_option, ignored_fields_option, json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_MOST_REASONS = 3


@click.command("fork")
@click.argument("trial", metavar="TRIAL")
@click.option(
    "--at",
    "where",
    required=True,
    metavar="N",
    help="The first step that is not answered from the recording; or several, N,M,..., each-write or each-step.",
)
@click.option(
    "--trials", "-n", type=click.IntRange(min=1), default=8, show_default=True, help="Continuations from each step."
)
@click.option("--edit", metavar="FILE", help="Another outcome for the step before: JSON or text; - reads stdin.")
@click.option(
    "--freeze", multiple=True, metavar="SEL", help="Answer these calls from the trial itself, such as external."
)
@click.option(
    "--allow-live", multiple=True, metavar="SEL", help="Let these call the real thing though it lacks frozen writes."
)
@catch_up_option
@ignored_fields_option
@click.option(
    "--on-miss",
    multiple=True,
    metavar="[SEL=]ACTION",
    help="With --freeze, where the trial has no answer: live, fail or error (default: reads live, writes fail).",
)
@click.option("--offline", is_flag=True, help="With --freeze, no frozen call goes live where the trial has no answer.")
@click.option("--ignore", multiple=True, metavar="[SEL:]PATH", help="An argument that does not count in a match.")
@click.option("--effects", metavar="FILE", help="What tools do, declared in a file; see `trialtape lab effects`.")
@click.option("--emulator", metavar="MODEL", help="Plays the tools that --on-miss emulate means.")
@click.option("--policy", metavar="FILE", help="What happens after N, with all of the above but --edit, in one file.")
@click.option("--run", "name", metavar="NAME", help="The run of the continuations (default: made of trial and step).")
@click.option("--suite", "suite_file", metavar="SUITE.py[:NAME]", help="The agent (default: the suite the run names).")
@click.option("--concurrency", "-j", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at once.")
@click.option(
    "--timeout", type=FiniteFloat(), metavar="SECONDS", help="Per continuation; one that takes longer ends capped."
)
@click.option(
    "--retries", type=click.IntRange(min=0), default=2, show_default=True, help="After infrastructure errors."
)
@click.option("--max-cost", type=FiniteRange(min=0), metavar="AMOUNT", help="Stop when live calls have cost this much.")
@json_option
@click.pass_obj
def command(home: str | None, /, trial: str, where: str, as_json: bool, **options: Any) -> None:  # noqa: FBT001  # click's way
    """Go on from step N of TRIAL: what comes before is answered from its recording, from N on calls are live.

    The continuations are trials of a run of their own, scored by the suite. With several steps, or each-write or
    each-step, a bar for each tells how many continuations from there pass, and which step lost the trial.
    Continuations that are there already are not run again. Exit code 3 if one does not reach step N, or if none could
    be counted.
    """
    place = Home.find(home)
    view = find_trial(trial, place)
    points = points_of(where, view)
    given = _given(options)
    wishes = {at: _wish(view, points, at, given, options) for at in points}
    spec: str | None = options["suite_file"]
    if spec is None:
        suite, spec = suite_of_run(place, view.id.run, [view.task], "to go on")
    else:
        suite = load_suite(spec)
    terms = Terms(
        trials=options["trials"],
        concurrency=options["concurrency"],
        timeout=options["timeout"],
        retries=options["retries"],
        max_cost=options["max_cost"],
        name=options["name"],
        origin=spec,
    )
    if len(points) > 1:
        told = f"{len(points)} steps, {terms.trials} continuations from each: {len(points) * terms.trials} trials"
        messages().print(told, markup=False)
    stopped: BudgetReached | None = None
    with ForkBar(len(points), quiet=as_json or may_stop()) as bar:  # a debugger has the terminal for itself
        done: list[Continued] = []
        try:
            for continued in continue_from(view, wishes, suite, place, terms, bar.next_point):
                done.append(continued)  # noqa: PERF402  # what was done before the money was spent is told
        except BudgetReached as reached:
            stopped = reached
    _tell(place, view, done, as_json=as_json, several=len(points) > 1)
    if stopped is not None:
        raise stopped
    if any(_went_astray(place, continued) for continued in done):
        sys.exit(3)


def _wish(view: View, points: list[int], at: int, given: GivenPolicy, options: dict[str, Any]) -> Wish:
    edit: Any = UNEDITED
    if options["edit"] is not None:
        if len(points) > 1:
            raise BadInput("--edit changes the outcome before one step; --at names several")
        text = _text_of(options["edit"])
        fork_of(view, at)  # what is wrong with the step itself is told first
        edit = read_edit(text, view.cassette.step(at - 1)) if at else text
    return Wish(given, options["allow_live"], edit, given.told if options["policy"] is not None else {})


def _given(options: dict[str, Any]) -> GivenPolicy:
    """How calls after the fork are answered: a policy's file, and the options beside it."""
    said = ("freeze", "on_miss", "offline", "catch_up", "ignore", "ignore_fields", "effects", "emulator")
    return settled(options["policy"], GivenPolicy(**{name: options[name] for name in said}))


def _text_of(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"{file} cannot be read: {error.strerror}; name a file with the outcome, or - for stdin"
        ) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is no text in UTF-8; an outcome is given as JSON or as text") from error


# -- what is told ------------------------------------------------------------------------------------------------------


def _tell(home: Home, view: View, done: list[Continued], *, as_json: bool, several: bool) -> None:
    read = blame(bars_of(home, view, {c.fork.at: [c.name] for c in done})) if several and done else None
    if as_json:
        forks = [_document(home, view, continued) for continued in done]
        told = {"verdict": None, "bars": [], "lost": []} if read is None else read.to_dict()
        parted = [] if read is None else _partings(home, view, done, read)
        beside = [{"trial": str(reference), **divergent.to_dict()} for reference, divergent in parted]
        echo_json({"trial": str(view.id), "passed": _passed(home, view), "forks": forks, **told, "beside": beside})
    else:
        for continued in done:
            _tell_run(continued)
        if read is not None:
            _draw(home, view, done, read)
        elif done:
            _tell_share(home, view, done[0])
    for continued in done:
        for problem in continued.result.problems[:5]:
            messages().print(f"trialtape: {problem}", markup=False, soft_wrap=True)


def _document(home: Home, view: View, continued: Continued) -> dict[str, Any]:
    fork, result = continued.fork, continued.result
    bar = bars_of(home, view, {fork.at: [continued.name]})[0]
    trials = []
    for identity, path in _recorded(home, continued):
        one = View(path, home)
        trials.append({"id": str(identity), **asdict(one.ending), "passed": _passed(home, one)})
    return {
        "run": continued.name,
        "at": fork.at,
        "edited": None if fork.edit is None else fork.edit.step,
        "resumed": result.resumed,
        "trials": trials,
        "passed": bar.passed,
        "counted": bar.counted,
        "low": bar.low,
        "high": bar.high,
        "left_out": dict(bar.left_out),
        "cost": result.cost,
        "unattributed": dict(result.unattributed),
        "caught_up": dict(result.caught_up),
    }


def _recorded(home: Home, continued: Continued) -> list[tuple[TrialId, Path]]:
    """The continuations that were asked for, of those that are there."""
    return [(trial, path) for trial, path in home.trials(continued.name) if trial.index < continued.result.trials]


def _passed(home: Home, view: View) -> bool | None:
    """The trial's verdict by its run's primary score."""
    if not (home.run(view.id.run) / "run.json").exists():
        return None
    primary = load_run(home, view.id.run).primary
    mine = (str(view.id), view.cassette.digest, primary)
    found = [s.passed for s in read_scores(home, view.id.run) if (s.trial, s.digest, f"{s.scorer}@{s.version}") == mine]
    return found[-1] if found else None


def _tell_run(continued: Continued) -> None:
    fork, result, out = continued.fork, continued.result, messages()
    if fork.edit is not None:
        out.print(f"{fork.edit.told()}", markup=False, soft_wrap=True)
    told = f"{result.trials} continuations from step {fork.at} in {continued.name}"
    if result.resumed == result.trials:
        told += ": all there already; --run NAME makes new ones"
    elif result.resumed:
        told += f", {result.resumed} of them from before"
    if result.cost is not None:
        told += f"; live model calls cost {money(result.cost)}"
    out.print(told, markup=False, soft_wrap=True)
    for line in caught_up_lines(result.caught_up):
        out.print(f"  {line}", markup=False, soft_wrap=True)
    if result.unattributed:
        names = ", ".join(f"{count} x {name}" for name, count in result.unattributed.most_common(5))
        out.print(f"  belongs to no trial, so it is not recorded: {names}", markup=False, soft_wrap=True)


def _tell_share(home: Home, view: View, continued: Continued) -> None:
    out = console()
    at = continued.fork.at
    bar = bars_of(home, view, {at: [continued.name]})[0]
    [stretch] = stretches([at], view)
    verdict = {True: "passed", False: "failed", None: f"{view.ending.status}, no verdict"}[_passed(home, view)]
    say(out, f"{view.id} {verdict}; from step {at} on {share_line(bar)}")
    say(out, f"  recorded from there: {stretch.label}")
    if bar.left_out:
        say(out, f"  left out: {left_out_text(bar.left_out)}")
    _tell_why(home, [continued])


def _draw(home: Home, view: View, done: list[Continued], read: Blame) -> None:
    out = console()
    verdict = {True: "passed", False: "failed", None: f"{view.ending.status}, no verdict"}[_passed(home, view)]
    say(out, f"{view.id} {verdict}")
    out.print()
    out.print(blame_table(read, out.width))
    out.print()
    for line in verdict_lines(read):
        say(out, line)
    for reference, parted in _partings(home, view, done, read):
        say(out, f"  beside {reference}, which passed: {parted.line()}")
    _tell_why(home, done)


def _partings(home: Home, view: View, done: list[Continued], read: Blame) -> list[tuple[TrialId, DivergentWrite]]:
    """For each loss, what the first continuation from before it that passed wrote otherwise."""
    runs = [[c.name for c in done if c.fork.at == loss.first] for loss in read.losses]
    return [found for found in (parting(home, view, names) for names in runs) if found is not None]


def _stopped(ending: Ending) -> bool:
    """True if the trial was stopped from within: it diverged, was refused, or got no answer."""
    return ending.status == "unanswered" or ending.cause in {"divergence", "refused"}


def _tell_why(home: Home, done: list[Continued]) -> None:
    """Each reason for which continuations were stopped, once."""
    reasons: dict[str, int] = {}
    for continued in done:
        for _, path in _recorded(home, continued):
            ending = View(path, home).ending
            if _stopped(ending):
                reasons[ending.reason or ""] = reasons.get(ending.reason or "", 0) + 1
    for reason, number in list(reasons.items())[:_MOST_REASONS]:
        messages().print(f"{number} stopped: {reason}", markup=False, soft_wrap=True)
    if len(reasons) > _MOST_REASONS:
        messages().print(f"... and {len(reasons) - _MOST_REASONS} other reasons; --json has all", markup=False)


def _went_astray(home: Home, continued: Continued) -> bool:
    """True if a continuation did not reach the fork, or all were stopped after it."""
    endings = [View(path, home).ending for _, path in _recorded(home, continued)]
    return any(ending.cause == "divergence" for ending in endings) or all(map(_stopped, endings))
