"""``trialtape label``: say whose fault a failed trial was."""

from __future__ import annotations

import os
from collections import Counter

import click
from rich.text import Text

from cassettes.errors import BadInput
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.labelling.authors import find_author
from replay.labelling.labels import FAULTS, USER_ERRORS, Fault, Label, UserError, append_label, current, read_labels
from replay.report.label_text import label_text
from replay.runs import load_run
from replay.selection import find_trial
from replay.store import Store
from replay.view import View

from .ls_command import tell_troubles
from .options import json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_LABELS = """
SELECT l.trial, l.author, l.source, l.fault, l.user_error, l.type, l.step, l.note, l.digest, l.at
FROM labels l JOIN trials t ON t.id = l.trial
WHERE (:run IS NULL OR l.run = :run) AND (:trial IS NULL OR l.trial = :trial)
  AND (:author IS NULL OR l.author = :author)
ORDER BY t.run, t.task, t.idx, l.at, l.author
"""


@click.command("label")
@click.argument("target", required=False, metavar="[TRIAL]")
@click.option("--fault", type=click.Choice(FAULTS), help="Whose fault it was that the trial failed.")
@click.option(
    "--user-error",
    type=click.Choice(USER_ERRORS),
    help="Whether the (simulated) user erred: critical if that decided the outcome; also of trials that passed.",
)
@click.option("--type", "kind", metavar="TEXT", help="The kind of failure, in a word of your own.")
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="The step at which it went wrong.")
@click.option("-m", "--note", metavar="TEXT", help="What you saw.")
@click.option("--author", metavar="NAME", help="Who says so (default: git's user.name, else $USER).")
@click.option("--list", "listed", is_flag=True, help="List the labels of TRIAL, of a run, or of all runs.")
@click.option("--remove", is_flag=True, help="Take the author's label on TRIAL back.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    target: str | None,
    fault: Fault | None,
    user_error: UserError | None,
    kind: str | None,
    step: int | None,
    note: str | None,
    author: str | None,
    listed: bool,  # noqa: FBT001  # click's way
    remove: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Say whose fault it was that TRIAL (run/task#index, a path, @last or @last-fail) failed, and if its user erred.

    An author has one label on a trial; a new one takes the place of the old one. Nothing is lost: the file only grows.
    """
    place = Home.find(home)
    said = fault is not None or user_error is not None
    if sum([said, listed, remove]) != 1:
        raise BadInput("give one of --fault FAULT (or --user-error, or both), --remove and --list")
    if not said and not (kind is None and step is None and note is None):
        raise BadInput("--type, --step and -m go with --fault or --user-error")
    if listed:
        _list(place, target, author, as_json=as_json)
        return
    if target is None:
        raise BadInput("which trial? give run/task#index, a path, @last or @last-fail")
    view = find_trial(target, place)
    _check_place(place, view, step)
    who = find_author(author)
    label = Label(
        trial=str(view.id),
        author=who.name,
        fault=fault,
        user_error=user_error,
        type=_cleaned(place, kind),
        step=step,
        note=_cleaned(place, note),
        digest=view.cassette.digest,
    )
    if remove and not any((held.trial, held.author) == (label.trial, label.author) for held in _held(place, view)):
        raise BadInput(f"{label.author} ({who.source}) has no label on {view.id}; --author names another")
    append_label(place, label)
    if as_json:
        echo_json(label.to_dict())
    else:
        done = "taken back" if remove else label_text(label)
        say(console(), Text(f"{label.trial}  {done}"))
    if author is None:
        messages().print(f"by {label.author}, from {who.source}", markup=False)


def _check_place(home: Home, view: View, step: int | None) -> None:
    if not home.run(view.id.run).is_dir() or home.cassette(view.id).resolve() != view.path.resolve():
        raise BadInput(f"{view.path} is no trial of {home.root}; its labels would lie beside another one")
    if step is not None and step not in view.cassette.step_numbers:
        raise BadInput(f"{view.id} has no step {step}; it has {len(view.steps)} steps, counted from 0")


def _cleaned(home: Home, text: str | None) -> str | None:
    """The text less its secrets, as in a recording."""
    if not text:
        return None
    found: Counter[str] = Counter()
    cleaned = Redactor(home.redaction_key(), secrets_of(os.environ)).text(text, found)
    if found:
        told = "1 secret" if found.total() == 1 else f"{found.total()} secrets"
        messages().print(f"{told} replaced by a placeholder", markup=False)
    return cleaned


def _held(home: Home, view: View) -> list[Label]:
    labels, problems = read_labels(home, view.id.run)
    _tell(problems)
    return current(labels)


def _list(home: Home, target: str | None, author: str | None, *, as_json: bool) -> None:
    """The labels that hold: those of a cassette that was replaced since do not."""
    trial = run = None
    if target is not None and ("/" in target or target.startswith("@")):
        identity = find_trial(target, home).id
        trial, run = str(identity), identity.run
    elif target is not None:
        run = load_run(home, target).name
    with Store(home) as store:
        tell_troubles(store.refresh(None if run is None else [run]))
        found = [Label(**row) for row in store.rows(_LABELS, {"run": run, "trial": trial, "author": author})]
    if as_json:
        echo_json([label.to_dict() for label in found])
        return
    for label in found:
        say(console(), Text(f"{label.trial}  {label_text(label)}"))
    if not found:
        messages().print(f"no label of {target or home.root}", markup=False)


def _tell(problems: list[str]) -> None:
    for problem in problems:
        messages().print(f"trialtape: {problem}", markup=False)
