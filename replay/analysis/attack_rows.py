"""What the numbers of a run's safety are made of: trials that went wrong, trials in which the user was helped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from attrs import evolve, field, frozen

from cassettes.errors import BadInput
from replay.scoring import ATTACK
from replay.store import Store

from .reliability import TrialOutcome, count
from .threshold import Threshold

__all__ = ["NOT_DELIVERED", "AttackRows", "AttackTask", "Sample", "Wanted", "rows_of_run"]

NOT_DELIVERED = "not delivered"

_TRIALS = """
SELECT t.id, t.task, t.idx, t.ending, t.cause, t.tags, t.digests, s.passed, s.value, s.evidence
FROM trials t LEFT JOIN scores s ON s.trial = t.id AND s.scorer = ? AND s.version = ?
WHERE t.run = ? ORDER BY t.task, t.idx
"""

Row = Mapping[str, Any]
Kind = Literal["benign", "attacked", "aside"]


@frozen
class Wanted:
    """What is asked of a run.

    Attributes:
        safety: the score that says what went wrong; by default whether an attack succeeded.
        helpful: the score that says what the user got; None takes the run's primary one.
        safe_if, helpful_if: a condition on the value, instead of what the scorer said.
        ks: of pass^k; none means 1 and the largest that every task has trials for.
        by: a tag of which each value gets numbers of its own; None for attack and suite.
    """

    safety: str = ATTACK
    helpful: str | None = None
    safe_if: Threshold | None = None
    helpful_if: Threshold | None = None
    ks: tuple[int, ...] = ()
    by: str | None = None

    @property
    def of_attacks(self) -> bool:
        """True if the score says whether an attack succeeded, so that only attacked tasks have one."""
        return self.safety.partition("@")[0] == ATTACK


@frozen
class Sample:
    """What the numbers of one measure are made of.

    Attributes:
        counts: by task, how many of its counted trials have what is measured, and how many there are.
        values: by task, the scorer's values of the trials that have one.
        clusters: by task, what it shares with others that are no independent cases: the user's task.
        left_out: trials that are not counted, by reason.
    """

    counts: Mapping[str, tuple[int, int]]
    values: Mapping[str, tuple[float, ...]]
    clusters: Mapping[str, str]
    left_out: Mapping[str, int] = field(factory=dict)

    @property
    def is_graded(self) -> bool:
        """True if a value is neither 0 nor 1, so that their mean tells something."""
        return any(value not in {0.0, 1.0} for each in self.values.values() for value in each)

    def only(self, tasks: Iterable[str]) -> Sample:
        """The same of these tasks alone; what was left out is told of all."""
        wanted = {*tasks}
        counts = {task: pair for task, pair in self.counts.items() if task in wanted}
        return evolve(self, counts=counts, values={t: each for t, each in self.values.items() if t in wanted})

    def opposite(self) -> Sample:
        """How many do not have it."""
        return evolve(self, counts={task: (n - c, n) for task, (c, n) in self.counts.items()})


@frozen
class AttackTask:
    """A task, as far as an attack goes.

    Attributes:
        kind: ``aside`` is an injection task that was run as if a user had asked for it.
        cluster: what it shares with others that are no independent cases: the user's task.
    """

    kind: Kind
    tags: Mapping[str, str]
    cluster: str


@frozen
class AttackRows:
    """The trials of a run, with the verdicts on both axes.

    Attributes:
        tasks: by id; those of which no cassette could be read are not there.
    """

    wanted: Wanted
    safety: Sequence[Row]
    helpful: Sequence[Row]
    tasks: Mapping[str, AttackTask]

    def names(self, kind: Kind) -> set[str]:
        """The tasks of a kind."""
        return {name for name, task in self.tasks.items() if task.kind == kind}

    @property
    def undelivered(self) -> list[Row]:
        """The trials whose attack never reached the agent."""
        return [row for row in self.safety if _why_unjudged(row) == NOT_DELIVERED]

    @property
    def undelivered_yet(self) -> int:
        """In how many of them the attacker's goal was reached all the same."""
        return sum(_evidence(row).get("goal reached") is True for row in self.undelivered)

    @property
    def delivery_known(self) -> bool:
        """True if the recordings tell whether an attack reached the agent."""
        return any("delivered in steps" in _evidence(row) for row in self.safety)

    @property
    def aside(self) -> int:
        """Trials of injection tasks that were run as if a user had asked for them."""
        names = self.names("aside")
        return sum(row["task"] in names for row in self.safety)

    def unsafe(self) -> Sample:
        """Trials that went wrong. A verdict counts however the trial ended: a cap is no defence."""
        names = self.names("attacked") if self.wanted.of_attacks else {*self.tasks}
        chosen = [(row, _is_unsafe(row, self.wanted)) for row in self.safety if row["task"] in names]
        counts: dict[str, tuple[int, int]] = {}
        for row, unsafe in chosen:
            if unsafe is not None:
                c, n = counts.get(row["task"], (0, 0))
                counts[row["task"]] = (c + unsafe, n + 1)
        left_out = Counter(_why_unjudged(row) for row, unsafe in chosen if unsafe is None)
        values = _values(row for row, unsafe in chosen if unsafe is not None)
        return Sample(counts, values, self._clusters, dict(sorted(left_out.items())))

    def useful(self, names: Collection[str]) -> Sample:
        """Trials in which the user got what they wanted, counted as pass^k counts: a capped trial helped nobody."""
        chosen = [row for row in self.helpful if row["task"] in names]
        counted = count(
            TrialOutcome(row["task"], row["idx"], row["ending"], row["cause"], _is_helpful(row, self.wanted))
            for row in chosen
        )
        numbers = zip(counted.tasks, zip(counted.successes, counted.trials, strict=True), strict=True)
        values = _values(row for row in chosen if row["ending"] == "completed")
        return Sample(dict(numbers), values, self._clusters, counted.left_out)

    @property
    def _clusters(self) -> dict[str, str]:
        return {name: task.cluster for name, task in self.tasks.items()}


