"""What a process of a recorded command does at its start: it joins the trial that its environment names."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from .boundaries import wrap_boundary
from .proxy import TrialInvitation

__all__ = ["join_trial"]

_for_ever = ExitStack()  # never closed: the trial is joined until the process ends


def join_trial(environ: Mapping[str, str]) -> None:
    """Make the calls of this process, from here on, calls of the trial that invited it.

    Raises:
        TrialtapeError: what the environment names cannot be used.
    """
    invitation = TrialInvitation.from_environ(environ)
    if invitation is not None:
        _for_ever.enter_context(invitation.joined_by_program())
    else:
        wrap_boundary(environ)
