"""How a call of a trial is answered: decisions as values, which the session carries out.

Nothing is written down here and nothing is called; what earlier calls wrote is remembered, as it decides later ones.
"""

from __future__ import annotations

from typing import Final

from attrs import evolve, frozen

from cassettes.errors import Divergence, Refused, TrialtapeError, Unanswered, UnkeepableValue
from cassettes.model import Call, Error, Interaction, Origin, Outcome, Patch, Verdict
from cassettes.redact import Redactor

from .branching.prefix import Prefix
from .ignoring import matching_key
from .journal import Journal
from .lacking import FrozenWrite, Lacking
from .misses import frozen_write_report, miss_report, not_live_reason
from .playback import Playback
from .policy import Policy
from .recording import Context, Entry, PastWrite, context_of, digest_of
from .tickets import SessionTicket
from .worlds import Found, Missing, World

__all__ = ["Decider", "Decision", "Live", "Made", "Played", "Recorded", "Span", "Stopped", "Unanswerable"]


_REAL: Final = Origin()


@frozen
class Live:
    """The real thing answers.

    Attributes:
        origin: what the cassette says of it.
        extends: the context in which its answer extends the world; None if it does not.
        asked_for: the policy freezes such calls, so its verdict is counted with theirs.
        plan: frozen writes that are carried out first.
    """

    origin: Origin = _REAL
    extends: Context | None = None
    asked_for: bool = False
    plan: tuple[FrozenWrite, ...] = ()


@frozen
class Span:
    """The call runs whatever is frozen, and what is inside it is decided by itself."""


@frozen
class Recorded:
    """A recording answers.

    Attributes:
        patches: the changes of the tracked state that come with it, in their order.
        as_told: the agent gets what it got then, with what had been put into it; else what came back then, and the
            task puts into it what it will.
    """

    entry: Entry
    origin: Origin
    patches: tuple[Patch, ...] = ()
    as_told: bool = False


@frozen
class Made:
    """Neither: the agent gets this."""

    outcome: Outcome
    origin: Origin


@frozen
class Played:
    """A model plays the tool.

    Attributes:
        context: in which its answer extends the trial's world: asked again, it is answered the same; None if it does
            not.
        examples: recorded calls of the same tool.
    """

    context: Context | None
    examples: list[Interaction]


@frozen
class Unanswerable:
    """The call is kept with its verdict, and the trial stops there."""

    verdict: Verdict
    halt: TrialtapeError


@frozen
class Stopped:
    """The trial stops, and the call is not kept: it is another than was recorded, or cannot be looked up."""

    halt: TrialtapeError


Decision = Live | Span | Recorded | Made | Played | Unanswerable | Stopped


_LIVE: Final = Live()


