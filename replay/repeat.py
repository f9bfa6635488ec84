"""Frozen writes that are carried out before a call goes live: whose turn it is, and what comes of it."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

from cassettes.canonical import canonical
from cassettes.codec import outcome_from, outcome_plain
from cassettes.errors import Refused, TrialStopped, TrialtapeError, Unanswered, UnkeepableValue
from cassettes.model import Changed, Error, Outcome, Reply, Value, Verdict
from cassettes.recorder import entered
from cassettes.redact import Redactor
from cassettes.values import pack, unpack

from .difference import shortened
from .journal import Journal
from .lacking import FrozenWrite
from .recording import digest_of
from .reruns.answer_changes import answer_changes
from .state import paths_of
from .tickets import SessionTicket
from .volatile import looks_volatile

__all__ = ["CatchUp", "Repeat", "other_outcome"]


class Trial(Protocol):
    """What is needed of the session."""

    halt: TrialtapeError | None

    @property
    def closed(self) -> bool:
        """It has ended."""

    def is_writing(self, besides: int) -> bool:
        """Another live call may be changing the tracked state."""

    def finish_live(self, ticket: SessionTicket, outcome: Outcome, reply: Reply | None) -> None:
        """A live call has ended."""

    def leave_unanswered(self, ticket: SessionTicket, verdict: Verdict, halt: TrialtapeError) -> NoReturn:
        """The call cannot be answered, and the trial stops."""


class CatchUp:
    """What one trial carries out of the frozen writes; it is written down in marks: none of it is the agent's step.

    Args:
        trial: whose writes they are.
        journal: of that trial.
        redactor: removes secrets before outcomes are compared.
        lock: of that trial; held by every caller.
        ignore: paths below the outcomes that do not count (see `replay.ignoring`).

    Attributes:
        counts: what was carried out, by name.
    """

    def __init__(
        self, trial: Trial, journal: Journal, redactor: Redactor, lock: threading.RLock, ignore: Sequence[str] = ()
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.lock = lock
        self._trial = trial
        self._journal = journal
        self._redactor = redactor
        self._ignore = ignore

    def see_that_it_goes_on(self) -> None:
        """The trial is still in progress.

        Raises:
            TrialStopped: it is not.
        """
        if self._trial.halt is not None or self._trial.closed:
            raise TrialStopped(self._trial.halt or Refused("the trial has ended"))

    def ticket(self, write: FrozenWrite) -> SessionTicket:
        """What encloses the calls inside of a write while it is carried out: they are its children."""
        started, at = self._journal.place(), self._journal.now()
        step = write.ticket.step
        ticket = SessionTicket(self._journal, self._trial.finish_live, write.call, step, started, at, None)
        ticket.is_repeat = True
        return ticket

    def ended(self, write: FrozenWrite, before: SessionTicket, again: SessionTicket, outcome: Outcome) -> None:
        """A write has been carried out, as the call ``again``.

        Raises:
            TrialStopped: its outcome is another than the agent was told, or the trial was stopped meanwhile.
        """
        if self._trial.closed:
            self.see_that_it_goes_on()
        other = other_outcome(write, outcome, self._redactor, self._ignore) or self._second_change(before)
        told, found = other or (None, {})
        what = {"step": write.ticket.step, "before": before.step, "name": write.call.name, "other": told}
        kept = None if told is None else _kept(outcome)
        self._journal.mark("caught_up", {**what, "outcome": kept, "seconds": self._journal.now() - again.at})
        self.counts[write.call.name] += 1
        if told is not None:
            why = f"{write.told} came out otherwise than the agent was told: {told}"
            self.give_up(before, why, {**what, **found})
        write.state = "done"
        self.see_that_it_goes_on()

    def give_up(self, before: SessionTicket, why: str, report: Mapping[str, Any]) -> NoReturn:
        """The call that waits for a write cannot go live.

        Raises:
            TrialStopped: always.
        """
        done = ", ".join(f"{count} x {name}" for name, count in self.counts.items()) or "nothing"
        told = (
            f"step {before.step}: {before.call.name} cannot go live, as a frozen write that it may notice cannot be "
            f"carried out first:\n  {why}.\n  carried out in this trial so far: {done}"
        )
        self._trial.leave_unanswered(before, "refused", Unanswered(told, {"kind": "catch-up", "why": why, **report}))

    def _second_change(self, before: SessionTicket) -> tuple[str, dict[str, Any]] | None:
        """The tracked state changed; all that a recording knows of has been applied already."""
        if self._trial.is_writing(before.step):
            return None  # nobody knows whose change it is
        change = self._journal.change()
        if change is None:
            return None
        where = ", ".join(list(paths_of(change))[:3])
        return f"it changed the tracked state at {where}", {"path": "state"}


class Repeat:
    """Implements `cassettes.again.Again`.

    Args:
        write: what is carried out.
        before: the call that goes live after it.
        catch_up: of the trial of both.
    """

    def __init__(self, write: FrozenWrite, before: SessionTicket, catch_up: CatchUp) -> None:
        self.write = write
        self._before = before
        self._catch_up = catch_up
        self._ticket: SessionTicket | None = None

    @property
    def done(self) -> bool:
        """It has been carried out, with the outcome that the agent was told."""
        return self.write.state == "done"

    def begins(self, *, may_await: bool) -> bool:
        """True if the caller is to carry it out now; False if that has been done, or is being done elsewhere.

        Raises:
            TrialStopped: it failed before, or cannot be carried out here.
        """
        write, loop = self.write, _running_loop()
        with self._catch_up.lock:
            self._see_that_it_goes_on()
            if write.state == "done":
                return False
            if write.state == "doing":
                if not may_await and loop is not None and loop is write.loop:
                    self._refuse("is being carried out by a task that waits for this very call")
                return False
            if write.ticket.is_async and not may_await:
                self._refuse(f"is an async tool, and {self._before.call.name}, which would have to wait for it, is not")
            write.state, write.loop = "doing", loop if may_await else None
            self._ticket = self._catch_up.ticket(write)
        return True

    def inside(self) -> AbstractContextManager[None]:
        """Calls in this block are parts of it."""
        assert self._ticket is not None
        return entered(self._ticket)

    def live(self) -> Any:
        """Carry it out, with its arguments as they were; if the tool is async, returns what is to be awaited."""
        again = self.write.ticket.again
        assert again is not None
        return again(self.write.arguments()[0])

    def returned(self, value: Any) -> None:
        """It returned ``value``.

        Raises:
            TrialStopped: that is another outcome than was recorded.
        """
        self._ended(Value(value))

    def raised(self, error: Exception) -> None:
        """It raised ``error``.

        Raises:
            TrialStopped: that is another outcome than was recorded.
        """
        self._ended(Error(error))

    def given_up(self) -> None:
        """It was interrupted, and nobody knows how much of it was done."""
        with self._catch_up.lock:
            self.write.state = "broken"
            self.write.over.set()

    def over(self, seconds: float) -> bool:
        """True if it has been carried out elsewhere, waiting at most that long.

        Raises:
            TrialStopped: it failed there, or the trial was stopped.
        """
        self.write.over.wait(seconds)
        with self._catch_up.lock:
            self._see_that_it_goes_on()
        return self.write.over.is_set()

    def _ended(self, outcome: Outcome) -> None:
        with self._catch_up.lock:
            try:
                assert self._ticket is not None
                self._catch_up.ended(self.write, self._before, self._ticket, outcome)
            finally:
                if self.write.state == "doing":
                    self.write.state = "broken"
                self.write.over.set()

    def _see_that_it_goes_on(self) -> None:
        self._catch_up.see_that_it_goes_on()
        if self.write.state == "broken":
            self._refuse("was interrupted while it was carried out")

    def _refuse(self, why: str) -> NoReturn:
        step = {"step": self.write.ticket.step, "before": self._before.step, "name": self.write.call.name}
        self._catch_up.give_up(self._before, f"{self.write.told} {why}", step)


def other_outcome(
    write: FrozenWrite, outcome: Outcome, redactor: Redactor, ignore: Sequence[str] = ()
) -> tuple[str, dict[str, Any]] | None:
    """How an outcome differs from the one that the agent got, in words and as data; None if it does not.

    Args:
        write: what was carried out.
        outcome: what came of it.
        redactor: removes secrets from it, as from the recorded one.
        ignore: paths below it that do not count (see `replay.ignoring`).
    """
    try:
        if digest_of(outcome, redactor) == write.past.outcome:
            return None
        now = _cleaned(outcome, redactor)
    except UnkeepableValue as error:
        return str(error), {"path": error.path}
    then = _cleaned(write.outcome, redactor)
    if canonical(_changed(then)) != canonical(_changed(now)):
        return "it changed its arguments otherwise", {"path": "arguments"}
    changes = answer_changes(write.call, then, now)
    if not changes:
        return "it is of another kind, with the same fields", {"path": ""}
    counting = answer_changes(write.call, then, now, ignore)
    if not counting:
        return None
    first = counting[0]
    volatile = looks_volatile(first.left)
    hint = "" if volatile is None else f", which looks like {volatile}: it is another each time"
    told = f"{first.path or 'the result'} was {shortened(first.left, first.right)}, and is "
    told += f"{shortened(first.right, first.left)} now{hint}"
    return told, {"path": first.path, "recorded": repr(first.left), "now": repr(first.right)}


def _changed(outcome: Outcome) -> dict[str, Any]:
    """The arguments that a call changed in place."""
    value = outcome.value if isinstance(outcome, Value) else None
    return dict(value.arguments) if isinstance(value, Changed) else {}


def _cleaned(outcome: Outcome, redactor: Redactor) -> Outcome:
    """The outcome less its secrets."""
    cleaned, _ = redactor.packed(pack(outcome_plain(redactor.outcome(outcome, Counter()))))
    return outcome_from(unpack(cleaned))


def _kept(outcome: Outcome) -> list[Any] | None:
    """The outcome as it can be written down, if it can."""
    try:
        pack(plain := outcome_plain(outcome))
    except UnkeepableValue:
        return None
    return plain


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
