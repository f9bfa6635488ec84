"""``trialtape import jsonl``."""

from __future__ import annotations

from pathlib import Path

import click

from replay.effects import Effects
from replay.importers.conversations import Fields, read_conversations

from .importing import effects_option, import_and_tell, run_option
from .options import json_option

__all__ = ["command"]

_DEFAULT = Fields()


@click.command("jsonl")
@click.argument("file", type=click.Path(path_type=Path))
@run_option
@click.option(
    "--task-field", default=_DEFAULT.task, show_default=True, metavar="NAME", help="Which field names the task."
)
@click.option(
    "--trial-field", default=_DEFAULT.trial, show_default=True, metavar="NAME", help="Which one numbers the trial."
)
@click.option(
    "--score-field", default=_DEFAULT.score, show_default=True, metavar="NAME", help="Which one holds the score."
)
@click.option(
    "--model-field", default=_DEFAULT.model, show_default=True, metavar="NAME", help="Which one names the model."
)
@effects_option
@json_option
@click.pass_obj
def command(  # click's way
    home: str | None,
    file: Path,
    name: str,
    task_field: str,
    trial_field: str,
    score_field: str,
    model_field: str,
    effects: Effects,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Import conversations in the OpenAI format: a file of JSON lines, each an object with `messages`.

    A line without a task is a task of its own; without a number it is the next trial of its task. Lines that cannot be
    imported are told, and make the exit code 1.
    """
    fields = Fields(task=task_field, trial=trial_field, score=score_field, model=model_field)
    import_and_tell(home, name, file, read_conversations(file, effects, fields), as_json=as_json)
