"""What came of two arms that were run side by side, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from replay.analysis.gating import GateLine
from replay.orchestration.progress import RunResult
from replay.orchestration.sequential_run import Design, Look
from replay.plural import number

from .gate_text import decision_lines

__all__ = ["alike_line", "arms_verdict", "evidence_line", "looks_notes", "looks_table", "not_side_by_side"]

_MOST_LOOKS = 12


def alike_line(tasks: int, margin: float, alike: int | None) -> str | None:
    """Before anything is run: that only a clear difference can decide; None if more can."""
    if alike is not None and alike <= tasks:
        return None
    needed = "no number of tasks shows it" if alike is None else f"that takes {number(alike, 'task')} or more"
    return (
        f"{number(tasks, 'task')} can show a clear difference, but not that the second arm is just as good, within "
        f"{margin:g}: {needed}"
    )


def not_side_by_side(results: Sequence[RunResult]) -> Iterator[str]:
    """That one arm's trials were made before the other's, if they were."""
    first, second = sorted(results, key=lambda result: result.resumed)
    earlier = second.resumed - first.resumed
    if earlier:
        yield (
            f"{number(earlier, 'trial')} of {second.name} {'was' if earlier == 1 else 'were'} made before those beside "
            "them: what drifted meanwhile looks like a difference of the arms"
        )


def looks_table(design: Design, looks: Sequence[Look]) -> Table:
    """The evidence after each task, the last looks of many."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("look", "task"):
        made.add_column(heading, justify="left" if heading == "task" else "right")
    for heading in (*design.arms, *(f"pass^{k}: {side}" for k in design.ks for side in ("for", "against"))):
        made.add_column(heading, justify="right")
    for place, look in list(enumerate(looks, 1))[-_MOST_LOOKS:]:
        evidence = [f"{value:.3g}" for pair in look.evidence for value in pair]
        made.add_row(str(place), look.task, *(f"{c}/{n}" for c, n in (look.a, look.b)), *evidence)
    return made


def evidence_line(design: Design, looks: Sequence[Look]) -> str:
    """The evidence so far, in short; there was a look."""
    pairs = zip(design.ks, looks[-1].evidence, strict=True)
    told = ", ".join(f"pass^{k} {up:.3g} for, {down:.3g} against" for k, (up, down) in pairs)
    return f"{len(looks)}/{number(len(design.order), 'task')}: {told}"


def looks_notes(design: Design, looks: Sequence[Look], lines: Sequence[GateLine]) -> Iterator[str]:
    """Where it was stopped, and what that means for the comparison."""
    if len(looks) > _MOST_LOOKS:
        yield f"the {len(looks) - _MOST_LOOKS} looks before are in sequential.json, and in --json"
    unanswered = sum(sum(look.unanswered) for look in looks)
    if unanswered:
        yield f"{number(unanswered, 'trial')} ended unanswered: the decision holds whatever they would have been"
    if any(line.decision.verdict != "UNDECIDED" for line in lines) and len(looks) < len(design.order):
        yield (
            f"stopped after {len(looks)} of {number(len(design.order), 'task')}: intervals and p of the table do not "
            "allow for that, the evidence does"
        )


def arms_verdict(lines: Sequence[GateLine]) -> Iterator[str]:
    """Each decision."""
    for line in lines:
        yield from decision_lines(line)
