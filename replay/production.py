"""``tt.session``: recording around live traffic, which it neither stops nor changes."""

from __future__ import annotations

import os
import random
import threading
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from attrs import field, frozen

from cassettes.errors import AlreadyRecorded, BadInput, RecordingFailed
from cassettes.given import given_rules
from cassettes.model import Ending, Header, TrialId
from cassettes.personal import PERSONAL
from cassettes.recorder import current, listening
from cassettes.redact import Redactor, secrets_of
from cassettes.values import pack
from cassettes.writer import CassetteWriter

from .guard import Guard
from .home import Home
from .patching import patched
from .policy import RECORD
from .retention import sweep
from .runs import RunFile, load_run, open_run, packages
from .session import Session
from .state import StateTracker

__all__ = ["LiveSession", "session"]

_TRIES: Final = 100  # for a free index, while other processes take indices too


def session(
    *,
    run: str = "prod",
    name: str | None = None,
    sample: float = 1.0,
    max_bytes: int | None = 16 << 20,
    max_seconds: float | None = 3600.0,
    keep: str | None = "30d",
    personal_data: bool = True,
    redact: Any = (),
    home: str | Path | None = None,
    rng: random.Random | None = None,
) -> LiveSession:
    """Record live traffic in a block: ``with tt.session(run="prod"): ...``, sync or async.

    Nothing is raised into the block or out of it, also if recording is impossible: that is logged, and the block goes
    on unrecorded. Limits end the recording, not the block.

    Args:
        run: the run it belongs to; it holds sessions only.
        name: groups the sessions of a run; None is ``session``.
        sample: the share of sessions that is recorded, 0.0 to 1.0.
        max_bytes: of the cassette, and of one answer.
        max_seconds: of one session.
        keep: sessions of the run that are older are deleted when one begins; None keeps all.
        personal_data: True replaces e-mail addresses and numbers of phones, cards, IBANs and SSNs; False keeps them.
        redact: more that is removed before anything is written, as of `replay.block.trial`.
        home: the home folder; None takes ``TRIALTAPE_HOME`` or ``./.trialtape``.
        rng: draws which sessions are recorded; None takes the system's randomness, never the global generator.
    """
    options = _Options(run, name, sample, max_bytes, max_seconds, keep, personal_data, redact, home, rng or _RANDOM)
    return LiveSession(options)


_RANDOM: Final = random.SystemRandom()  # a forked worker draws differently, and the host's generator is left alone


@frozen
class _Options:
    run: str
    name: str | None
    sample: float
    max_bytes: int | None
    max_seconds: float | None
    keep: str | None
    personal_data: bool
    redact: Any
    home: str | Path | None
    rng: random.Random = field(repr=False)


