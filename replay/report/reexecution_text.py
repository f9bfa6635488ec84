"""A re-execution in words: how many answers are the same, which are not, and in what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from replay.difference import shortened

__all__ = ["known_lines", "reexecution_lines"]

_MOST_FIELDS: Final = 5
_MOST_TRIALS: Final = 5
_TIERS: Final = {
    "identical": "byte for byte",
    "canonical": "the same JSON, written otherwise",
    "hidden": "the same but for secrets, which the recording does not hold",
    "differs": "another answer",
    "unknown tool": "the environment has no such tool",
    "not carried out": "not carried out",
}

Document = Mapping[str, Any]


def reexecution_lines(found: Document) -> Iterator[str]:
    """The lines for a person.

    Args:
        found: as `replay.reruns.reexecution.Reexecution.to_dict` gives it, fresh or kept.
    """
    trials: Sequence[Document] = found["trials"]
    yield from _environment_lines(found)
    yield from _head(found)
    for name, tool in found["tools"].items():
        if tool["differ"]:
            yield from _tool_lines(name, tool)
    counts = found["verdicts"]
    if counts:
        yield "  " + ", ".join(f"{told}: {counts[verdict]:,}" for verdict, told in _TIERS.items() if verdict in counts)
    yield from _unknown_lines(trials)
    yield from _reason_lines("not carried out", _others(trials, "not carried out"))
    yield from _state_lines("initial states", trials, "start")
    yield from _state_lines("final states", trials, "state")
    yield from _score_lines(trials)
    yield from _trial_lines(trials)
    if found["exit_code"] == 6:
        yield "undecided: nothing differs, but not everything could be compared"


def known_lines(known: Sequence[Document]) -> Iterator[str]:
    """One line for each re-execution that was kept, oldest first."""
    for found in known:
        told = f"{found['of']} in {found['environment']['factory']}"
        yield f"{found['at']}  {told}: {found['differ']} of {found['calls']:,} outputs differ ({found['mode']})"


def _environment_lines(found: Document) -> Iterator[str]:
    for seen in found["environment"]["seen"]:
        name = seen["name"] or found["environment"]["factory"]
        version = f" {seen['version']}" if seen["version"] else ", version unknown"
        data = f", data {seen['data_digest']}" if seen["data_digest"] else ", data digest unknown"
        trials = f"{seen['trials']} trial{'' if seen['trials'] == 1 else 's'}"
        yield f"{name}{version}{data}: {trials}, {found['at']}"


def _head(found: Document) -> Iterator[str]:
    calls, differ, tools = found["calls"], found["differ"], found["tools"]
    changed = [name for name, tool in tools.items() if tool["differ"]]
    if not calls:
        yield "no tool call was recorded"
    elif not differ:
        yield f"none of {calls:,} outputs differs"
    elif len(changed) == 1:
        fields = list(tools[changed[0]]["fields"])
        only = f": {fields[0]}" if len(fields) == 1 else ""
        yield f"{differ} of {calls:,} outputs differ, all in {changed[0]}{only}"
    else:
        yield f"{differ} of {calls:,} outputs differ, in {len(changed)} of {len(tools)} tools"


def _tool_lines(name: str, tool: Document) -> Iterator[str]:
    yield f"  {name}: {tool['differ']} of {tool['calls']:,} differ"
    fields = list(tool["fields"].items())
    for told, number in fields[:_MOST_FIELDS]:
        yield f"    {told} ({number})"
    if len(fields) > _MOST_FIELDS:
        yield f"    and {len(fields) - _MOST_FIELDS} more fields (--json has all)"


def _others(trials: Iterable[Document], verdict: str) -> list[Document]:
    return [call for trial in trials for call in trial["others"] if call["verdict"] == verdict]


def _unknown_lines(trials: Iterable[Document]) -> Iterator[str]:
    counts = Counter((call["tool"], call["refused_when_recorded"]) for call in _others(trials, "unknown tool"))
    for (name, refused), number in counts.most_common():
        then = "it went wrong when it was recorded, too" if refused else "it had an answer when it was recorded"
        yield f"  {name}: the environment has no such tool; {then} ({number})"


def _reason_lines(word: str, calls: Iterable[Document]) -> Iterator[str]:
    by_reason: dict[str, Counter[str]] = {}
    for call in calls:
        by_reason.setdefault(call["why"], Counter())[call["tool"]] += 1
    for why, names in by_reason.items():
        yield f"{word}, {why}: {', '.join(f'{name} ({number})' for name, number in names.most_common())}"


def _state_lines(what: str, trials: Iterable[Document], key: str) -> Iterator[str]:
    states = [(trial["trial"], trial[key]) for trial in trials if trial["left_out"] is None and trial[key] is not None]
    known = [(name, state) for name, state in states if state["verdict"] != "unknown"]
    reasons = Counter(state["why"] for _, state in states if state["verdict"] == "unknown" and state["why"])
    if known:
        differ = [(name, state) for name, state in known if state["verdict"] == "differs"]
        by = "digest" if any(state["by"] == "hash" for _, state in known) else "whole state"
        yield f"{what}, by {by}: {len(known) - len(differ)} of {len(known)} as recorded"
        bare = [name for name, state in differ if not state["leaves"] and not state["why"]]
        if bare:
            yield f"  another: {_names(bare)}"
        told = [f"  {name}: {_places(state)}" for name, state in differ if name not in bare]
        yield from told[:_MOST_TRIALS]
        if len(told) > _MOST_TRIALS:
            yield f"  and {len(told) - _MOST_TRIALS} more"
    if key == "state":
        for why, number in reasons.most_common():
            yield f"{what} not compared ({number}): {why}"


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_TRIALS
    return ", ".join(names[:_MOST_TRIALS]) + (f" and {more} more" if more > 0 else "")


def _places(state: Document) -> str:
    if not state["leaves"]:
        return str(state["why"])
    leaf = state["leaves"][0]
    sides = " was ".join(shortened(leaf[side], None, 40) if side in leaf else "absent" for side in ("right", "left"))
    more = f", and {state['places'] - 1} more places" if state["places"] > 1 else ""
    because = f" ({state['why']})" if state["why"] else ""
    return f"{leaf['path'] or 'the state'} is {sides}{more}{because}"


def _score_lines(trials: Iterable[Document]) -> Iterator[str]:
    found: dict[tuple[str, str], list[tuple[str, Document]]] = {}
    for trial in trials:
        for score in trial["scores"]:
            found.setdefault((score["score"] or "no recorded score", score["by"]), []).append((trial["trial"], score))
    for (recorded, by), scores in found.items():
        counts = Counter(score["kind"] for _, score in scores)
        compared = counts["same"] + counts["flips"]
        both = [score for _, score in scores if score["kind"] != "unknown"]
        passes = f"passed {sum(s['recorded'] for s in both)} then, {sum(s['now'] for s in both)} now"
        yield f"verdicts of {by} beside {recorded}: {counts['same']} of {compared} the same; {passes}"
        flips = [(trial, score) for trial, score in scores if score["kind"] == "flips"]
        for name, score in flips[:_MOST_TRIALS]:
            then = "passed when it was recorded, fails" if score["recorded"] else "failed when it was recorded, passes"
            yield f"  {name}: {then} now"
        if len(flips) > _MOST_TRIALS:
            yield f"  and {len(flips) - _MOST_TRIALS} more"
        unknown = Counter(_unknown(score) for _, score in scores if score["kind"] == "unknown")
        for why, number in unknown.most_common():
            yield f"  not compared ({number}): {why}"


def _unknown(score: Document) -> str:
    if score["now"] is None:
        return f"unscored now{': ' if score['why'] else ''}{score['why']}"
    return "unscored when it was recorded"


def _trial_lines(trials: Sequence[Document]) -> Iterator[str]:
    stopped = [trial for trial in trials if trial["stopped"] is not None]
    for trial in stopped[:_MOST_TRIALS]:
        call = trial["others"][-1]
        yield f"  {trial['trial']} stopped at step {trial['stopped']}, {call['tool']}: {_TIERS[call['verdict']]}"
    if len(stopped) > _MOST_TRIALS:
        yield f"  and {len(stopped) - _MOST_TRIALS} more trials stopped at their first difference"
    unmade = sum(trial["unmade"] for trial in stopped)
    if unmade:
        yield f"  {unmade} later calls of trials that stopped were not made again"
    reasons = Counter(trial["left_out"] for trial in trials if trial["left_out"] is not None)
    for why, number in reasons.most_common():
        yield f"{number} trials not carried out: {why}"
