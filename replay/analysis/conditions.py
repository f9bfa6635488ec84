"""Conditions on a run, such as ``pass^4 >= 0.6``, and whether a run of a planned size could meet them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
from attrs import frozen

from cassettes.errors import BadInput
from replay.plural import number
from replay.stats import Feasibility, feasibility
from replay.stats.intervals import Target
from replay.stats.tally import Floats

__all__ = ["Condition", "planned", "refuse_impossible", "scores_of", "task_scores"]

_CONDITION = re.compile(r"\s*pass(?P<sign>[\^@])(?P<k>\d+)\s*>=\s*(?P<least>0?\.\d+|\d+(\.\d+)?)(?P<percent>%?)\s*")


@frozen
class Condition:
    """``pass^4 >= 0.6``: what a run must reach."""

    metric: Literal["pass^k", "pass@k"]
    k: int
    at_least: float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition.

        Raises:
            BadInput: it is none.
        """
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise BadInput(
                f"{text!r} is no condition: one is 'pass^K >= X', as 'pass^4 >= 0.6' and 'pass@4 >= 60%', in quotes"
            )
        least = float(match["least"]) / (100 if match["percent"] else 1)
        if not 0 < least < 1 or int(match["k"]) < 1:
            raise BadInput(f"{text!r}: k is at least 1, and the threshold between 0 and 1, both excluded")
        return cls("pass^k" if match["sign"] == "^" else "pass@k", int(match["k"]), least)

    @property
    def name(self) -> str:
        """``pass^4``."""
        return self.metric.replace("k", str(self.k))

    def __str__(self) -> str:
        return f"{self.name} >= {self.at_least:g}"


def planned(
    conditions: Sequence[Condition], tasks: int, trials: int, target: Target, alpha: float, *, sequential: bool
) -> list[Feasibility]:
    """Whether conditions can be passed by a run with so many tasks and trials.

    Raises:
        BadInput: one cannot; the message says what would be needed.
    """
    return [refuse_impossible(c, tasks, trials, target, alpha, sequential) for c in conditions]


def refuse_impossible(
    condition: Condition,
    tasks: int,
    trials: int,
    target: Target,
    alpha: float,
    sequential: bool,  # noqa: FBT001
) -> Feasibility:
    """See that a condition can be passed at all: if all trials pass.

    Raises:
        BadInput: it cannot; the message says what would be needed.
    """
    if trials < condition.k:
        least, there = number(condition.k, "trial"), f"there {'is' if trials == 1 else 'are'} {trials}"
        raise BadInput(f"{condition}: needs at least {least} of every task, and {there}")
    found = feasibility(
        tasks,
        trials,
        condition.k,
        condition.at_least,
        target,
        metric=condition.metric,
        alpha=alpha,
        sequential=sequential,
    )
    if found.possible:
        return found
    ways = [f"{number(found.tasks, 'task')} of {number(trials, 'trial')}"] if found.tasks is not None else []
    ways += [f"{number(found.trials, 'trial')} of {number(tasks, 'task')}"] if found.trials is not None else []
    scale = "evidence" if sequential else "lower bound"
    needed = " or ".join(ways) or "more than a million of either"
    raise BadInput(
        f"{condition} cannot pass with {number(tasks, 'task')} of {number(trials, 'trial')}, target {target}: even if "
        "all of them pass, "
        f"the {scale} is {found.best:.3g} and not {found.needed:.3g}; needed: {needed}"
    )


def scores_of(counts: Sequence[tuple[int, int]], condition: Condition) -> Floats:
    """The score of each task: C(c, k) / C(n, k), or for pass@k one less that of its failures."""
    if condition.metric == "pass^k":
        return task_scores(counts, condition.k)
    return 1 - task_scores([(n - c, n) for c, n in counts], condition.k)


def task_scores(counts: Sequence[tuple[int, int]], k: int) -> Floats:
    """C(c, k) / C(n, k) of each task."""
    return np.array([math.comb(c, k) / math.comb(n, k) for c, n in counts])
