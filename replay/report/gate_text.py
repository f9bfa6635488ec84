"""The outcome of a gate as lines."""

from __future__ import annotations

from collections.abc import Iterator

from replay.analysis.conditions import Condition
from replay.analysis.gating import GateLine, GateResult
from replay.plural import number
from replay.stats import Decision, Feasibility

from .compare_text import compared_head
from .stats_text import not_counted_lines

__all__ = ["decision_lines", "gate_lines", "planned_lines"]

_HEADINGS = {"fixed": "if you rerun this suite", "population": "on other tasks like these"}


def gate_lines(found: GateResult) -> Iterator[str]:
    """What was asked, and what each condition came to."""
    if found.comparison is not None:
        yield from compared_head(found.comparison)
    else:
        told = f"{number(found.tasks, 'task')}, {number(found.trials, 'trial')} counted"
        yield f"{found.run}: {told}, score {found.score}"
    if found.not_counted is not None:
        yield from not_counted_lines(found.not_counted)
    for line in found.lines:
        yield from decision_lines(line)
    if found.few_events:
        yield "few events: a wrong PASS or FAIL may be likelier than --alpha says"


def decision_lines(line: GateLine) -> Iterator[str]:
    """One condition with its decision."""
    yield f"{line.decision.verdict:<9}  {line.what}, {_HEADINGS[line.decision.target]}: {_why(line.decision)}"
    yield from _remarks(line)


def planned_lines(conditions: list[Condition], found: list[Feasibility], tasks: int, trials: int) -> Iterator[str]:
    """That conditions can be met."""
    for condition, one in zip(conditions, found, strict=True):
        yield (
            f"{condition} can pass with {tasks} tasks of {trials} trials: if all of them pass, "
            f"{one.best:.3g} reaches {one.needed:.3g}"
        )


def _why(decision: Decision) -> str:
    sure = f"{1 - decision.alpha:.0%} sure"
    signed = "+" if decision.threshold <= 0 else ""
    if decision.evidence is not None:
        above, below = decision.evidence
        return (
            f"mean {decision.estimate:{signed}.3f} of the first {decision.tasks_used} tasks, evidence {above:.3g} for "
            f"and {below:.3g} against, {1 / decision.alpha:.3g} decides"
        )
    if decision.low is None or decision.high is None:
        return f"{decision.estimate:.3f}, and one task says nothing about other tasks"
    if decision.verdict == "FAIL":
        return f"{decision.estimate:{signed}.3f}, {sure} that it is at most {decision.high:{signed}.3f}"
    told = f"{decision.estimate:{signed}.3f}, {sure} that it is at least {decision.low:{signed}.3f}"
    return told if decision.verdict == "PASS" else f"{told} and at most {decision.high:{signed}.3f}"


def _remarks(line: GateLine) -> Iterator[str]:
    if line.bounds:
        yield "           decided for the worst and the best that the unanswered trials could have been"
    if line.chance_if_alike is not None:
        needed = (
            f"; for 80% both runs need about {line.trials_for_80} trials of each task" if line.trials_for_80 else ""
        )
        chance = f"{line.chance_if_alike:.2f}"
        yield f"           a run exactly as good as the baseline would pass with chance {chance}{needed}"
