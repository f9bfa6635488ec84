"""Are the trials of a run really independent? What one shows of another, by kind of leak.

pass^k is the chance that independent trials all pass. A cache that answers the second trial, a conversation that goes
on from one to the next, a state that nobody reset: each makes trials agree, or differ, for a reason that the next user
will not share. All of it is looked for in the recordings alone, so it can be looked for again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

from attrs import asdict, frozen

from cassettes.canonical import canonical, digest_bytes, key_of
from cassettes.model import Interaction, Value

from .leaves import leaf_changes
from .plain import plain
from .view import View, messages_of

__all__ = ["Leak", "LeakKind", "leaks_between", "traces_of"]

LeakKind = Literal["initial state", "reused response", "shared conversation", "carried over", "visible write"]

_LINKS: Final = ("previous_response_id", "conversation", "conversation_id", "thread_id", "session_id", "cachedContent")
_LONGEST_SHOWN: Final = 60
_LEAST_TELLING: Final = 4  # letters or digits
_LEAST_SAID: Final = 25  # letters: what is shorter may be said twice by chance


@frozen
class Leak:
    """Something of ``other`` in ``trial``.

    Attributes:
        step: of ``trial``; None if it holds from the beginning.
        what: for people, with what was seen.
    """

    kind: LeakKind
    trial: str
    other: str
    step: int | None
    what: str

    def to_dict(self) -> dict[str, Any]:
        """The same as data."""
        return asdict(self)


@frozen
class Traces:
    """What one trial leaves, and what it shows, that another could share.

    Attributes:
        state: digest of the initial state; None if none is known.
        responses: ids of live model replies, with their steps.
        links: ids of earlier responses or conversations that its requests name, with their steps.
        said: digests of the lines that its model said.
        heard: digests of the lines in its first request, with the lines.
        before: by key, what its reads answered before its first write, with their steps and names.
        after: by key, what they answered after it.
        written: texts and numbers in the arguments and answers of its writes.
    """

    trial: str
    task: str
    state: str | None
    responses: dict[str, int]
    links: dict[str, int]
    said: frozenset[str]
    heard: dict[str, str]
    before: dict[str, tuple[Any, int, str]]
    after: dict[str, list[Any]]
    written: frozenset[Any]


def traces_of(view: View) -> Traces:
    """What a recorded trial leaves and shows."""
    definition = view.cassette.header.task_definition or {}
    responses: dict[str, int] = {}
    links: dict[str, int] = {}
    said: set[str] = set()
    heard: dict[str, str] | None = None
    tools: list[Interaction] = []
    for step in view.steps:
        interaction = step.interaction
        if interaction.call.kind == "model" and interaction.call.actor == "agent":
            if heard is None:
                heard = dict(_heard(interaction))
            links |= {value: step.number for value in _links(interaction) if value not in links}
            if interaction.origin.live and step.reply is not None and step.reply.id:
                responses.setdefault(step.reply.id, step.number)
            said.update(_digest(line) for line in _lines(step.text))
        elif interaction.call.kind == "tool":
            tools.append(interaction)
    tracked = (mark.data["digest"] for mark in view.marks if mark.kind == "state")
    state = next(tracked, definition.get("digests", {}).get("state"))
    return Traces(
        str(view.id), view.id.task, state, responses, links, frozenset(said), heard or {}, *_read_and_written(tools)
    )


def _read_and_written(
    tools: Iterable[Interaction],
) -> tuple[dict[str, tuple[Any, int, str]], dict[str, list[Any]], frozenset[Any]]:
    before: dict[str, tuple[Any, int, str]] = {}
    after: dict[str, list[Any]] = defaultdict(list)
    written: set[Any] = set()
    wrote = False
    for interaction in tools:
        returned = interaction.returned
        if not isinstance(returned, Value) or not interaction.origin.live:
            continue
        call, answer = interaction.call, plain(returned.result)
        if call.effect == "write":
            wrote = True
            written.update(_leaves([plain(dict(call.arguments)), answer]))
        elif call.effect == "read" and wrote:
            after[key_of(call)].append(answer)
        elif call.effect == "read":
            before.setdefault(key_of(call), (answer, interaction.step, call.name))
    return before, after, frozenset(written)


def _leaves(value: Any) -> Iterator[Any]:
    """The texts and numbers in a JSON-like value; what a text says in JSON too."""
    value = _parsed(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def _parsed(value: Any) -> Any:
    """A text that is JSON as what it says; anything else as it is."""
    if not isinstance(value, str) or value[:1] not in {"{", "["}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _links(interaction: Interaction) -> Iterator[str]:
    for name in _LINKS:
        value = interaction.call.arguments.get(name)
        if isinstance(value, dict):
            value = value.get("id")
        if isinstance(value, str) and value:
            yield value


def _heard(interaction: Interaction) -> Iterator[tuple[str, str]]:
    for text in _texts([messages_of(interaction.call), interaction.call.arguments.get("instructions")]):
        yield from ((_digest(line), line) for line in _lines(text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _lines(text: Any) -> Iterator[str]:
    """The lines of a text that are long enough not to be said twice by chance."""
    if isinstance(text, str):
        yield from (line for part in text.splitlines() if len(line := part.strip()) >= _LEAST_SAID)


def _digest(text: str) -> str:
    return digest_bytes(canonical(text))


def leaks_between(traces: Sequence[Traces]) -> list[Leak]:
    """What the trials of one run show of each other; one leak for each kind and trial, the first that was found.

    Args:
        traces: of all trials of the run, in the order in which they were made.
    """
    found: dict[tuple[LeakKind, str], Leak] = {}
    for leak in (*_states(traces), *_reused(traces), *_conversations(traces), *_carried(traces), *_writes(traces)):
        found.setdefault((leak.kind, leak.trial), leak)
    return list(found.values())


def _states(traces: Iterable[Traces]) -> Iterator[Leak]:
    first: dict[str, Traces] = {}
    for trace in traces:
        if trace.state is None:
            continue
        other = first.setdefault(trace.task, trace)
        if other.state != trace.state:
            what = f"its tracked state began other than that of {other.trial}: it was not made anew"
            yield Leak("initial state", trace.trial, other.trial, None, what)


def _reused(traces: Iterable[Traces]) -> Iterator[Leak]:
    first: dict[str, str] = {}
    for trace in traces:
        for response, step in trace.responses.items():
            other = first.setdefault(response, trace.trial)
            if other != trace.trial:
                what = f"the model's answer at step {step} has the id {response}, as one of {other}: a cache answered"
                yield Leak("reused response", trace.trial, other, step, what)


def _conversations(traces: Sequence[Traces]) -> Iterator[Leak]:
    owner = {response: trace.trial for trace in reversed(traces) for response in trace.responses}
    first: dict[str, str] = {}
    for trace in traces:
        for link, step in trace.links.items():
            other = owner.get(link) or first.setdefault(link, trace.trial)
            if other != trace.trial:
                what = f"the request at step {step} goes on from {link}, which belongs to {other}"
                yield Leak("shared conversation", trace.trial, other, step, what)


def _carried(traces: Sequence[Traces]) -> Iterator[Leak]:
    """A first request that holds what the model said in an earlier trial, and no trial held before that."""
    said: dict[str, int] = {}
    heard: dict[str, int] = {}
    for place, trace in enumerate(traces):
        for digest in trace.said:
            said.setdefault(digest, place)
        for digest in trace.heard:
            heard.setdefault(digest, place)
    for place, trace in enumerate(traces):
        for digest, line in trace.heard.items():
            if said.get(digest, place) < min(place, heard[digest]):
                other = traces[said[digest]].trial
                shown = line if len(line) <= _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}…"
                what = f"its first request holds what the model said in {other}: {shown!r}: a memory was carried over"
                yield Leak("carried over", trace.trial, other, None, what)
                break


def _writes(traces: Sequence[Traces]) -> Iterator[Leak]:
    """A read that answers, before any write of its own trial, what an earlier trial wrote since it read the same."""
    for place, trace in enumerate(traces):
        earlier = [other for other in traces[:place] if other.task == trace.task]
        for key, (answer, step, name) in trace.before.items():
            other = next((other for other in earlier if _written_by(other, key, answer)), None)
            if other is not None:
                what = f"{name} at step {step} answers what {other.trial} wrote: the write of another trial is visible"
                yield Leak("visible write", trace.trial, other.trial, step, what)
                break


def _written_by(other: Traces, key: str, answer: Any) -> bool:
    if key not in other.before or other.before[key][0] == answer:
        return False
    if answer in other.after.get(key, ()):
        return True
    changes = leaf_changes(_parsed(answer), _parsed(other.before[key][0]))
    return any(_is_telling(change.left) and change.left in other.written for change in changes)


def _is_telling(value: Any) -> bool:
    """True if two values are hardly the same by chance: a stock of 2 equals many a number."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) >= _LEAST_TELLING
