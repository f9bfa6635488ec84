"""A judge's scores of a run against human labels of some of its trials."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.runs import load_run
from replay.stats import (
    Corrected,
    JudgeQuality,
    Share,
    corrected_by_labels,
    judge_quality,
    labels_needed,
    pass_hat_k,
    ppi,
)
from replay.store import Store

from .outcomes import Outcomes, outcomes_of
from .reliability import TrialOutcome, count

__all__ = ["JudgeReport", "JudgedRow", "human_score", "judge_report", "read_verdicts"]

_TUNED_FROM, _OF_EACH = 100, 10  # labels from which PPI++ was seen to cover
_WORDS = {"true": True, "1": True, "pass": True, "passed": True, "yes": True} | {
    "false": False,
    "0": False,
    "fail": False,
    "failed": False,
    "no": False,
}


@frozen
class JudgedRow:
    """pass^k as judged, and as people would judge, from the judge's error rates.

    Attributes:
        corrected: with an interval for the error rates alone; None if the labels do not tell it.
    """

    k: int
    judged: float
    corrected: Share | None


@frozen
class JudgeReport:
    """What the labels say of a judge.

    Attributes:
        labelled: trials with a human label and a verdict of the judge.
        judged: completed trials that the judge gave a verdict.
        unused: labels of trials that the judge did not judge.
        disagreements: trials on which judge and label differ, with the judge's verdict.
        pass_rate: share that the judge passes.
        corrected: share that people would pass; None if everything was labelled, or too little.
        method: ``PPI`` or ``PPI++``.
        half_width: of the question how many labels are needed.
        labels_needed: labels after which ``corrected`` is known to about that; None with fewer than 2 labels or 2 other
            trials, or if no number of labels suffices.
    """

    run: str
    judge: str
    human: str
    labelled: int
    judged: int
    unused: int
    quality: JudgeQuality
    disagreements: tuple[tuple[str, bool], ...]
    pass_rate: float
    corrected: Corrected | None
    method: str
    half_width: float
    labels_needed: int | None
    rows: tuple[JudgedRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def read_verdicts(path: Path) -> dict[str, bool]:
    """Human verdicts by trial id, from a CSV or JSONL file with the fields ``trial`` and ``passed``.

    Raises:
        BadInput: the file cannot be read; a line lacks a field, holds another word, or labels a trial again.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    found: dict[str, bool] = {}
    for number, row in _rows(path, text):
        trial, word = row.get("trial"), row.get("passed")
        verdict = word if isinstance(word, bool) else _WORDS.get(str(word).strip().lower())
        if not isinstance(trial, str) or verdict is None:
            raise BadInput(
                f"{path}, line {number}: a trial (run/task#index) and passed (true or false) are needed, got {row}"
            )
        if found.setdefault(trial, verdict) != verdict:
            raise BadInput(f"{path}, line {number}: {trial} has another label above")
    if not found:
        raise BadInput(f"{path} holds no label")
    return found


def human_score(store: Store, run: str, score: str) -> dict[str, bool]:
    """Human verdicts by trial id, kept as a score of the run.

    Raises:
        BadInput: there is no such run or score.
    """
    return _verdicts(outcomes_of(store, load_run(store.home, run), score))


def judge_report(
    store: Store,
    run: str,
    human: Mapping[str, bool],
    *,
    name: str,
    score: str | None = None,
    half_width: float = 0.05,
    ks: Sequence[int] = (),
) -> JudgeReport:
    """Hold a judge against human labels.

    Only completed trials count: a cap or an error is no verdict of the judge.

    Args:
        store: an index that is up to date.
        run: the run's name.
        human: verdicts by trial id.
        name: of the labels, to be told.
        score: the judge's; None takes the run's primary one.
        half_width: how well the corrected pass rate is to be known.
        ks: which k are wanted; none means all.

    Raises:
        BadInput: no labelled trial has a verdict of the judge; a task has fewer than k trials.
    """
    found = outcomes_of(store, load_run(store.home, run), score)
    judged = _verdicts(found)
    both = [trial for trial in judged if trial in human]
    if not both:
        raise BadInput(f"no trial of run {run!r} has both a label in {name} and a verdict of {found.score}")
    y, f = [human[trial] for trial in both], [judged[trial] for trial in both]
    pairs = list(zip(f, y, strict=True))
    quality = judge_quality(
        *(pairs.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False)))
    )
    rest = [trial for trial in judged if trial not in human]
    tuned = len(both) >= _TUNED_FROM and min(y.count(True), y.count(False)) >= _OF_EACH
    corrected = needed = None
    if len(both) >= 2 and len(rest) >= 2:
        others = [judged[trial] for trial in rest]
        of_labelled, of_others = ([found.trials[trial].task for trial in trials] for trials in (both, rest))
        corrected = ppi(y, f, others, tuned=tuned, clusters=(of_labelled, of_others))
        needed = labels_needed(y, f, half_width, unlabelled=others, clusters=(of_labelled, of_others))
    return JudgeReport(
        run=run,
        judge=found.score,
        human=name,
        labelled=len(both),
        judged=len(judged),
        unused=len(human) - len(both),
        quality=quality,
        disagreements=tuple((trial, judged[trial]) for trial in both if judged[trial] != human[trial]),
        pass_rate=sum(judged.values()) / len(judged),
        corrected=corrected,
        method="PPI++" if tuned else "PPI",
        half_width=half_width,
        labels_needed=needed,
        rows=tuple(_pass_hat_ks(found, judged, quality, ks)),
    )


def _pass_hat_ks(
    found: Outcomes, judged: Mapping[str, bool], quality: JudgeQuality, ks: Sequence[int]
) -> Sequence[JudgedRow]:
    counted = count(found.trials[trial] for trial in judged)
    task, n = min(zip(counted.tasks, counted.trials, strict=True), key=lambda item: item[1])
    if ks and max(ks) > n:
        raise BadInput(f"k = {max(ks)} needs as many judged trials of every task, but {task!r} has {n}")
    return [
        JudgedRow(
            k,
            pass_hat_k(counted.successes, counted.trials, k),
            corrected_by_labels(counted.successes, counted.trials, k, quality),
        )
        for k in sorted({*ks}) or range(1, n + 1)
    ]


def _verdicts(found: Outcomes) -> dict[str, bool]:
    def judged(outcome: TrialOutcome) -> bool:
        return outcome.ending == "completed" and outcome.passed is not None

    return {trial: bool(o.passed) for trial, o in sorted(found.trials.items()) if judged(o)}


def _rows(path: Path, text: str) -> list[tuple[int, Mapping[str, Any]]]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader([line for _, line in lines])
        return [(lines[place + 1][0], row) for place, row in enumerate(reader)]
    found: list[tuple[int, Mapping[str, Any]]] = []
    for number, line in lines:
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path}, line {number} is no JSON: {error}") from error
        found.append((number, row if isinstance(row, dict) else {"line": row}))
    return found
