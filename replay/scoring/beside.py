"""A question to a model about a recorded trial: its calls lie in a cassette beside the trial's.

So the answer is given again for nothing, by asking the same of the recording.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from cassettes.errors import BadInput, NotACassette
from cassettes.model import TrialId
from replay.actors import acting_as
from replay.home import Home, writing
from replay.orchestration.tasks import Task
from replay.playback import Playback
from replay.policy import RECORD, REPLAY, Policy
from replay.setup import Setup
from replay.sources import recording_of
from replay.trial import Trial
from replay.view import View

__all__ = ["asked_beside", "path_beside"]

T = TypeVar("T")


def path_beside(view: View, by: str, number: int = 0) -> Path:
    """Where the calls lie: ``<index>.<by>.cassette`` beside the trial's, of later times with their number."""
    again = f".{number}" if number else ""
    return view.path.with_name(f"{view.id.index}.{TrialId.to_path(by)}{again}.cassette")


def asked_beside(view: View, path: Path, by: str, ask: Callable[[Any], T], told: Any = None) -> tuple[T, bool]:
    """What ``ask`` returns, from its recorded calls where these are whole, else by live ones that are recorded.

    Args:
        view: of the trial that the question is about.
        path: of the calls: see `path_beside`.
        by: who asks, ``name@version``.
        ask: makes model calls, on behalf of the actor ``judge``. It is given ``told``; if it was asked before, what it
            was told then.
        told: JSON-like: what the question says besides the trial. It is kept with the calls.

    Returns:
        The answer, and whether live calls were made for it.

    Raises:
        Exception: whatever ``ask`` raises.
        BadInput: the trial lies in no home folder.
        CassetteError: a cassette cannot be read or written.
        Divergence: something else is asked than is recorded.
    """
    recorded = _whole(path, view)
    if recorded is None:
        return _made(view, path, by, ask, told, RECORD, None), True
    with TemporaryDirectory(prefix="trialtape-judge-") as folder:
        source = Playback(recording_of(recorded, ()))
        before = recorded.cassette.header.config.get("told")
        return _made(view, Path(folder) / "again.cassette", by, ask, before, REPLAY, source), False


def _made(
    view: View, path: Path, by: str, ask: Callable[[Any], T], told: Any, policy: Policy, source: Playback | None
) -> T:
    above = view.path.resolve().parents  # <home>/cassettes/<run>/<task>/<index>.cassette
    if len(above) < 4 or above[2].name != "cassettes":
        raise BadInput(f"{view.path} lies in no home folder, so a judge cannot keep its calls beside it")
    config = {"mode": policy.mode, "judge": by, "of": view.cassette.digest, **({} if told is None else {"told": told})}
    setup = Setup(view.id, path, Home(above[3]), policy, Task(id=view.id.task), source, config, os.environ)
    found: list[T] = []
    with Trial(setup), acting_as("judge"):
        found.append(ask(told))
    return found[0]


def _whole(path: Path, view: View) -> View | None:
    """The recorded calls; if they were cut short, went wrong, or are of another recording, they are set aside."""
    if not path.exists():
        return None
    try:
        found = View(path)
    except NotACassette:  # killed while it was created: not even its header is there
        found = None
    if found is not None and found.ending.status == "completed" and _is_of(found, view):
        return found
    with writing(path):
        path.rename(path.with_name(f"{path.name}.{_free(path)}.aside"))
    return None


def _is_of(asked: View, view: View) -> bool:
    return bool(asked.cassette.header.config.get("of") == view.cassette.digest)


def _free(path: Path) -> int:
    return sum(1 for _ in path.parent.glob(f"{path.name}.*.aside")) + 1
