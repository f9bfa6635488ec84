"""``trialtape run``: a suite's tasks, n times each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
from attrs import asdict

from cassettes.errors import BadInput
from replay.home import Home
from replay.orchestration.run_terms import RunTerms
from replay.orchestration.suite import Suite
from replay.orchestration.suites import load_suite
from replay.orchestration.tasks import Task
from replay.plural import number
from replay.processes.commands import Command
from replay.runs import load_run
from replay.view import View

from .options import FiniteFloat, FiniteRange, catch_up_option, ignored_fields_option, json_option
from .output import echo_json
from .programs import TakesProgram, code_of, found_program
from .run_arms import carry_out_arms, held_by, takes_arms
from .run_bar import RunBar
from .run_told import tell_problems, tell_run

__all__ = ["carry_out", "command"]


@click.command("run", cls=TakesProgram)
@click.argument("suite", metavar="SUITE.py[:NAME]", required=False)
@click.option("--task", metavar="ID", help="Of a program: the task that it tries (default: the one of --source).")
@click.option("--run", "name", metavar="NAME", help="The run's name; the same name goes on (required but for --ab).")
@click.option("--trials", "-n", type=click.IntRange(min=1), default=4, show_default=True, help="Trials per task.")
@click.option("--concurrency", "-j", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at once.")
@click.option("--timeout", type=FiniteFloat(), metavar="SECONDS", help="Per trial; one that takes longer ends capped.")
@click.option(
    "--retries", type=click.IntRange(min=0), default=2, show_default=True, help="After infrastructure errors."
)
@click.option("--max-cost", type=FiniteRange(min=0), metavar="AMOUNT", help="Stop when live calls have cost this much.")
@click.option("--freeze", multiple=True, metavar="SEL", help="Answer these calls from --source, such as external.")
@click.option("--source", metavar="RUN", help="The run whose trials are the recorded worlds.")
@click.option(
    "--worlds", type=click.IntRange(min=1), metavar="R", help="Recorded worlds per task; -n is per world then."
)
@click.option(
    "--user-seeds",
    type=click.IntRange(min=2),
    metavar="M",
    help="Simulated users in each world, by their seeds; its trials share them.",
)
@click.option(
    "--on-miss",
    multiple=True,
    metavar="[SEL=]ACTION",
    help="Where no recording answers: extend, live, fail, error or emulate (default: reads extend, writes fail).",
)
@click.option("--offline", is_flag=True, help="No frozen call goes live; where no recording answers, the trial ends.")
@catch_up_option
@ignored_fields_option
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
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="From which each trial's seed is made, and the order for --sequential.",
)
@takes_arms
@json_option
@click.pass_context
def command(ctx: click.Context, /, suite: str | None, task: str | None, as_json: bool, **options: Any) -> None:  # noqa: FBT001  # click's way
    """Run every task of SUITE, or a program, n times, interleaved, and record every trial.

    Finished trials are not run again; those that were interrupted are set aside and replaced. The tasks, --freeze,
    --source, --worlds, --user-seeds, --on-miss, --catch-up, --ignore, --ambient, --effects, --emulator, --policy,
    --seed and --timeout belong to the run: other values need another name.

    With --ab two arms are run side by side, each a run of its own, and compared; with --margin the second is held to
    the first: exit code 0 for PASS, 1 for FAIL, 6 for UNDECIDED.
    """
    program: tuple[str, ...] = ctx.meta["program"]
    if (suite is None) == (not program):
        raise click.UsageError("name a suite, or a program behind --: exactly one of them", ctx)
    name, arms, held = options.pop("name"), options.pop("ab"), held_by(options)
    if (name is None) == (arms is None):
        raise click.UsageError("name the run with --run, or two arms with --ab: exactly one of them", ctx)
    if arms is None and held.margin is not None:
        raise BadInput("--margin goes with --ab; `trialtape gate` holds a run that is there to another")
    if arms is None and held.ks:
        raise BadInput("-k goes with --ab; `trialtape stats` tells pass^k of a run that is there, for every k")
    if suite is not None and task is not None:
        raise BadInput("--task goes with a program; a suite has its own tasks")
    made = load_suite(suite) if suite is not None else _of_program(program, ctx.obj, task, options["source"])
    options |= {"freeze": options["freeze"] or None, "origin": suite}
    if arms is not None:
        code = carry_out_arms(made, arms, RunTerms(**options), ctx.obj, held, as_json=as_json)
    else:
        code = int(carry_out(made, name, ctx.obj, as_json=as_json, **options))
    decided = held.margin is not None
    sys.exit(code if decided or not isinstance(made.agent, Command) else code_of(made.agent.codes) or code)


def _of_program(program: tuple[str, ...], home: str | None, task: str | None, source: str | None) -> Suite:
    return Suite([_task_of(Home.find(home), task, source)], Command(found_program(program)))


def _task_of(home: Home, named: str | None, source: str | None) -> Task:
    """The task that a program tries: as it was recorded in ``source``, if there is one."""
    recorded = {view.id.task: view.task for view in _views(home, source)} if source is not None else {}
    if named is None and len(recorded) == 1:
        return next(iter(recorded.values()))
    if named is None and recorded:
        raise BadInput(f"run {source!r} has {number(len(recorded), 'task')}; name the program's with --task")
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
    with RunBar(name, quiet=as_json) as bar:
        result = suite.run(name, **options, home=home, progress=bar)
    if as_json:
        echo_json({**asdict(result), "home": str(result.home)})
    else:
        tell_run(result)
    return tell_problems(result)
