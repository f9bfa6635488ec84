"""Effects proposed from recordings, with the evidence: what a person checks before it goes into an effects file.

A tool that always answers the same need not be a read: many writes say "ok" each time. So behaviour alone proposes
`write`, and takes doubtful claims back; `read` and `pure` rest on the tool's name, its HTTP method or its own word,
as long as nothing that was recorded speaks against it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from attrs import define, field, frozen

from cassettes.model import Effect

from .recording import Entry, Recording

__all__ = ["Proposal", "effects_text", "proposals"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALWAYS_WRITES: Final = _words("""
    add approve assign cancel commit confirm create delete deploy disable edit enable execute grant insert install merge
    modify publish redeem register remove rename reschedule reserve revoke save send submit subscribe unsubscribe update
    upload withdraw write
""")  # wherever they stand in a name
_WRITES: Final = _ALWAYS_WRITES | _words("""
    book buy change charge close drop exchange issue mark move order pay place post purchase push put refund reply reset
    restart return schedule set ship stop transfer
""")  # nouns as well: they count unless a reading word stands before them
_READS: Final = _words("""
    browse count describe download fetch find get has inspect is list load look lookup open peek poll query quote read
    retrieve search see select show track validate verify view
""")
_PURE: Final = _words("calculate compute convert format parse think")

Basis = Literal["observed", "name", "method", "declared", "none"]


@frozen
class Proposal:
    """What one tool seems to do.

    Attributes:
        basis: what the effect rests on.
        evidence: for people, one line each.
        declared: what the recorded calls said.
    """

    kind: str
    name: str
    effect: Effect
    basis: Basis
    declared: Effect
    calls: int
    evidence: tuple[str, ...]


@define
class _Seen:
    """What was seen of one tool."""

    kind: str
    name: str
    declared: Effect
    calls: int = 0
    trials: set[str] = field(factory=set)
    changed_state: int = 0
    asked_again: int = 0
    changed: int = 0
    changed_alone: list[str] = field(factory=list)
    between: Counter[str] = field(factory=Counter)
    suspected: list[str] = field(factory=list)


def proposals(recordings: Iterable[Recording]) -> list[Proposal]:
    """An effect for each tool of the recordings, by name; http calls too."""
    seen: dict[tuple[str, str], _Seen] = {}
    pairs: list[tuple[_Seen, Entry, Entry, list[Entry], str]] = []
    for recording in recordings:
        _look_through(recording, seen, pairs)
    for tool, _, later, between, trial in pairs:
        others = [entry for entry in between if _claim(seen[_id(entry)])[0] not in {"read", "pure"}]
        place = f"{trial} step {later.interaction.step}"
        if not between:
            tool.changed_alone.append(place)
        elif not others and len({_id(entry) for entry in between}) == 1:
            seen[_id(between[0])].suspected.append(f"{place}: {tool.name} answered something else after it")
        tool.between.update({entry.interaction.call.name for entry in others or between})
    return [_proposed(tool) for _, tool in sorted(seen.items())]


def _look_through(
    recording: Recording,
    seen: dict[tuple[str, str], _Seen],
    pairs: list[tuple[_Seen, Entry, Entry, list[Entry], str]],
) -> None:
    entries = [entry for entry in recording.entries if entry.interaction.call.kind in {"tool", "http"}]
    last: dict[str, int] = {}
    for place, entry in enumerate(entries):
        call = entry.interaction.call
        tool = seen.setdefault((call.kind, call.name), _Seen(call.kind, call.name, call.effect))
        tool.calls += 1
        tool.trials.add(str(recording.trial))
        tool.changed_state += entry.interaction.patch is not None
        before = last.get(entry.key)
        last[entry.key] = place
        if before is None:
            continue
        tool.asked_again += 1
        if entries[before].outcome != entry.outcome:
            tool.changed += 1
            pairs.append((tool, entries[before], entry, entries[before + 1 : place], str(recording.trial)))


def _id(entry: Entry) -> tuple[str, str]:
    return entry.interaction.call.kind, entry.interaction.call.name


def _claim(tool: _Seen) -> tuple[Effect, Basis]:
    """What is said of it: by itself, its HTTP method, or the first word of its name that tells."""
    if tool.declared != "unknown":
        return tool.declared, "declared"
    if tool.kind == "http":
        method = tool.name.partition(" ")[0]
        return ("read", "method") if method in {"GET", "HEAD", "OPTIONS"} else ("unknown", "none")
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", tool.name).lower())
    if _ALWAYS_WRITES.intersection(words):
        return "write", "name"
    for word in words:
        for effect, telling in (("write", _WRITES), ("read", _READS), ("pure", _PURE)):
            if word in telling:
                return effect, "name"  # type: ignore[return-value]  # the literals of the loop
    return "unknown", "none"


def _proposed(tool: _Seen) -> Proposal:
    claim, basis = _claim(tool)
    effect: Effect = claim
    evidence = [f"{tool.calls} calls in {len(tool.trials)} trials"]
    if basis == "name":
        evidence.append(f"its name says {claim}")
    elif basis in {"declared", "method"}:
        evidence.append(f"{'it is declared' if basis == 'declared' else 'its method says'} {claim}")
    if tool.asked_again:
        same = tool.asked_again - tool.changed
        evidence.append(f"asked again in the same trial {tool.asked_again} times: {same} times the same answer")
    if tool.between:
        between = ", ".join(f"{name} ({number})" for name, number in tool.between.most_common(4))
        evidence.append(f"other answers came after: {between}")
    if tool.changed_state:
        evidence.append(f"{tool.changed_state} of its calls changed the tracked state")
        return _made(tool, "write", "observed", evidence)
    if tool.changed_alone and claim in {"read", "pure"}:
        evidence.append(f"another answer with no call between, at {tool.changed_alone[0]}: it drifts, or it writes")
        effect, basis = ("read" if claim == "read" and basis == "declared" else "unknown"), "observed"
    if claim == "pure" and tool.changed and effect == "pure":
        effect, basis = "read", "observed"
    if tool.suspected and claim in {"read", "pure"} and effect in {"read", "pure"}:
        evidence.append(f"it may write: {tool.suspected[0]}")
        effect, basis = "unknown", "observed"
    return _made(tool, effect, basis, evidence)


def _made(tool: _Seen, effect: Effect, basis: Basis, evidence: Sequence[str]) -> Proposal:
    return Proposal(tool.kind, tool.name, effect, basis, tool.declared, tool.calls, tuple(evidence))


def effects_text(found: Sequence[Proposal]) -> str:
    """The proposals as an effects file, with the evidence as comments."""
    lines = [
        "# Effects proposed from recordings. Check each: a tool declared read that writes makes stale answers look"
    ]
    lines += ['# exact. Resources (reads, writes) are yours to add, such as reads = "order:{order_id}".', ""]
    for proposal in found:
        table = "tools" if proposal.kind == "tool" else "http"
        lines += [f"# {text}" for text in proposal.evidence]
        lines += [f"[{table}.{json.dumps(proposal.name, ensure_ascii=False)}]", f'effect = "{proposal.effect}"', ""]
    return "\n".join(lines)
