"""Score many recorded trials: in this process or in several, going on where a call was interrupted.

A scorer that raises, a cassette that cannot be read or a process that dies costs its own trial only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from attrs import field, frozen

from cassettes.errors import CassetteError
from cassettes.model import TrialId
from cassettes.recorder import unwatched

from .home import Home
from .scorefile import KeptScore
from .scorer_names import scorers_named
from .scoring import Scorer, score_trial
from .view import View

__all__ = ["Scored", "rescored", "score_one"]

_CHUNK: Final = 16  # trials that a process takes at a time: few enough to spread, many enough to be worth the way

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
    yield from _in_processes(_Work(home, tuple(names), grades, dict(known or {})), jobs, processes)


@frozen
class _Work:
    """What a process is told once."""

    home: Home
    names: tuple[str, ...]
    grades: int | None
    known: dict[tuple[str, str], str | None]


_worker: Callable[[Job], Scored] | None = None


def _begin(work: _Work) -> None:
    """In a new process: load the scorers."""
    global _worker  # noqa: PLW0603  # of the process: an initializer has no other place
    scorers = scorers_named(work.names, work.grades)
    _worker = lambda job: score_one(work.home, job, scorers, work.known)


def _chunk(jobs: Sequence[Job]) -> list[Scored]:
    assert _worker is not None
    return [_worker(job) for job in jobs]


def _in_processes(work: _Work, jobs: Sequence[Job], processes: int) -> Iterator[Scored]:
    suspects: list[Job] = []
    with _pool(work, processes) as pool:
        waiting: dict[Future[list[Scored]], Sequence[Job]] = {}
        size = _size(len(jobs), processes)
        for start in range(0, len(jobs), size):
            chunk = jobs[start : start + size]
            try:
                waiting[pool.submit(_chunk, chunk)] = chunk
            except BrokenProcessPool:  # a process died while the others were still being handed work
                suspects += chunk
        try:
            for done in as_completed(waiting):
                try:
                    yield from done.result()
                except BrokenProcessPool:
                    suspects += waiting[done]
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    yield from _one_by_one(work, suspects)


def _one_by_one(work: _Work, jobs: Sequence[Job]) -> Iterator[Scored]:
    """A process died: each trial that was on its way gets one of its own in turn, so that one costs only itself."""
    left = list(jobs)
    while left:
        with _pool(work, 1) as pool:
            while left:
                job = left.pop(0)
                try:
                    yield from pool.submit(_chunk, [job]).result()
                except BrokenProcessPool:
                    yield Scored(job[0], problem=f"{job[0]}: the process that scored it died")
                    break


def _pool(work: _Work, processes: int) -> ProcessPoolExecutor:
    # Spawned, not forked: this process may have threads, and locks that they hold.
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(work,))


def _size(jobs: int, processes: int) -> int:
    return max(1, min(_CHUNK, jobs // (2 * processes)))
