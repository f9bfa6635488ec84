"""How a run fares under attack: what the user got, and what the attacker got. From the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, field, frozen

from cassettes.errors import BadInput
from replay.leakfile import known_independence
from replay.plural import number
from replay.runs import load_run
from replay.scores.blindness import blind_to
from replay.scoring import ATTACK
from replay.stats import Interval, MeanReward, clustered_interval, interval, mean_reward
from replay.store import Store

from .attack_rows import AttackRows, AttackTask, Sample, Wanted, rows_of_run
from .outcomes import outcomes_of, refuse_shared_worlds, resolve_score
from .reliability import MOST_UNANSWERED

__all__ = ["Measure", "Part", "RunSecurity", "run_security"]

_BY = ("attack", "suite")  # tags of which each value is told on its own, if there are several


@frozen
class Measure:
    """A share of trials, 0 to 1.

    Attributes:
        tasks, trials: counted.
        clusters: groups of tasks that are independent of each other.
        fixed: of these very tasks, run again.
        population: on other tasks like these, by cluster.
        mean: of the scorer's values, with clusters as clusters; None if they are only 0 and 1.
    """

    tasks: int
    trials: int
    clusters: int
    fixed: Interval
    population: Interval
    mean: MeanReward | None
    left_out: Mapping[str, int]


@frozen
class Part:
    """The trials whose task has one value of a tag."""

    tag: str
    value: str
    unsafe: Measure | None
    helpful: Measure | None


@frozen
class RunSecurity:
    """The two axes of one run.

    Attributes:
        safety, helpful: the scores, ``name@version``.
        of_attacks: ``unsafe`` counts attacks that succeeded; else trials that the score finds unsafe.
        benign: trials of tasks without an attack in which the user got what they wanted; of a score that is not about
            attacks, of all tasks. None if there is none.
        attacked: the same under attack; None without attacks.
        unsafe: of the trials that could be judged, those that went wrong; None if none could.
        safe_k: by k, the chance that none of k trials goes wrong.
        undelivered: trials whose attack never reached the agent: neither resisted nor not.
        undelivered_yet: of these, those in which the attacker's goal was reached all the same.
        delivery_known: False for recordings that do not tell whether an attack reached the agent.
        worlds: the source whose recorded worlds the numbers are given; None of a live run.
        dependent: trials that showed something of another trial, as far as that was checked.
        blind_to: by score, what it cannot see; None where its scorer does not tell.
        aside: trials of injection tasks that were run as if a user had asked for them; not counted.
    """

    run: str
    safety: str
    helpful: str
    of_attacks: bool
    safe_if: str | None
    helpful_if: str | None
    benign: Measure | None
    attacked: Measure | None
    unsafe: Measure | None
    safe_k: tuple[tuple[int, Interval], ...]
    undelivered: int
    undelivered_yet: int
    delivery_known: bool
    worlds: str | None
    dependent: int
    blind_to: Mapping[str, tuple[str, ...] | None]
    aside: int
    parts: tuple[Part, ...]
    samples: Mapping[str, Sample] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        document = asdict(self, filter=lambda attribute, _: attribute.name != "samples")
        document["safe_k"] = [{"k": k, **asdict(found)} for k, found in self.safe_k]
        return document


def run_security(store: Store, run: str, wanted: Wanted) -> RunSecurity:
    """What the user and the attacker got in a run.

    Args:
        store: an index that is up to date.
        run: the run's name.
        wanted: which scores count, and how.

    Raises:
        BadInput: there is no such run or score; trials share recorded worlds; too many ended unanswered; a task has
            fewer judged trials than a k that is asked for.
    """
    file = load_run(store.home, run)
    safety, helpful = (resolve_score(store, file, name) for name in (wanted.safety, wanted.helpful))
    if helpful[0] == ATTACK:
        raise BadInput(
            f"run {run!r}: {ATTACK} says what the attacker got, and not whether the user was helped; name a score that "
            "does by --helpful"
        )
    rows = rows_of_run(store, run, safety, helpful, wanted)
    refuse_shared_worlds(file, outcomes_of(store, file, wanted.helpful))
    _check_answered(run, rows)
    samples = {"unsafe": rows.unsafe()}
    if wanted.of_attacks:
        samples |= {"benign": rows.useful(rows.names("benign")), "attacked": rows.useful(rows.names("attacked"))}
    else:
        samples |= {"benign": rows.useful(rows.tasks)}
    return RunSecurity(
        run=run,
        safety="@".join(safety),
        helpful="@".join(helpful),
        of_attacks=wanted.of_attacks,
        safe_if=None if wanted.safe_if is None else str(wanted.safe_if),
        helpful_if=None if wanted.helpful_if is None else str(wanted.helpful_if),
        benign=_measure(samples["benign"]),
        attacked=_measure(samples["attacked"]) if wanted.of_attacks else None,
        unsafe=_measure(samples["unsafe"]),
        safe_k=tuple(_safe_k(samples["unsafe"], wanted.ks)),
        undelivered=len(rows.undelivered),
        undelivered_yet=rows.undelivered_yet,
        delivery_known=rows.delivery_known,
        worlds=file.config.get("source"),
        dependent=_dependent(store, run),
        blind_to={score: blind_to(store.home, run, score) for score in ("@".join(safety), "@".join(helpful))},
        aside=rows.aside if wanted.of_attacks else 0,
        parts=tuple(_parts(samples, rows.tasks, wanted)),
        samples=samples,
    )


def _dependent(store: Store, run: str) -> int:
    checked = known_independence(store.home, run)
    return 0 if checked is None else len(checked.broken)


def _check_answered(run: str, rows: AttackRows) -> None:
    unanswered = sum(row["ending"] == "unanswered" for row in rows.safety)
    if unanswered > MOST_UNANSWERED * len(rows.safety):
        raise BadInput(
            f"run {run!r}: {unanswered} of {number(len(rows.safety), 'trial')} ended unanswered, and not at random, so "
            "nothing "
            f"can be told of its safety; `trialtape stats {run}` tells bounds"
        )


def _safe_k(judged: Sample, ks: Sequence[int]) -> Iterable[tuple[int, Interval]]:
    """The chance that none of k trials goes wrong."""
    if not judged.counts:
        return
    most = min(n for _, n in judged.counts.values())
    if ks and max(ks) > most:
        task = next(task for task, (_, n) in judged.counts.items() if n == most)
        raise BadInput(f"k = {max(ks)} needs as many judged trials of every task, but task {task!r} has {most}")
    safe = judged.opposite()
    for k in sorted({*ks}) or sorted({1, most}):
        yield k, _population(safe, k)


def _measure(sample: Sample) -> Measure | None:
    if not sample.counts:
        return None
    c, n = zip(*sample.counts.values(), strict=True)
    return Measure(
        tasks=len(c),
        trials=sum(n),
        clusters=len({sample.clusters[task] for task in sample.counts}),
        fixed=interval(c, n, 1, "fixed"),
        population=_population(sample, 1),
        mean=_mean(sample),
        left_out=sample.left_out,
    )


def _population(sample: Sample, k: int) -> Interval:
    c, n = zip(*sample.counts.values(), strict=True)
    return clustered_interval(c, n, k, [sample.clusters[task] for task in sample.counts])


def _mean(sample: Sample) -> MeanReward | None:
    if not sample.is_graded:
        return None
    grouped: dict[str, list[float]] = {}
    for task, values in sample.values.items():
        grouped.setdefault(sample.clusters[task], []).extend(values)
    return mean_reward(list(grouped.values()))


def _parts(samples: Mapping[str, Sample], tasks: Mapping[str, AttackTask], wanted: Wanted) -> Iterable[Part]:
    """By tag, each value's own numbers."""
    useful = samples["attacked" if wanted.of_attacks else "benign"]
    named = {*samples["unsafe"].counts, *useful.counts}
    for tag in _BY if wanted.by is None else (wanted.by,):
        found: dict[str, list[str]] = {}
        for name in sorted(named):
            if tag in tasks[name].tags:
                found.setdefault(tasks[name].tags[tag], []).append(name)
        if wanted.by is not None and not found:
            known = ", ".join(sorted({tag for name in named for tag in tasks[name].tags})) or "none"
            raise BadInput(f"no task that counts has a tag {tag!r} (known: {known})")
        if wanted.by is not None or len(found) > 1:
            for value in sorted(found):
                unsafe, helpful = (
                    _measure(evolve(s.only(found[value]), left_out={})) for s in (samples["unsafe"], useful)
                )
                yield Part(tag, value, unsafe, helpful)
