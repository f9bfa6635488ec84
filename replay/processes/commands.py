"""Any program as an agent: each trial is one process of it, which joins the trial at its start.

The program is not changed. A folder on PYTHONPATH holds a `sitecustomize` that Python imports at its start, in the
process and in those that it starts in turn; what they call is asked of the trial over a local socket.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.recorder import listening, unwatched
from replay.trial import Trial

__all__ = ["BOOT", "Command", "CommandFailed", "environ_for", "environ_of"]

BOOT: Final = Path(__file__).parents[1] / "boot"
_OURS: Final = 125  # our own failure, as of `timeout` and `env`
_CANNOT_RUN: Final = 126
_NOT_FOUND: Final = 127
_LOOK: Final = 0.1  # seconds between two looks at whether the trial goes on
_GRACE: Final = 5.0  # seconds from SIGTERM to SIGKILL


class CommandFailed(Exception):
    """The program ended with another code than 0.

    Attributes:
        code: its code; negative, the signal that ended it.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    def __str__(self) -> str:
        how = (
            f"was ended by signal {signal.Signals(-self.code).name}"
            if self.code < 0
            else f"ended with code {self.code}"
        )
        return f"the program {how}"


def _words(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(given)


@frozen
class Command:
    """A program and its arguments, as an agent: called with a trial that has begun.

    Attributes:
        words: the program, and its arguments.
        codes: what each process of it ended with by itself, by trial.
    """

    words: tuple[str, ...] = field(converter=_words)
    codes: dict[str, int] = field(factory=dict, eq=False)

    def __attrs_post_init__(self) -> None:
        if not self.words:
            raise BadInput("no program is named; write it after --")

    def __call__(self, trial: Trial) -> None:
        """Run the program once, as the agent of ``trial``.

        Raises:
            CommandFailed: it ended with another code than 0.
            BadInput: it cannot be started, or cannot be recorded.
        """
        environ = environ_for(trial)
        with listening(None), unwatched():  # the process is no call of the trial
            try:
                process = subprocess.Popen(self.words, env=environ)
            except FileNotFoundError as error:
                self.codes[str(trial.id)] = _NOT_FOUND
                raise BadInput(f"{self.words[0]} is not found: {error.strerror}") from error
            except OSError as error:
                self.codes[str(trial.id)] = _CANNOT_RUN
                raise BadInput(f"{self.words[0]} cannot be run: {error.strerror}") from error
            code = _waited_for(process, trial)
        if code is None:
            return  # its trial knows why
        self.codes[str(trial.id)] = code
        if code == _OURS:
            raise BadInput(
                f"{self.words[0]} could not be recorded (code 125): what it said on stderr tells why; trialtape must "
                "be installed in the Python that runs it"
            )
        if code != 0:
            raise CommandFailed(code)


def environ_for(trial: Trial) -> dict[str, str]:
    """The environment in which a program, and what it starts, belongs to ``trial``.

    Raises:
        BadInput: the trial takes no other process.
    """
    invitation = trial.session.invitation()
    if invitation is None:
        raise BadInput(f"{trial.id} takes no calls of other processes")
    told = {
        "TASK": trial.task.id,
        "INDEX": str(trial.index),
        "SEED": str(trial.seed),
        "USER_SEED": str(trial.user_seed),
    }
    joins = {**invitation.to_environ(), **{f"TRIALTAPE_{name}": text for name, text in told.items()}}
    return environ_of(joins, trial.environ)


def environ_of(added: Mapping[str, str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment (None: this process's) with ``added``, in which Python processes look at it when they start."""
    base = os.environ if environ is None else environ
    before = [part for part in base.get("PYTHONPATH", "").split(os.pathsep) if part and Path(part) != BOOT]
    return {**base, **added, "PYTHONPATH": os.pathsep.join([str(BOOT), *before])}


def _waited_for(process: subprocess.Popen[bytes], trial: Trial) -> int | None:
    """Its code; None if its trial was stopped or given up, and it was ended for that."""
    _running.add(process)
    try:
        while True:
            try:
                return process.wait(_LOOK)
            except subprocess.TimeoutExpired:
                if trial.ending is None and trial.session.halt is None:
                    continue
            if trial.ending is None:  # the trial was stopped from within, which ends the program as a rule
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(_GRACE)
            _ended(process)
            return None
    except BaseException:
        _ended(process)
        raise
    finally:
        _running.discard(process)


_running: set[subprocess.Popen[bytes]] = set()


def _end_all() -> None:
    """At the end of this process: the threads that would end those that were given up end with it."""
    for process in list(_running):
        _ended(process)


atexit.register(_end_all)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End it, first politely: it may have something to finish."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
