"""ToolEmu's evaluations: ordinal scores of a judge, and how good the judge is against people.

A score is 0 to 3; from a threshold on it counts as passed. The files do not hold the threshold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.scoring import Score
from replay.stats.judges import JudgeQuality, judge_quality
from replay.stats.ordinal import weighted_kappa

from .findings import Rated, Remark
from .reading import as_dict, lines_of, number_in, read_bytes

__all__ = ["BEST", "Evaluation", "Quality", "qualities", "rated_by", "read_evaluations"]

BEST: Final = 3  # the scale is 0, 1, 2, 3

_KEPT: Final = {
    "Evaluator Thought": "thought",
    "Overall Qualitative Label": "label",
    "Overall Quantitative Score": "told",
    "Evaluator Log Summary": "summary",
}


@frozen
class Evaluation:
    """What was said of one trajectory.

    Attributes:
        trajectory: the 0-based line of it.
        scores: by metric.
        evidence: what the judge wrote.
    """

    trajectory: int
    scores: Mapping[str, float]
    evidence: Mapping[str, Any]


@frozen
class Quality:
    """A judge against people by one metric; the positive class is a *failure*: a score below the threshold.

    Attributes:
        precision, recall: of the failures that the judge finds, the share that people see too; and the other way round.
        f1: their harmonic mean; None where undefined.
        weighted_kappa: of the ordinal scores, with quadratic weights; None where undefined.
    """

    metric: str
    n: int
    counts: JudgeQuality
    f1: float | None
    weighted_kappa: float | None

    @property
    def precision(self) -> float | None:
        """0 to 1."""
        return self.counts.precision.estimate

    @property
    def recall(self) -> float | None:
        """0 to 1."""
        return self.counts.recall.estimate

    @property
    def kappa(self) -> float | None:
        """Cohen's, of passed against failed."""
        return None if self.counts.kappa is None else self.counts.kappa[0]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        counts = asdict(self.counts)
        return {
            "metric": self.metric,
            "n": self.n,
            "positive": "failure",
            **{name: counts[name] for name in ("tp", "fp", "fn", "tn", "precision", "recall")},
            "f1": self.f1,
            "kappa": self.kappa,
            "weighted_kappa": self.weighted_kappa,
        }

    def __str__(self) -> str:
        return (
            f"{self.metric} against people, {self.n} trajectories: failures found with precision "
            f"{_told(self.precision)} and recall {_told(self.recall)}, F1 {_told(self.f1)}, "
            f"kappa {_told(self.kappa)} (of the scores, weighted: {_told(self.weighted_kappa)})"
        )


def read_evaluations(path: Path, trajectories: int) -> tuple[list[Evaluation], list[Remark]]:
    """Read a file of evaluations; what is wrong with single lines is told, not raised.

    Args:
        path: a file of JSON lines with ``eval_id`` and ``eval_scores``.
        trajectories: how many lines the file of trajectories has.

    Raises:
        BadInput: the file cannot be read, or holds no evaluation.
    """
    found: list[Evaluation] = []
    remarks: list[Remark] = []
    seen: set[int] = set()
    for line in lines_of(read_bytes(path)):
        where = f"{path.name}, line {line.number + 1}"
        document = as_dict(line.value)
        identity = document.get("eval_id")
        scores = as_dict(document.get("eval_scores"))
        known = {name: value for name in scores if (value := number_in(scores, name)) is not None}
        problem = line.problem or _problem(identity, scores, known, seen, trajectories)
        if problem is not None or not isinstance(identity, int):
            remarks.append(Remark(where, None, None, str(problem), imported=False))
            continue
        seen.add(identity)
        outside = sorted(name for name, value in known.items() if not 0 <= value <= BEST)
        if outside:
            remarks.append(Remark(where, None, None, f"{', '.join(outside)} is outside 0 to {BEST}; kept as it is"))
        evidence = {name: document[field] for field, name in _KEPT.items() if document.get(field) is not None}
        found.append(Evaluation(identity, known, evidence))
    if not found:
        raise BadInput(f"{path} holds no evaluation of ToolEmu: {remarks[0].what if remarks else 'it is empty'}")
    return found, remarks


def _problem(
    identity: Any, scores: Mapping[str, Any], known: Mapping[str, float], seen: Iterable[int], trajectories: int
) -> str | None:
    if isinstance(identity, bool) or not isinstance(identity, int) or not 0 <= identity < trajectories:
        return f"its eval_id is {ascii(identity)[:40]}, no line of the trajectories (there are {trajectories})"
    if identity in seen:
        return f"a second evaluation of trajectory {identity}; the first is kept"
    if not scores:
        return "it has no eval_scores"
    return None if known else "its eval_scores are no numbers"


def rated_by(evaluation: Evaluation, threshold: float, suffix: str = "") -> list[Rated]:
    """The scores of one evaluation; their names are the metrics' in small letters, and ``suffix``."""
    return [
        Rated(
            _name(metric) + suffix,
            "toolemu",
            Score(
                value,
                passed=value >= threshold,
                evidence={"scale": [0, BEST], "threshold": threshold, **evaluation.evidence},
            ),
        )
        for metric, value in evaluation.scores.items()
    ]


def qualities(judged: Sequence[Evaluation], people: Sequence[Evaluation], threshold: float) -> list[Quality]:
    """How good a judge is, by metric, on the trajectories that people scored too."""
    theirs = {each.trajectory: each.scores for each in people}
    pairs: dict[str, list[tuple[float, float]]] = {}
    for each in judged:
        for metric, value in each.scores.items():
            other = theirs.get(each.trajectory, {}).get(metric)
            if other is not None:
                pairs.setdefault(metric, []).append((value, other))
    return [_quality(metric, pairs[metric], threshold) for metric in sorted(pairs)]


def _quality(metric: str, pairs: Sequence[tuple[float, float]], threshold: float) -> Quality:
    failed = [(judged < threshold, person < threshold) for judged, person in pairs]
    found = judge_quality(
        tp=failed.count((True, True)),
        fp=failed.count((True, False)),
        fn=failed.count((False, True)),
        tn=failed.count((False, False)),
    )
    return Quality(_name(metric), len(pairs), found, found.f1, weighted_kappa(pairs))


def _name(metric: str) -> str:
    return "_".join(re.findall(r"[a-z0-9]+", metric.lower())) or "unnamed"


def _told(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
