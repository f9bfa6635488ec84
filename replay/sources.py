"""Where frozen calls get their answers: the recordings of a task, and the worlds made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cassettes.errors import BadInput
from cassettes.model import TrialId

from .home import Home
from .recording import Recording
from .view import View
from .worlds import World

__all__ = ["Pool", "pool_of", "world_of"]

Pool = list[tuple[Recording, str]]  # recordings with their digests


def pool_of(
    home: Home, run: str, task: str, ignore: Iterable[str] = (), pinned: Mapping[str, str] | None = None
) -> Pool:
    """The recordings of a task that may answer frozen calls, by index, with their digests.

    Only trials that completed or were capped are taken: of the others nobody knows what came next.

    Args:
        home: where the recordings lie.
        run: the run they belong to.
        task: the task's id.
        ignore: dotted paths of arguments that do not count in a match.
        pinned: the recordings that an earlier session of the same frozen run drew on, with their digests; later ones
            are left alone.

    Raises:
        BadInput: there is none, or a pinned one has changed or is gone.
        CassetteError: one cannot be read.
    """
    views = [View(path, home) for trial, path in home.trials(run) if trial.task == task]
    whole = [view for view in views if view.ending.status in {"completed", "capped"}]
    if pinned:
        whole = [view for view in whole if str(view.id) in pinned]
        found = {str(view.id): str(view.cassette.digest) for view in whole}
        wanted = {name: digest for name, digest in pinned.items() if TrialId.parse(name).task == task}
        for name, digest in wanted.items():
            if found.get(name) != digest:
                raise BadInput(f"the run draws on the recording {name}, which has changed or is gone; use another name")
    if not whole:
        raise BadInput(f"run {run!r} in {home.root} has no finished trial of task {task!r} to answer frozen calls")
    return [(Recording(view.id, view.cassette, tuple(ignore)), str(view.cassette.digest)) for view in whole]


def world_of(pool: Pool, number: int) -> World:
    """World ``number``: the recordings from that place on, then those before it."""
    recordings = [recording for recording, _ in pool]
    start = number % len(recordings)
    return World([*recordings[start:], *recordings[:start]])
