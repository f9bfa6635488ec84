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
    RecordingFailed,
    Refused,
    TrialStopped,
    TrialtapeError,
    Unanswered,
    UnkeepableValue,
)
from cassettes.model import Call, Error, Interaction, Origin, Outcome, Patch, Reply, Verdict, paced
from cassettes.recorder import Unseen, enclosing, entered, listening
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter

from .actors import acting_as, current_actor
from .ambient import Ambient
from .branching.prefix import Prefix
from .breaking import stop_before
from .deciding import Decider, Decision, Live, Made, Played, Recorded, Span, Stopped, Unanswerable
from .emulation import Emulation
from .injecting import Injecting
from .journal import Journal
from .misses import misfit_report, unknown_class_report
from .orchestration.throttle import Throttle
from .playback import Playback
from .policy import Policy
from .processes.children import Children
from .processes.escapes import Escapes
from .processes.proxy import TrialInvitation
from .recording import Context
from .repeat import CatchUp, Repeat
from .spending import billed_part
from .state import Misfit
from .strands import Strands
from .tickets import SessionTicket
from .worlds import World

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
        prefix: of a fork, what answers the calls before it.
        emulation: plays the tools that on-miss ``emulate`` means.

    Attributes:
        halt: why the trial was stopped from within; every later call raises it again.
        journal: what the trial writes down, with its tracked state.
        ambient: what it reads of the clock and of randomness, where that is recorded or frozen.
        injecting: what the task puts into results of tools, if anything.
        misdeclared: tools that are declared reads, and changed the tracked state, with how often.
        verdicts: how often each kind of answer was given to calls that are frozen by the policy.
        live_model_calls: as far as costs and the ending are told from them, without their arguments.
        unattributed: calls of this process that belonged to no trial while this one was active (see `watching`).
        escaped_work: processes that the trial started: what they call is not seen.
        catch_up: what was carried out before live calls.
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
        prefix: Prefix | None = None,
        emulation: Emulation | None = None,
    ) -> None:
        self.halt: TrialtapeError | None = None
        self.journal = Journal(writer)
        self.ambient: Ambient | None = None
        self.injecting: Injecting | None = None
        self.misdeclared = self.journal.misdeclared
        self.verdicts: Counter[str] = Counter()
        self.unattributed = Unseen()
        self.escaped_work = Escapes()
        self.live_model_calls: list[Interaction] = []
        self._policy = policy
        self._redactor = redactor
        self._decider = Decider(policy, redactor, source, prefix, self.journal)
        self._throttle = throttle
        self._pace = pace
        self._emulation = emulation
        self._lock = threading.RLock()
        self.catch_up = CatchUp(self, self.journal, redactor, self._lock, policy.ignore_fields)
        self._steps = 0
        self._ended = 0
        self._strands = Strands()
        self._writing: set[int] = set()  # steps of live tool calls in progress that may write
        self._closed = False
        self._children = Children(self, recording=policy.mode == "record" and prefix is None)

    # -- the recorder -------------------------------------------------------------------------------------------------

    def begin(self, call: Call) -> SessionTicket:
        """Reserve the call's step and decide how it is answered.

        Raises:
            TrialStopped: the trial was stopped, now or before.
        """
        actor = current_actor()
        if actor != call.actor:
            call = evolve(call, actor=actor)
        call = self._policy.effects.applied(call)
        parent = self._enclosing()
        with self._lock:
            if self.halt is not None:
                raise TrialStopped(self.halt)
            if self._closed:
                return self._too_late(call)
            call = self._strands.marked(call)
            if self.ambient is not None and parent is None:
                self.ambient.called()
            started, at = self.journal.place(), self.journal.now()
            ticket = SessionTicket(self.journal, self.finish_live, call, self._steps, started, at, parent)
            self._steps += 1
            if parent is not None:
                if self._is_part_of(parent, ticket):
                    return ticket
                if parent.call.kind == "tool" and call.actor != "emulator":
                    parent.is_span = True
            if self._decider.answers_from_recordings:
                stop_before(call, ticket.step)
            try:
                self._decide(ticket)
            except RecordingFailed as error:  # a redaction rule raised
                self._stop(error)
        return ticket

    def _is_part_of(self, parent: SessionTicket, ticket: SessionTicket) -> bool:
        """True if the call is kept for the reader only: HTTP in a live call, and what a model that plays one asks."""
        if parent.instead is not None:
            return True
        if parent.is_repeat and ticket.call.kind != "http":
            told = f"{parent.call.name}, carried out again, calls {ticket.call.kind} {ticket.call.name}"
            self._stop(Unanswered(f"{told}: as it was recorded it did not"))
        if ticket.call.kind != "http" or parent.call.kind not in {"tool", "http"} or parent.is_span:
            return False
        if self._decider.is_refused(ticket.call):
            self._carry_out(self._decider.refusal(ticket), ticket)
        return True

    def connecting(self, address: Any) -> None:
        """A connection is about to be opened: while calls are frozen, only inside a live call.

        Raises:
            TrialStopped: no live call is open in this context.
        """
        if self._decider.lets_connect:
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

    def escaped(self, name: str, pid: int | None = None) -> None:
        """Something was started whose calls are not seen; inside a live tool it is a part of that tool's call."""
        outer = self._enclosing()
        within = f" (in tool {outer.call.name})" if outer is not None and outer.call.kind == "tool" else ""
        self.escaped_work.note(f"{name}{within}", pid)

    def invitation(self) -> TrialInvitation | None:
        """For work that is handed to another process here (see `replay.processes.children`)."""
        return self._children.invitation(self._enclosing())

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
        self._children.close()

    def strand(self) -> int:
        """The number of the thread or task that asks (see `replay.strands`)."""
        return self._strands.number()

    @property
    def closed(self) -> bool:
        """True once the trial has ended."""
        return self._closed

    def is_writing(self, besides: int) -> bool:
        """True if a live tool in progress, other than that of step ``besides``, may change the tracked state."""
        return bool(self._writing - {besides})

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

    # -- carrying out what is decided ---------------------------------------------------------------------------------

    def _decide(self, ticket: SessionTicket) -> None:
        if self.ambient is not None and self._decider.has_just_gone_on():
            self.ambient.draw_anew(ticket.step)
        if self.injecting is not None:
            ticket.injections = self.injecting.meant_for(ticket.call)
        self._carry_out(self._decider.decide(ticket), ticket)

    def _carry_out(self, decision: Decision, ticket: SessionTicket) -> None:
        match decision:
            case Live():
                ticket.origin, ticket.extends = decision.origin, decision.extends
                ticket.plan = tuple(Repeat(write, ticket, self.catch_up) for write in decision.plan)
                if decision.asked_for:
                    self.verdicts[decision.origin.verdict] += 1
                self._go_live(ticket)
            case Span():
                ticket.is_span = True
            case Recorded():
                self._serve(ticket, decision)
            case Made(outcome, origin):
                self._answer(ticket, outcome, origin)
            case Played(context, examples):
                self._emulate(ticket, context, examples)
            case Unanswerable(verdict, halt):
                self.leave_unanswered(ticket, verdict, halt)
            case Stopped(halt):
                self._stop(halt)

    def _go_live(self, ticket: SessionTicket) -> None:
        if self.journal.state is not None and ticket.call.kind == "tool" and ticket.call.may_write:
            self._writing.add(ticket.step)
        if self.ambient is not None and ticket.parent is None:
            self.ambient.leaving(ticket.step)
        if self._throttle is not None and ticket.call.kind == "model":
            ticket.delay = self._throttle.delay()

    def _emulate(self, ticket: SessionTicket, context: Context | None, examples: list[Interaction]) -> None:
        """Let a model play the tool, outside of the lock; with a context, the answer extends this trial's world."""
        emulation = self._emulation
        if emulation is None:
            self.leave_unanswered(ticket, "missed", Unanswered(f"no model is named that could play {ticket.call.name}"))

        def instead() -> Outcome:
            try:
                with listening(self), entered(ticket), acting_as("emulator"):
                    outcome = emulation.answer(ticket.call, examples)
            except Unanswered as unanswered:
                with self._lock:
                    self.leave_unanswered(ticket, "missed", unanswered)
            with self._lock:
                if self.halt is not None or self._closed:
                    raise TrialStopped(self.halt or Refused("the trial has ended"))
                return self._answer(ticket, outcome, Origin("emulated"))

        ticket.extends, ticket.instead = context, instead

    def leave_unanswered(self, ticket: SessionTicket, verdict: Verdict, halt: TrialtapeError) -> NoReturn:
        """Keep the call that could not be answered, with its verdict, and stop the trial there."""
        self.verdicts[verdict] += 1
        ticket.origin = Origin(verdict)
        self._finish(ticket, Error(halt), None, None)
        self._stop(halt)

    def _serve(self, ticket: SessionTicket, decision: Recorded) -> None:
        recorded, origin, patches = decision.entry.interaction, decision.origin, decision.patches
        if decision.as_told:
            ticket.injections, ticket.injected = (), recorded.injected
        outcome, unknown = fresh(recorded.outcome if decision.as_told else recorded.returned)
        if unknown:
            why, report = unknown_class_report(ticket.step, ticket.call, unknown[0].name, origin)
            self.leave_unanswered(ticket, "missed", Unanswered(why, report))
        patch = recorded.patch
        if self.journal.state is not None and (patch is not None or patches):
            try:
                patch = self.journal.state.apply(patches) if patches else None
            except Misfit as misfit:
                why, report = misfit_report(ticket.step, ticket.call, misfit.patch, origin.trial)
                self.leave_unanswered(ticket, "stale", self._decider.misfit(why, report))
        self._answer(ticket, outcome, origin, recorded.reply, patch)

    def _answer(
        self,
        ticket: SessionTicket,
        outcome: Outcome,
        origin: Origin,
        reply: Reply | None = None,
        patch: Patch | None = None,
    ) -> Outcome:
        outcome = ticket.told(outcome)
        self.verdicts[origin.verdict] += 1
        ticket.answer = paced(outcome) if self._pace else outcome
        ticket.origin = origin
        if self.ambient is not None:
            self.ambient.answered(ticket.step, origin)
        self._finish(ticket, outcome, reply, patch)
        return outcome

    def _stop(self, halt: TrialtapeError) -> NoReturn:
        self.stop(halt)
        raise TrialStopped(self.halt or halt)

    # -- writing down -------------------------------------------------------------------------------------------------

    def finish_live(self, ticket: SessionTicket, outcome: Outcome, reply: Reply | None) -> None:
        """A live call has ended.

        Raises:
            TrialStopped: it cannot be written down, or the adapter did not carry out what had to come first.
        """
        with self._lock:
            if self._closed or isinstance(self.halt, CassetteError):
                return
            if self.ambient is not None:
                self.ambient.returned(ticket.step)
            self._writing.discard(ticket.step)
            try:
                change = self.journal.change_by(ticket.call, ticket.step, others_write=bool(self._writing))
                self._finish(ticket, outcome, reply, change)
                if not all(again.done for again in ticket.plan):
                    self._stop(Refused(f"{ticket.call.name} went live too early: its adapter does not catch up"))
            except RecordingFailed as error:  # a redaction rule raised
                self._stop(error)

    def _finish(self, ticket: SessionTicket, outcome: Outcome, reply: Reply | None, patch: Patch | None) -> None:
        self._ended += ticket.step >= 0
        interaction = ticket.interaction(outcome, reply, patch)
        kept = self._append(ticket, interaction)
        if self._emulation is not None:
            self._emulation.happened(kept)
        self._decider.happened(ticket, kept)
        if ticket.call.kind == "model" and ticket.origin.live:
            self.live_model_calls.append(billed_part(interaction))
            if self._throttle is not None:
                self._throttle.heed(outcome)

    def _append(self, ticket: SessionTicket, interaction: Interaction) -> Interaction:
        try:
            return self.journal.append(interaction, ticket.arguments)
        except (CassetteError, UnkeepableValue) as error:
            self._stop(error)
