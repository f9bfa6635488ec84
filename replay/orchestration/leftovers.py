"""What earlier sessions of a run left behind: cassettes that may be whole, cut short or hardly begun."""

from __future__ import annotations

from pathlib import Path

from cassettes.errors import CassetteError, NewerFormat, TrialtapeError
from cassettes.model import Ending, Interaction
from replay.view import View

__all__ = ["calls_in", "ending_in"]


def ending_in(path: Path) -> Ending:
    """How the trial ended; ``incomplete`` if nobody can tell.

    Raises:
        NewerFormat: it was recorded by a later version.
    """
    try:
        return View(path).ending
    except NewerFormat:
        raise  # whole, but not for this version
    except TrialtapeError as error:
        # A process killed while it created the file leaves no header: nothing had returned yet.
        return Ending("incomplete", str(error))


def calls_in(path: Path) -> list[Interaction]:
    """The calls of the trial; none if they cannot be read.

    Raises:
        NewerFormat: it was recorded by a later version.
    """
    try:
        return list(View(path).cassette)
    except NewerFormat:
        raise
    except CassetteError:
        return []  # killed while it was created, or damaged: what can be read is counted elsewhere
