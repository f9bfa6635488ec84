"""``trialtape new``: files to begin with."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from replay.home import Home
from replay.orchestration.skeleton import write_suite
from replay.orchestration.stub import default_path, write_stub
from replay.selection import find_trial

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
    help="Where to; FILE_tasks.yaml and FILE_standin.py come beside it.",
)
@json_option
def suite(output: Path, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Make a suite that works offline: an agent with tools, a stand-in for its model, a customer, three tasks.

    Change it step by step: what is to be replaced is marked with YOURS, and the tasks are in a YAML file. Nothing is
    overwritten.
    """
    path, tasks, stand_in = write_suite(output)
    if as_json:
        echo_json({"suite": str(path), "tasks": str(tasks), "stand_in": str(stand_in)})
        return
    click.echo(f"{path}: the suite; {tasks}: its tasks; {stand_in}: plays the model")
    if find_spec("openai") is None:
        click.echo(
            "  its agent asks by the openai SDK, which is not installed: pip install 'trialtape[openai]'", err=True
        )
    click.echo(f"  next: trialtape run {path} --run NAME --trials 8")
