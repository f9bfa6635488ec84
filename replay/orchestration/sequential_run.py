"""Evidence on two arms while their trials are made: looked at after each task, and kept beside the second arm's run.

The order of the tasks is drawn before the first trial, and only a task whose trials have all ended in both arms is
looked at, after all tasks before it. So neither how fast trials are nor how many run at the same time says when is
looked, or at what. What was looked at is kept and never run again: a pair of runs that was stopped stays decided.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import asdict, evolve, field, frozen

from cassettes.errors import BadInput, CorruptCassette
from cassettes.model import TrialId
from replay.analysis.conditions import task_scores
from replay.analysis.gating import GateLine, overall
from replay.analysis.reliability import TrialOutcome, count
from replay.analysis.task_order import drawn_order
from replay.home import Home, writing
from replay.plural import number
from replay.stats import feasibility_of_difference, gate_difference_sequential, tasks_if_alike
from replay.stats.gates import Decision, Verdict

from .interleaving import Place, task_by_task
from .tasks import Task

__all__ = ["FILE", "Design", "Look", "Looks", "lines_of", "refuse_impossible_design"]

FILE: Final = "sequential.json"

Pair = tuple[int, int]


def _pair(given: Sequence[int]) -> Pair:
    one, other = given
    return one, other


def _pairs(given: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(one), float(other)) for one, other in given)


def _ints(given: Sequence[int]) -> tuple[int, ...]:
    return tuple(given)


def _texts(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(given)


@frozen
class Design:
    """What is decided, and how; fixed before the first trial.

    Attributes:
        arms: the names of both runs; the second is held to the first.
        score: that counts, ``name@version``.
        margin: how much worse the second may be.
        alpha: chance of a wrong PASS, and of a wrong FAIL, at most, for each k.
        ks: of pass^k, each with a decision of its own.
        trials: of each task in each arm.
        seed: from which the order was drawn.
        order: the tasks, as they are made and looked at.
    """

    arms: tuple[str, ...] = field(converter=_texts)
    score: str
    margin: float
    alpha: float
    ks: tuple[int, ...] = field(converter=_ints)
    trials: int
    seed: int
    order: tuple[str, ...] = field(converter=_texts)

    @classmethod
    def drawn(cls, tasks: Sequence[Task], seed: int, **rest: Any) -> Design:
        """A design over these tasks, in the order of a seed."""
        return cls(seed=seed, order=drawn_order([task.id for task in tasks], seed), **rest)


@frozen
class Look:
    """A task that was looked at.

    Attributes:
        a: passed and counted trials in the first arm.
        b: the same in the second.
        unanswered: trials of each arm that a frozen call without a recorded answer ended; they are not counted, and a
            decision must hold whatever they would have been.
        evidence: for each k, after this task: that the second arm is within the margin, and that it is not. Once one
            of them decides it stays as it is.
    """

    task: str
    a: Pair = field(converter=_pair)
    b: Pair = field(converter=_pair)
    unanswered: Pair = field(converter=_pair)
    evidence: tuple[tuple[float, float], ...] = field(default=(), converter=_pairs)


def refuse_impossible_design(tasks: int, trials: int, margin: float, alpha: float, ks: Sequence[int]) -> int | None:
    """See that the second arm can pass at all; returns with how many tasks it does if both arms do exactly the same.

    Args:
        tasks: planned.
        trials: of each task.
        margin: how much worse is still good.
        alpha: chance of a wrong verdict.
        ks: of pass^k.

    Raises:
        BadInput: it cannot; the message says what would be needed.
    """
    if max(ks) > trials:
        raise BadInput(
            f"k = {max(ks)} needs as many trials of every task, and {trials} are planned: --trials {max(ks)}"
        )
    found = feasibility_of_difference(tasks, margin, alpha=alpha)
    alike = tasks_if_alike(margin, alpha=alpha)
    if found.possible:
        return alike
    typical = f"; an arm that is just as good as the other needs {alike}" if alike is not None else ""
    raise BadInput(
        f"a margin of {margin:g} cannot be decided with {number(tasks, 'task')}: even if the second arm passes every "
        "trial and "
        f"the first none, the evidence is {found.best:.3g} and not {found.needed:g}; needed: {found.tasks} or more"
        f"{typical}. Add tasks, widen --margin, or leave --sequential out"
    )


def lines_of(design: Design, looks: Sequence[Look]) -> list[GateLine]:
    """The decision for each k from what was looked at, in the order in which it was.

    A PASS must hold if unanswered trials of the second arm had failed and those of the first passed; a FAIL the other
    way round. A task with fewer than k counted trials in an arm is left out.
    """
    return [
        GateLine(f"pass^{k} no more than {design.margin:g} below {design.arms[0]}", d)
        for k, d in _decisions(design, looks)
    ]


def _decisions(design: Design, looks: Sequence[Look]) -> Iterator[tuple[int, Decision]]:
    for k in design.ks:
        known = [look for look in looks if min(look.a[1], look.b[1]) >= k]
        if not known:
            nothing = Decision("UNDECIDED", 0.0, None, None, -design.margin, design.alpha, "population", (1.0, 1.0), 0)
            yield k, nothing
            continue
        worst, best = (
            gate_difference_sequential(
                [_difference(look, k, for_b) for look in known], design.margin, alpha=design.alpha
            )
            for for_b in (False, True)
        )
        assert worst.evidence is not None
        assert best.evidence is not None
        verdict: Verdict = worst.verdict if worst.verdict == best.verdict else "UNDECIDED"
        yield k, evolve(worst, verdict=verdict, evidence=(worst.evidence[0], best.evidence[1]))


def _difference(look: Look, k: int, for_b: bool) -> float:  # noqa: FBT001  # in whose favour unknown trials count
    (c_a, n_a), (c_b, n_b), (u_a, u_b) = look.a, look.b, look.unanswered
    counts = [(c_a + (0 if for_b else u_a), n_a + u_a), (c_b + (u_b if for_b else 0), n_b + u_b)]
    a, b = task_scores(counts, k)
    return float(b - a)


class Looks:
    """Looks at the tasks of two runs as they get ready; see `replay.orchestration.interleaving.Watch`.

    Args:
        home: where the runs lie.
        design: of this pair of runs.

    Raises:
        BadInput: the pair was begun under another design.
        CorruptCassette: what is kept of it cannot be read.
    """

    def __init__(self, home: Home, design: Design) -> None:
        self.design = design
        self._path = home.run(design.arms[1]) / FILE
        self._looks = _kept(self._path, design)

    @property
    def looks(self) -> tuple[Look, ...]:
        """What was looked at, in order."""
        return tuple(self._looks)

    @property
    def lines(self) -> list[GateLine]:
        """The decision so far, for each k."""
        return lines_of(self.design, self._looks)

    @property
    def verdict(self) -> Verdict:
        """The decision over all k so far."""
        return overall(self.lines)

    def places(self, tasks: Sequence[Task], per_task: int) -> Iterator[Place]:
        """Task by task, in the order of the design; of a decided pair none that was not looked at."""
        by_id = {task.id: task for task in tasks}
        order = [look.task for look in self._looks] if self.verdict != "UNDECIDED" else self.design.order
        return task_by_task([by_id[task] for task in order], per_task)

    def is_settled(self, task: str) -> bool:
        """True if the task was looked at."""
        return any(look.task == task for look in self._looks)

    def look(self, outcomes: Mapping[TrialId, TrialOutcome]) -> bool:
        """Look at the tasks that have become whole; True once it is decided."""
        while self.verdict == "UNDECIDED" and len(self._looks) < len(self.design.order):
            task = self.design.order[len(self._looks)]
            arms = [
                [outcomes.get(TrialId(arm, task, i)) for i in range(self.design.trials)] for arm in self.design.arms
            ]
            whole = [[outcome for outcome in arm if outcome is not None] for arm in arms]
            if any(len(arm) < self.design.trials for arm in whole):
                break
            self._add(task, whole)
        return self.verdict != "UNDECIDED"

    def to_dict(self) -> dict[str, Any]:
        """What is kept: the design, the verdict, and each look."""
        return {"design": asdict(self.design), "verdict": self.verdict, "looks": [asdict(look) for look in self._looks]}

    def _add(self, task: str, arms: Sequence[Sequence[TrialOutcome]]) -> None:
        counted = [count(arm) for arm in arms]
        a, b = ((c.successes[0], c.trials[0]) if c.tasks else (0, 0) for c in counted)
        new = Look(task, a, b, (counted[0].unanswered, counted[1].unanswered))
        decisions = [decision for _, decision in _decisions(self.design, [*self._looks, new])]
        self._looks.append(evolve(new, evidence=[decision.evidence or (1.0, 1.0) for decision in decisions]))
        self._keep()

    def _keep(self) -> None:
        temporary = self._path.with_name(f"sequential.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        with writing(self._path):
            temporary.write_text(json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            temporary.replace(self._path)


def _kept(path: Path, design: Design) -> list[Look]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except ValueError as error:
        raise CorruptCassette(f"{path} is damaged: {error}") from error
    try:
        known, looks = Design(**document["design"]), [Look(**look) for look in document["looks"]]
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptCassette(f"{path} is damaged: {error}") from error
    for name, wanted in asdict(design).items():
        found = getattr(known, name)
        if found != wanted:
            told = "" if name == "order" else f" ({found}, now {wanted})"
            raise BadInput(
                f"runs {' and '.join(design.arms)} were begun with another {_TOLD.get(name, name)}{told}, and what "
                "decides may not change after looking; take other names, or leave --sequential out"
            )
    return looks


_TOLD: Final = {"arms": "first arm", "ks": "-k", "order": "order of tasks", "trials": "number of trials"}
