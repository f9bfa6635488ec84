"""What a frame holds: the model as msgpack records.

A frame of type STEPS holds a sequence of msgpack objects: first the messages that are new (each once per cassette,
as binary), then one record. An interaction is three objects: its facts, its arguments, its outcome, so that each can
be packed when it happened. In the arguments of a model call every list is a reference to messages stored before.
"""

from __future__ import annotations

import operator
from typing import Any, Final

import msgpack
from attrs import frozen

from .arguments import Snapshot, ranges, references, resolve, snapshot, with_references
from .errors import CorruptCassette
from .model import (
    KINDS,
    VERDICTS,
    Call,
    Cancelled,
    Chunk,
    Ending,
    Error,
    Header,
    Injected,
    Interaction,
    Mark,
    Origin,
    Outcome,
    Patch,
    Reply,
    Stream,
    ToolRequest,
    Usage,
    Value,
)
from .values import PACKED, Opaque, pack, unpack

__all__ = [
    "Snapshot",
    "ending_from",
    "ending_plain",
    "facts_of",
    "fresh",
    "header_from",
    "header_plain",
    "interaction_from",
    "mark_from",
    "mark_plain",
    "outcome_from",
    "outcome_plain",
    "ranges",
    "references",
    "resolve",
    "snapshot",
    "split",
    "with_references",
]

_EFFECTS: Final = ("read", "write", "pure", "unknown")
_INTERACTION: Final = 1
_MARK: Final = 2
_INJECTED: Final = 20  # the place of what was put into the outcome: the last one, and there only if something was


def facts_of(interaction: Interaction) -> list[Any]:
    """The interaction without arguments and outcome, as plain values."""
    call, origin, reply = interaction.call, interaction.origin, interaction.reply
    return [
        _INTERACTION,
        interaction.step,
        interaction.started,
        interaction.ended,
        round(interaction.at * 1e6),
        round(interaction.duration * 1e6),
        KINDS.index(call.kind),
        call.name,
        call.actor,
        _EFFECTS.index(call.effect),
        call.external,
        call.endpoint,
        call.history,
        None if call.reads is None else list(call.reads),
        None if call.writes is None else list(call.writes),
        dict(call.detail),
        [VERDICTS.index(origin.verdict), origin.trial, origin.step],
        interaction.parent,
        None if reply is None else _reply_plain(reply),
        None if interaction.patch is None else _patch_plain(interaction.patch),
        *([] if interaction.injected is None else [_injected_plain(interaction.injected)]),
    ]


def _kept(packed: bytes | None) -> msgpack.ExtType | None:
    """A value that was packed before, so that what handles packed values looks into it."""
    return None if packed is None else msgpack.ExtType(PACKED, packed)


def interaction_from(facts: list[Any], arguments: Any, outcome: Any) -> Interaction:
    """The inverse of `facts_of`, with arguments and outcome put back.

    Raises:
        CorruptCassette: the record has another shape.
    """
    try:
        (_, step, started, ended, at, duration, kind, name, actor, effect, external, endpoint, history) = facts[:13]
        reads, writes, detail, (verdict, trial, source), parent, reply, patch = facts[13:20]
        call = Call(
            kind=KINDS[kind],
            name=name,
            arguments=arguments,
            actor=actor,
            effect=_EFFECTS[effect],
            external=external,
            reads=None if reads is None else tuple(reads),
            writes=None if writes is None else tuple(writes),
            endpoint=endpoint,
            history=history,
            detail=detail,
        )
        return Interaction(
            step=step,
            call=call,
            outcome=outcome_from(outcome),
            started=started,
            ended=ended,
            at=at / 1e6,
            duration=duration / 1e6,
            origin=Origin(VERDICTS[verdict], trial, source),
            parent=parent,
            reply=None if reply is None else _reply_from(reply),
            patch=None if patch is None else _patch_from(patch),
            injected=_injected_from(facts[_INJECTED]) if len(facts) > _INJECTED else None,
        )
    except (ValueError, TypeError, LookupError) as error:
        raise CorruptCassette(f"an interaction has an unknown shape: {error}") from error


def outcome_plain(outcome: Outcome) -> list[Any]:
    """An outcome as plain values around the recorded ones."""
    match outcome:
        case Value(value):
            return [0, value]
        case Error(error):
            return [1, error]
        case Cancelled():
            return [2]
        case Stream(head, chunks, complete, error):
            return [3, head, [[round(chunk.at * 1e6), chunk.data] for chunk in chunks], complete, error]


def fresh(outcome: Outcome) -> tuple[Outcome, list[Opaque]]:
    """A copy of an outcome to hand out, and what of it has a class that is not loaded here.

    Recordings are shared by trials and served more than once: what an agent changes in an answer stays its own.
    """
    unknown: list[Opaque] = []
    return outcome_from(unpack(pack(outcome_plain(outcome)), unknown.append)), unknown


def outcome_from(plain: list[Any]) -> Outcome:
    """The inverse of `outcome_plain`."""
    match plain:
        case [0, value]:
            return Value(value)
        case [1, error]:
            return Error(error)
        case [2]:
            return Cancelled()
        case [3, head, chunks, complete, error]:
            return Stream(head, tuple(Chunk(at / 1e6, data) for at, data in chunks), complete, error)
    raise ValueError("an outcome of an unknown kind")


