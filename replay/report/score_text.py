"""What scoring again found, in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from replay.scores.controls import ControlResult, Survival
from replay.scores.side_by_side import Pair, SideBySide

__all__ = ["blind_line", "compared_lines", "control_lines", "score_lines"]

_COUNTS = ("passed", "failed", "unscored", "skipped", "kept")
_MOST = 10


def blind_line(blind_to: Sequence[str] | None) -> str:
    """What a score cannot see, on one line; a scorer that does not tell is said not to."""
    if blind_to is None:
        return "this score cannot see: its scorer does not tell (@tt.scorer(blind_to=...))"
    return f"this score cannot see: {'; '.join(blind_to)}"


def score_lines(run: str, score: str, counts: Mapping[str, int], blind_to: Sequence[str] | None) -> Iterator[str]:
    """How many trials passed."""
    told = ", ".join(f"{counts[name]} {name}" for name in _COUNTS if counts.get(name))
    yield f"{run}  {score}: {told or 'nothing scored'}"
    if blind_to is not None:
        yield f"  {blind_line(blind_to)}"


def compared_lines(compared: SideBySide | None) -> Iterator[str]:
    """Where recorded and re-computed scores differ."""
    if compared is None:
        return
    alike = compared.trials - len(compared.differ)
    told = f"  {alike} of {compared.trials} like the recorded {compared.recorded}"
    unscored = f" ({compared.unscored} unscored by both)" if compared.unscored else ""
    alone = f"; {compared.alone} have no such score" if compared.alone else ""
    yield told + unscored + alone
    if compared.differ:
        width = max(len(pair.trial) for pair in compared.differ[:_MOST])
        yield f"    {'trial':<{width}}  recorded       again"
        for pair in compared.differ[:_MOST]:
            yield f"    {pair.trial:<{width}}  {_side(pair, again=False):<13}  {_side(pair, again=True)}"
    if len(compared.differ) > _MOST:
        yield f"    and {len(compared.differ) - _MOST} more (--json lists all)"


def control_lines(found: ControlResult, blind_to: Sequence[str] | None) -> Iterator[str]:
    """How many passes survive."""
    passes = len(found.trials)
    what = "nothing is done" if found.control == "do-nothing" else "their last write is dropped"
    yield f"{found.run}: {passes} trials pass by {found.score}; if {what}:"
    if found.control == "drop-last-write":
        idle = found.number("no write")
        if idle:
            yield f"  {idle} made no write at all, so there is nothing to drop"
        passes -= idle
    survive, flip, unknown = (found.number(outcome) for outcome in ("survives", "flips", "unknown"))
    yield f"  {survive} of {passes} still pass, {flip} fail{f', of {unknown} it is not known' if unknown else ''}"
    if unknown:
        yield f"  so between {survive} and {survive + unknown} of {passes} passes do not rest on it"
    for outcome in ("survives", "flips", "unknown"):
        yield from _examples(outcome, [trial for trial in found.trials if trial.outcome == outcome])
    yield f"  {blind_line(blind_to)}"


def _examples(outcome: str, trials: Sequence[Survival]) -> Iterator[str]:
    for trial in trials[:3]:
        yield f"    {outcome:<8}  {trial.trial}: {trial.because}"
    if len(trials) > 3:
        yield f"    {'':<8}  and {len(trials) - 3} more (--json lists all)"


def _side(pair: Pair, *, again: bool) -> str:
    value, passed = (pair.again, pair.again_passed) if again else (pair.recorded, pair.recorded_passed)
    if value is None:
        return "unscored"
    return f"{value:g} {'passed' if passed else 'failed'}"
