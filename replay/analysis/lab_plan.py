"""Designs of a next experiment: tasks, trials and cost, from what a run recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from replay.prices import prices_of
from replay.runs import load_run
from replay.stats import WithinModel, power_of_comparison, shifted, tasks_needed
from replay.stats.tally import Tally
from replay.store import Store

from .costs import costs_of_trials
from .outcomes import outcomes_of, refuse_shared_worlds
from .reliability import NotCounted, count

__all__ = ["Design", "LabPlan", "lab_plan"]


@frozen
class Design:
    """One way to find the difference.

    Attributes:
        trials: per task and arm.
        tasks: that are needed for the wanted power.
        total: trials of both arms.
        cost: of both arms, at the mean cost of the recorded trials; None if that is unknown.
        power: with as many tasks as the run has.
    """

    trials: int
    tasks: int
    total: int
    cost: float | None
    power: float


@frozen
class LabPlan:
    """What it takes to find a difference in pass^k by a paired comparison.

    Attributes:
        pass_hat_k: of the run, as fitted.
        difference: to be found.
        cost_per_trial: mean of the recorded trials; None if a price or usage is unknown.
        designs: ascending by trials; the first has as many trials as k.
        best: trials per task of the design with the fewest trials in all.
        not_counted: trials and tasks of the run that say nothing here.
    """

    run: str
    k: int
    pass_hat_k: float
    difference: float
    power: float
    alpha: float
    tasks: int
    cost_per_trial: float | None
    currency: str | None
    cost_unknown: str | None
    designs: tuple[Design, ...]
    not_counted: NotCounted

    @property
    def best(self) -> Design:
        """The design with the fewest trials in all."""
        return min(self.designs, key=lambda design: design.total)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {**asdict(self), "best": asdict(self.best)}


def lab_plan(
    store: Store,
    run: str,
    difference: float,
    *,
    k: int = 1,
    power: float = 0.8,
    alpha: float = 0.05,
    trials: Sequence[int] = (),
    score: str | None = None,
) -> LabPlan:
    """Plan a paired comparison with an agent that is better (or worse) than the one of a run.

    The tasks' chances to pass are spread as fitted to the run; the other agent has all log-odds moved alike.

    Args:
        store: an index that is up to date.
        run: that tells how tasks are spread and what a trial costs.
        difference: in pass^k, to be found.
        k: at least 1.
        power: chance to find it.
        alpha: two-sided level of the test.
        trials: per task, that are to be looked at; none means k, 2k, 3k, 4k.
        score: which score counts; None takes the primary one.

    Raises:
        BadInput: nothing counts; no shift gives such a difference; numbers outside; trials below k.
    """
    file = load_run(store.home, run)
    found = outcomes_of(store, file, score)
    refuse_shared_worlds(file, found)
    counted = count(found.trials.values())
    if not counted.tasks:
        raise BadInput(f"run {run!r}: no trial can be counted by {found.score}")
    chances, shares = WithinModel.fit(Tally.of(counted.successes, counted.trials), k).chances
    cost = costs_of_trials(store, run, prices_of(file.about))[1]
    each = None if cost.amount is None or not cost.calls else cost.amount / len(found.trials)
    try:
        other = shifted(chances, k, difference, weights=shares)
        designs = []
        for n in sorted({*trials}) or [k, 2 * k, 3 * k, 4 * k]:
            exact = tasks_needed(chances, other, n, k, weights=shares, alpha=alpha, power=power)
            if math.isinf(exact):
                raise BadInput("a difference of 0 is never found; name another")
            tasks = math.ceil(exact)
            total = 2 * tasks * n
            reached = power_of_comparison(chances, other, len(counted.tasks), n, k, weights=shares, alpha=alpha)
            designs.append(Design(n, tasks, total, None if each is None else each * total, reached))
    except ValueError as error:
        raise BadInput(str(error)) from error
    return LabPlan(
        run=run,
        k=k,
        pass_hat_k=float(shares @ chances**k),
        difference=difference,
        power=power,
        alpha=alpha,
        tasks=len(counted.tasks),
        cost_per_trial=each,
        currency=cost.to_dict()["currency"],
        cost_unknown=None if each is not None else str(cost),
        designs=tuple(designs),
        not_counted=counted.not_counted,
    )
