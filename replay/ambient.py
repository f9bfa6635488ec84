"""What a trial reads of the clock and of randomness: written down while recording, handed out again in a replay.

The readings of a strand are kept in segments, one between each two of its calls. So code that reads once more or once
less than when it was recorded is off only until its next call. Beyond what was recorded the clock goes on from the
last reading, and random bytes are made of those that were drawn last: the same in each replay.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from attrs import define, field

from cassettes.errors import BadInput
from cassettes.model import Origin

from .generators import GeneratorState, generator_state, restore_generators, seed_generators
from .journal import Journal
from .readings import MARK, Readings

__all__ = ["Ambient", "alone_if"]


@define
class _Segment:
    """What one strand read since its last call."""

    number: int = 0
    clock: list[int] = field(factory=list)
    entropy: list[bytes] = field(factory=list)


class Ambient:
    """The observer of one trial; see `cassettes.ambient.Observer`.

    Args:
        kinds: which of ``clock`` and ``random`` are observed.
        journal: where readings are written down.
        strand: numbers the thread or task that reads (see `replay.strands`).
        served: the readings of a recorded trial that are handed out again; None while recording.
        served_trial: which trial that is.
        frozen: which of ``kinds`` are handed out from ``served``.
        now_ns: the real clock.
    """

    def __init__(
        self,
        kinds: tuple[str, ...],
        journal: Journal,
        strand: Callable[[], int],
        now_ns: Callable[[], int],
        served: Readings | None = None,
        served_trial: str = "",
        frozen: tuple[str, ...] = (),
    ) -> None:
        self.kinds = kinds
        self._served_trial = served_trial
        self._journal = journal
        self._strand = strand
        self._served = served
        self._clock_frozen = served is not None and "clock" in frozen
        self._random_frozen = served is not None and "random" in frozen
        self._segments: dict[int, _Segment] = defaultdict(_Segment)
        self._lock = threading.RLock()
        self._alive: dict[int, tuple[int, GeneratorState]] = {}  # live calls in progress, by step
        self._before: GeneratorState | None = None
        real = now_ns()
        self._last = (served.began if served is not None and self._clock_frozen else real, real)
        self._pool = b""
        self._begin()

    def _begin(self) -> None:
        start: dict[str, Any] = {"kinds": list(self.kinds), "began": self._last[0]}
        if "random" in self.kinds:
            if self._random_frozen:
                self._before = generator_state()
            self._restore(-1)
            start |= {"after": -1, "state": generator_state().plain()}
        self._journal.mark(MARK, start)

    # -- what the program reads ---------------------------------------------------------------------------------------

    def clock(self, live: Callable[[], int]) -> int:
        """The time that the trial sees."""
        real = live()
        if "clock" not in self.kinds:
            return real
        with self._lock:
            strand = self._strand()
            segment = self._segments[strand]
            value = self._recorded_time(strand, segment, real) if self._clock_frozen else real
            segment.clock.append(value)
            self._last = (value, real)
            return value

    def entropy(self, size: int, live: Callable[[int], bytes]) -> bytes:
        """The random bytes that the trial gets."""
        if "random" not in self.kinds:
            return live(size)
        with self._lock:
            strand = self._strand()
            segment = self._segments[strand]
            value = self._recorded_bytes(strand, segment, size) if self._random_frozen else live(size)
            segment.entropy.append(value)
            self._pool = value
            return value

    def _recorded_time(self, strand: int, segment: _Segment, real: int) -> int:
        assert self._served is not None
        recorded = self._served.clock.get((strand, segment.number), ())
        place = len(segment.clock)
        then, when = self._last
        return recorded[place] if place < len(recorded) else then + max(0, real - when)

    def _recorded_bytes(self, strand: int, segment: _Segment, size: int) -> bytes:
        assert self._served is not None
        recorded = self._served.entropy.get((strand, segment.number), ())
        place = len(segment.entropy)
        if place < len(recorded) and len(recorded[place]) == size:
            return recorded[place]
        seed = b"%d/%d/%d/" % (strand, segment.number, place) + self._pool
        return hashlib.shake_256(seed).digest(size)

    # -- what the session tells ---------------------------------------------------------------------------------------

    def called(self) -> None:
        """This strand makes its next call: what it read before is written down."""
        with self._lock:
            strand = self._strand()
            segment = self._segments[strand]
            self._write(strand, segment)
            self._segments[strand] = _Segment(segment.number + 1)

    def leaving(self, step: int) -> None:
        """The call of ``step`` goes live: what the real thing draws meanwhile is not the trial's."""
        if "random" in self.kinds:
            with self._lock:
                self._alive[step] = (len(self._alive), generator_state())

    def returned(self, step: int) -> None:
        """It has ended; if it drew from the shared generators, a replay must skip as many."""
        with self._lock:
            others, before = self._alive.pop(step, (1, None))
            if before is None or others or self._alive:  # with calls in parallel nobody knows who drew
                return
            now = generator_state()
            if now != before:
                self._journal.mark(MARK, {"after": step, "state": now.plain()})

    def answered(self, step: int, origin: Origin) -> None:
        """``step`` got a recorded answer: go on from where the generators were after that one."""
        if origin.step is None or origin.trial != self._served_trial:
            return
        with self._lock:
            if self._restore(origin.step):
                self._journal.mark(MARK, {"after": step, "state": generator_state().plain()})

    def draw_anew(self, step: int) -> None:
        """A fork goes on from ``step``: what is drawn from now on is new, or all continuations would draw the same."""
        if "random" in self.kinds:
            with self._lock:
                self._random_frozen = False
                seed_generators()
                self._journal.mark(MARK, {"after": step, "state": generator_state().plain()})

    def end(self) -> None:
        """Write the rest down, and give the process its own generators back."""
        with self._lock:
            for strand, segment in self._segments.items():
                self._write(strand, segment)
            self._segments.clear()
            if self._before is not None:
                restore_generators(self._before)
                self._before = None

    def _restore(self, step: int) -> bool:
        """True if it is recorded where the generators were after ``step``."""
        if not self._random_frozen or self._served is None or step not in self._served.states:
            return False
        restore_generators(self._served.states[step])
        return True

    def _write(self, strand: int, segment: _Segment) -> None:
        if segment.clock or segment.entropy:
            drawn = [[len(value), int.from_bytes(value)] for value in segment.entropy]
            read = {"strand": strand, "segment": segment.number, "clock": segment.clock, "entropy": drawn}
            self._journal.mark(MARK, read)


# -- alone in the process ----------------------------------------------------------------------------------------------

_lock = threading.Lock()
_active: dict[str, bool] = {}  # trials in progress in this process, and which needs it for itself


def _forked() -> None:
    """A child's trials are its own; the parent's lock may have been held by a thread that it has not."""
    global _lock  # noqa: PLW0603  # the process's
    _lock = threading.Lock()
    _active.clear()


os.register_at_fork(after_in_child=_forked)


@contextmanager
def alone_if(needed: bool, trial: str) -> Iterator[None]:  # noqa: FBT001  # a fact about the trial, not a mode
    """The shared generators of `random` belong to the process: a trial that follows them runs in it by itself.

    Raises:
        BadInput: another trial is in progress here, and it or this one needs the process for itself.
    """
    with _lock:
        others = [name for name, alone in _active.items() if needed or alone]
        if others:
            first, second = (trial, others[0]) if needed else (others[0], trial)
            raise BadInput(
                f"{first} records or freezes random numbers, whose generators belong to the whole process, so {second} "
                "may not be in progress in it: one after the other, or `trialtape run`, where each gets its own process"
            )
        _active[trial] = needed
    try:
        yield
    finally:
        with _lock:
            _active.pop(trial, None)
