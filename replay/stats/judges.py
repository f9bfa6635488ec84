"""How good a judge is against people."""

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from .tally import is_whole, require_level
from .told import Told


@frozen
class Share(Told):
    """A proportion with its interval, 0 to 1.

    Attributes:
        estimate: None if there is nothing to divide by.
        low: lower end, or None.
        high: upper end, or None.
        of: what it is a share of: a count.
    """

    estimate: float | None
    low: float | None
    high: float | None
    of: int


@frozen
class JudgeQuality(Told):
    """A judge against human labels; "passed" is the positive class.

    Attributes:
        precision: of what the judge passes, the share that people pass (Wilson interval).
        recall: of what people pass, the share that the judge passes: sensitivity.
        specificity: of what people fail, the share that the judge fails.
        kappa: Cohen's, at most 1, with the interval of Fleiss, Cohen, Everitt 1969; None where undefined.
        f1: see `f1`; None where precision or recall is undefined.
    """

    tp: int
    fp: int
    fn: int
    tn: int
    precision: Share
    recall: Share
    specificity: Share
    kappa: tuple[float, float, float] | None
    f1: float | None


def judge_quality(tp: int, fp: int, fn: int, tn: int, *, level: float = 0.95) -> JudgeQuality:
    """Precision, recall, specificity and kappa of a judge.

    Args:
        tp: trials that both pass.
        fp: that the judge alone passes.
        fn: that people alone pass.
        tn: that both fail.
        level: of the intervals, between 0 and 1.

    Raises:
        ValueError: counts that are none, or no trial; a level outside.
    """
    require_level(level)
    if not all(is_whole(n) and n >= 0 for n in (tp, fp, fn, tn)) or tp + fp + fn + tn == 0:
        raise ValueError(f"four counts of at least 0, and not only zeros, are needed; got {tp}, {fp}, {fn}, {tn}")
    precision, recall = _share(tp, tp + fp, level), _share(tp, tp + fn, level)
    defined = precision.estimate is not None and recall.estimate is not None
    return JudgeQuality(
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        precision=precision,
        recall=recall,
        specificity=_share(tn, tn + fp, level),
        kappa=kappa_interval(tp, fp, fn, tn, level=level),
        f1=f1(precision.estimate or 0.0, recall.estimate or 0.0) if defined else None,
    )


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall, 0 to 1; 0 if both are (van Rijsbergen 1979).

    Args:
        precision: 0 to 1.
        recall: 0 to 1.

    Raises:
        ValueError: one lies outside.
    """
    if not (0 <= precision <= 1 and 0 <= recall <= 1):
        raise ValueError(f"precision and recall lie between 0 and 1; got {precision} and {recall}")
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def kappa_interval(tp: int, fp: int, fn: int, tn: int, *, level: float = 0.95) -> tuple[float, float, float] | None:
    """Cohen's kappa of two verdicts, with its interval: see `kappa_of_table`.

    Args:
        tp: trials that both pass.
        fp: that the first alone passes.
        fn: that the second alone passes.
        tn: that both fail.
        level: between 0 and 1.

    Returns:
        Estimate, low, high; None if both gave one and the same verdict only: undefined.
    """
    return kappa_of_table([[tp, fp], [fn, tn]], level=level)


def kappa_of_table(table: Sequence[Sequence[int]], *, level: float = 0.95) -> tuple[float, float, float] | None:
    """Cohen's kappa of two labellers, with the large-sample interval of Fleiss, Cohen and Everitt (1969).

    Args:
        table: square; how often the first gave the label of the row and the second that of the column.
        level: between 0 and 1.

    Returns:
        Estimate, low, high, of which the ends may lie outside -1 to 1; None if both gave one and the same label only:
        undefined.

    Raises:
        ValueError: the table is not square, holds no count, or a level outside.
    """
    require_level(level)
    counts = np.array(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.sum() <= 0 or (counts < 0).any():
        raise ValueError(f"a square table of counts, not only zeros, is needed; got {table}")
    n = float(counts.sum())
    cells = counts / n
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    chance = float(rows @ columns)
    if chance >= 1:
        return None
    kappa = (float(np.trace(cells)) - chance) / (1 - chance)
    same = np.eye(len(counts), dtype=bool)
    agreed = float((np.diag(cells) * (1 - (rows + columns) * (1 - kappa)) ** 2).sum())
    apart = (1 - kappa) ** 2 * float((cells * (columns[:, None] + rows[None, :]) ** 2)[~same].sum())
    variance = max(agreed + apart - (kappa - chance * (1 - kappa)) ** 2, 0.0) / n
    half = float(ndtri(0.5 + level / 2)) * math.sqrt(variance) / (1 - chance)
    return kappa, kappa - half, kappa + half


def proportion(count: int, of: int, *, level: float = 0.95) -> Share:
    """A share with its Wilson interval; nothing of nothing is undefined.

    Args:
        count: how many.
        of: of how many.
        level: between 0 and 1.

    Raises:
        ValueError: counts that are none, more than all, or a level outside.
    """
    require_level(level)
    if not (is_whole(count) and is_whole(of) and 0 <= count <= of):
        raise ValueError(f"a count of at least 0 and at most `of` is needed; got {count} of {of}")
    return _share(count, of, level)


def _share(count: int, of: int, level: float) -> Share:
    if of == 0:
        return Share(None, None, None, 0)
    z = float(ndtri(0.5 + level / 2))
    p, shrink = count / of, 1 + z * z / of
    half = z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of)) / shrink
    centre = (p + z * z / (2 * of)) / shrink
    return Share(p, min(p, max(0.0, centre - half)), max(p, min(1.0, centre + half)), of)
