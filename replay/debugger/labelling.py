"""A label given in the debugger: cleaned of secrets, and appended to the run's file, as by ``trialtape label``."""

from __future__ import annotations

import os
from collections import Counter

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.labelling.authors import find_author
from replay.labelling.labels import Fault, Label, append_label
from replay.view import View

__all__ = ["Draft", "keep_label"]


@frozen
class Draft:
    """What a person typed.

    Attributes:
        fault: None takes the author's label back.
    """

    fault: Fault | None
    type: str = ""
    note: str = ""


def keep_label(home: Home | None, view: View, step: int | None, draft: Draft) -> Label:
    """Append a label.

    Args:
        home: the trial's; None if its file lies in none.
        view: the trial.
        step: where it went wrong; None for the trial as a whole.
        draft: what is said of it.

    Raises:
        BadInput: the file lies in no home, is a replaced attempt, or nobody knows who speaks.
        RecordingFailed: the label cannot be written.
    """
    if home is None or home.cassette(view.id).resolve() != view.path.resolve():
        raise BadInput(f"{view.path} is no trial of a home folder: its label would lie beside another one")
    redactor = Redactor(home.redaction_key(), secrets_of(os.environ))
    label = Label(
        trial=str(view.id),
        author=find_author(None).name,
        fault=draft.fault,
        type=_cleaned(redactor, draft.type),
        step=step,
        note=_cleaned(redactor, draft.note),
        digest=view.cassette.digest,
    )
    append_label(home, label)
    return label


def _cleaned(redactor: Redactor, text: str) -> str | None:
    return redactor.text(text.strip(), Counter()) if text.strip() else None
