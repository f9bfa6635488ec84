"""Score many recorded trials: in this process or in several, going on where a call was interrupted.

A scorer that raises, a cassette that cannot be read or a process that dies costs its own trial only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from cassettes.errors import CassetteError
from cassettes.model import TrialId
from cassettes.recorder import unwatched
from replay.home import Home
from replay.scoring import Scorer, score_trial
from replay.spread import Spread
from replay.view import View

from .scorefile import KeptScore
from .scorer_names import scorers_named

__all__ = ["Scored", "rescored", "score_one"]

Job = tuple[TrialId, Path]
Known = Mapping[tuple[str, str], str | None]  # what need not be scored: trial and scorer, with the cassette's digest


@frozen
class Scored:
    """What came of one trial.

    Attributes:
        scores: made now, one per scorer.
        skipped: why nothing was scored: its ending, such as ``error``; None if it was looked at.
        kept: scorers whose score is there already.
        problem: why it cannot be scored at all.
    """

    trial: TrialId
    scores: tuple[KeptScore, ...] = ()
    skipped: str | None = None
    kept: tuple[str, ...] = ()
    problem: str | None = field(default=None)


def score_one(home: Home, job: Job, scorers: Sequence[Scorer], known: Known | None = None) -> Scored:
    """Score one trial; whatever goes wrong is in the result."""
    trial, path = job
    try:
        view = View(path, home)
    except CassetteError as error:
        return Scored(trial, problem=str(error))
    if view.ending.status not in {"completed", "capped"}:
        return Scored(trial, skipped=view.ending.status)
    digest = view.cassette.digest
    there = [by for by in scorers if (known or {}).get((str(trial), by.id), "") == digest]
    with unwatched():
        made = tuple(
            KeptScore.of(trial, by.name, by.version, score_trial(view, by), digest) for by in scorers if by not in there
        )
    return Scored(trial, made, kept=tuple(by.id for by in there))


def rescored(
    home: Home,
    jobs: Sequence[Job],
    names: Sequence[str],
    *,
    processes: int = 1,
    grades: int | None = None,
    known: Known | None = None,
) -> Iterator[Scored]:
    """Score trials by the scorers that ``names`` name, in the order in which they are done.

    Args:
        home: where the trials lie.
        jobs: the trials with their files.
        names: own scorers, or ``FILE.py:NAME``; each process loads them itself.
        processes: how many; with 1 everything happens in this one.
        grades: how many times judges grade; None leaves it to them.
        known: scores that are there; what they are of is not scored again.

    Raises:
        BadInput: a name names no scorer.
    """
    scorers = scorers_named(names, grades)
    if processes == 1 or len(jobs) < 2:
        for job in jobs:
            yield score_one(home, job, scorers, known)
        return
    spread = Spread(_scoring, (home, tuple(names), grades, dict(known or {})), _died, processes)
    yield from spread.over(jobs)


def _scoring(
    home: Home, names: tuple[str, ...], grades: int | None, known: dict[tuple[str, str], str | None]
) -> Callable[[Job], Scored]:
    """In a new process: load the scorers."""
    scorers = scorers_named(names, grades)
    return lambda job: score_one(home, job, scorers, known)


def _died(job: Job) -> Scored:
    return Scored(job[0], problem=f"{job[0]}: the process that scored it died")
