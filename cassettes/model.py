"""What a trial is: the frozen values that a cassette holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from .identity import TrialId

__all__ = [
    "ENDINGS",
    "KINDS",
    "VERDICTS",
    "Actor",
    "Call",
    "Cancelled",
    "Changed",
    "Chunk",
    "Effect",
    "Ending",
    "Error",
    "Header",
    "Injected",
    "Interaction",
    "Kind",
    "Mark",
    "Origin",
    "Outcome",
    "Paced",
    "Patch",
    "Reply",
    "Stream",
    "ToolRequest",
    "TrialId",
    "Usage",
    "Value",
    "Verdict",
    "paced",
]

Kind = Literal["model", "tool", "http", "clock", "random"]
Actor = Literal["agent", "user", "judge", "emulator"]
Effect = Literal["read", "write", "pure", "unknown"]
EndingStatus = Literal["completed", "capped", "error", "unanswered", "cancelled", "incomplete"]
Verdict = Literal["own", "borrowed", "repeated", "raced", "stale", "missed", "extended", "emulated", "live", "refused"]

KINDS: tuple[Kind, ...] = ("model", "tool", "http", "clock", "random")
ENDINGS: tuple[EndingStatus, ...] = ("completed", "capped", "error", "unanswered", "cancelled", "incomplete")
VERDICTS: tuple[Verdict, ...] = (
    "own",
    "borrowed",
    "repeated",
    "raced",
    "stale",
    "missed",
    "extended",
    "emulated",
    "live",
    "refused",
)


@frozen
class Call:
    """One crossing of the boundary, as asked for.

    Attributes:
        name: the tool's name, the model's name, or ``METHOD host/path``.
        arguments: by name; of a model call its request body.
        endpoint: of a model call ``PROTOCOL PATH``; part of the call's identity, unlike its host.
        history: the argument that holds the messages of a model call.
        reads, writes: resources such as ``order:17``, ``*`` for what the arguments leave open; None is "not declared".
        detail: kept for the reader (method, URL, headers, tool call id), never matched.
    """

    kind: Kind
    name: str
    arguments: Mapping[str, Any]
    actor: str = "agent"
    effect: Effect = "unknown"
    external: bool = True
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    endpoint: str = ""
    history: str | None = None
    detail: Mapping[str, Any] = field(factory=dict)

    @property
    def may_write(self) -> bool:
        """A tool or HTTP call whose effect is ``write`` or ``unknown``."""
        return self.kind in {"tool", "http"} and self.effect in {"write", "unknown"}


@frozen
class Changed:
    """What a tool returned, and those of its arguments that it changed in place meanwhile."""

    result: Any
    arguments: Mapping[str, Any]


@frozen
class Value:
    """The call returned this; a `Changed` if it also changed what it was given."""

    value: Any

    @property
    def result(self) -> Any:
        """What the caller got."""
        return self.value.result if isinstance(self.value, Changed) else self.value


@frozen
class Error:
    """The call raised this."""

    error: BaseException = field(eq=False)


@frozen
class Cancelled:
    """The caller gave the call up (a timeout, a cancelled task)."""


@frozen
class Chunk:
    """A piece of a stream; ``at`` is in seconds since the call began."""

    at: float
    data: Any


@frozen
class Stream:
    """The call answered in pieces.

    Attributes:
        head: what came before the first piece (of HTTP: status and headers).
        complete: False if the consumer stopped early or the peer broke off; then ``error`` says how.
    """

    head: Any
    chunks: tuple[Chunk, ...]
    complete: bool = True
    error: BaseException | None = field(default=None, eq=False)


@frozen
class Paced(Stream):
    """A recorded stream that is to be handed out as slowly as it came."""


Outcome = Value | Error | Cancelled | Stream


def paced(outcome: Outcome) -> Outcome:
    """The outcome, if it is a stream as one that is to be handed out as slowly as it came."""
    if not isinstance(outcome, Stream):
        return outcome
    return Paced(outcome.head, outcome.chunks, outcome.complete, outcome.error)


@frozen
class Usage:
    """Tokens of one model call; None where the provider did not say.

    Attributes:
        input: the whole prompt; ``cached`` of it came from the provider's cache, ``written`` of it went there.
        output: the whole answer, ``reasoning`` of it before the text.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    written: int | None = None


