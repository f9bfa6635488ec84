"""A model as judge: its calls lie in a cassette beside the trial's, so that its verdict can be given again for nothing.

A judge reads better than a rule, and errs: so its grades are recorded, can be made several times, and how far they
differ among themselves is told with the score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from cassettes.errors import BadInput
from replay.view import View

from .beside import asked_beside, path_beside
from .score import Score, Scorer

__all__ = ["Judge", "judge"]

_BLIND: Final = ("what its model overlooks or misreads: hold it against people's verdicts (`trialtape lab judge`)",)


@frozen
class Judge(Scorer):
    """A scorer that asks a model; see `judge`.

    Attributes:
        grades: how many times each trial is graded.
    """

    grades: int = field(default=1)

    @grades.validator
    def _at_least_one(self, _attribute: Any, value: int) -> None:
        if value < 1:
            raise BadInput(f"a judge grades a trial once or more, not {value} times")

    def __call__(self, view: View) -> Score:
        """The grades of a trial: from their cassettes where these are whole, else by asking.

        Raises:
            Exception: whatever the function raises.
            CassetteError: a cassette cannot be read or written.
            Divergence: the judge asks something else than is recorded under its version.
        """
        scores = [self._grade(view, number) for number in range(self.grades)]
        return scores[0] if self.grades == 1 else _together(scores)

    def cassette(self, view: View, number: int = 0) -> Path:
        """Where the calls of a grade lie: ``<index>.<scorer>@<version>.cassette``, of later ones with their number."""
        return path_beside(view, self.id, number)

    def _grade(self, view: View, number: int) -> Score:
        path = self.cassette(view, number)
        return asked_beside(view, path, self.id, lambda _told: Scorer.__call__(self, view))[0]


def judge(
    function: Callable[[View], Any],
    *,
    name: str | None = None,
    version: str,
    blind_to: Iterable[str] = (),
    grades: int = 1,
) -> Judge:
    """A scorer of a function that asks a model about a trial.

    The first time, the function's calls are live, and are recorded beside the trial's cassette. From then on they are
    answered from there: the score can be made again without any API, and is the same.

    Args:
        function: of a trial's view; it calls a model through a client that trialtape sees, and returns what a scorer
            may return.
        name: default: the function's.
        version: raise it whenever the prompt, the model or the rule changes.
        blind_to: what it cannot see, besides what its model overlooks.
        grades: how many times each trial is graded; the value is the mean, and it passes if more than half of them do.
    """
    return Judge(name or function.__name__, version, function, (*_BLIND, *blind_to), grades)


def _together(scores: list[Score]) -> Score:
    values = [score.value for score in scores]
    known = [value for value in values if value is not None]
    verdicts = [score.passed for score in scores]
    counts = Counter(verdicts)
    pairs = list(combinations(verdicts, 2))
    evidence = {
        "grades": values,
        "verdicts": verdicts,
        "alike": sum(a == b for a, b in pairs) / len(pairs),
        "spread": max(known) - min(known) if known else None,
        "first": dict(scores[0].evidence),
    }
    if len(known) < len(values):
        return Score(None, evidence=evidence)
    return Score(sum(known) / len(known), passed=counts[True] > len(verdicts) / 2, evidence=evidence)
