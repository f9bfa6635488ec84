"""``trialtape new``: files to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from replay.home import Home
from replay.selection import find_trial
from replay.skeleton import write_suite
from replay.stub import default_path, write_stub

from .options import json_option
from .output import echo_json

__all__ = ["command"]


@click.group("new")
def command() -> None:
    """Make a file to begin with."""


@command.command("task")
@click.option(
    "--from",
    "source",
    required=True,
    metavar="TRIAL",
    help="The session or trial (run/task#index, a path, @last or @last-fail).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.py",
    help="Where to; default: task_<run>_<task>_<index>.py here.",
)
@json_option
@click.pass_obj
def task(home: str | None, source: str, output: Path | None, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Make a task of a recorded session or trial: an incident becomes a test.

    The file holds the instruction, the initial state and the final values of what was changed, if a state was tracked,
    and the place of the recording, which is copied beside it. Nothing is overwritten.
    """
    view = find_trial(source, Home.find(home))
    stub = write_stub(view, output or default_path(view))
    if as_json:
        echo_json({"file": str(stub.path), "task": stub.task, "beside": [str(other) for other in stub.others]})
        return
    click.echo(f"{stub.path}: task {stub.task}; beside it {', '.join(other.name for other in stub.others)}")
    click.echo(f"call your agent in its agent(trial), then: trialtape run {stub.path} --run NAME")


@command.command("suite")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("suite.py"),
    show_default=True,
    metavar="FILE.py",
    help="Where to; its tasks come into FILE_tasks.yaml beside it.",
)
@json_option
def suite(output: Path, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Make a suite that works: three tasks, a simulated user, an agent without a model, two scorers.

    Change it step by step: the tasks are in a YAML file, and the agent has one method. Nothing is overwritten.
    """
    path, tasks = write_suite(output)
    if as_json:
        echo_json({"suite": str(path), "tasks": str(tasks)})
        return
    click.echo(f"{path}: the suite; {tasks}: its tasks")
    click.echo(f"  next: trialtape run {path} --run NAME --trials 8")
