"""One trial in progress, from its first call to its ending."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from contextlib import ExitStack
from copy import deepcopy
from types import TracebackType
from typing import Any, Self

from attrs import evolve

from cassettes.ambient import observing
from cassettes.errors import (
    AlreadyRecorded,
    BadInput,
    Interrupted,
    NothingCaptured,
    RecordingFailed,
    TrialStopped,
    TrialtapeError,
)
from cassettes.model import Ending, Header
from cassettes.recorder import listening, watching
from cassettes.redact import Redactor, secrets_of
from cassettes.values import pack
from cassettes.writer import CassetteWriter

from .ambient import Ambient, alone_if
from .branching.prefix import Prefix
from .emulation import Emulation, asking
from .endings import ending_of
from .injecting import Injecting
from .orchestration.tasks import definition_of, digests_of, fresh_state
from .patching import patched
from .playback import Playback
from .readings import AMBIENT
from .runs import packages
from .session import Session
from .setup import Setup
from .state import StateTracker

__all__ = ["Trial"]


class Trial:
    """A trial in progress; use it as a block, sync or async.

    Attributes:
        task: the task.
        state: the fresh tracked state of this trial: made by the task, or given to `track`.
        digests: of what makes the task this task.
        settings: what the agent is told of how to do its work: of the suite, or of an arm of an A/B run.
        environ: the environment of the program that is the agent.
        seed: stable for the run's seed, the task and the index; for the agent's own use.
        user_seed: the same, for the simulated user: trials of a run with ``user_seeds`` share it; else ``seed``.
    """

    def __init__(self, setup: Setup) -> None:
        self.id = setup.id
        self.task = setup.task
        self.state: Any = fresh_state(setup.task)
        self.seed = setup.seed_for(setup.id)
        self.user_seed = setup.user_seed_for(setup.id)
        self.settings: dict[str, Any] = deepcopy(dict(setup.config.get("settings", {})))
        self.environ = setup.environ
        self.ending: Ending | None = None
        self._setup = setup
        self._capped: str | None = None
        self._completed: str | None = None
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self.digests = digests_of(setup.task, self.state)
        self.session: Session

    # -- what a block may say -----------------------------------------------------------------------------------------

    def track(self, state: Any) -> None:
        """Follow ``state`` (a dict, a list or an object with attributes): each write's change is recorded.

        Raises:
            BadInput: a state is tracked already.
            UnkeepableValue: something in it has no lossless form.
        """
        if self.session.journal.state is not None:
            raise BadInput(f"{self.id} tracks a state already")
        tracker = StateTracker(state, self._redactor)
        cleaned, _ = self._redactor.packed(pack(state))
        with observing(None):  # what our own files need of the clock and of randomness is not the agent's
            digest = self._setup.home.keep_state(cleaned)
        self.session.journal.mark("state", {"digest": digest})
        self.session.journal.state = tracker
        self.state = state

    def capped(self, reason: str) -> None:
        """Say that a cap (of steps, of errors) ended the trial: pass^k counts it as 0."""
        self._capped = reason

    def completed(self, reason: str) -> None:
        """Say why the trial came to its end, such as ``user_stop``; of one that ends otherwise it is not kept."""
        self._completed = reason

    def message(self, role: str, content: str) -> None:
        """Keep a message that no model call shows, such as one of a scripted user."""
        try:
            self.session.journal.mark("message", {"role": role, "content": content, "step": self.session.steps})
        except RecordingFailed as error:  # a redaction rule raised: it stops the trial even if the agent goes on
            self.session.stop(error)
            raise

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
        frozen, kinds = self._ambient_kinds()
        self._stack.enter_context(alone_if("random" in kinds, str(self.id)))
        try:
            self._open(frozen, kinds)
        except BaseException:  # the block is never entered, so nothing else would undo this
            self._stack.close()
            raise

    def _ambient_kinds(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What of the clock and of randomness is frozen, and what is written down.

        Raises:
            BadInput: it is to be frozen, but was not recorded.
        """
        setup = self._setup
        readings = None if setup.first_source is None else setup.first_source.readings
        recorded = () if readings is None else readings.kinds
        wanted = (*setup.policy.ambient, *(() if setup.prefix is None else recorded))
        missing = [kind for kind in wanted if kind not in recorded]
        if missing and setup.policy.mode != "replay":
            raise BadInput(
                f"{missing[0]!r} cannot be frozen: it is not in the recordings of {self.task.id!r}; record them with "
                f"ambient={missing[0]!r} (`trialtape run --ambient {missing[0]}`)"
            )
        frozen = tuple(kind for kind in wanted if kind in recorded)
        return frozen, tuple(kind for kind in AMBIENT if kind in {*frozen, *setup.ambient})

    @property
    def _emulation(self) -> Emulation | None:
        model = self._setup.emulator
        return None if model is None else Emulation(model, asking(), self._redactor)

    def _open(self, frozen: tuple[str, ...], kinds: tuple[str, ...]) -> None:
        setup = self._setup
        redactor = self._redactor = Redactor(setup.home.redaction_key(), secrets_of(setup.environ), given=setup.redact)
        writer = self._writer = self._create(redactor)
        self.session = Session(
            writer,
            setup.policy,
            redactor,
            setup.source,
            setup.throttle,
            pace=setup.pace,
            prefix=setup.prefix,
            emulation=self._emulation,
        )
        if setup.task.injections:
            self.session.injecting = Injecting(setup.task.injections)
        try:
            self._stack.enter_context(patched(kinds))
            self._stack.enter_context(watching(self.session.unattributed))
            self._stack.enter_context(listening(self.session))
            if self.state is not None:
                self.track(self.state)
            if kinds:
                session, source = self.session, setup.first_source
                served, name = (None, "") if source is None else (source.readings, source.name)
                session.ambient = Ambient(kinds, session.journal, session.strand, time.time_ns, served, name, frozen)
                self._stack.enter_context(observing(session.ambient))
        except BaseException:
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
                self.seed = setup.seed_for(self.id)
                self.user_seed = setup.user_seed_for(self.id)

    def end(self, error: BaseException | None) -> BaseException | None:
        """Close the cassette; returns what must leave the block: nothing, ``error``, or what stopped it."""
        with contextlib.suppress(ValueError):  # another context than the one that began: nothing listens here
            self._stack.close()
        if self._process != os.getpid():  # a forked child leaves the block, which is its parent's to end
            return error
        with self._lock:
            if self.ending is not None:
                return error
            leaving = self.session.halt or error
            try:
                if self.session.ambient is not None:
                    self.session.ambient.end()
                if not isinstance(leaving, RecordingFailed):
                    self._tell_unseen()
                if leaving is None:
                    leaving = self._found_at_the_end()
                if isinstance(leaving, RecordingFailed):
                    raise leaving
                self.session.close()
                self.ending = ending_of(leaving, self._capped, self.session.live_model_calls)
                if self.ending.status == "completed":
                    self.ending = evolve(self.ending, reason=self._completed)
                self._writer.close(self.ending)
            except RecordingFailed as failed:
                self.session.close()
                self.ending = ending_of(failed, self._capped, self.session.live_model_calls)
                self._writer.abandon()
                return failed
        return leaving

    def _tell_unseen(self) -> None:
        """Mark what happened meanwhile and is not in the recording."""
        unseen = self.session.unattributed.counts + self.session.escaped_work.counts
        if unseen:
            counts: Counter[str] = Counter()
            names: Counter[str] = Counter()
            for name, number in unseen.most_common():
                names[self._redactor.text(name, counts)] += number
            self.session.journal.mark("unattributed", {"count": unseen.total(), "names": dict(names)})

    def _found_at_the_end(self) -> TrialtapeError | None:
        change = self.session.journal.change()
        if change is not None:
            self.session.journal.mark("changed", change)
            where = len(change.changes)
            self.session.journal.mark("problem", f"{where} change(s) of the tracked state that no write explains")
        if self.session.unfinished:
            told = f"{self.session.unfinished} call(s) had not ended when the trial did, and are not recorded"
            self.session.journal.mark("problem", told)
        for problem in self.session.journal.problems:
            self.session.journal.mark("problem", str(problem))
        source = self._setup.first_source
        if isinstance(source, Playback | Prefix):
            left_over = source.left_over()
            if left_over is not None:
                return left_over
        if self.session.steps == 0:
            return NothingCaptured(
                f"{self.id}: 0 calls captured; the agent made no model or tool call that an adapter sees "
                "(see `trialtape doctor`)"
            )
        return self.session.journal.problems[0] if self.session.journal.problems else None
