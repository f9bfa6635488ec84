"""``trialtape gate``: PASS, FAIL or UNDECIDED, as an exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Literal

import click
from attrs import asdict

from cassettes.errors import BadInput
from replay.analysis.conditions import Condition, planned
from replay.analysis.gating import GateResult, gate_against, gate_run
from replay.analysis.run_compare import compare_runs
from replay.home import Home
from replay.report.gate_text import gate_lines, planned_lines
from replay.runs import load_run
from replay.stats.intervals import Target
from replay.store import Store

from .ls_command import tell_troubles
from .options import alpha_option, errors_option, json_option, margin_option, score_option, undecided_option
from .output import console, echo_json, say
from .verdicts import Undecided, exit_code_of, told_verdict

__all__ = ["command"]


@click.command("gate")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] ['pass^K >= X']...")
@click.option("--against", metavar="RUN", help="The baseline: the run may be worse by no more than --margin.")
@margin_option
@click.option("-k", "ks", type=click.IntRange(min=1), multiple=True, help="With --against: of pass^k (default: 1).")
@click.option(
    "--target",
    type=click.Choice(["fixed", "population"]),
    help="These tasks run again, or tasks like these. Conditions must name it; --against takes fixed.",
)
@alpha_option
@click.option("--sequential", is_flag=True, help="Decide by evidence that may be looked at after every task.")
@click.option("--seed", type=int, default=0, show_default=True, help="With --sequential: the order of the tasks.")
@undecided_option
@click.option("--plan-tasks", type=click.IntRange(min=1), metavar="N", help="Only ask whether so many tasks ...")
@click.option("--plan-trials", type=click.IntRange(min=1), metavar="N", help="... of so many trials can pass at all.")
@score_option
@errors_option
@click.option("--changed", multiple=True, metavar="NAME[,NAME]", help="With --against: as of `compare`.")
@click.option("--common", is_flag=True, help="With --against: as of `compare`.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    words: tuple[str, ...],
    against: str | None,
    margin: float | None,
    ks: tuple[int, ...],
    target: Target | None,
    alpha: float,
    seed: int,
    undecided: Undecided | None,
    plan_tasks: int | None,
    plan_trials: int | None,
    score: str | None,
    errors: Literal["exclude", "fail"],
    changed: tuple[str, ...],
    sequential: bool,  # noqa: FBT001  # click's way
    common: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Hold a run against a baseline, or against conditions; exit code 0 for PASS, 1 for FAIL, 6 for UNDECIDED.

    A gate that could not pass if every trial passed is refused, with what would be needed; --plan-tasks and
    --plan-trials ask that before anything is run.
    """
    runs = [word for word in words if not _is_condition(word)]
    conditions = [Condition.parse(word) for word in words if _is_condition(word)]
    _check(runs, conditions, against, margin, target, sequential=sequential)
    _check_of_baseline(against, {"-k": ks, "--changed": changed, "--common": common})
    if plan_tasks is not None or plan_trials is not None:
        _plan(runs, conditions, plan_tasks, plan_trials, target, alpha, sequential=sequential, as_json=as_json)
        return
    if len(runs) != 1:
        raise BadInput("name the run that the gate is for")
    place = Home.find(home)
    wanted = [*runs, *([against] if against else [])]
    for run in wanted:
        load_run(place, run)
    order = seed if sequential else None
    with Store(place) as store:
        tell_troubles(store.refresh(wanted))
        if against is not None:
            named = tuple(name.strip() for names in changed for name in names.split(",") if name.strip())
            compared = compare_runs(
                store, against, runs[0], score=score, errors=errors, ks=ks or (1,), changed=named, common=common
            )
            chosen: Target = target or ("population" if sequential else "fixed")
            found = gate_against(compared, 0.0 if margin is None else margin, chosen, alpha=alpha, order=order)
        else:
            assert target is not None
            found = gate_run(store, runs[0], conditions, target, score=score, errors=errors, alpha=alpha, order=order)
    _tell(found, undecided, as_json=as_json)


def _is_condition(word: str) -> bool:
    """Whether a word is one, or was meant as one: then what is wrong with it is told."""
    return ">=" in word or word.lstrip().startswith(("pass^", "pass@"))


def _check_of_baseline(against: str | None, given: Mapping[str, object]) -> None:
    named = [name for name, value in given.items() if value]
    if against is None and named:
        raise BadInput(f"{named[0]} belongs to --against RUN; conditions are of one run, each with a k of its own")


def _check(
    runs: list[str],
    conditions: list[Condition],
    against: str | None,
    margin: float | None,
    target: Target | None,
    *,
    sequential: bool,
) -> None:
    if len(runs) > 1:
        raise BadInput(
            f"a gate is for one run, and {len(runs)} are named: {', '.join(runs)}; quote conditions as one word"
        )
    if (against is None) == (not conditions):
        raise BadInput("a gate needs --against RUN with --margin, or conditions such as 'pass^4 >= 0.6', and not both")
    if (against is None) != (margin is None):
        raise BadInput("--against and --margin go together: worse than which run, and by how much at most")
    if conditions and target is None:
        raise BadInput(
            "say what the condition is about: --target fixed for these tasks run again, --target population for tasks "
            "like these"
        )
    if sequential and target == "fixed":
        raise BadInput("--sequential speaks of tasks like these: --target population")


def _plan(
    runs: list[str],
    conditions: list[Condition],
    tasks: int | None,
    trials: int | None,
    target: Target | None,
    alpha: float,
    *,
    sequential: bool,
    as_json: bool,
) -> None:
    if tasks is None or trials is None or runs or not conditions:
        raise BadInput("--plan-tasks and --plan-trials go together, with conditions and without a run")
    assert target is not None
    found = planned(conditions, tasks, trials, target, alpha, sequential=sequential)
    if as_json:
        echo_json([{"condition": str(c), **asdict(one)} for c, one in zip(conditions, found, strict=True)])
        return
    for line in planned_lines(conditions, found, tasks, trials):
        say(console(), line)


def _tell(found: GateResult, undecided: Undecided | None, *, as_json: bool) -> None:
    code = exit_code_of(found.verdict, undecided)
    if as_json:
        echo_json({**found.to_dict(), "exit_code": code})
    else:
        out = console()
        for line in gate_lines(found):
            say(out, line)
        say(out, told_verdict(found.verdict, undecided))
    sys.exit(code)