@frozen
class ToolRequest:
    """A tool call that the model asked for; ``arguments`` is the text that it wrote."""

    id: str | None
    name: str
    arguments: str


@frozen
class Reply:
    """What a model answered, read from the protocol by a decoder."""

    text: str | None = None
    tool_calls: tuple[ToolRequest, ...] = ()
    finish: str | None = None
    model: str | None = None
    id: str | None = None
    usage: Usage | None = None
    refusal: str | None = None
    error: str | None = None


@frozen
class Origin:
    """Who answered: the real thing (``live``), or which step of which cassette, and how well it fitted."""

    verdict: Verdict = "live"
    trial: str | None = None
    step: int | None = None

    @property
    def live(self) -> bool:
        """True if the real thing answered: of ``extended`` only where it was called in this very trial."""
        return self.verdict == "live" or (self.verdict == "extended" and self.trial is None)


@frozen
class Injected:
    """What was put into a result on purpose, to see what the agent makes of it: an attack.

    Attributes:
        by: the names of what was put in, in the order in which that was done.
        returned: what came back without it: from the tool itself, or from a recording of it.
    """

    by: tuple[str, ...]
    returned: Outcome

    def __str__(self) -> str:
        return f"injected: {', '.join(self.by)}"


@frozen
class Patch:
    """Changes to the tracked state: each a path, the old and the new packed value (None: absent)."""

    changes: tuple[tuple[tuple[Any, ...], bytes | None, bytes | None], ...]


@frozen
class Interaction:
    """A call with its outcome.

    Attributes:
        step: 0-based place in start order.
        started, ended: places in one order over all starts and ends of the trial.
        at: seconds since the trial began; ``duration`` in seconds.
        parent: the step inside which this one happened (HTTP inside a tool).
        injected: what was put into the outcome that the caller got; None as a rule.
    """

    step: int
    call: Call
    outcome: Outcome
    started: int
    ended: int
    at: float = 0.0
    duration: float = 0.0
    origin: Origin = field(factory=Origin)
    parent: int | None = None
    reply: Reply | None = None
    patch: Patch | None = None
    injected: Injected | None = None

    @property
    def returned(self) -> Outcome:
        """What came back, less what was put into it."""
        return self.outcome if self.injected is None else self.injected.returned


@frozen
class Mark:
    """Something that belongs to a trial and is no call.

    ``message`` (role, content), ``state`` (digest of the initial state), ``changed`` (a change that no write
    explains), ``problem`` (what the recorder saw going wrong), ``annotation`` (what an imported file says of it),
    ``caught_up`` (the frozen write of ``step`` was carried out before step ``before`` went live; ``other`` says how its
    outcome differed from the recorded one, and is None if it did not).
    """

    kind: str
    at: float
    data: Any


@frozen
class Ending:
    """How a trial ended.

    Attributes:
        cause: of an ``error``: ``agent`` (its own exception) or ``infrastructure`` (the provider, the network).
    """

    status: EndingStatus
    reason: str | None = None
    cause: str | None = None


@frozen
class Header:
    """What is known of a trial when it begins.

    Attributes:
        began: Unix time in seconds.
        config: mode, policy, source, world, seed.
        task_definition: the task with its digests, so that a score can be computed from the cassette alone.
        packages: versions of what made the recording.
    """

    run: str
    task: str
    index: int
    began: float
    config: Mapping[str, Any] = field(factory=dict)
    task_definition: Mapping[str, Any] | None = None
    packages: Mapping[str, str] = field(factory=dict)

    @property
    def id(self) -> TrialId:
        """The trial's id."""
        return TrialId(self.run, self.task, self.index)
