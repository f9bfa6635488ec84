"""Two shares that somebody else measured: is their difference more than luck, if nothing is known but how many?"""

import math

from attrs import frozen
from scipy.special import ndtr, ndtri

from .tally import is_whole, require_level
from .told import Told


@frozen
class UnpairedDifference(Told):
    """The difference B - A of two shares of independent trials.

    Attributes:
        difference: -1 to 1.
        se_a: standard error of share A.
        se_b: of share B.
        se: of the difference.
        low: lower end of the interval, -1 to 1.
        high: upper end.
        z: the difference in standard errors; None if both shares are 0 or 1, which tells no error.
        p: two-sided; None likewise.
    """

    difference: float
    se_a: float
    se_b: float
    se: float
    low: float
    high: float
    z: float | None
    p: float | None


def unpaired_difference(a: float, n_a: int, b: float, n_b: int, *, level: float = 0.95) -> UnpairedDifference:
    """Compare two shares, with binomial standard errors sqrt(p (1 - p) / n).

    For typed numbers only. Where trials are at hand, tasks differ from each other, and both arms tried the same ones:
    then `clustered_difference` or `paired_differences` tells more, and no wrong thing.

    Args:
        a: the first share, 0 to 1.
        n_a: of how many independent cases.
        b: the second share.
        n_b: likewise.
        level: of the interval, between 0 and 1.

    Raises:
        ValueError: a share outside 0..1; a number of cases below 1; a level outside 0..1.
    """
    require_level(level)
    for name, share, n in (("a", a, n_a), ("b", b, n_b)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be a share from 0 to 1, got {share!r}")
        if not is_whole(n) or n < 1:
            raise ValueError(f"n_{name} must be a whole number of at least 1, got {n!r}")
    se_a, se_b = math.sqrt(a * (1 - a) / n_a), math.sqrt(b * (1 - b) / n_b)
    se, difference = math.hypot(se_a, se_b), b - a
    half = float(ndtri(0.5 + level / 2)) * se
    z = difference / se if se > 0 else None
    p = None if z is None else float(2 * ndtr(-abs(z)))
    return UnpairedDifference(
        difference, se_a, se_b, se, max(-1.0, difference - half), min(1.0, difference + half), z, p
    )
