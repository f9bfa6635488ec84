"""One trial in progress: takes each call from the adapters, decides, and writes down what came of it."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from typing import Any, NoReturn

from attrs import evolve

from cassettes.codec import fresh
from cassettes.errors import (
    CassetteError,
    Divergence,
    RecordingFailed,
    Refused,
    TrialStopped,
    TrialtapeError,
    Unanswered,
    UnkeepableValue,
)
from cassettes.model import Call, Error, Interaction, Origin, Outcome, Patch, Reply, Verdict, paced
from cassettes.recorder import Unseen, enclosing
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter

from .actors import current_actor
from .ignoring import matching_key
from .journal import Journal
from .misses import misfit_report, miss_report, unknown_class_report
from .playback import Playback
from .policy import Policy
from .recording import Entry, PastWrite, context_of, digest_of
from .resources import touches
from .strands import Strands
from .throttle import Throttle
from .tickets import SessionTicket
from .worlds import Found, World

__all__ = ["Session"]

_log = logging.getLogger("trialtape")


class Session:
    """The recorder of one trial; implements `cassettes.recorder.Recorder`.

    Args:
        writer: where interactions go.
        policy: decides what is live and what is frozen.
        redactor: removes secrets before a call is matched, as the writer does before it is kept.
        source: the recorded answers: `Playback` for a replay, `World` for a freeze, None for a recording.
        throttle: tells live model calls to wait after the provider refused one for its rate.
        pace: recorded streams are handed out as slowly as they came.

    Attributes:
        halt: why the trial was stopped from within; every later call raises it again.
        journal: what the trial writes down, with its tracked state.
        verdicts: how often each kind of answer was given to calls that are frozen by the policy.
        unattributed: calls of this process that belonged to no trial while this one was active (see `watching`).
        escaped_work: processes that the trial started: what they call is not seen.
    """

    def __init__(
        self,
        writer: CassetteWriter,
        policy: Policy,
        redactor: Redactor,
        source: Playback | World | None = None,
        throttle: Throttle | None = None,
        *,
        pace: bool = False,
    ) -> None:
        self.halt: TrialtapeError | None = None
        self.journal = Journal(writer)
        self.verdicts: Counter[str] = Counter()
        self.unattributed = Unseen()
        self.escaped_work = Unseen()
        self.live_model_calls: list[Interaction] = []
        self._policy = policy
        self._redactor = redactor
        self._source = source
        self._throttle = throttle
        self._pace = pace
        self._lock = threading.RLock()
        self._steps = 0
        self._ended = 0
        self._writes: list[PastWrite] = []
        self._strands = Strands()
        self._closed = False

    # -- the recorder -------------------------------------------------------------------------------------------------

    def begin(self, call: Call) -> SessionTicket:
        """Reserve the call's step and decide how it is answered.

        Raises:
            TrialStopped: the trial was stopped, now or before.
        """
        actor = current_actor()
        if actor != call.actor:
            call = evolve(call, actor=actor)
        parent = self._enclosing()
        with self._lock:
            if self.halt is not None:
                raise TrialStopped(self.halt)
            if self._closed:
                return self._too_late(call)
            call = self._strands.marked(call)
            started, at = self.journal.place(), self.journal.now()
            ticket = SessionTicket(self.journal, self.finish_live, call, self._steps, started, at, parent)
            self._steps += 1
            if parent is not None:
                if call.kind == "http" and parent.call.kind == "tool" and not parent.is_span:
                    return ticket  # part of a live tool: kept for the reader, never matched by itself
                parent.is_span = parent.call.kind == "tool"
            try:
                self._decide(ticket)
            except RecordingFailed as error:  # a redaction rule raised
                self._stop(error)
        return ticket

    def connecting(self, address: Any) -> None:
        """A connection is about to be opened: while calls are frozen, only inside a live call.

        Raises:
            TrialStopped: no live call is open in this context.
        """
        if self._policy.mode == "record":
            return
        outer = self._enclosing()
        if outer is not None and outer.answer is None:
            return
        place = ":".join(map(str, address[:2])) if isinstance(address, tuple) else str(address)
        self._stop(
            Refused(
                f"a connection to {place} was refused: calls are frozen, and it belongs to no live call. What opened "
                "it is no client that an adapter sees (`trialtape doctor`), or it is not inside a declared tool",
                {"kind": "connection", "address": place},
            )
        )

    def escaped(self, name: str) -> None:
        """Something was started whose calls are not seen; inside a live tool it is a part of that tool's call."""
        outer = self._enclosing()
        self.escaped_work.note(f"{name} (in tool {outer.call.name})" if outer and outer.call.kind == "tool" else name)

    def _enclosing(self) -> SessionTicket | None:
        """The call of this trial inside which this context is."""
        outer = enclosing()
        return outer if isinstance(outer, SessionTicket) and outer.journal is self.journal else None

    # -- what the trial tells -----------------------------------------------------------------------------------------

    def stop(self, halt: TrialtapeError) -> None:
        """Stop the trial: every later call raises ``halt``; the first reason stays."""
        with self._lock:
            if self.halt is None:
                self.halt = halt

    def close(self) -> None:
        """The trial has ended; what calls still in progress will bring is not recorded (see `unfinished`)."""
        with self._lock:
            self._closed = True

    @property
    def steps(self) -> int:
        """Calls seen so far."""
        return self._steps

    @property
    def unfinished(self) -> int:
        """Calls seen so far that have not ended."""
        return self._steps - self._ended

    def _too_late(self, call: Call) -> SessionTicket:
        """A thread outlived its trial: while recording its call passes by, else it may not reach the real thing."""
        name = f"{call.kind} {call.name}"
        if self._policy.mode != "record":
            raise TrialStopped(Refused(f"{name} was called after its trial had ended"))
        thread = threading.current_thread().name
        _log.warning("%s was called by thread %s after its trial had ended; it is not recorded", name, thread)
        return SessionTicket(self.journal, self.finish_live, call, -1, 0, 0.0, None)

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
            ticket.key = matching_key(call, self._policy.ignore)
        except UnkeepableValue as error:  # what cannot be kept cannot be looked up
            self._stop(self.journal.problems[-1] if self.journal.problems else error)
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
        report = miss_report(ticket.step, call, found, world)
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
        if not call.external and self.journal.state is not None:
            return False
        return any(touches(write.call, call) and self._policy.decide(write.call) == "frozen" for write in self._writes)

    def _serve(self, ticket: SessionTicket, entry: Entry, origin: Origin) -> None:
        recorded = entry.interaction
        outcome, unknown = fresh(recorded.outcome)
        if unknown:
            why, report = unknown_class_report(ticket.step, ticket.call, unknown[0].name, origin)
            self._leave_unanswered(ticket, "missed", Unanswered(why, report))
        state = self.journal.state
        if recorded.patch is not None and state is not None and not state.apply(recorded.patch):
            why, report = misfit_report(ticket.step, ticket.call, recorded.patch, origin.trial)
            other = Divergence if isinstance(self._source, Playback) else Unanswered
            self._leave_unanswered(ticket, "stale", other(why, report))
        self.verdicts[origin.verdict] += 1
        self._answer(ticket, outcome, origin, recorded.reply, recorded.patch)

    def _answer(
        self,
        ticket: SessionTicket,
        outcome: Outcome,
        origin: Origin,
        reply: Reply | None = None,
        patch: Patch | None = None,
    ) -> None:
        ticket.answer = paced(outcome) if self._pace else outcome
        ticket.origin = origin
        self._finish(ticket, outcome, reply, patch)

    def _stop(self, halt: TrialtapeError) -> NoReturn:
        self.stop(halt)
        raise TrialStopped(self.halt or halt)

    # -- writing down -------------------------------------------------------------------------------------------------

    def finish_live(self, ticket: SessionTicket, outcome: Outcome, reply: Reply | None) -> None:
        """A live call has ended."""
        with self._lock:
            if self._closed or isinstance(self.halt, CassetteError):
                return
            writes = ticket.call.kind == "tool" and ticket.call.may_write
            try:
                self._finish(ticket, outcome, reply, self.journal.change() if writes else None)
            except RecordingFailed as error:  # a redaction rule raised
                self._stop(error)

    def _finish(self, ticket: SessionTicket, outcome: Outcome, reply: Reply | None, patch: Patch | None) -> None:
        self._ended += ticket.step >= 0
        interaction = ticket.interaction(outcome, reply, patch)
        kept = self._append(ticket, interaction)
        if ticket.call.kind == "model" and ticket.origin.live:
            self.live_model_calls.append(interaction)
            if self._throttle is not None:
                self._throttle.heed(outcome)
        if ticket.key and ticket.call.may_write and not ticket.is_span:
            digest = digest_of(kept.outcome, self._redactor)
            self._writes.append(PastWrite(ticket.call, ticket.key, digest, ticket.started, interaction.ended))
            self._writes.sort(key=lambda write: write.started)

    def _append(self, ticket: SessionTicket, interaction: Interaction) -> Interaction:
        try:
            return self.journal.append(interaction, ticket.arguments)
        except (CassetteError, UnkeepableValue) as error:
            self._stop(error)
