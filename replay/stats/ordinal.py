"""Agreement on an ordinal scale, where being off by one is less than being off by three."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["weighted_kappa"]


def weighted_kappa(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Cohen's kappa with quadratic weights.

    ``1 - D_o / D_e``, where ``D_o`` is the mean of squared differences within pairs, and ``D_e`` that over all pairings
    of a first with a second number: ``var(x) + var(y) + (mean(x) - mean(y))^2``. Source: J. Cohen, "Weighted kappa",
    Psychological Bulletin 70 (1968), 213-220.

    Args:
        pairs: for each thing, the number of the first and that of the second judge, on the same scale.

    Returns:
        At most 1; 0 is as good as chance. None without pairs, or if all numbers are the same: undefined.
    """
    n = len(pairs)
    if not n:
        return None
    first, second = ([pair[place] for pair in pairs] for place in (0, 1))
    means = [math.fsum(numbers) / n for numbers in (first, second)]
    spread = [
        math.fsum((x - mean) ** 2 for x in numbers) / n for numbers, mean in zip((first, second), means, strict=True)
    ]
    expected = spread[0] + spread[1] + (means[0] - means[1]) ** 2
    if expected <= 0:
        return None
    return 1 - math.fsum((x - y) ** 2 for x, y in pairs) / n / expected
