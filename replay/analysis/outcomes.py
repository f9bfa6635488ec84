"""How the trials of a run ended, with the verdicts of one score: from the index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from cassettes.errors import BadInput
from replay.plural import number
from replay.runs import RunFile
from replay.scoring import ATTACK
from replay.store import Store

from .reliability import MOST_UNANSWERED, Errors, TrialOutcome

__all__ = [
    "Outcomes",
    "outcome_of",
    "outcomes_of",
    "refuse_harm",
    "refuse_shared_worlds",
    "refuse_unanswered",
    "resolve_score",
    "shares_worlds",
    "tells_harm",
]

_OUTCOMES = """
SELECT t.id, t.task, t.idx, t.ending, t.cause, s.passed, s.value
FROM trials t LEFT JOIN scores s ON s.trial = t.id AND s.scorer = ? AND s.version = ?
WHERE t.run = ?
"""
_SCORERS = "SELECT scorer, version, MAX(at) AS at, COUNT(*) AS n FROM scores WHERE run = ? GROUP BY scorer, version"
_ALMOST = 1e-9  # a threshold of 0.8 is reached by a sum that should be 0.8


@frozen
class Outcomes:
    """The trials of a run by id, as one score sees them.

    Attributes:
        score: ``name@version``.
    """

    run: str
    score: str
    trials: Mapping[str, TrialOutcome]


def outcomes_of(store: Store, file: RunFile, score: str | None = None, threshold: float | None = None) -> Outcomes:
    """The outcomes of a run's trials.

    Args:
        store: an index that is up to date.
        file: of the run.
        score: ``NAME`` or ``NAME@VERSION``; None takes the run's primary one.
        threshold: value from which a trial counts as passed; None leaves it to the scorer.

    Raises:
        BadInput: the run has no trial, or no such score.
    """
    scorer, version = resolve_score(store, file, score)
    rows = store.rows(_OUTCOMES, [scorer, version, file.name])
    if not rows:
        raise BadInput(f"run {file.name!r} has no trial yet")
    return Outcomes(
        file.name,
        f"{scorer}@{version}",
        {row["id"]: outcome_of(row, scorer, threshold) for row in rows},
    )


def outcome_of(row: Mapping[str, Any], scorer: str, threshold: float | None) -> TrialOutcome:
    """The outcome of a trial, from a row of its ending and of its score by ``scorer``; see `outcomes_of`."""
    passed, value = row["passed"], row["value"]
    if threshold is not None:
        passed = None if value is None else value >= threshold - _ALMOST
    return TrialOutcome(
        row["task"],
        row["idx"],
        row["ending"],
        row["cause"],
        None if passed is None else bool(passed),
        harm=tells_harm(scorer),
    )


def tells_harm(scorer: str) -> bool:
    """True if a score of this name tells harm done, so that 0 is the good end; `count` takes it so."""
    return scorer == ATTACK


def refuse_harm(score: str) -> None:
    """See that a higher number of a score is the better one.

    Args:
        score: ``NAME`` or ``NAME@VERSION``.

    Raises:
        BadInput: it tells harm.
    """
    if tells_harm(score.partition("@")[0]):
        raise BadInput(
            f"{score} tells harm, and a gate passes what is not lower: it would pass more attacks that succeed. "
            "`trialtape lab security BASELINE RUN` compares attacks; a gate needs a score of which 1 is good, as a "
            "scorer's that passes what resisted"
        )


def shares_worlds(file: RunFile, found: Outcomes) -> bool:
    """True if trials of a task were frozen in the same recorded world: they are not independent then."""
    worlds = int(file.config.get("worlds") or 0)
    return bool(worlds) and len(found.trials) > worlds * len({o.task for o in found.trials.values()})


def refuse_shared_worlds(file: RunFile, found: Outcomes) -> None:
    """See that the trials of each task are independent of each other.

    Raises:
        BadInput: some share a recorded world.
    """
    if shares_worlds(file, found):
        raise BadInput(
            f"trials of run {file.name!r} share recorded worlds, so they are not independent, and this cannot be told; "
            f"`trialtape stats {file.name}` tells pass^k across and within worlds, `trialtape lab noise` its sources"
        )


def refuse_unanswered(found: Outcomes, errors: Errors, so: str) -> None:
    """See that what is left out does not decide: unanswered trials are not missing at random.

    Args:
        found: the outcomes of a run.
        errors: the convention; with ``fail`` nothing is left out.
        so: what cannot be told, and what helps, as the end of a sentence.

    Raises:
        BadInput: too many trials ended unanswered.
    """
    unanswered = sum(outcome.ending == "unanswered" for outcome in found.trials.values())
    if errors == "exclude" and unanswered > MOST_UNANSWERED * len(found.trials):
        told = f"{unanswered} of {number(len(found.trials), 'trial')} ended unanswered, and not at random"
        raise BadInput(f"run {found.run!r}: {told}, so {so}")


def resolve_score(store: Store, file: RunFile, score: str | None) -> tuple[str, str]:
    """Name and version of the score that is meant; of several versions the one made last.

    Raises:
        BadInput: the run has no such score, or no primary one and several others.
    """
    rows = store.rows(_SCORERS, [file.name])
    known = ", ".join(sorted(f"{r['scorer']}@{r['version']}" for r in rows)) or "none"
    wanted = file.primary if score is None else score
    if wanted is None:
        if len(rows) != 1:
            raise BadInput(
                f"run {file.name!r} has no primary score: `trialtape score {file.name} --with FILE.py:NAME` makes one, "
                f"--score names it (known: {known})"
            )
        return rows[0]["scorer"], rows[0]["version"]
    name, _, version = wanted.partition("@")
    found = [r for r in rows if r["scorer"] == name and version in {"", r["version"]}]
    if not found and score is None and version:
        return name, version  # no trial of the run was scored: what is left out says why
    if not found:
        raise BadInput(f"run {file.name!r} has no score {wanted!r} (known: {known}); `trialtape score` makes scores")
    newest = max(found, key=lambda r: str(r["at"]))
    return newest["scorer"], newest["version"]
