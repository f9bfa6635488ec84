"""What is left of the noise when everything is frozen: nothing, or the recordings do not decide what an agent does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from cassettes.errors import BadInput, CorruptCassette
from replay.plural import number
from replay.scoring import Scorer, score_trial
from replay.scoring.judge import Judge
from replay.verify import Checked
from replay.view import View

from .outcomes import Outcomes

__all__ = ["Residual", "other_verdict", "residual_of"]


@frozen
class Residual:
    """What came of replaying the trials of a run.

    Attributes:
        replayed: trials that were replayed.
        differing: those whose trajectory (calls, final state, ending) or verdict was another.
        why: the first difference.
        left_out: trials that were not replayed, by reason.
        at_most: the residual variance, half the chance that a trial and its replay disagree, 0 to 0.5: at most so
            much, since a replay that diverged has no verdict.
        verdicts: verdicts were compared too; else the run's scorer is not in the suite, or asks a model.
    """

    replayed: int
    differing: tuple[str, ...]
    why: str
    left_out: Mapping[str, int]
    at_most: float
    verdicts: bool

    @property
    def is_none(self) -> bool:
        """True if nothing differed."""
        return not self.differing


def residual_of(checked: Iterable[Checked], *, verdicts: bool) -> Residual:
    """Sum up what came of verifying trials.

    Raises:
        CorruptCassette: one is damaged.
        BadInput: none could be replayed.
    """
    results = list(checked)
    damaged = next((result for result in results if result.status == "damaged"), None)
    if damaged is not None:
        raise CorruptCassette(f"{damaged.trial}: {damaged.why}")
    replayed = [result for result in results if result.status != "not replayed"]
    left_out = Counter(result.why for result in results if result.status == "not replayed")
    if not replayed:
        raise BadInput(f"none of {number(len(results), 'trial')} can be replayed: {', '.join(left_out)}")
    differing = [result for result in replayed if result.status == "differs"]
    return Residual(
        replayed=len(replayed),
        differing=tuple(result.trial for result in differing),
        why=differing[0].why if differing else "",
        left_out=dict(left_out),
        at_most=len(differing) / (2 * len(replayed)),
        verdicts=verdicts,
    )


def other_verdict(found: Outcomes, scorers: Sequence[Scorer]) -> Callable[[View], str | None] | None:
    """What tells of a replayed trial whether its verdict is another; None if nobody can say without asking a model."""
    by = next((by for by in scorers if by.id == found.score), None)
    if by is None or isinstance(by, Judge):
        return None

    def told(replay: View) -> str | None:
        recorded = found.trials.get(str(replay.id))
        if recorded is None or recorded.ending != "completed":
            return None
        now = score_trial(replay, by).passed
        if now == recorded.passed:
            return None
        return f"the verdict is another: {_word(recorded.passed)}, and in the replay {_word(now)}"

    return told


def _word(passed: Any) -> str:
    return {True: "passed", False: "failed"}.get(passed, "unscored")
