"""How long sessions are kept: those of a run that are older are deleted. Trials never are."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from cassettes.errors import BadInput, CassetteError
from cassettes.reader import Cassette

from .home import Home

__all__ = ["delete_expired", "expired", "seconds_of", "sweep"]

_log = logging.getLogger("trialtape")

SWEEP_SECONDS: Final = 60.0  # at most so often a process looks for old sessions of a run

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def seconds_of(age: str) -> float:
    """The seconds in an age such as ``30d``, ``12h`` or ``2w``.

    Raises:
        BadInput: it is none.
    """
    match = _AGE.fullmatch(str(age).strip())
    if match is None:
        raise BadInput(f"{age!r} is no age; give a number with a unit: 30d, 12h, 90m, 45s or 2w")
    return float(match[1]) * _UNITS[match[2]]


def expired(home: Home, run: str, seconds: float, now: float | None = None) -> Iterator[Path]:
    """The sessions of a run that were last written more than ``seconds`` ago.

    A file whose header cannot be read may be anything, so it is left out.
    """
    oldest = (time.time() if now is None else now) - seconds
    for path in home.recordings(run):
        with suppress(OSError, CassetteError):
            if path.stat().st_mtime < oldest and Cassette(path).header.config.get("mode") == "session":
                yield path


def delete_expired(home: Home, run: str, seconds: float) -> list[Path]:
    """Delete the sessions of a run that are older; returns which.

    Raises:
        BadInput: one cannot be deleted.
    """
    gone = []
    for path in expired(home, run, seconds):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise BadInput(f"{path} cannot be deleted: {error.strerror}") from error
        gone.append(path)
    return gone


class _Sweeps:
    """When this process last looked, by the folder of the run."""

    lock = threading.Lock()
    last: dict[Path, float] = {}  # noqa: RUF012  # of the process


def sweep(home: Home, run: str, keep: str) -> threading.Thread | None:
    """Delete old sessions in a thread of its own, unless this process did so less than a minute ago.

    Raises:
        BadInput: ``keep`` is no age.
    """
    seconds = seconds_of(keep)
    folder = home.run(run).absolute()
    now = time.monotonic()
    with _Sweeps.lock:
        if now - _Sweeps.last.get(folder, -SWEEP_SECONDS) < SWEEP_SECONDS:
            return None
        _Sweeps.last[folder] = now
    thread = threading.Thread(target=_swept, args=(home, run, seconds), name="trialtape-retention", daemon=True)
    thread.start()
    return thread


def _swept(home: Home, run: str, seconds: float) -> None:
    try:
        delete_expired(home, run, seconds)
    except BaseException as error:  # noqa: BLE001  # nothing of ours reaches the host, from no thread; it is tried again
        _log.warning("old sessions of run %s were not deleted: %s: %s", run, type(error).__name__, error)
