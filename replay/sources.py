"""Where frozen calls get their answers: the recordings of a task, and the worlds made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cassettes.errors import BadInput, NotACassette
from cassettes.model import TrialId

from .effects import AS_DECLARED, Effects
from .home import Home
from .policy import Policy
from .readings import readings_of
from .recording import Recording
from .view import View
from .worlds import World

__all__ = ["Pool", "extensions_of", "pool_of", "recording_of", "recordings_of", "world_of"]

Pool = list[tuple[Recording, str]]  # recordings with their digests


def recording_of(view: View, ignore: tuple[str, ...], effects: Effects = AS_DECLARED) -> Recording:
    """A recorded trial made ready to answer calls, and readings of the clock and of randomness."""
    return Recording(view.id, view.cassette, ignore, readings_of(view.marks), effects)


def pool_of(
    home: Home,
    run: str,
    task: str,
    ignore: Iterable[str] = (),
    pinned: Mapping[str, str] | None = None,
    effects: Effects = AS_DECLARED,
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
        effects: what is declared of their calls besides what they hold.

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
    return [(recording_of(view, tuple(ignore), effects), str(view.cassette.digest)) for view in whole]


def recordings_of(home: Home, run: str, effects: Effects = AS_DECLARED) -> dict[str, list[Recording]]:
    """The trials of a run that completed or were capped, by task, in the order of their indexes.

    Raises:
        BadInput: there is none.
        CassetteError: one cannot be read.
    """
    found: dict[str, list[Recording]] = {}
    for trial, path in home.trials(run):
        view = View(path, home)
        if view.ending.status in {"completed", "capped"}:
            found.setdefault(trial.task, []).append(recording_of(view, (), effects))
    if not found:
        raise BadInput(f"run {run!r} in {home.root} has no finished trial")
    return found


def world_of(pool: Pool, number: int, extensions: Sequence[Recording] = ()) -> World:
    """World ``number``: the recordings from that place on, then those before it, then what extended it."""
    recordings = [recording for recording, _ in pool]
    start = number % len(recordings)
    return World([*recordings[start:], *recordings[:start]], extensions)


def extensions_of(home: Home, identity: TrialId, world: int, policy: Policy, runs: Sequence[str]) -> list[Recording]:
    """The other finished trials that live in the same world of the same task, by index, then in the order of the runs.

    Args:
        home: where the recordings lie.
        identity: the trial that is to live there.
        world: its number.
        policy: under which all of these runs are made.
        runs: frozen runs of the same recorded worlds.

    Raises:
        CassetteError: one cannot be read.
    """
    found = []
    others = [(trial, path) for run in runs for trial, path in home.trials(run) if trial.task == identity.task]
    for trial, path in sorted(others, key=lambda other: other[0].index):
        if trial == identity:
            continue
        try:
            view = View(path, home)
        except NotACassette:
            continue  # it is being created right now, or was killed meanwhile: nothing had returned
        shares = view.cassette.header.config.get("world") == world
        if shares and view.ending.status not in {"incomplete", "cancelled"} and view.coverage.get("extended"):
            found.append(recording_of(view, policy.ignore, policy.effects))
    return found
