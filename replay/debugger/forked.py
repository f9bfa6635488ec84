"""A fork in a process of its own: ``trialtape fork``, started from the debugger, and its growing cassette."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

from cassettes.errors import BadInput, CassetteError
from cassettes.model import TrialId
from replay.home import Home
from replay.view import View

from .glances import Glance
from .side import Side

__all__ = ["Order", "Running", "free_name", "options_from"]

_LOOK_AGAIN: Final = 0.2  # seconds


@frozen
class Order:
    """What is to be run.

    Attributes:
        parent: the trial that is forked.
        at: the first step that goes live.
        run: the run of the continuation, which is its only trial.
        edit: a file with another outcome for the step before.
        options: what the user added, such as ``--suite suite.py``.
    """

    home: Home
    parent: TrialId
    at: int
    run: str
    edit: Path | None = None
    options: tuple[str, ...] = ()

    @property
    def trial(self) -> TrialId:
        """The continuation."""
        return TrialId(self.run, self.parent.task, 0)

    @property
    def cassette(self) -> Path:
        """Its file."""
        return self.home.cassette(self.trial)

    def command(self) -> list[str]:
        """The program and its arguments."""
        edit = [] if self.edit is None else ["--edit", str(self.edit)]
        where = ["--at", str(self.at), "--trials", "1", "--run", self.run, *edit]
        program = [sys.executable, "-m", "replay", "--home", str(self.home.root)]
        return [*program, "fork", str(self.parent), *where, "--json", *self.options]


def free_name(home: Home, parent: TrialId, at: int) -> str:
    """The name of a run that does not exist yet, for a fork of ``parent`` at step ``at``."""
    name = f"{parent.run}.debug-{TrialId.to_path(parent.task)[:80]}-{parent.index}-at{at}"
    names: Iterable[str] = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(free for free in names if not home.run(free).exists())


def options_from(text: str) -> tuple[str, ...]:
    """The options that a person typed.

    Raises:
        BadInput: a quote is not closed.
    """
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BadInput(f"{text.strip()!r} cannot be read as options: {error}") from error


@define
class Running:
    """A fork that was started.

    Attributes:
        steps: of the continuation from the fork on, as far as they are in its cassette.
        said: what the process told on stderr, line by line.
        code: its exit code; None while it runs.
        passed: the continuation's verdict, once it is known.
    """

    order: Order
    steps: list[Glance] = field(factory=list)
    said: list[str] = field(factory=list)
    code: int | None = None
    passed: bool | None = None
    ending: str = ""
    _process: asyncio.subprocess.Process | None = None
    _file: int | None = None

    async def go(self, changed: Callable[[], None]) -> None:
        """Run it to its end; ``changed`` is called whenever there is something new."""
        self._process = process = await asyncio.create_subprocess_exec(
            *self.order.command(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
        )
        assert process.stdout is not None
        assert process.stderr is not None
        follower = asyncio.create_task(self._follow(changed))
        try:
            told, _, _ = await asyncio.gather(
                process.stdout.read(), self._hear(process.stderr, changed), process.wait()
            )
        finally:
            follower.cancel()
            self.stop()
        await asyncio.to_thread(self._look)
        self.code = process.returncode
        self._read(told)
        changed()

    def stop(self) -> None:
        """End the process, if it still runs; what it recorded stays."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()

    def state(self) -> str:
        """How it goes, in words."""
        if self.code is None:
            return "running"
        if self.code:
            return f"exit code {self.code}"
        verdict = {True: "✓ passed", False: "✗ failed", None: "? unscored"}[self.passed]
        return f"{verdict}  {self.ending}"

    async def _hear(self, stream: asyncio.StreamReader, changed: Callable[[], None]) -> None:
        async for line in stream:
            self.said.append(line.decode("utf-8", "replace").rstrip())
            changed()

    async def _follow(self, changed: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(_LOOK_AGAIN)
            if await asyncio.to_thread(self._look):
                changed()

    def _look(self) -> bool:
        """Read what is new in the cassette; True if anything is."""
        try:
            side = Side(View(self.order.cassette))
            file = side.view.path.stat().st_ino
        except (CassetteError, OSError):
            return False  # it is not there yet, or its header is not whole yet
        if file != self._file:  # another attempt took its place
            self._file, self.steps = file, []
        known = {glance.number for glance in self.steps}
        new = [place for place, number in enumerate(side.numbers) if number >= self.order.at and number not in known]
        self.steps += [side.glance(place) for place in new]
        self.steps.sort(key=lambda glance: glance.number)
        return bool(new)

    def _read(self, told: bytes) -> None:
        with suppress(ValueError, LookupError, TypeError):  # it ended before it told anything
            trial = json.loads(told)["forks"][0]["trials"][0]
            self.passed, self.ending = trial["passed"], str(trial["status"])
