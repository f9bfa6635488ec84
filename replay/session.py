"""One trial in progress: takes each call from the adapters, decides, and writes down what came of it."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, get_args

from attrs import evolve

from cassettes.canonical import key_of
from cassettes.codec import Snapshot, snapshot
from cassettes.errors import (
    BadInput,
    CassetteError,
    Divergence,
    Refused,
    TrialStopped,
    TrialtapeError,
    Unanswered,
    UnkeepableValue,
)
from cassettes.model import (
    Actor,
    Call,
    Cancelled,
    Chunk,
    Error,
    Interaction,
    Mark,
    Origin,
    Outcome,
    Patch,
    Reply,
    Stream,
    Value,
    Verdict,
)
from cassettes.recorder import enclosing
from cassettes.redact import Redactor
from cassettes.values import pack
from cassettes.writer import CassetteWriter

from .difference import first_difference, shortened
from .playback import Playback
from .policy import Policy
from .recording import Entry, PastWrite, context_of, digest_of
from .resources import touches
from .state import StateTracker, paths_of
from .strands import Strands
from .throttle import Throttle
from .worlds import Found, Missing, World

__all__ = ["Session", "acting_as"]

_log = logging.getLogger("trialtape")
_actor: ContextVar[str] = ContextVar("trialtape_actor", default="agent")


@contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """Calls in this block are made on behalf of ``actor``, such as the simulated ``user``.

    Raises:
        BadInput: there is no such actor.
    """
    if actor not in get_args(Actor):
        raise BadInput(f"{actor!r} is no actor; it is one of {', '.join(get_args(Actor))}")
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


class Session:
    """The recorder of one trial; implements `cassettes.recorder.Recorder`.

    Args:
        writer: where interactions go.
        policy: decides what is live and what is frozen.
        redactor: removes secrets before a call is matched, as the writer does before it is kept.
        source: the recorded answers: `Playback` for a replay, `World` for a freeze, None for a recording.
        throttle: tells live model calls to wait after the provider refused one for its rate.

    Attributes:
        halt: why the trial was stopped from within; every later call raises it again.
        state: the tracked state, if any.
        verdicts: how often each kind of answer was given to calls that are frozen by the policy.
        problems: what could not be recorded faithfully.
        late: calls that came, or ended, after the trial had ended.
    """

    def __init__(
        self,
        writer: CassetteWriter,
        policy: Policy,
        redactor: Redactor,
        source: Playback | World | None = None,
        throttle: Throttle | None = None,
    ) -> None:
        self.halt: TrialtapeError | None = None
        self.state: StateTracker | None = None
        self.verdicts: Counter[str] = Counter()
        self.problems: list[TrialtapeError] = []
        self.late = 0
        self.live_model_calls: list[Interaction] = []
        self._writer = writer
        self._policy = policy
        self._redactor = redactor
        self._source = source
        self._throttle = throttle
        self._lock = threading.RLock()
        self._began = time.perf_counter()
        self._steps = 0
        self._order = 0
        self._writes: list[PastWrite] = []
        self._strands = Strands()
        self._closed = False

    # -- the recorder -------------------------------------------------------------------------------------------------

    def begin(self, call: Call) -> SessionTicket:
        """Reserve the call's step and decide how it is answered.

        Raises:
            TrialStopped: the trial was stopped, now or before.
        """
        actor = _actor.get()
        if actor != call.actor:
            call = evolve(call, actor=actor)
        outer = enclosing()
        parent = outer if isinstance(outer, SessionTicket) and outer.session is self else None
        with self._lock:
            if self.halt is not None:
                raise TrialStopped(self.halt)
            if self._closed:
                return self._too_late(call)
            call = self._strands.marked(call)
            ticket = SessionTicket(self, call, self._steps, self._next(), self._now(), parent)
            self._steps += 1
            if parent is not None:
                if call.kind == "http" and parent.call.kind == "tool" and not parent.is_span:
                    return ticket  # part of a live tool: kept for the reader, never matched by itself
                parent.is_span = parent.call.kind == "tool"
            self._decide(ticket)
        return ticket

    def connecting(self, address: Any) -> None:
        """A connection is about to be opened: while calls are frozen, only inside a live call.

        Raises:
            TrialStopped: no live call is open in this context.
        """
        if self._policy.mode == "record":
            return
        outer = enclosing()
        if isinstance(outer, SessionTicket) and outer.session is self and outer.answer is None:
            return
        place = ":".join(map(str, address[:2])) if isinstance(address, tuple) else str(address)
        self._stop(
            Refused(
                f"a connection to {place} was refused: calls are frozen, and it belongs to no live call. What opened "
                "it is no client that an adapter sees (`trialtape doctor`), or it is not inside a declared tool",
                {"kind": "connection", "address": place},
            )
        )

    # -- what the trial tells -----------------------------------------------------------------------------------------

    def stop(self, halt: TrialtapeError) -> None:
        """Stop the trial: every later call raises ``halt``; the first reason stays."""
        with self._lock:
            if self.halt is None:
                self.halt = halt

    def close(self) -> None:
        """The trial has ended; calls still in progress are lost and counted as late."""
        with self._lock:
            self._closed = True

    def mark(self, kind: str, data: Any) -> None:
        """Write a mark.

        Raises:
            UnkeepableValue: its data has no lossless form.
        """
        self._writer.mark(Mark(kind, self._now(), data))

    def unexplained_change(self) -> Patch | None:
        """A change of the tracked state that no write explains, since the last write."""
        return None if self.state is None else self._change()

    @property
    def steps(self) -> int:
        """Calls seen so far."""
        return self._steps

    def _too_late(self, call: Call) -> SessionTicket:
        """A thread outlived its trial: while recording its call passes by, else it may not reach the real thing."""
        self.late += 1
        name = f"{call.kind} {call.name}"
        if self._policy.mode != "record":
            raise TrialStopped(Refused(f"{name} was called after its trial had ended"))
        _log.warning("%s was called by thread %s after its trial had ended; it is not recorded", name, _thread())
        return SessionTicket(self, call, -1, 0, 0.0, None)

    # -- deciding -----------------------------------------------------------------------------------------------------

    def _decide(self, ticket: SessionTicket) -> None:
        action = self._policy.decide(ticket.call)
        if action == "refuse":
            self._stop(Refused(f"the policy refuses {ticket.call.kind} {ticket.call.name} (step {ticket.step})"))
        if self._source is None or (action == "live" and not ticket.call.may_write):
            self._go_live(ticket)
            return
        try:
            call = self._redactor.call(ticket.call)
            ticket.key = key_of(call, self._policy.ignore)
        except UnkeepableValue as error:  # what cannot be kept cannot be looked up
            self._stop(self.problems[-1] if self.problems else error)
        if action == "live":
            self._go_live(ticket)
        elif isinstance(self._source, Playback):
            self._play(ticket, call, self._source)
        else:
            self._look_up(ticket, call, self._source)

    def _go_live(self, ticket: SessionTicket) -> None:
        if self._throttle is not None and ticket.call.kind == "model":
            ticket.delay = self._throttle.delay()

    def _play(self, ticket: SessionTicket, call: Call, source: Playback) -> None:
        if source.take_span(ticket.key):
            ticket.is_span = True
            return
        try:
            entry = source.take(call, ticket.key)
        except TrialtapeError as divergence:
            self._stop(divergence)
        self._serve(ticket, entry, Origin("own", str(source.recording.trial), entry.interaction.step))

    def _look_up(self, ticket: SessionTicket, call: Call, world: World) -> None:
        if world.is_span(ticket.key):
            ticket.is_span = True
            return
        context = context_of(call, ticket.started, self._writes)
        found = world.answer(call, ticket.key, context)
        if isinstance(found, Found):
            origin = Origin(found.verdict, str(found.recording.trial), found.entry.interaction.step)
            self._serve(ticket, found.entry, origin)
            return
        if world.runs_as_span(call):
            ticket.is_span = True
            return
        report = _miss_report(ticket, call, found, world)
        match self._policy.on_miss:
            case "error":
                self.verdicts[found.verdict] += 1
                self._answer(ticket, Error(LookupError(f"{call.name}: no recorded answer")), Origin(found.verdict))
            case "live" if call.effect in {"read", "pure"} and not self._frozen_writes(call):
                self.verdicts["extended"] += 1
                ticket.origin = Origin("extended")
                self._go_live(ticket)
            case "live":
                why = "it may write" if call.may_write else "the frozen writes before it never reached the real thing"
                halt: TrialtapeError = Unanswered(f"{report['message']}\n  It may not be called live: {why}.", report)
                self._leave_unanswered(ticket, "refused", halt)
            case _:
                self._leave_unanswered(ticket, found.verdict, Unanswered(report["message"], report))

    def _leave_unanswered(self, ticket: SessionTicket, verdict: Verdict, halt: TrialtapeError) -> None:
        """Keep the call that could not be answered, with its verdict, and stop the trial there."""
        self.verdicts[verdict] += 1
        ticket.origin = Origin(verdict)
        self._finish(ticket, Error(halt), None, None)
        self._stop(halt)

    def _frozen_writes(self, call: Call) -> bool:
        """True if the real thing lacks a write, answered from a recording, that ``call`` may notice.

        The tracked state lacks none: a frozen write applies its recorded change.
        """
        if not call.external and self.state is not None:
            return False
        return any(touches(write.call, call) and self._policy.decide(write.call) == "frozen" for write in self._writes)

    def _serve(self, ticket: SessionTicket, entry: Entry, origin: Origin) -> None:
        recorded = entry.interaction
        if recorded.patch is not None and self.state is not None and not self.state.apply(recorded.patch):
            where = ", ".join(list(paths_of(recorded.patch))[:3])
            why = f"step {ticket.step}: {ticket.call.name} has a recorded change of {where} that does not fit the state"
            report = {"step": ticket.step, "verdict": "stale", "why": "the state is another", "trial": origin.trial}
            other = Divergence if isinstance(self._source, Playback) else Unanswered
            self._leave_unanswered(ticket, "stale", other(why, report))
        self.verdicts[origin.verdict] += 1
        self._answer(ticket, recorded.outcome, origin, recorded.reply, recorded.patch)

    def _answer(
        self,
        ticket: SessionTicket,
        outcome: Outcome,
        origin: Origin,
        reply: Reply | None = None,
        patch: Patch | None = None,
    ) -> None:
        ticket.answer = outcome
        ticket.origin = origin
        self._finish(ticket, outcome, reply, patch)

    def _stop(self, halt: TrialtapeError) -> None:
        self.stop(halt)
        raise TrialStopped(self.halt or halt)

    # -- writing down -------------------------------------------------------------------------------------------------

    def finish_live(self, ticket: SessionTicket, outcome: Outcome, reply: Reply | None) -> None:
        """A live call has ended."""
        with self._lock:
            if self._closed or isinstance(self.halt, CassetteError):
                self.late += ticket.step >= 0
                return
            patch = None
            if self.state is not None and ticket.call.kind == "tool" and ticket.call.may_write:
                patch = self._change()
            self._finish(ticket, outcome, reply, patch)

    def _change(self) -> Patch | None:
        """What changed in the tracked state; a part of it that cannot be kept is a problem of the trial."""
        try:
            return None if self.state is None else self.state.change()
        except UnkeepableValue as error:
            self.problems.append(error)
            return None

    def _finish(self, ticket: SessionTicket, outcome: Outcome, reply: Reply | None, patch: Patch | None) -> None:
        ended, now = self._next(), self._now()
        interaction = Interaction(
            step=ticket.step,
            call=ticket.call,
            outcome=outcome,
            started=ticket.started,
            ended=ended,
            at=ticket.at,
            duration=now - ticket.at,
            origin=ticket.origin,
            parent=None if ticket.parent is None else ticket.parent.step,
            reply=reply,
            patch=patch,
        )
        kept = self._append(ticket, interaction)
        if ticket.call.kind == "model" and ticket.origin.live:
            self.live_model_calls.append(interaction)
            if self._throttle is not None:
                self._throttle.heed(outcome)
        if ticket.key and ticket.call.may_write and not ticket.is_span:
            digest = digest_of(kept.outcome, self._redactor)
            self._writes.append(PastWrite(ticket.call, ticket.key, digest, ticket.started, ended))
            self._writes.sort(key=lambda write: write.started)

    def _append(self, ticket: SessionTicket, interaction: Interaction, *, again: bool = False) -> Interaction:
        """Write an interaction; returns it as it was kept: what has no lossless form is named instead."""
        try:
            self._writer.append(interaction, ticket.arguments)
        except CassetteError as error:
            self._stop(error)
        except UnkeepableValue as error:
            path = "result" + error.path.removeprefix("value").removeprefix("[1]")
            problem = UnkeepableValue(path, f"{error.reason} (step {ticket.step}, {ticket.call.name})")
            self.problems.append(problem)
            if again:  # not even without its outcome
                self._stop(problem)
            return self._append(ticket, evolve(interaction, outcome=Value({"unkept": str(problem)})), again=True)
        return interaction

    def _next(self) -> int:
        self._order += 1
        return self._order

    def _now(self) -> float:
        return time.perf_counter() - self._began


class SessionTicket:
    """One call in progress; implements `cassettes.recorder.Ticket`."""

    __slots__ = (
        "_chunks",
        "answer",
        "arguments",
        "at",
        "call",
        "delay",
        "is_span",
        "key",
        "origin",
        "parent",
        "session",
        "started",
        "step",
    )

    def __init__(
        self, session: Session, call: Call, step: int, started: int, at: float, parent: SessionTicket | None
    ) -> None:
        self.session = session
        self.call = call
        self.step = step
        self.started = started
        self.at = at
        self.parent = parent
        self.answer: Outcome | None = None
        self.delay = 0.0
        self.origin = Origin()
        self.key = ""
        self.is_span = False
        self.arguments = _snapshot(session, call, step)
        self._chunks: list[Chunk] = []

    def done(self, value: Any, reply: Reply | None = None) -> None:
        """The call returned ``value``."""
        self.session.finish_live(self, Value(value), reply)

    def failed(self, error: BaseException) -> None:
        """The call raised ``error``."""
        if not isinstance(error, TrialStopped):
            self.session.finish_live(self, Error(error), None)

    def cancelled(self) -> None:
        """The caller gave the call up."""
        self.session.finish_live(self, Cancelled(), None)

    def chunk(self, data: Any) -> None:
        """The next piece of a stream arrived."""
        self._chunks.append(Chunk(self.session._now() - self.at, data))  # noqa: SLF001  # one clock per session

    def closed(
        self,
        head: Any,
        *,
        complete: bool,
        error: BaseException | None = None,
        decode: Callable[[tuple[Any, ...]], Reply | None] | None = None,
    ) -> None:
        """The stream ended."""
        reply = None if decode is None else decode(tuple(chunk.data for chunk in self._chunks))
        self.session.finish_live(self, Stream(head, tuple(self._chunks), complete, error), reply)


def _thread() -> str:
    return threading.current_thread().name


def _snapshot(session: Session, call: Call, step: int) -> Snapshot:
    try:
        return snapshot(call)
    except UnkeepableValue as error:
        path = error.path.replace("value", "arguments", 1)
        problem = UnkeepableValue(path, f"{error.reason} (step {step}, {call.name})")
        session.problems.append(problem)
        return Snapshot(pack({"unkept": str(problem)}), {})


def _miss_report(ticket: SessionTicket, call: Call, missing: Missing, world: World) -> dict[str, Any]:
    """Why a frozen call has no answer, as data and as at most ten lines."""
    lines = [
        f"step {ticket.step}: {call.kind} {call.name} has no answer in the world of {world.name} ({missing.verdict}):",
        f"  {missing.why}",
        f"  asked:    {shortened(call.arguments)}",
    ]
    report: dict[str, Any] = {
        "step": ticket.step,
        "call": f"{call.actor}/{call.kind}:{call.name}",
        "verdict": missing.verdict,
        "why": missing.why,
        "world": world.name,
    }
    if missing.nearest is not None:
        nearest = missing.nearest.interaction
        lines.append(f"  recorded: {shortened(nearest.call.arguments)} at step {nearest.step}")
        found = first_difference(dict(nearest.call.arguments), dict(call.arguments))
        report["nearest"] = {"step": nearest.step, "path": found.path if found else None}
    report["message"] = "\n".join(lines)
    return report
