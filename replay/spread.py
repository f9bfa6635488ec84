"""Work on many trials spread over processes; one that dies costs only the trial that it was at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Final, Generic, TypeVar

from attrs import frozen

__all__ = ["Spread"]

_CHUNK: Final = 16  # jobs that a process takes at a time: few enough to spread, many enough to be worth the way

Job = TypeVar("Job")
Done = TypeVar("Done")


_worker: Callable[[Any], Any] | None = None


def _begin(make: Callable[..., Callable[[Any], Any]], told: tuple[Any, ...]) -> None:
    """In a new process: make what does the work."""
    global _worker  # noqa: PLW0603  # of the process: an initializer has no other place
    _worker = make(*told)


def _chunk(jobs: Sequence[Any]) -> list[Any]:
    assert _worker is not None
    return [_worker(job) for job in jobs]


@frozen
class Spread(Generic[Job, Done]):
    """How work is spread.

    Attributes:
        make: called once in each process with ``told``; gives what does one job. A top-level function.
        told: can be pickled.
        died: what is said of a job at which a process died.
        processes: how many.
    """

    make: Callable[..., Callable[[Job], Done]]
    told: tuple[Any, ...]
    died: Callable[[Job], Done]
    processes: int

    def over(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """The results, in the order in which they are done."""
        suspects: list[Job] = []
        with self._pool(self.processes) as pool:
            waiting: dict[Future[list[Done]], Sequence[Job]] = {}
            size = max(1, min(_CHUNK, len(jobs) // (2 * self.processes)))
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
        yield from self._one_by_one(suspects)

    def _one_by_one(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """A process died: each job on its way gets one of its own in turn, so that one costs only itself."""
        left = list(jobs)
        while left:
            with self._pool(1) as pool:
                while left:
                    job = left.pop(0)
                    try:
                        yield from pool.submit(_chunk, [job]).result()
                    except BrokenProcessPool:
                        yield self.died(job)
                        break

    def _pool(self, processes: int) -> ProcessPoolExecutor:
        # Spawned, not forked: this process may have threads, and locks that they hold.
        return ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(self.make, self.told)
        )