class LiveSession:
    """A session in progress; use it as a block, sync or async. None of its methods raises.

    Attributes:
        id: its id, if it is recorded.
        path: its cassette.
        sampled: False if the sampling left it out.
    """

    def __init__(self, options: _Options) -> None:
        self.id: TrialId | None = None
        self.path: Path | None = None
        self.sampled = True
        self._options = options
        self._guard: Guard | None = None
        self._stack: ExitStack | None = None
        self._redactor: Redactor | None = None
        self._session: Session | None = None
        self._home: Home | None = None
        self._nested = False
        self._again = 0  # how often this very object was entered while it is in use

    # -- what a block may say or ask ----------------------------------------------------------------------------------

    @property
    def recording(self) -> bool:
        """True while calls are recorded."""
        return self._session is not None and self._guard is not None and not self._guard.over

    @property
    def ending(self) -> Ending | None:
        """How the recording ended; None while it goes on, or if there is none."""
        return None if self._guard is None else self._guard.ending

    @property
    def reason(self) -> str | None:
        """Why nothing, or nothing more, is recorded."""
        if not self.sampled:
            return "not sampled"
        if self._nested:
            return "another trial or session records here already"
        return None if self._guard is None else self._guard.reason

    def track(self, state: Any) -> None:
        """Follow ``state`` (a dict, a list or an object with attributes): each write's change is recorded."""
        if self._guard is not None and self._session is not None:
            self._guard.attempt(self._track, state)

    def message(self, role: str, content: str) -> None:
        """Keep a message that no model call shows."""
        if self._guard is not None and self._session is not None:
            self._guard.attempt(self._message, role, content)

    # -- the block ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if self._stack is not None:
            self._again += 1
            return self
        options = self._options
        self.id = self.path = self._session = None
        name = f"{options.run}/{options.name or 'session'}"
        guard = self._guard = Guard(name, options.max_bytes, options.max_seconds)
        try:
            guard.attempt(self._begin, guard)
        except BaseException:  # an interrupt: the block is never entered, so nothing else would undo this
            self._leave()
            guard.finish(None)
            raise
        if guard.over:
            self._leave()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._again:
            self._again -= 1
        elif self._guard is not None:
            self._guard.finish(error)
            self._leave()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _leave(self) -> None:
        stack, self._stack = self._stack, None
        if stack is not None and self._guard is not None:
            Guard(self._guard.name).attempt(_closed, stack)

    def _begin(self, guard: Guard) -> None:
        options = self._options
        if not 0 <= options.sample <= 1:
            raise BadInput(f"sample is a share from 0.0 to 1.0, not {options.sample}")
        self.sampled = options.sample == 1 or options.rng.random() < options.sample
        if not self.sampled:
            return
        outer = current()
        self._nested = outer is not None and not (isinstance(outer, Guard) and outer.over)
        if self._nested:
            return
        home = self._home = Home.find(options.home)
        name = options.name or "session"
        home.task(options.run, name)  # is it a name?
        _open(home, options.run)
        if options.keep is not None:
            sweep(home, options.run, options.keep)
        rules = PERSONAL if options.personal_data else ()
        given = given_rules(options.redact)
        redactor = self._redactor = Redactor(home.redaction_key(), secrets_of(os.environ), rules, given)
        writer = self._create(home, name, redactor)
        guard.start(writer)
        self.path = writer.path
        recorded = Session(writer, RECORD, redactor)
        stack = self._stack = ExitStack()
        stack.enter_context(patched())
        guard.listen(recorded)
        self._session = recorded
        stack.enter_context(listening(guard))

    def _create(self, home: Home, name: str, redactor: Redactor) -> CassetteWriter:
        options = self._options
        config = {"mode": "session", "sample": options.sample, "personal_data": not options.personal_data}
        for _ in range(_TRIES):
            self.id = TrialId(options.run, name, _Indices.take(home, options.run, name))
            header = Header(options.run, name, self.id.index, began=time.time(), config=config, packages=packages())
            try:
                return CassetteWriter(home.cassette(self.id), header, redactor)
            except AlreadyRecorded:  # another process was first
                _Indices.forget(home, options.run, name)
        raise RecordingFailed(f"no index is free in {home.task(options.run, name)}")

    def _track(self, state: Any) -> None:
        assert self._session is not None
        assert self._home is not None
        assert self._redactor is not None
        journal = self._session.journal
        if journal.state is not None:
            raise BadInput(f"{self.id} tracks a state already")
        tracker = StateTracker(state, self._redactor)
        cleaned, _ = self._redactor.packed(pack(state))
        journal.mark("state", {"digest": self._home.keep_state(cleaned)})
        journal.state = tracker

    def _message(self, role: str, content: str) -> None:
        assert self._session is not None
        self._session.journal.mark("message", {"role": role, "content": content, "step": self._session.steps})


class _Indices:
    """The next index of each name of sessions; the folder is read once, however many sessions there are."""

    lock = threading.Lock()
    following: dict[Path, int] = {}  # noqa: RUF012  # of the process

    @classmethod
    def take(cls, home: Home, run: str, name: str) -> int:
        """An index that this process has not taken yet."""
        folder = home.task(run, name).absolute()
        with cls.lock:
            index = cls.following.get(folder)
            if index is None:
                taken = [identity.index for identity, _ in home.trials(run) if identity.task == name]
                index = max(taken, default=-1) + 1
            cls.following[folder] = index + 1
            return index

    @classmethod
    def forget(cls, home: Home, run: str, name: str) -> None:
        """Read the folder again."""
        with cls.lock:
            cls.following.pop(home.task(run, name).absolute(), None)


def _open(home: Home, run: str) -> None:
    """Make the run, or go on with it if it is one of sessions.

    Raises:
        BadInput: it is a run of trials.
    """
    if not (home.run(run) / "run.json").exists():
        created = datetime.now(UTC).isoformat(timespec="seconds")
        open_run(home, RunFile(run, config={"mode": "session"}, about={"created": created, "packages": packages()}))
    elif load_run(home, run).config.get("mode") != "session":
        raise BadInput(f"run {run!r} is one of trials; give sessions a run of their own")


def _closed(stack: ExitStack) -> None:
    with suppress(ValueError):  # another context than the one that began: nothing listens here
        stack.close()
