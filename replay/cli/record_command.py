"""``trialtape record``: any Python program, unchanged, one process for each trial."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import click

from cassettes.errors import BadInput
from replay.home import Home
from replay.orchestration.suite import Suite
from replay.orchestration.tasks import Task
from replay.plural import number
from replay.processes.boundaries import READY_MADE, Boundary
from replay.processes.commands import Command, environ_of

from .options import FiniteFloat
from .output import messages
from .programs import TIMED_OUT, TakesProgram, code_of, found_program
from .run_command import carry_out

__all__ = ["command"]


@click.command("record", cls=TakesProgram)
@click.option("--run", "name", required=True, metavar="NAME", help="The run's name; the same name goes on.")
@click.option("--task", default="main", show_default=True, metavar="ID", help="The task that the program tries.")
@click.option("--instruction", default="", metavar="TEXT", help="What the task is, for the reader and for scorers.")
@click.option("--trials", "-n", type=click.IntRange(min=1), default=1, show_default=True, help="How often it is run.")
@click.option("--concurrency", "-j", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at once.")
@click.option(
    "--timeout", type=FiniteFloat(), metavar="SECONDS", help="Per trial; one that takes longer is ended, and capped."
)
@click.option(
    "--boundary",
    metavar="MODULE:FUNCTION",
    help=f"Many trials in one process: the function of the runner that runs one, or {', '.join(READY_MADE)}.",
)
@click.option("--task-from", metavar="ARG", help="With --boundary: the argument that names the task, such as task.id.")
@click.option("--trial-from", metavar="ARG", help="With --boundary: the argument that is the index of the trial.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end; the program's output stays.")
@click.pass_context
def command(ctx: click.Context, /, name: str, boundary: str | None, as_json: bool, **options: Any) -> None:  # noqa: FBT001  # click's way
    """Run a Python program n times, and record the model and tool calls of each run as one trial.

    The program is not changed; what it starts in turn belongs to the trial, too. Its exit code is handed on: the first
    one other than 0. 125 is trialtape's own failure, 127 says that there is no such program. A trial in which no call
    was seen is an error.
    """
    program: tuple[str, ...] = ctx.meta["program"]
    if not program:
        raise click.UsageError("name the program behind --, such as: trialtape record --run first -- python agent.py")
    words = found_program(program)
    if boundary is not None:
        sys.exit(_within_runner(Home.find(ctx.obj), name, boundary, words, options))
    if options["task_from"] or options["trial_from"]:
        raise BadInput("--task-from and --trial-from go with --boundary")
    agent = Command(words)
    suite = Suite([Task(id=options["task"], instruction=options["instruction"])], agent)
    terms = {key: options[key] for key in ("trials", "concurrency", "timeout")}
    before = {str(trial) for trial, _ in Home.find(ctx.obj).trials(name)}
    problems = carry_out(suite, name, ctx.obj, as_json=as_json, retries=0, **terms)
    made = {str(trial) for trial, _ in Home.find(ctx.obj).trials(name)} - before
    given_up = made - agent.codes.keys()
    sys.exit(code_of(agent.codes) or (TIMED_OUT if given_up else int(problems)))


def _within_runner(home: Home, name: str, text: str, words: tuple[str, ...], options: dict[str, Any]) -> int:
    """Run the runner once, with a trial around each call of its own function; its code."""
    where = Boundary.parse(
        text, options["task_from"], options["trial_from"], {"run": name, "home": str(home.root.resolve())}
    )
    before = {trial for trial, _ in home.trials(name)}
    code = subprocess.run(words, check=False, env=environ_of(where.to_environ())).returncode
    made = [trial for trial, _ in home.trials(name) if trial not in before]
    messages().print(f"{name}: {number(len(made), 'trial')} recorded", markup=False)
    if not made and code == 0:
        raise BadInput(
            f"{where.module}:{where.function} was never called, so no trial was recorded: is it the function that runs "
            "one trial, and is its module imported, not run as a program?"
        )
    return code if code >= 0 else code_of({"": code})
