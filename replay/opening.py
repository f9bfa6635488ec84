"""``tt.open``: a recorded trial by id or path."""

from __future__ import annotations

from pathlib import Path

from .home import Home
from .view import View, open_trial

__all__ = ["open_view"]


def open_view(trial: str | Path, *, home: str | Path | None = None) -> View:
    """Open a recorded trial; its steps are read when asked for.

    Args:
        trial: ``run/task#index``, or the path of a cassette.
        home: the home folder; None takes ``TRIALTAPE_HOME`` or ``./.trialtape``.

    Raises:
        BadInput: there is no such trial.
        CassetteError: the file cannot be read.
    """
    return open_trial(trial, Home.find(home))
