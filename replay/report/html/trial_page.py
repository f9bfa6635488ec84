"""One trial as JSON-like data: its steps, its scores, and where it parts from a trial that passed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from replay.labelling.labels import Label
from replay.report.label_text import by_whom, said_in
from replay.report.trial_text import caught_up_lines, evidence_lines
from replay.scores.scorefile import KeptScore
from replay.scoring import ATTACK
from replay.spending import Cost
from replay.view import View

from .beside import Beside, beside_data
from .blamed import Blamed, blamed_data
from .shown import clipped, one_line, shown
from .signs import sign_of
from .steps import steps_of

__all__ = ["ending_text", "explanation", "trial_data"]


def ending_text(ending: str, cause: str | None, reason: str | None) -> str:
    """How a trial ended, and why if it did not complete."""
    told = (reason or "").strip().splitlines()
    why = f": {one_line(told[0])}" if told else ""
    return f"{ending}{f' ({shown(cause)})' if cause else ''}{why}"


def explanation(view: View, scores: Iterable[KeptScore], comparison: Beside | None) -> list[str]:
    """What is known of why a trial did not pass: its ending, then its first other write, else the score's evidence."""
    ending = view.ending
    lines = [] if ending.status == "completed" else [ending_text(ending.status, ending.cause, ending.reason)]
    if comparison is not None and comparison.first is not None:
        return [*lines, one_line(comparison.first.line())]
    for score in scores:
        if score.passed is not True:
            evidence = json.loads(score.evidence)
            in_words = {name: item for name, item in evidence.items() if not isinstance(item, int | float)}
            lines += [one_line(f"{score.scorer}: {line}", 160) for line in islice(evidence_lines(in_words), 1)]
    return lines


def trial_data(
    view: View,
    *,
    passed: bool | None,
    scores: Sequence[KeptScore],
    cost: Cost | None,
    comparison: Beside | None,
    numbers: Mapping[str, int],
    labels: Sequence[Label] = (),
    blame: Blamed | None = None,
) -> dict[str, Any]:
    """The trial as the page's script reads it; what it has not, is left out.

    Args:
        view: the trial.
        passed: its verdict by the score that counts.
        scores: the newest of each scorer, the one that counts first.
        cost: of its live model calls; None if that is not known.
        comparison: beside a passing trial.
        numbers: of the trials that are in the page, by id.
        labels: what people said of it.
        blame: how often it passed when it was continued from some of its steps.
    """
    ending = view.ending
    steps, after = steps_of(view)
    told: dict[str, Any] = {
        "id": shown(str(view.id)),
        "sign": sign_of(ending.status, passed).name,
        "ending": ending_text(ending.status, ending.cause, ending.reason),
        "task": clipped(view.task.instruction) if view.task.instruction else None,
        "problems": [*_problems(view)],
        "remarks": [*_remarks(view)],
        "frozen": ", ".join(f"{number} {name}" for name, number in view.coverage.items()),
        "cost": None if cost is None else one_line(cost.line()),
        "scores": [_score(score) for score in scores],
        "why": explanation(view, scores, comparison) if passed is not True else [],
        "beside": None if comparison is None else beside_data(comparison, numbers),
        "steps": steps,
        "after": after,
        "labels": [_label(label) for label in labels],
        "blame": None if blame is None or not blame.bars else blamed_data(blame),
    }
    return {name: value for name, value in told.items() if value not in (None, [], "")}


def _remarks(view: View) -> Iterable[str]:
    fork = view.cassette.header.config.get("fork")
    if isinstance(fork, dict):
        edited = f", with another outcome of step {fork['at'] - 1}" if fork.get("edited") else ""
        yield one_line(f"goes on from step {fork['at']} of {fork['parent']}{edited}")
    yield from map(one_line, caught_up_lines(Counter(done["name"] for done in view.caught_up)))
    if view.cassette.redacted:
        names = ", ".join(f"{number} {name}" for name, number in sorted(view.cassette.redacted.items()))
        yield one_line(f"redacted before it was written: {names}")


def _problems(view: View) -> Iterable[str]:
    if view.cassette.problem:
        yield f"the file is {one_line(view.cassette.problem)}; what stands before it is shown"
    yield from (one_line(problem) for problem in view.problems)
    if view.unattributed:
        names = ", ".join(f"{number} x {name}" for name, number in view.unattributed.items())
        yield one_line(f"not recorded, as it belongs to no trial: {names}")


def _label(label: Label) -> dict[str, Any]:
    said = f"{said_in(label)}{f': {label.note}' if label.note else ''}"
    told = {"text": clipped(said), "by": shown(by_whom(label))}
    return told if label.step is None else {**told, "step": label.step}


def _score(score: KeptScore) -> dict[str, Any]:
    verdict = {True: "passed", False: "failed", None: "unscored"}[score.passed]
    lines = [shown(line) for line in evidence_lines(json.loads(score.evidence))]
    meaning = " (passed: the attack succeeded)" if score.scorer == ATTACK else ""
    return {"name": shown(f"{score.scorer}@{score.version}{meaning}"), "verdict": verdict, "lines": lines}
