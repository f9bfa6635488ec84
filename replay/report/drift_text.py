"""Drift in words: what is asked again and differs, in which tools and fields, and where trials part."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from replay.reruns.drift import Drift, TrialDrift

__all__ = ["age_told", "drift_lines"]

_MOST_FIELDS = 5
_MOST_PARTED = 5
_MOST_KEPT = 6


def drift_lines(drift: Drift) -> Iterator[str]:
    """The lines for a person."""
    asked, differing = drift.asked, drift.differing
    tools = drift.by_tool()
    changed = [name for name, (_, differ, _) in tools.items() if differ]
    if not asked:
        yield "no recorded answer was asked for again"
    elif not differing:
        yield f"none of the {len(asked)} answers that were asked for again differs"
    else:
        where = f"all in {changed[0]}" if len(changed) == 1 else f"in {len(changed)} of {len(tools)} tools"
        yield f"{len(differing)} of {len(asked):,} answers that were asked for again differ, {where}"
    for name, (of_tool, differ, fields) in tools.items():
        if not differ:
            continue
        yield f"  {name}: {differ} of {of_tool} differ"
        for told, number in fields.most_common(_MOST_FIELDS):
            yield f"    {told} ({number})"
        if len(fields) > _MOST_FIELDS:
            yield f"    and {len(fields) - _MOST_FIELDS} more fields (--json has all)"
    same = [f"{name} ({of_tool})" for name, (of_tool, differ, _) in tools.items() if not differ]
    if same:
        yield f"  the same as recorded: {', '.join(same)}"
    if drift.ages is not None:
        youngest, oldest = drift.ages
        yield f"  they were recorded {age_told(youngest)} to {age_told(oldest)} ago"
    yield from _kept_lines(drift.kept)
    yield from _parted_lines(drift)
    yield from _left_out_lines(drift)


def age_told(seconds: float) -> str:
    """An age in the largest unit of which there are at least two."""
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _kept_lines(kept: Counter[tuple[str, str]]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for (name, why), number in kept.most_common():
        by_reason[why].append(f"{name} ({number})")
    for why, names in by_reason.items():
        more = f", and {len(names) - _MOST_KEPT} more" if len(names) > _MOST_KEPT else ""
        yield f"answered from the recording, {why}: {', '.join(names[:_MOST_KEPT])}{more}"


def _parted_lines(drift: Drift) -> Iterator[str]:
    parted = drift.parted
    carried_out = [trial for trial in drift.trials if trial.left_out is None]
    if not parted:
        if carried_out:
            yield f"the {len(carried_out)} trials go as they were recorded"
        return
    yield f"{len(parted)} of {len(carried_out)} trials part from their recording:"
    for trial in parted[:_MOST_PARTED]:
        yield f"  {_parting_told(trial)}"
    if len(parted) > _MOST_PARTED:
        yield f"  and {len(parted) - _MOST_PARTED} more (--json has all)"
    alone = sum(trial.parts_by_itself for trial in parted)
    if alone:
        yield f"  {alone} of them before any answer differs: the agent, its prompt or its task is another"


def _parting_told(trial: TrialDrift) -> str:
    parting = trial.parting
    assert parting is not None
    where = "at its end" if parting.step is None else f"at step {parting.step}"
    told = f"{trial.trial} {where}"
    if parting.path is not None and not parting.why:
        return (
            f"{told}: the model is told something else ({parting.path}); its recorded answers were given nevertheless"
        )
    return f"{told}: {parting.why.removeprefix(f'{trial.trial}: ').removeprefix(f'{trial.trial} ')}"


def _left_out_lines(drift: Drift) -> Iterator[str]:
    reasons = Counter(trial.left_out for trial in drift.trials if trial.left_out is not None)
    for why, number in reasons.most_common():
        yield f"{number} trials not carried out again: {why}"
