"""Trials in a process of their own, for those that follow the random generators that a process shares.

The process is started with this module, loads the suite from its file, makes one attempt, and leaves what came of it
in a file. The cassette is written by it; scoring and counting stay with the process that asked.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve, frozen

from cassettes.errors import BadInput, RecordingFailed, TrialtapeError
from cassettes.model import TrialId
from replay.home import Home
from replay.orchestration.attempts import Attempt, attempted, trial_of
from replay.orchestration.leftovers import calls_in
from replay.orchestration.loading import load_agent, load_object
from replay.orchestration.plan import Plan
from replay.runs import pool_pinned_by
from replay.sources import pool_of

__all__ = ["Workers", "main"]


@frozen
class _Order:
    """What a worker is told."""

    plan: Plan
    home: Path
    trial: TrialId
    digests: Mapping[str, str | None]
    path: tuple[str, ...]


class Workers:
    """Starts a process for each attempt; safe to use from many threads.

    Args:
        plan: of the run; its ``origin`` names the file of the suite.
        home: where cassettes go.
    """

    def __init__(self, plan: Plan, home: Home) -> None:
        self._plan = evolve(plan, redact=())  # rules may hold functions: the worker has the suite's own
        self._home = home
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def attempt(self, trial: TrialId, digests: Mapping[str, str | None]) -> Attempt:
        """Make one attempt in a process of its own.

        Raises:
            KeyboardInterrupt: it was interrupted.
            TrialtapeError: what the worker raised.
            RecordingFailed: it died.
        """
        with TemporaryDirectory(prefix="trialtape-worker-") as folder:
            order, answer = Path(folder) / "order", Path(folder) / "answer"
            order.write_bytes(
                pickle.dumps(_Order(self._plan, self._home.root.resolve(), trial, digests, tuple(sys.path)))
            )
            command = [
                sys.executable,
                "-P",
                "-c",
                "from replay.processes.workers import main; main()",
                str(order),
                str(answer),
            ]
            process = subprocess.Popen(command)
            with self._lock:
                self._running.add(process)
            try:
                code = process.wait()
            finally:
                with self._lock:
                    self._running.discard(process)
            if not answer.exists():
                if code in {130, -signal.SIGINT}:
                    raise KeyboardInterrupt
                raise RecordingFailed(f"{trial}: the process that ran it died with code {code}")
            came = pickle.loads(answer.read_bytes())  # noqa: S301  # our own process wrote it
        if isinstance(came, BaseException):
            raise came
        attempt: Attempt = came
        attempt.calls = calls_in(self._home.cassette(trial))
        return attempt

    def interrupt(self) -> None:
        """Tell every worker to end its trial as ``cancelled``."""
        with self._lock:
            for process in self._running:
                process.send_signal(signal.SIGINT)


def main() -> None:
    """Carry out the order in the file that the first argument names; answer in the second."""
    order_file, answer_file = map(Path, sys.argv[1:3])
    order: _Order = pickle.loads(order_file.read_bytes())  # noqa: S301  # the parent wrote it
    sys.path[:] = order.path
    try:
        came: Attempt | TrialtapeError = _carried_out(order)
    except TrialtapeError as error:
        came = error
    except KeyboardInterrupt:
        sys.exit(130)
    answer_file.write_bytes(pickle.dumps(came))


def _carried_out(order: _Order) -> Attempt:
    plan, trial = order.plan, order.trial
    assert plan.origin is not None
    suite = load_object(plan.origin, "suite")
    task = next((task for task in suite.tasks if task.id == trial.task), None)
    if task is None:
        raise BadInput(f"{plan.origin} has no task {trial.task!r} any more")
    plan = evolve(plan, redact=suite.redact)
    home = Home(order.home)
    pinned = pool_pinned_by(home, plan.name) if plan.source else {}
    pool = pool_of(home, plan.source, task.id, plan.given.ignore, pinned, plan.given.effects) if plan.source else []
    begun = trial_of(plan, home, task, trial, pool, order.digests, None)
    begun.begin()
    agent = suite.agent if plan.variant.agent is None else load_agent(plan.variant.agent)
    came = attempted(begun, agent, plan.timeout)
    return evolve(came, calls=[])  # the parent reads them in the cassette: they need not be picklable


if __name__ == "__main__":
    main()
