"""One trial as a block of the user's code."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zlib import crc32

from attrs import evolve, frozen

from cassettes.errors import (
    AlreadyRecorded,
    BadInput,
    CassetteError,
    Divergence,
    Interrupted,
    NothingCaptured,
    RecordingFailed,
    Refused,
    TrialStopped,
    TrialtapeError,
    Unanswered,
    UnkeepableValue,
)
from cassettes.model import Ending, Header, TrialId
from cassettes.recorder import listening
from cassettes.redact import Redactor, secrets_of
from cassettes.values import pack
from cassettes.writer import CassetteWriter

from .home import Home
from .patching import patched
from .playback import Playback
from .policy import RECORD, REPLAY, OnMiss, Policy
from .policy import freeze as freezing
from .recording import Recording
from .runs import RunFile, open_run, packages
from .session import Session
from .state import StateTracker
from .tasks import Task, definition_of, digests_of, fresh_state
from .throttle import Throttle, status_of
from .view import View, open_trial
from .worlds import World

__all__ = ["Setup", "Trial", "pool_of", "trial"]

# No key, no money, no such model, no capacity: nothing that tells of the agent.
_INFRASTRUCTURE = {401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529}


@frozen
class Setup:
    """All that a trial is made from; `trial` and the suite runner build it.

    Attributes:
        source: the recorded answers, made ready for this trial.
        config: kept in the cassette's header.
        environ: where secrets are looked for.
        index_is_free: the index was only proposed: if another trial takes it first, the next free one serves.
        seed_of: the trial whose seed this one has, if not its own: a replay's is that of the recording.
    """

    id: TrialId
    path: Path
    home: Home
    policy: Policy
    task: Task
    source: Playback | World | None
    config: Mapping[str, Any]
    environ: Mapping[str, str]
    throttle: Throttle | None = None
    index_is_free: bool = False
    seed_of: TrialId | None = None


class Trial:
    """A trial in progress; use it as a block, sync or async.

    Attributes:
        task: the task.
        state: the fresh tracked state of this trial: made by the task, or given to `track`.
        digests: of what makes the task this task.
        seed: stable for the run's seed, the task and the index; for the agent's own use.
    """

    def __init__(self, setup: Setup) -> None:
        self.id = setup.id
        self.task = setup.task
        self.state: Any = fresh_state(setup.task)
        self.seed = _seed(setup.config.get("seed", 0), setup.seed_of or setup.id)
        self.ending: Ending | None = None
        self._setup = setup
        self._capped: str | None = None
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self.digests = digests_of(setup.task, self.state)
        self.session: Session

    # -- what a block may say -----------------------------------------------------------------------------------------

    def track(self, state: Any) -> None:
        """Follow ``state`` (a dict, a list or an object with attributes): each write's change is recorded.

        Raises:
            BadInput: a state is tracked already.
            UnkeepableValue: something in it has no lossless form.
        """
        if self.session.state is not None:
            raise BadInput(f"{self.id} tracks a state already")
        tracker = StateTracker(state, self._redactor)
        cleaned, _ = self._redactor.packed(pack(state))
        self.session.mark("state", {"digest": self._setup.home.keep_state(cleaned)})
        self.session.state = tracker
        self.state = state

    def capped(self, reason: str) -> None:
        """Say that a cap (of steps, of errors) ended the trial: pass^k counts it as 0."""
        self._capped = reason

    def message(self, role: str, content: str) -> None:
        """Keep a message that no model call shows, such as one of a scripted user."""
        self.session.mark("message", {"role": role, "content": content, "step": self.session.steps})

    def interrupt(self) -> None:
        """Stop the trial from another thread: its next call ends it as ``cancelled``."""
        self.session.stop(Interrupted(f"{self.id} was interrupted"))

    @property
    def index(self) -> int:
        """Which trial of its task this is, from 0."""
        return self.id.index

    @property
    def verdicts(self) -> Counter[str]:
        """How the frozen calls were answered so far."""
        return self.session.verdicts

    # -- the block ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        leaving = self.end(error)
        if leaving is None or leaving is error:
            return error is not None and leaving is None
        if isinstance(error, TrialStopped):  # the agent's own frames say where; those that found out add nothing
            raise leaving.with_traceback(None) from None
        raise leaving from error

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        return self.__exit__(kind, error, traceback)

    def begin(self) -> None:
        """Open the cassette, and listen in this context."""
        setup = self._setup
        redactor = self._redactor = Redactor(setup.home.redaction_key(), secrets_of(setup.environ))
        writer = self._writer = self._create(redactor)
        self.session = Session(writer, setup.policy, redactor, setup.source, setup.throttle)
        try:
            self._stack.enter_context(patched())
            self._stack.enter_context(listening(self.session))
            if self.state is not None:
                self.track(self.state)
        except BaseException:  # the block is never entered, so nothing else would undo this
            self._stack.close()
            writer.abandon()
            raise

    def _create(self, redactor: Redactor) -> CassetteWriter:
        setup = self._setup
        while True:
            header = Header(
                run=self.id.run,
                task=self.id.task,
                index=self.id.index,
                began=time.time(),
                config=setup.config,
                task_definition=definition_of(setup.task, self.digests),
                packages=packages(),
            )
            path = setup.path if self.id == setup.id else setup.home.cassette(self.id)
            try:
                return CassetteWriter(path, header, redactor)
            except AlreadyRecorded:
                if not setup.index_is_free:
                    raise
                self.id = evolve(self.id, index=self.id.index + 1)
                self.seed = _seed(setup.config.get("seed", 0), setup.seed_of or self.id)

    def end(self, error: BaseException | None) -> BaseException | None:
        """Close the cassette; returns what must leave the block: nothing, ``error``, or what stopped it."""
        with contextlib.suppress(ValueError):  # another context than the one that began: nothing listens here
            self._stack.close()
        with self._lock:
            if self.ending is not None:
                return error
            leaving = self.session.halt or error
            try:
                if leaving is None:
                    leaving = self._found_at_the_end()
                if isinstance(leaving, RecordingFailed):
                    raise leaving
                self.session.close()
                self.ending = self._ending(leaving)
                self._writer.close(self.ending)
            except RecordingFailed as failed:
                self.session.close()
                self.ending = self._ending(failed)
                self._writer.abandon()
                return failed
        return leaving

    def _found_at_the_end(self) -> TrialtapeError | None:
        change = self.session.unexplained_change()
        if change is not None:
            self.session.mark("changed", change)
            where = len(change.changes)
            self.session.mark("problem", f"{where} change(s) of the tracked state that no write explains")
        for problem in self.session.problems:
            self.session.mark("problem", str(problem))
        source = self._setup.source
        if isinstance(source, Playback):
            left_over = source.left_over()
            if left_over is not None:
                return left_over
        if self.session.steps == 0:
            return NothingCaptured(
                f"{self.id}: 0 calls captured; the agent made no model or tool call that an adapter sees "
                "(see `trialtape doctor`)"
            )
        return self.session.problems[0] if self.session.problems else None

    def _ending(self, leaving: BaseException | None) -> Ending:
        match leaving:
            case None:
                return Ending("completed") if self._capped is None else Ending("capped", self._capped)
            case Interrupted():
                return Ending("cancelled", "interrupted")
            case Unanswered():
                return Ending("unanswered", str(leaving))
            case TrialtapeError():
                return Ending("error", str(leaving), _cause_of(leaving))
            case KeyboardInterrupt() | asyncio.CancelledError() | GeneratorExit():
                return Ending("cancelled", type(leaving).__name__)
            case _:
                cause = "infrastructure" if self._provider_failed() else "agent"
                return Ending("error", f"{type(leaving).__name__}: {leaving}", cause)

    def _provider_failed(self) -> bool:
        """True if the last live model call failed for reasons that are not the agent's."""
        calls = self.session.live_model_calls
        if not calls:
            return False
        status = status_of(calls[-1].outcome)
        reply = calls[-1].reply
        return status in _INFRASTRUCTURE or (status is None and (reply is None or reply.error is not None))


