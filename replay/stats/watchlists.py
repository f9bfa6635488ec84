"""Few tasks for a small run: guards that always passed, and flaky ones; and the test of each list."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

from .tally import Counts, Floats, Tally, is_whole
from .told import Told
from .within import WithinModel, lumpy_spreads, smooth_spreads

DRAWS = 9_999
_REFITS = 100

Ints: TypeAlias = npt.NDArray[np.int64]


@frozen
class Watchlist(Told):
    """Two lists of tasks, as places in the counts; each is tested on its own.

    Attributes:
        guards: tasks that passed every trial, drawn at random among them: they tell that something broke.
        flaky: tasks with the largest expected p (1 - p), the largest first: they tell that everything shifted.
    """

    guards: tuple[int, ...]
    flaky: tuple[int, ...]


@frozen
class WatchTest(Told):
    """A small run on one list, against what its tasks did before.

    Attributes:
        passed: trials that passed now.
        trials: trials now.
        expected: trials that would pass, were nothing changed.
        p: chance that so few or fewer pass, were nothing changed: one-sided, above 0 to 1.
    """

    passed: int
    trials: int
    expected: float
    p: float


def watchlist(successes: Counts, trials: int | Counts, size: int, *, seed: int = 0) -> Watchlist:
    """Choose half guards and half flaky tasks.

    Broken tasks are best seen among those that always passed, a general decline among those that flip; a list of flaky
    tasks alone misses what breaks. Guards are drawn at random, so that another seed guards other tasks.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        size: tasks on both lists together, at least 2; fewer are chosen where there are fewer of a kind.
        seed: of the draw of guards.

    Raises:
        ValueError: as `Tally.of`; a size below 2.
    """
    if not is_whole(size) or size < 2:
        raise ValueError(f"a watchlist needs at least 2 tasks, got {size!r}")
    tally = Tally.of(successes, trials)
    c, n = _arrays(successes, trials)
    guards = np.flatnonzero(c == n)
    drawn = np.random.default_rng(seed).permutation(guards)[: size - size // 2]
    chances, posterior = _posteriors(tally, c, n)
    spread = posterior @ (chances * (1 - chances))
    flips = np.flatnonzero((c > 0) & (c < n))
    flaky = flips[np.argsort(-spread[flips], kind="stable")][: size // 2]
    return Watchlist(tuple(sorted(drawn.tolist())), tuple(flaky.tolist()))


def watch_test(
    successes: Counts,
    trials: int | Counts,
    places: Sequence[int],
    now_passed: Sequence[int],
    now_trials: Sequence[int],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> WatchTest:
    """Did fewer trials of a list pass than before, beyond luck?

    The chances of the listed tasks are drawn from their posterior, then their trials: so a guard that passed 8 of 8 is
    not taken to be perfect. How the chances of all tasks are spread is not known either: it is fitted in two ways, as a
    mixture, again and again to tasks drawn anew, and as a beta distribution with a posterior. The larger p counts.

    Args:
        successes: of the earlier run, all tasks.
        trials: of the earlier run.
        places: of the listed tasks, in the order of what follows.
        now_passed: trials of each that passed now.
        now_trials: trials of each now, at least 1.
        draws: at least 1.
        seed: same seed, same digits.

    Raises:
        ValueError: as `Tally.of`; no place; different lengths; more passed than tried.
    """
    tally = Tally.of(successes, trials)
    c, n = _arrays(successes, trials)
    if not len(places) == len(now_passed) == len(now_trials) >= 1:
        raise ValueError("places, now_passed and now_trials need one number for each listed task, and at least one")
    if any(not 0 <= passed <= tried or tried < 1 for passed, tried in zip(now_passed, now_trials, strict=True)):
        raise ValueError("each listed task needs at least 1 trial, and passes at most all of them")
    chosen, tried = np.asarray(places, dtype=np.int64), np.asarray(now_trials, dtype=np.int64)
    random = np.random.default_rng(seed)
    passed = int(sum(now_passed))
    p = max(
        (int((totals <= passed).sum()) + 1) / (len(totals) + 1)
        for totals in (
            _lumpy_totals(tally, c[chosen], n[chosen], tried, draws, random),
            _smooth_totals(tally, c[chosen], n[chosen], tried, draws, random),
        )
    )
    chances, posterior = _posteriors(tally, c[chosen], n[chosen])
    return WatchTest(passed, int(tried.sum()), float((posterior @ chances) @ tried), p)


def _lumpy_totals(tally: Tally, c: Floats, n: Floats, tried: Ints, draws: int, random: np.random.Generator) -> Ints:
    """How many trials of the list pass, by draws."""
    refits = min(_REFITS, draws)
    chances, fitted = lumpy_spreads(tally, refits, random)
    totals = []
    for shares, share in zip(fitted, np.array_split(np.arange(draws), refits), strict=True):
        cumulated = np.cumsum(_weighted(chances, shares, c, n), axis=1)
        uniform = random.random((len(share), len(c), 1)) * cumulated[:, -1:]
        drawn = (uniform > cumulated).sum(axis=2)
        totals.append(random.binomial(tried, chances[drawn]).sum(axis=1))
    return np.concatenate(totals)


def _smooth_totals(tally: Tally, c: Floats, n: Floats, tried: Ints, draws: int, random: np.random.Generator) -> Ints:
    a, b, weights = smooth_spreads(tally)
    drawn = random.choice(len(weights), size=(draws, 1), p=weights)
    return np.asarray(random.binomial(tried, random.beta(a[drawn] + c, b[drawn] + n - c)).sum(axis=1))


def _arrays(successes: Counts, trials: int | Counts) -> tuple[Floats, Floats]:
    c = np.asarray(successes, dtype=np.float64)
    return c, np.broadcast_to(np.asarray(trials, dtype=np.float64), c.shape)


def _posteriors(tally: Tally, c: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Support points, and for each task the weight of each, shape (tasks, points)."""
    chances, shares = WithinModel.fit(tally, 1).chances
    return chances, _weighted(chances, shares, c, n)


def _weighted(chances: Floats, shares: Floats, c: Floats, n: Floats) -> Floats:
    """The posterior of each task over the support points; that of all tasks where its outcome is impossible."""
    weights = shares * chances ** c[:, None] * (1 - chances) ** (n - c)[:, None]
    totals = weights.sum(axis=1, keepdims=True)
    return np.where(totals > 0, weights, shares) / np.where(totals > 0, totals, 1.0)
