"""``trialtape run``: a suite's tasks, n times each."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click
from attrs import asdict
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cassettes.errors import BadInput
from cassettes.model import Ending, TrialId
from replay.loading import load_object
from replay.progress import RunResult
from replay.spending import money
from replay.suite import Suite

from .output import echo_json, json_option, messages

__all__ = ["command"]


@click.command("run")
@click.argument("suite", metavar="SUITE.py[:NAME]")
@click.option("--run", "name", required=True, metavar="NAME", help="The run's name; the same name goes on.")
@click.option("--trials", "-n", type=click.IntRange(min=1), default=4, show_default=True, help="Trials per task.")
@click.option("--concurrency", "-j", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at once.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Per trial; one that takes longer ends capped.")
@click.option(
    "--retries", type=click.IntRange(min=0), default=2, show_default=True, help="After infrastructure errors."
)
@click.option("--max-cost", type=float, metavar="AMOUNT", help="Stop when live calls have cost this much.")
@click.option("--freeze", multiple=True, metavar="SEL", help="Answer these calls from --source, such as external.")
@click.option("--source", metavar="RUN", help="The run whose trials are the recorded worlds.")
@click.option(
    "--on-miss",
    type=click.Choice(["fail", "live", "error"]),
    default="fail",
    show_default=True,
    help="What happens where no recording answers: end the trial, call a read live, or raise to the agent.",
)
@click.option(
    "--ignore", multiple=True, metavar="[SEL:]PATH", help="An argument that does not count in a match; also in verify."
)
@click.option("--seed", type=int, default=0, show_default=True, help="From which each trial's seed is made.")
@json_option
@click.pass_obj
def command(home: str | None, /, suite: str, as_json: bool, **options: Any) -> None:  # noqa: FBT001  # click's way
    """Run every task of SUITE n times, interleaved, and record every trial.

    Finished trials are not run again; those that were interrupted are set aside and replaced. The tasks, --freeze,
    --source, --on-miss, --ignore, --seed and --timeout belong to the run: other values need another name.
    """
    loaded = load_object(suite, "suite")
    if not isinstance(loaded, Suite):
        raise BadInput(f"{suite} names a {type(loaded).__name__}; a tt.Suite is needed")
    name = options.pop("name")
    freeze = options.pop("freeze") or None
    with _Bar(name, quiet=as_json) as bar:
        result = loaded.run(name, **options, freeze=freeze, home=home, origin=suite, progress=bar)
    if as_json:
        echo_json({**asdict(result), "home": str(result.home)})
    else:
        _tell(result, name)
    for problem in result.problems[:5]:
        messages().print(f"trialtape: {problem}", markup=False, soft_wrap=True)
    if result.problems:
        sys.exit(1)


class _Bar:
    """A progress bar on stderr; where that is no terminal, one line at the end is enough."""

    def __init__(self, name: str, *, quiet: bool) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[green]{task.fields[passed]} passed[/] [red]{task.fields[other]} other[/]"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=messages(),
            transient=True,
            disable=quiet or not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task(name, total=None, passed=0, other=0)
        self._told = {"passed": 0, "other": 0}

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def planned(self, total: int, done: int) -> None:
        self._bar.update(self._task, total=total, completed=done)

    def finished(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: ARG002, FBT001
        self._told["passed" if passed else "other"] += 1
        self._bar.update(self._task, advance=1, passed=self._told["passed"], other=self._told["other"])

    def replaced(self, trial: TrialId, ending: Ending) -> None:
        self._bar.console.print(f"{trial} is tried again: {ending.reason}", markup=False)


def _tell(result: RunResult, name: str) -> None:
    say = messages()
    endings = ", ".join(f"{count} {ending}" for ending, count in result.endings.most_common())
    resumed = f" ({result.resumed} from before)" if result.resumed else ""
    say.print(f"{name}: {result.trials} trials{resumed}: {endings}", markup=False)
    if result.replaced:
        say.print(f"  {result.replaced} attempts were set aside and replaced", markup=False)
    if result.cost is not None:
        say.print(f"  live model calls cost {money(result.cost)}", markup=False)
    if result.lingering:
        say.print(f"  still running when given up: {', '.join(result.lingering)}", markup=False)
    if result.unattributed:
        names = ", ".join(f"{count} x {name}" for name, count in result.unattributed.most_common(5))
        more = f", and {len(result.unattributed) - 5} more" if len(result.unattributed) > 5 else ""
        say.print(f"  belongs to no trial, so it is not recorded: {names}{more}", markup=False, soft_wrap=True)
    say.print(f"  next: trialtape stats {shlex.quote(name)}", markup=False)
