"""Coverage of intervals, errors of tests, gates and shares, each as cells with what was promised."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from attrs import frozen
from scipy.special import expit, logit

from replay.stats import (
    Decision,
    components_nested,
    components_nested3,
    fixed_differences,
    gate_difference,
    gate_difference_sequential,
    gate_sequential,
    noise_shares,
    outside_share,
    paired_differences,
    watch_test,
    watchlist,
)
from replay.stats.intervals import fixed_interval, population_interval
from replay.stats.tally import Tally
from replay.stats.within import WithinModel

from .spreads import HELD_OUT, SPREADS, Spread

__all__ = ["Cell", "Job", "jobs"]

_RARE = 0.03
_NOT_PROMISED = 0.0065  # pass^k at which the population interval was known to cover less, at k = n


@frozen
class Cell:
    """One number that was measured.

    Attributes:
        table: which table it belongs to.
        where: the world: spread, tasks, trials, k.
        measured: a share, 0 to 1.
        promised: the bound.
        at_least: the promise is a lower bound (coverage), else an upper one (errors); None promises nothing.
        reps: simulations.
        width: mean width of the intervals; None where there are none.
    """

    table: str
    where: str
    measured: float
    promised: float
    at_least: bool | None
    reps: int
    width: float | None = None

    @property
    def broken(self) -> bool:
        """True if the promise is missed by more than two standard errors of the simulation."""
        noise = 2 * math.sqrt(max(self.promised * (1 - self.promised), 1e-9) / self.reps)
        if self.at_least is None:
            return False
        return self.measured < self.promised - noise if self.at_least else self.measured > self.promised + noise


@frozen
class Job:
    """One simulation, which gives some cells."""

    name: str
    run: Callable[[np.random.Generator, int], list[Cell]]


def jobs(sizes: tuple[int, ...] = (20, 50, 115), trials: tuple[int, ...] = (4, 8, 16)) -> Iterator[Job]:
    """All simulations; each is independent of the others."""
    for (letter, spread), tasks, n in product(SPREADS.items(), sizes, trials):
        yield _intervals(letter, spread, tasks, n)
    for (letter, spread), tasks, n in product(HELD_OUT.items(), (15, 30, 80), (3, 6, 12)):
        yield _intervals(letter, spread, tasks, n, held_out=True)
    for n_a, n_b, k, tasks in ((4, 4, 1, 50), (8, 8, 4, 20), (8, 8, 4, 50), (16, 4, 4, 20), (8, 4, 4, 50)):
        for letter in ("a", "f"):
            yield _paired(letter, tasks, n_a, n_b, k)
    yield _several_k()
    for tasks, n, k in ((50, 8, 1), (50, 8, 4), (25, 4, 1)):
        yield _margin(tasks, n, k)
    for tasks in (50, 115):
        yield _evidence(tasks)
    yield _shares(4, 6)
    yield _shares(8, 3)
    for tasks, spread, of_world, of_user in ((50, 1.0, 0.6, 0.6), (25, 1.0, 0.6, 0.6), (25, 2.0, 0.6, 0.3)):
        yield _shares_of_three(tasks, spread, of_world, of_user)
    for letter, (tasks, n) in product("abde", ((25, 4), (50, 4), (25, 8))):
        yield _watchlists(letter, tasks, n)
    for tasks, n, margin in ((25, 8, 0.2), (115, 8, 0.1), (115, 1, 0.1)):
        yield _arms(tasks, n, margin)


def _intervals(letter: str, spread: Spread, tasks: int, n: int, *, held_out: bool = False) -> Job:
    ks = sorted({k for k in (1, 2, 4, n) if k <= n})

    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        inside = {(target, k): 0 for target in ("population", "fixed") for k in ks}
        widths = dict.fromkeys(inside, 0.0)
        truths = dict.fromkeys(ks, 0.0)
        for _ in range(reps):
            p = spread.draw(random, tasks)
            tally = Tally.of(random.binomial(n, p), n)
            model = WithinModel.fit(tally, n)
            for k in ks:
                fixed_truth = float((p**k).mean())
                truths[k] += fixed_truth / reps
                for target, truth, found in (
                    ("population", spread.pass_hat_k(k), population_interval(tally, k, 0.95)),
                    ("fixed", fixed_truth, fixed_interval(model, k, 0.95)),
                ):
                    assert found.low is not None
                    assert found.high is not None
                    inside[target, k] += found.low - 1e-12 <= truth <= found.high + 1e-12
                    widths[target, k] += (found.high - found.low) / reps
        cells = []
        for (target, k), hits in inside.items():
            rare = truths[k] < _RARE if target == "fixed" else k == n and spread.pass_hat_k(k) < _NOT_PROMISED
            promised = 0.91 if target == "fixed" else 0.93
            where = f"{letter}  T={tasks} n={n} k={k}"
            table = f"held out: intervals, {target}" if held_out else f"intervals, {target}"
            at_least = None if rare or held_out else True
            cells.append(Cell(table, where, hits / reps, promised, at_least, reps, widths[target, k]))
        return cells

    return Job(f"intervals {letter} {tasks}x{n}", run)


def _paired(letter: str, tasks: int, n_a: int, n_b: int, k: int) -> Job:
    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        rejected = covered = 0
        for _ in range(reps):
            p = SPREADS[letter].draw(random, tasks)
            row = paired_differences(
                random.binomial(n_a, p), n_a, random.binomial(n_b, p), n_b, [k], flips=299, thinnings=10
            ).rows[0]
            assert row.p is not None
            assert row.low is not None
            assert row.high is not None
            rejected += row.p <= 0.05
            covered += row.low <= 0 <= row.high
        where = f"{letter}  T={tasks} n={n_a} against {n_b}, k={k}"
        return [
            Cell("paired test, no difference: p <= 0.05", where, rejected / reps, 0.05, at_least=False, reps=reps),
            Cell("paired interval, no difference", where, covered / reps, 0.93, at_least=True, reps=reps),
        ]

    return Job(f"paired {letter} {tasks}x{n_a}/{n_b}", run)


def _several_k() -> Job:
    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        adjusted = plain = 0
        for _ in range(reps):
            p = SPREADS["a"].draw(random, 50)
            rows = paired_differences(random.binomial(8, p), 8, random.binomial(8, p), 8, [1, 2, 4, 8], flips=299).rows
            adjusted += min(row.p_adjusted or 1.0 for row in rows) <= 0.05
            plain += min(row.p or 1.0 for row in rows) <= 0.05
        where = "a  T=50 n=8, k=1, 2, 4, 8"
        return [
            Cell("any of several k, adjusted: p <= 0.05", where, adjusted / reps, 0.05, at_least=False, reps=reps),
            Cell("any of several k, not adjusted: p <= 0.05", where, plain / reps, 0.05, at_least=None, reps=reps),
        ]

    return Job("several k", run)


def _margin(tasks: int, n: int, k: int) -> Job:
    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        passed = 0
        for _ in range(reps):
            p = np.clip(SPREADS["b"].draw(random, tasks), 0.02, 0.98)
            worse = expit(logit(p) - 0.6)
            margin = float((p**k - worse**k).mean())  # the run is worse by exactly the margin
            found = fixed_differences(random.binomial(n, p), n, random.binomial(n, worse), n, [k])[0]
            passed += gate_difference(found, tasks, margin).verdict == "PASS"
        where = f"b  T={tasks} n={n} k={k}, worse by exactly the margin"
        return [Cell("gate with a margin: wrong PASS", where, passed / reps, 0.07, at_least=False, reps=reps)]

    return Job(f"margin {tasks}x{n}", run)


def _evidence(tasks: int) -> Job:
    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        wrong = decided = used = 0
        for _ in range(reps):
            wrong += gate_sequential((random.random(tasks) < 0.6).astype(float), 0.6).verdict == "PASS"
            found = gate_sequential((random.random(tasks) < 0.9).astype(float), 0.6)
            decided += found.verdict == "PASS"
            used += found.tasks_used or tasks
        where = f"T={tasks}, threshold 0.6"
        early = f"{where}, stopped after {used / reps:.0f} tasks"
        return [
            Cell("evidence at the threshold: PASS", where, wrong / reps, 0.05, at_least=False, reps=reps),
            Cell("evidence at 0.9: PASS", early, decided / reps, 0.9, None, reps),
        ]

    return Job(f"evidence {tasks}", run)


def _arms(tasks: int, n: int, margin: float) -> Job:
    """Two arms that are looked at after every task, as `trialtape run --ab --sequential` does."""

    def decided(random: np.random.Generator, worse: float) -> Decision:
        p = worse + (1 - worse) * SPREADS["b"].draw(random, tasks)
        return gate_difference_sequential((random.binomial(n, p - worse) - random.binomial(n, p)) / n, margin)

    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        level = [decided(random, margin) for _ in range(reps)]
        alike = [decided(random, 0.0) for _ in range(reps)]
        where = f"b  T={tasks} n={n} k=1, margin {margin:g}"
        early = f"{where}, stopped after {sum(found.tasks_used or tasks for found in alike) / reps:.0f} tasks"
        shares = [
            (f"arms, worse by exactly the margin: {verdict}", sum(found.verdict == verdict for found in level) / reps)
            for verdict in ("PASS", "FAIL")
        ]
        passed = sum(found.verdict == "PASS" for found in alike) / reps
        return [
            *(Cell(table, where, share, 0.05, at_least=False, reps=reps) for table, share in shares),
            Cell("arms, alike: PASS", early, passed, 0.5, None, reps),
        ]

    return Job(f"arms {tasks}x{n}", run)


def _shares(worlds: int, n: int) -> Job:
    def nested(random: np.random.Generator, tasks: int) -> list[list[tuple[int, int]]]:
        of_task, of_world = random.normal(0, 1, (tasks, 1, 1)), random.normal(0, 0.6, (tasks, worlds, 1))
        passed = (of_task + of_world + random.normal(0, 1, (tasks, worlds, n)) > 0).sum(axis=2)
        return [[(int(c), n) for c in row] for row in passed]

    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        parts = components_nested(nested(np.random.default_rng(99), 40_000))
        truth = parts.outside / (parts.outside + parts.rest)
        covered, width = 0, 0.0
        for _ in range(reps):
            found = outside_share(nested(random, 50), resamples=999)
            assert found.low is not None
            assert found.high is not None
            covered += found.low <= truth <= found.high
            width += (found.high - found.low) / reps
        where = f"T=50, {worlds} worlds x {n} trials, true share {truth:.2f}"
        return [
            Cell("outside's share of the noise", where, covered / reps, 0.91, at_least=True, reps=reps, width=width)
        ]

    return Job(f"shares {worlds}x{n}", run)


def _shares_of_three(tasks: int, spread: float, of_world: float, of_user: float) -> Job:
    """With the user apart: 4 worlds x 3 users x 2 trials; latent spreads of tasks, worlds and users, in trials' own."""
    worlds, users, n = 4, 3, 2

    def nested(random: np.random.Generator, tasks: int) -> list[list[list[tuple[int, int]]]]:
        latent = random.normal(0, spread, (tasks, 1, 1, 1)) + random.normal(0, of_world, (tasks, worlds, 1, 1))
        latent = latent + random.normal(0, of_user, (tasks, worlds, users, 1))
        passed = (latent + random.normal(0, 1, (tasks, worlds, users, n)) > 0).sum(axis=3)
        return [[[(int(c), n) for c in world] for world in task] for task in passed]

    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        parts = components_nested3(nested(np.random.default_rng(99), 40_000))
        noise = parts.outside + parts.user + parts.rest
        truths = {"outside": parts.outside / noise, "user": parts.user / noise, "rest": parts.rest / noise}
        covered, widths = dict.fromkeys(truths, 0), dict.fromkeys(truths, 0.0)
        for _ in range(reps):
            found = noise_shares(nested(random, tasks), resamples=999)
            for name, truth in truths.items():
                share = getattr(found, name)
                covered[name] += share.low <= truth <= share.high
                widths[name] += (share.high - share.low) / reps
        where = f"T={tasks} of spread {spread:g}, {worlds} worlds x {users} users x {n} trials, true share"
        return [
            Cell(
                f"with the user apart, share of the noise: {'model' if name == 'rest' else name}",
                f"{where} {truth:.2f}",
                covered[name] / reps,
                0.91,
                at_least=True,
                reps=reps,
                width=widths[name],
            )
            for name, truth in truths.items()
        ]

    return Job(f"shares {tasks}x{worlds}x{users}x{n}/{of_user:g}", run)


def _watchlists(letter: str, tasks: int, n: int) -> Job:
    """Both lists of the default size, each held at half the level, in a later run in which nothing has changed."""

    def run(random: np.random.Generator, reps: int) -> list[Cell]:
        alarms = 0
        for rep in range(reps):
            p = SPREADS[letter].draw(random, tasks)
            before = random.binomial(n, p)
            found = watchlist(before, n, 20, seed=rep)
            lists = [(places, random.binomial(4, p[[*places]])) for places in (found.guards, found.flaky) if places]
            alarms += any(
                watch_test(before, n, places, now.tolist(), [4] * len(places), draws=999).p <= 0.05 / len(lists)
                for places, now in lists
            )
        where = f"{letter}  T={tasks} n={n}, 20 tasks watched with 4 trials"
        return [Cell("watchlists, nothing changed: an alarm", where, alarms / reps, 0.05, at_least=False, reps=reps)]

    return Job(f"watchlists {letter} {tasks}x{n}", run)