class Decider:
    """Decides the calls of one trial; used by one thread at a time.

    Args:
        policy: what is live and what is frozen.
        redactor: removes secrets before a call is matched.
        source: the recorded answers: `Playback` for a replay, `World` for a freeze, None for a recording.
        prefix: of a fork, what answers the calls before it.
        journal: whose tracked state lacks no write, and which names what cannot be kept.
    """

    def __init__(
        self,
        policy: Policy,
        redactor: Redactor,
        source: Playback | World | None,
        prefix: Prefix | None,
        journal: Journal,
    ) -> None:
        self._policy = policy
        self._redactor = redactor
        self._source = source
        self._prefix = prefix
        self._journal = journal
        self._writes: list[PastWrite] = []
        self._lacking = Lacking(policy.catch_up)

    @property
    def answers_from_recordings(self) -> bool:
        """True if some call of the trial may be answered from a recording."""
        return self._source is not None or self._prefix is not None

    @property
    def lets_connect(self) -> bool:
        """True if connections need no live call: nothing is frozen, and a fork has gone on from its prefix."""
        return self._policy.mode == "record" and (self._prefix is None or not self._prefix.pending)

    def has_just_gone_on(self) -> bool:
        """True once: a fork is past its prefix, and what it draws at random from now on is not frozen."""
        prefix = self._prefix
        return prefix is not None and not prefix.pending and prefix.ends_here() and "random" not in self._policy.ambient

    @property
    def misfit(self) -> type[Divergence | Unanswered]:
        """What a recorded change is that does not fit the state."""
        return Unanswered if isinstance(self._source, World) else Divergence

    def decide(self, ticket: SessionTicket) -> Decision:
        """How the call is answered; the ticket gets its key if it is looked up, or may be looked for later."""
        if self._prefix is not None and self._prefix.pending:
            before = self._begin_again(ticket, self._prefix)
            if before is not None:
                return before
        action = self._policy.decide(ticket.call)
        if action in {"refuse", "emulate"}:
            return self.refusal(ticket) if action == "refuse" else self._played(ticket)
        if action == "live":
            return self._live(ticket)
        if self._source is None:
            return _LIVE
        call = self._matchable(ticket)
        if isinstance(call, Stopped):
            return call
        if isinstance(self._source, Playback):
            return self._play(ticket, call, self._source)
        return self._look_up(ticket, call, self._source)

    def _live(self, ticket: SessionTicket) -> Decision:
        """The policy says that the real thing answers."""
        if self._source is not None and ticket.call.may_write:
            call = self._matchable(ticket)
            if isinstance(call, Stopped):
                return call
        lacking = self._lacks(ticket.call)
        if lacking and self._lets_through(ticket.call) and not self._lacking.permits(self._lacking.closed(lacking)):
            lacking = []
        live = self._caught_up(ticket, _LIVE, lacking)
        if isinstance(live, Live):
            return live
        in_fork = self._prefix is not None
        told, report = frozen_write_report(ticket.call, ticket.step, lacking[0], live or None, in_fork=in_fork)
        return Unanswerable("refused", Refused(told, report))

    def _lets_through(self, call: Call) -> bool:
        """True if the call goes live whatever the real thing lacks: the user says so, or it is a span."""
        if self._policy.lets_through(call) or (self._prefix is not None and self._prefix.lets_through(call)):
            return True
        return isinstance(self._source, World) and self._source.runs_as_span(call)

    def _played(self, ticket: SessionTicket) -> Decision:
        """The policy lets a model play the tool, whatever is recorded."""
        call = self._matchable(ticket)
        if isinstance(call, Stopped):
            return call
        return Played(None, self._source.examples(call) if isinstance(self._source, World) else [])

    def refusal(self, ticket: SessionTicket) -> Unanswerable:
        """The policy forbids the call."""
        call = ticket.call
        why = f"the policy refuses {call.kind} {call.name} (step {ticket.step})"
        report = {"kind": "policy", "step": ticket.step, "call": f"{call.actor}/{call.kind}:{call.name}"}
        return Unanswerable("refused", Refused(why, report))

    def is_refused(self, call: Call) -> bool:
        """True if the policy forbids it."""
        return self._policy.decide(call) == "refuse"

    def happened(self, ticket: SessionTicket, kept: Interaction) -> None:
        """A call has ended: what it wrote decides later ones, and its answer may extend the world."""
        if ticket.extends is not None and isinstance(self._source, World):
            self._source.extend(ticket.key, ticket.extends, Entry(kept, ticket.key, self._digest(kept)))
        if ticket.key and ticket.call.may_write and not ticket.is_span:
            past = PastWrite(ticket.call, ticket.key, self._digest(kept), ticket.started, kept.ended)
            self._writes.append(past)
            self._writes.sort(key=lambda write: write.started)
            if not ticket.origin.live:
                ticket.may_repeat = bool(self._policy.catch_up)
                self._lacking.add(past, ticket, kept, raced=ticket.may_repeat and self._has_raced(kept.origin))

    def _has_raced(self, origin: Origin) -> bool:
        """True if the recorded write before the fork overlapped with others."""
        prefix = self._prefix
        return prefix is not None and origin.trial == prefix.name and origin.step in prefix.raced

    def _digest(self, kept: Interaction) -> str:
        return digest_of(kept.returned, self._redactor)

    def _matchable(self, ticket: SessionTicket) -> Call | Stopped:
        """The call less its secrets; its ticket has its key now."""
        try:
            call = self._redactor.call(ticket.call)
            ticket.key = matching_key(call, self._policy.ignore)
        except UnkeepableValue as error:  # what cannot be kept cannot be looked up
            return Stopped(self._journal.problems[-1] if self._journal.problems else error)
        return call

    def _begin_again(self, ticket: SessionTicket, prefix: Prefix) -> Decision | None:
        """The answer of a call before the fork, from its recording; None if it comes after the fork."""
        call = self._matchable(ticket)
        if isinstance(call, Stopped):
            return call
        if prefix.take_span(call, ticket.key):
            return Span()
        try:
            entry = prefix.take(call, ticket.key)
        except Divergence as divergence:
            return Stopped(divergence)
        if entry is None:
            return None
        if isinstance(self._source, World) and self._policy.decide(call) == "frozen":  # it has been asked this once
            self._source.answer(call, ticket.key, context_of(call, ticket.started, self._writes))
        step = entry.interaction.step
        origin = Origin("emulated" if step == prefix.edited else "own", prefix.name, step)
        return Recorded(entry, origin, prefix.patches(entry), as_told=True)

    def _play(self, ticket: SessionTicket, call: Call, source: Playback) -> Decision:
        if source.take_span(ticket.key):
            return Span()
        try:
            entry = source.take(call, ticket.key)
        except TrialtapeError as divergence:
            return Stopped(divergence)
        step = entry.interaction.step
        if source.asks_again(call, entry, tracked=self._journal.state is not None):
            return Live(Origin("live", source.name, step))  # beside which answer the one that comes now stands
        return Recorded(entry, Origin("own", source.name, step), source.patches(entry), as_told=True)

    def _look_up(self, ticket: SessionTicket, call: Call, world: World) -> Decision:
        if world.is_span(ticket.key):
            return Span()
        context = context_of(call, ticket.started, self._writes)
        found = world.answer(call, ticket.key, context)
        if isinstance(found, Found):
            trial = None if found.recording is None else str(found.recording.trial)
            patch = found.entry.interaction.patch
            origin = Origin(found.verdict, trial, found.entry.interaction.step)
            return Recorded(found.entry, origin, () if patch is None else (patch,))
        if world.runs_as_span(call):
            return Span()
        return self._missed(ticket, call, world, context, found)

    def _missed(self, ticket: SessionTicket, call: Call, world: World, context: Context, missing: Missing) -> Decision:
        report = miss_report(ticket.step, call, missing, world)
        action, may_go_live = self._policy.on_miss.action(call)
        if action == "error":
            return Made(Error(LookupError(f"{call.name}: no recorded answer")), Origin(missing.verdict))
        if action == "fail":
            return Unanswerable(missing.verdict, Unanswered(report["message"], report))
        if action == "emulate" and may_go_live:
            return Played(context, world.examples(call))
        lacking = self._lacks(call)
        extends = action == "extend" and not call.may_write and call.kind != "model"
        real = Live(Origin("extended"), context, asked_for=True) if extends else Live(asked_for=True)
        live = self._caught_up(ticket, real, lacking) if may_go_live else None
        if isinstance(live, Live):
            return live
        reason = not_live_reason(call, [write.call for write in lacking], live, emulated=action == "emulate")
        return Unanswerable("refused", Unanswered(f"{report['message']}\n  {reason}.", report))

    # -- what the real thing lacks ------------------------------------------------------------------------------------

    def _lacks(self, call: Call) -> list[FrozenWrite]:
        """The writes, answered from recordings, that the real thing never saw and ``call`` may notice.

        The tracked state lacks none: a frozen write applies its recorded change. A model is told in its request.
        """
        if call.kind not in {"tool", "http"} or isinstance(self._source, Playback) or self._has_state(call):
            return []
        return self._lacking.noticed_by(call)

    def _has_state(self, call: Call) -> bool:
        """True if ``call`` acts on the tracked state."""
        return self._tracked and not call.external

    @property
    def _tracked(self) -> bool:
        return self._journal.state is not None

    def _caught_up(self, ticket: SessionTicket, live: Live, lacking: list[FrozenWrite]) -> Live | str | None:
        """``live``, after what the real thing lacks; or why that cannot be carried out, None if it may not be."""
        plan: list[FrozenWrite] = []
        if lacking:
            if not self._policy.catch_up:
                return None
            plan = self._lacking.closed(lacking)
            why = self._lacking.obstacle(plan, ticket, tracked=self._tracked)
            if why is not None:
                return why
        if ticket.call.may_write and self._policy.catch_up and not self._has_state(ticket.call):
            plan = self._lacking.overtaken(ticket, plan, tracked=self._tracked)
        return evolve(live, plan=tuple(plan)) if plan else live
