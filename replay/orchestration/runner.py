"""Carry out runs: tasks x trials, interleaved, in threads; resumable at any moment."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

from attrs import evolve, frozen

from cassettes.errors import BadInput
from cassettes.recorder import Unseen, watching
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.leakfile import check_independence
from replay.prices import kept_prices
from replay.runs import RunFile, open_run, pool_pinned_by, refuse_other_run
from replay.scores.blindness import keep_blindness
from replay.sources import Pool, pool_of

from .budget import Budget
from .interleaving import Watch, carry_on
from .leftovers import calls_in
from .plan import check_worlds, run_file
from .progress import Progress, RunResult
from .running import Job, Running
from .together import Together

__all__ = ["carry_out", "carry_out_together"]


def carry_out(job: Job, home: str | Path | None, progress: Progress | None) -> RunResult:
    """Run what is missing of one run (see `replay.orchestration.suite.Suite.run`)."""
    return carry_out_together([job], home, progress)[0]


def carry_out_together(
    jobs: Sequence[Job], home: str | Path | None, progress: Progress | None, watch: Watch | None = None
) -> list[RunResult]:
    """Run what is missing of several runs of the same tasks, trial beside trial.

    Money, concurrency and back-off are those of the first one, and hold over all.

    Args:
        jobs: at least one.
        home: where cassettes go.
        progress: told of the trials of all.
        watch: says in which order trials are made, and when it is enough; None makes all of them.

    Raises:
        BadInput: one of them cannot be made, or exists under another configuration; nothing was run.
        BudgetReached: the money is spent.
    """
    place = Home.find(home)
    prepared = [_prepared(place, job) for job in jobs]
    for one in prepared:
        refuse_other_run(place, one.file)
    with ExitStack() as stack:
        for one in prepared:
            open_run(place, one.file)
            keep_blindness(place, one.file.name, one.job.scorers)
            stack.enter_context(_alone(place.run(one.file.name), one.file.name))
        together = Together(_budget(place, jobs), progress)
        runs = [Running(one.job, place, together, one.pools, one.file.config["tasks"]) for one in prepared]
        unseen = Unseen()
        try:
            with watching(unseen):
                carry_on(runs, jobs[0].tasks, jobs[0].plan.concurrency, watch)
        finally:
            for run in runs:
                run.tell_unseen(unseen)
        for run in runs:
            run.result.leaks = list(check_independence(place, run.plan.name).leaks)
    return [run.result for run in runs]


@frozen
class _Prepared:
    """A run that can be opened."""

    job: Job
    pools: Mapping[str, Pool]
    file: RunFile


def _prepared(home: Home, job: Job) -> _Prepared:
    plan, tasks = job.plan, job.tasks
    pinned = pool_pinned_by(home, plan.name) if plan.source else {}
    pools = (
        {task.id: pool_of(home, plan.source, task.id, plan.given.ignore, pinned, plan.given.effects) for task in tasks}
        if plan.source
        else {}
    )
    check_worlds(plan, pools)
    file = run_file(plan, tasks, job.scorers, pools, kept_prices(job.prices))
    if plan.variant.config:
        redactor = Redactor(home.redaction_key(), secrets_of({**os.environ, **plan.variant.env}), given=plan.redact)
        file = evolve(file, config={**file.config, **plan.variant.kept(redactor)})
    return _Prepared(job, pools, file)


def _budget(home: Home, jobs: Sequence[Job]) -> Budget:
    names = [job.plan.name for job in jobs]
    limit = jobs[0].plan.max_cost
    before = [] if limit is None else map(calls_in, chain.from_iterable(home.recordings(name) for name in names))
    return Budget(names, limit, jobs[0].prices, before)


@contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Nobody else carries out this run meanwhile: a trial in progress looks like one that was killed."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # goes with the process, however it ends
        except BlockingIOError as error:
            raise BadInput(f"run {name!r} is being carried out right now; wait, or choose another name") from error
        yield
    finally:
        os.close(descriptor)
