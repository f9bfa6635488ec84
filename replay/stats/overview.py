"""Everything about one set of trials at once: what `trialtape stats` prints."""

from collections.abc import Iterator

from attrs import frozen

from .anova import cluster, power_of_pass_1
from .bootstrap import RESAMPLES, bootstrap
from .estimators import mean_pass_at_k, mean_pass_hat_k
from .intervals import FEW_OF_A_KIND, FEW_TASKS, RARE, Interval, fixed_interval, population_interval
from .tally import Counts, Tally
from .told import Told
from .within import WithinModel, unbiased_within_se

_FRAGILE = 0.5  # of pass^1: below that, a task that passed once passes k times less often than not


@frozen
class SummaryRow(Told):
    """What is known for one k; all numbers are proportions, 0 to 1.

    Attributes:
        k: number of trials in question.
        pass_hat_k: chance that all k pass.
        pass_at_k: chance that at least one of k passes.
        independent_power: (pass^1)^k, for comparison.
        within_se: unbiased standard error of pass^k in a rerun; None unless 2k <= n for every task.
        fixed: interval of pass^k "if you rerun this suite".
        population: interval of pass^k "on other tasks like these".
        bootstrap: (low, high) of pass^k by the task bootstrap; None with one task.
    """

    k: int
    pass_hat_k: float
    pass_at_k: float
    independent_power: float
    within_se: float | None
    fixed: Interval
    population: Interval
    bootstrap: tuple[float, float] | None


@frozen
class Summary(Told):
    """Counts, one row per k = 1 .. `min_trials`, and notes for the reader.

    Attributes:
        tasks: number of tasks.
        trials: number of trials, over all tasks.
        min_trials: smallest number of trials of a task.
        max_trials: largest number of trials of a task.
        always: tasks that passed every trial.
        never: tasks that passed no trial.
        flipping: the other tasks.
        within: variance of verdicts inside tasks, or None, see `Clustering`.
        between: variance between tasks, or None, see `Clustering`.
        icc: ICC(1), or None, see `Clustering`.
        level: confidence level of all intervals.
        resamples: number of bootstrap resamples.
        seed: of the bootstrap.
        rows: one per k, ascending.
        notes: sentences that must be shown with the table; may be empty.
    """

    tasks: int
    trials: int
    min_trials: int
    max_trials: int
    always: int
    never: int
    flipping: int
    within: float | None
    between: float | None
    icc: float | None
    level: float
    resamples: int
    seed: int
    rows: tuple[SummaryRow, ...]
    notes: tuple[str, ...]


def summary(
    successes: Counts,
    trials: int | Counts,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Summary:
    """Estimates, intervals and diagnostics for every k that all tasks can answer.

    Args:
        successes: c, passed trials, one int per task.
        trials: n, one int for all tasks or one per task.
        level: confidence level, between 0 and 1.
        resamples: of the task bootstrap, at least 1.
        seed: of the task bootstrap; same seed, same digits.

    Raises:
        ValueError: as `Tally.of`; resamples below 1; a level outside 0..1.
    """
    tally = Tally.of(successes, trials)
    ks = range(1, tally.min_trials + 1)
    resampled = bootstrap(tally, ks, resamples, level, seed)
    model = WithinModel.fit(tally, tally.min_trials)
    rows = tuple(
        SummaryRow(
            k=k,
            pass_hat_k=float(mean_pass_hat_k(tally, k)),
            pass_at_k=float(mean_pass_at_k(tally, k)),
            independent_power=power_of_pass_1(tally, k),
            within_se=unbiased_within_se(tally, k),
            fixed=fixed_interval(model, k, level),
            population=population_interval(tally, k, level),
            bootstrap=bounds,
        )
        for k, bounds in zip(ks, resampled.bounds, strict=True)
    )
    clusters = cluster(tally)
    return Summary(
        tasks=tally.tasks,
        trials=tally.trials,
        min_trials=tally.min_trials,
        max_trials=tally.max_trials,
        always=clusters.always,
        never=clusters.never,
        flipping=clusters.flipping,
        within=clusters.within,
        between=clusters.between,
        icc=clusters.icc,
        level=level,
        resamples=resamples,
        seed=seed,
        rows=rows,
        notes=tuple(_notes(tally, rows)),
    )


def _notes(tally: Tally, rows: tuple[SummaryRow, ...]) -> Iterator[str]:
    few = tuple(_few_events(tally, rows))
    if few:
        yield f"few events ({'; '.join(few)}): the intervals may cover less than they say"
    if tally.min_trials != tally.max_trials:
        fewest, most = tally.min_trials, tally.max_trials
        yield f"n differs between tasks: {fewest} to {most}; k stops at {fewest}"
    last = rows[-1]
    if last.k > 1 and last.pass_hat_k < _FRAGILE * rows[0].pass_hat_k:
        share = last.pass_hat_k / rows[0].pass_hat_k
        yield f"fragile: pass^{last.k} is {share:.0%} of pass^1: most of what passes once does not pass {last.k} times"
    alike = tally.tasks in {tally.always, tally.never}
    if not alike:
        first = tally.min_trials // 2 + 1
        where = f"k = {first}" if first == tally.min_trials else f"k = {first} to {tally.min_trials}"
        yield f"at {where} the rerun interval rests on a model: no unbiased variance exists for 2k > n"
    if tally.tasks == 1:
        yield "one task says nothing about other tasks: no such interval, no task bootstrap"
    elif alike:
        yield "all tasks ended alike: the task bootstrap has width 0, which is no certainty"
    else:
        yield (
            "the task bootstrap draws only tasks that were seen, so it is usually narrower than the interval "
            "for other tasks, which allows for kinds of task that were not"
        )


def _few_events(tally: Tally, rows: tuple[SummaryRow, ...]) -> Iterator[str]:
    if tally.tasks < FEW_TASKS:
        yield f"fewer than {FEW_TASKS} tasks"
    if tally.always < FEW_OF_A_KIND:
        yield f"fewer than {FEW_OF_A_KIND} tasks passed every trial"
    if tally.tasks - tally.always < FEW_OF_A_KIND:
        yield f"fewer than {FEW_OF_A_KIND} tasks failed a trial"
    rare = next((row.k for row in rows if row.pass_hat_k < RARE), None)
    if rare is not None:
        yield f"pass^k is below {RARE} from k = {rare}"