def rows_of_run(
    store: Store, run: str, safety: tuple[str, str], helpful: tuple[str, str], wanted: Wanted
) -> AttackRows:
    """The trials of a run.

    Args:
        store: an index that is up to date.
        run: the run's name.
        safety: name and version of the score of that axis.
        helpful: of the other axis.
        wanted: how they count.

    Raises:
        BadInput: the run has no trial.
    """
    rows, others = (store.rows(_TRIALS, [*score, run]) for score in (safety, helpful))
    if not rows:
        raise BadInput(f"run {run!r} has no trial yet")
    tasks = {row["task"]: _task_of(row) for row in rows if row["digests"] is not None}
    return AttackRows(wanted, rows, others, tasks)


def _task_of(row: Row) -> AttackTask:
    """What is known of a task: by its digests whether it is attacked, of an import by its tags."""
    tags = {str(name): str(value) for name, value in json.loads(row["tags"] or "{}").items()}
    attacked = "injections" in json.loads(row["digests"] or "{}") or tags.get("kind") == "attacked"
    kind: Kind = "attacked" if attacked else "aside" if tags.get("kind") == "injection task" else "benign"
    user_task = tags.get("user_task", str(row["task"]))
    return AttackTask(kind, tags, f"{tags['suite']}/{user_task}" if "suite" in tags else user_task)


def _is_unsafe(row: Row, wanted: Wanted) -> bool | None:
    if wanted.safe_if is not None:
        return None if row["value"] is None else not wanted.safe_if.holds(row["value"])
    if row["passed"] is None:
        return None
    return bool(row["passed"]) == wanted.of_attacks  # of an attack the score says that it succeeded


def _is_helpful(row: Row, wanted: Wanted) -> bool | None:
    if wanted.helpful_if is not None:
        return None if row["value"] is None else wanted.helpful_if.holds(row["value"])
    return None if row["passed"] is None else bool(row["passed"])


def _why_unjudged(row: Row) -> str:
    if row["passed"] is not None:
        return ""
    if row["ending"] == "error":
        return f"error ({row['cause'] or 'unknown cause'})"
    if row["ending"] not in {"completed", "capped"}:
        return str(row["ending"])
    why = str(_evidence(row).get("why", ""))
    return NOT_DELIVERED if why.startswith(NOT_DELIVERED) else "unscored"


def _evidence(row: Row) -> Mapping[str, Any]:
    found = json.loads(row["evidence"] or "{}")
    return found if isinstance(found, dict) else {}


def _values(rows: Iterable[Row]) -> dict[str, tuple[float, ...]]:
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["value"] is not None:
            values.setdefault(row["task"], []).append(row["value"])
    return {task: tuple(each) for task, each in values.items()}
