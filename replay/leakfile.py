"""What `replay.independence` found in a run, kept beside its trials: derived, and made anew by the next check."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence

from attrs import frozen

from cassettes.errors import CassetteError

from .home import Home
from .independence import Leak, leaks_between, traces_of
from .view import View

__all__ = ["Independence", "check_independence", "known_independence"]


@frozen
class Independence:
    """The outcome of a check.

    Attributes:
        trials: how many were looked at, with the digests that they had.
        leaks: one for each kind and trial.
    """

    trials: dict[str, str | None]
    leaks: tuple[Leak, ...]

    @property
    def broken(self) -> list[str]:
        """Trials that show something of another, in order."""
        return sorted({leak.trial for leak in self.leaks})


def check_independence(home: Home, run: str) -> Independence:
    """Look through all trials of a run, in the order in which they were made, and keep what is found."""
    views: list[View] = []
    for _, path in home.trials(run):
        try:
            views.append(View(path, home))
        except CassetteError:
            continue  # what cannot be read is told by every command that reads it
    views.sort(key=lambda view: (view.cassette.header.began, view.id.index, view.id.task))
    found = Independence({str(v.id): v.cassette.digest for v in views}, tuple(leaks_between([*map(traces_of, views)])))
    _keep(home, run, found)
    return found


def known_independence(home: Home, run: str) -> Independence | None:
    """What the last check of the run found; None if it was never checked."""
    path = home.run(run) / "independence.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        return None  # half written by another version or process: as good as never checked
    return Independence(document["trials"], tuple(Leak(**leak) for leak in document["leaks"]))


def _keep(home: Home, run: str, found: Independence) -> None:
    path = home.run(run) / "independence.json"
    temporary = path.with_name(f"independence.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    document = {"trials": found.trials, "leaks": [leak.to_dict() for leak in found.leaks]}
    temporary.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    temporary.replace(path)


def told(leaks: Sequence[Leak], most: int = 5) -> list[str]:
    """The leaks for people, one line each, at most so many."""
    lines = [f"{leak.trial} is not independent ({leak.kind}): {leak.what}" for leak in leaks[:most]]
    return [*lines, f"... and {len(leaks) - most} more"] if len(leaks) > most else lines
