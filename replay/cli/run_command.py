"""``trialtape run``: a suite's tasks, n times each."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from typing import Any

import click
from attrs import asdict
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cassettes.errors import BadInput
from cassettes.model import Ending, TrialId
from replay.commands import Command
from replay.home import Home
from replay.leakfile import told as told_leaks
from replay.progress import RunResult
from replay.report.trial_text import caught_up_lines
from replay.runs import load_run
from replay.spending import money
from replay.suite import Suite
from replay.suites import load_suite
from replay.tasks import Task
from replay.view import View

from .options import json_option
from .output import echo_json, messages
from .programs import TakesProgram, code_of, found_program

__all__ = ["carry_out", "command"]


@click.command("run", cls=TakesProgram)
@click.argument("suite", metavar="SUITE.py[:NAME]", required=False)
@click.option("--task", metavar="ID", help="Of a program: the task that it tries (default: the one of --source).")
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
    "--worlds", type=click.IntRange(min=1), metavar="R", help="Recorded worlds per task; -n is per world then."
)
@click.option(
    "--on-miss",
    multiple=True,
    metavar="[SEL=]ACTION",
    help="Where no recording answers: extend, live, fail, error or emulate (default: reads extend, writes fail).",
)
@click.option("--offline", is_flag=True, help="No frozen call goes live; where no recording answers, the trial ends.")
@click.option(
    "--catch-up",
    multiple=True,
    metavar="tool:NAME",
    help="Such frozen writes are carried out before a live call that would notice their absence.",
)
@click.option(
    "--ignore-field",
    "ignore_fields",
    multiple=True,
    metavar="[SEL:]PATH",
    help="A field of the outcome of what --catch-up carries out that does not count.",
)
@click.option(
    "--ignore", multiple=True, metavar="[SEL:]PATH", help="An argument that does not count in a match; also in verify."
)
@click.option(
    "--ambient",
    multiple=True,
    type=click.Choice(["clock", "random"]),
    help="Record the clock, or random numbers, too; a replay hands them out again.",
)
@click.option("--effects", metavar="FILE", help="What tools do, declared in a file; see `trialtape lab effects`.")
@click.option("--emulator", metavar="MODEL", help="Plays the tools that --on-miss emulate means.")
@click.option("--policy", metavar="FILE", help="What is frozen, live or refused, and all of the above, in one file.")
@click.option("--seed", type=int, default=0, show_default=True, help="From which each trial's seed is made.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, suite: str | None, task: str | None, as_json: bool, **options: Any) -> None:  # noqa: FBT001  # click's way
    """Run every task of SUITE, or a program, n times, interleaved, and record every trial.

    Finished trials are not run again; those that were interrupted are set aside and replaced. The tasks, --freeze,
    --source, --worlds, --on-miss, --catch-up, --ignore, --ambient, --effects, --emulator, --policy, --seed and
    --timeout belong to the run: other values need another name.
    """
    program: tuple[str, ...] = ctx.meta["program"]
    if (suite is None) == (not program):
        raise click.UsageError("name a suite, or a program behind --: exactly one of them", ctx)
    name, freeze = options.pop("name"), options.pop("freeze") or None
    if suite is not None:
        if task is not None:
            raise BadInput("--task goes with a program; a suite has its own tasks")
        if carry_out(load_suite(suite), name, ctx.obj, as_json=as_json, freeze=freeze, origin=suite, **options):
            sys.exit(1)
        return
    agent = Command(found_program(program))
    made = Suite([_task_of(Home.find(ctx.obj), task, options["source"])], agent)
    problems = carry_out(made, name, ctx.obj, as_json=as_json, freeze=freeze, **options)
    sys.exit(code_of(agent.codes) or int(problems))


def _task_of(home: Home, named: str | None, source: str | None) -> Task:
    """The task that a program tries: as it was recorded in ``source``, if there is one."""
    recorded = {view.id.task: view.task for view in _views(home, source)} if source is not None else {}
    if named is None and len(recorded) == 1:
        return next(iter(recorded.values()))
    if named is None and recorded:
        raise BadInput(f"run {source!r} has {len(recorded)} tasks; name the program's with --task")
    return recorded.get(named or "main", Task(id=named or "main"))


def _views(home: Home, run: str) -> Iterator[View]:
    load_run(home, run)
    seen: set[str] = set()
    for trial, path in home.trials(run):
        if trial.task not in seen:
            seen.add(trial.task)
            yield View(path, home)


def carry_out(suite: Suite, name: str, home: str | None, *, as_json: bool, **options: Any) -> bool:
    """Run the suite with a progress bar, and tell what came of it; True if something was not recorded."""
    with _Bar(name, quiet=as_json) as bar:
        result = suite.run(name, **options, home=home, progress=bar)
    if as_json:
        echo_json({**asdict(result), "home": str(result.home)})
    else:
        _tell(result, name)
    for problem in result.problems[:5]:
        messages().print(f"trialtape: {problem}", markup=False, soft_wrap=True)
    return bool(result.problems)


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
    for tool, count in result.misdeclared.most_common():
        told = f'{tool} is declared a read, but changed the tracked state in {count} calls: declare effect="write"'
        say.print(f"  {told}", markup=False, soft_wrap=True)
    for line in caught_up_lines(result.caught_up):
        say.print(f"  {line}", markup=False, soft_wrap=True)
    for line in told_leaks(result.leaks):
        say.print(f"  {line}", markup=False, soft_wrap=True)
    say.print(f"  next: trialtape stats {shlex.quote(name)}", markup=False)