def _reply_plain(reply: Reply) -> list[Any]:
    usage = reply.usage
    return [
        reply.text,
        [[tool.id, tool.name, tool.arguments] for tool in reply.tool_calls],
        reply.finish,
        reply.model,
        reply.id,
        None if usage is None else [usage.input, usage.output, usage.cached, usage.reasoning, usage.written],
        reply.refusal,
        reply.error,
    ]


def _reply_from(plain: list[Any]) -> Reply:
    text, tools, finish, model, identity, usage, refusal, error = plain
    return Reply(
        text,
        tuple(ToolRequest(*tool) for tool in tools),
        finish,
        model,
        identity,
        None if usage is None else Usage(*usage),
        refusal,
        error,
    )


def _patch_plain(patch: Patch) -> list[Any]:
    return [[list(path), _kept(old), _kept(new)] for path, old, new in patch.changes]


def _patch_from(plain: Any) -> Patch:
    return Patch(tuple((tuple(path), old, new) for path, old, new in plain))


def _injected_plain(injected: Injected) -> list[Any]:
    return [list(injected.by), _kept(pack(outcome_plain(injected.returned)))]


def _injected_from(plain: list[Any]) -> Injected:
    by, returned = plain
    return Injected(tuple(by), outcome_from(unpack(returned)))


def mark_plain(mark: Mark) -> list[Any]:
    """A mark as a record."""
    data = {"patch": _patch_plain(mark.data)} if isinstance(mark.data, Patch) else mark.data
    return [_MARK, mark.kind, round(mark.at * 1e6), data]


def mark_from(plain: list[Any]) -> Mark:
    """The inverse of `mark_plain`.

    Raises:
        CorruptCassette: the record has another shape.
    """
    try:
        _, kind, at, data = plain
        return Mark(kind, at / 1e6, _patch_from(data["patch"]) if kind == "changed" else data)
    except (ValueError, TypeError, KeyError) as error:
        raise CorruptCassette(f"a mark has an unknown shape: {error}") from error


def header_plain(header: Header) -> dict[str, Any]:
    """A header as a record."""
    return {
        "run": header.run,
        "task": header.task,
        "index": header.index,
        "began": header.began,
        "config": dict(header.config),
        "task_definition": None if header.task_definition is None else dict(header.task_definition),
        "packages": dict(header.packages),
    }


def header_from(plain: Any) -> Header:
    """The inverse of `header_plain`.

    Raises:
        CorruptCassette: the record has another shape.
    """
    try:
        return Header(**plain)
    except TypeError as error:
        raise CorruptCassette(f"the header has an unknown shape: {error}") from error


def ending_plain(ending: Ending) -> list[Any]:
    """An ending as a record."""
    return [ending.status, ending.reason, ending.cause]


def ending_from(plain: Any) -> Ending:
    """The inverse of `ending_plain`.

    Raises:
        CorruptCassette: the record has another shape.
    """
    try:
        return Ending(*plain)
    except TypeError as error:
        raise CorruptCassette(f"the ending has an unknown shape: {error}") from error


# -- reading a frame --------------------------------------------------------------------------------------------------


@frozen
class Parts:
    """The content of one frame, not yet decoded: new messages, and the packed objects of its record."""

    messages: tuple[bytes, ...]
    record: tuple[bytes, ...]

    def index(self) -> tuple[int | None, tuple[str, ...]]:
        """The step of an interaction, None for a mark, and the names under which a cassette counts the record.

        Raises:
            CorruptCassette: the record has another shape.
        """
        facts = unpack(self.record[0])
        try:
            if facts[0] == _MARK:
                return None, (f"mark {facts[1]}",)
            counted = (KINDS[facts[6]], f"origin {VERDICTS[facts[16][0]]}")
            return operator.index(facts[1]), (*counted, "injected") if len(facts) > _INJECTED else counted
        except (ValueError, TypeError, LookupError) as error:
            raise CorruptCassette(f"a record has an unknown shape: {error}") from error


def split(plain: bytes) -> Parts:
    """The objects of a frame's plain content.

    Raises:
        CorruptCassette: the content is no sequence of msgpack objects.
    """
    unpacker = msgpack.Unpacker(strict_map_key=False, unicode_errors="surrogatepass", max_buffer_size=len(plain) or 1)
    unpacker.feed(plain)
    messages: list[bytes] = []
    record: list[bytes] = []
    at = 0
    try:
        while at < len(plain):
            # 0xc4..0xc6 is binary: only messages are, and they come first.
            if not record and plain[at] in {0xC4, 0xC5, 0xC6}:
                messages.append(unpacker.unpack())
            else:
                unpacker.skip()
                record.append(plain[at : unpacker.tell()])
            at = unpacker.tell()
    except (ValueError, msgpack.UnpackException) as error:
        raise CorruptCassette(f"a frame's content is damaged: {error}") from error
    if not record:
        raise CorruptCassette("a frame holds no record")
    return Parts(tuple(messages), tuple(record))