def _cause_of(halt: TrialtapeError) -> str:
    names: tuple[tuple[type[TrialtapeError], str], ...] = (
        (Divergence, "divergence"),
        (Refused, "refused"),
        (NothingCaptured, "nothing captured"),
        (UnkeepableValue, "recording"),
        (CassetteError, "recording"),
    )
    return next((cause for kind, cause in names if isinstance(halt, kind)), "stopped")


def pool_of(
    home: Home, run: str, task: str, ignore: Iterable[str] = (), pinned: Mapping[str, str] | None = None
) -> list[tuple[Recording, str]]:
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


def world_of(pool: Iterable[Recording], number: int) -> World:
    """World ``number``: the recordings from that place on, then those before it."""
    recordings = list(pool)
    start = number % len(recordings)
    return World([*recordings[start:], *recordings[:start]])


def _seed(seed: int, trial: TrialId) -> int:
    return crc32(f"{seed}/{trial.task}#{trial.index}".encode())


def _free_index(home: Home, run: str, task: str) -> int:
    taken = [identity.index for identity, _ in home.trials(run) if identity.task == task]
    return max(taken, default=-1) + 1


def trial(
    *,
    run: str,
    task: str | Task,
    index: int | None = None,
    freeze: str | Iterable[str] | None = None,
    source: str | None = None,
    world: int | None = None,
    replay: str | None = None,
    on_miss: OnMiss = "fail",
    ignore: Iterable[str] = (),
    home: str | Path | None = None,
    seed: int = 0,
) -> Trial:
    """A trial, to be used as a block: ``with tt.trial(run="baseline", task="exchange-1") as trial: ...``.

    Args:
        run: the run it belongs to.
        task: the task, or its id.
        index: which trial of the task; None takes the first that is free.
        freeze: selectors such as ``"external"``: these calls are answered from ``source``.
        source: the run whose trials of this task are the recorded worlds.
        world: which of them comes first; None takes the one with this trial's index.
        replay: a trial's id or path: everything is answered from it.
        on_miss: what happens where no recording answers: ``fail``, ``live`` (reads only) or ``error``.
        ignore: dotted paths of arguments that do not count in a match.
        home: the home folder; None takes ``TRIALTAPE_HOME`` or ``./.trialtape``.
        seed: the run's seed, from which ``trial.seed`` is made.

    Raises:
        BadInput: the arguments do not go together, or name what does not exist.
    """
    place = Home.find(home)
    made = task if isinstance(task, Task) else Task(id=task)
    if replay is not None and (freeze is not None or source is not None or world is not None):
        raise BadInput("replay answers everything from one trial: freeze, source and world do not go with it")
    if (freeze is None) != (source is None):
        raise BadInput("freeze and source go together: what is frozen, and from which run it is answered")
    if index is not None and index < 0:
        raise BadInput(f"the index of a trial is 0 or more, not {index}")
    identity = TrialId(run, made.id, index if index is not None else _free_index(place, run, made.id))
    answers: Playback | World | None = None
    policy, pool, config = RECORD, {}, {"mode": "record", "seed": seed}
    seed_of: TrialId | None = None
    if replay is not None:
        view = open_trial(replay, place)
        policy, answers = REPLAY, Playback(Recording(view.id, view.cassette, tuple(ignore)))
        config = {"mode": "replay", "seed": view.cassette.header.config.get("seed", seed)}
        seed_of = view.id
    elif freeze is not None and source is not None:
        selectors = [freeze] if isinstance(freeze, str) else list(freeze)
        policy = freezing(selectors, on_miss=on_miss, ignore=ignore)
        recordings = pool_of(place, source, made.id, ignore)
        pool = {str(recording.trial): digest for recording, digest in recordings}
        number = identity.index if world is None else world
        answers = world_of([recording for recording, _ in recordings], number)
        config = {"mode": "freeze", "freeze": selectors, "source": source, "on_miss": on_miss, "seed": seed}
    created = datetime.now(UTC).isoformat(timespec="seconds")
    open_run(place, RunFile(run, config=config, about={"created": created, "packages": packages()}))
    setup = Setup(
        id=identity,
        path=place.cassette(identity),
        home=place,
        policy=policy,
        task=made,
        source=answers,
        config={**config, "pool": pool, "replay": replay} if policy is not RECORD else config,
        environ=os.environ,
        index_is_free=index is None and world is None and freeze is None,
        seed_of=seed_of,
    )
    return Trial(setup)
