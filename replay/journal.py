"""What a trial writes down: its interactions in one order, and what could not be kept of them."""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import Any

from attrs import evolve

from cassettes.codec import Snapshot, snapshot
from cassettes.errors import TrialtapeError, UnkeepableValue
from cassettes.model import Call, Interaction, Mark, Patch, Value
from cassettes.values import pack
from cassettes.writer import CassetteWriter

from .state import StateTracker, paths_of

__all__ = ["Journal"]

_log = logging.getLogger("trialtape")


class Journal:
    """The written side of one trial, with its clock.

    Args:
        writer: where interactions go.

    Attributes:
        state: the tracked state, if any.
        problems: what could not be recorded faithfully.
        misdeclared: tools that are declared reads, and changed the tracked state, with how often.
    """

    def __init__(self, writer: CassetteWriter) -> None:
        self.state: StateTracker | None = None
        self.problems: list[TrialtapeError] = []
        self.misdeclared: Counter[str] = Counter()
        self._writer = writer
        self._began = time.perf_counter()
        self._order = 0

    def place(self) -> int:
        """The next place in the one order of all starts and ends."""
        self._order += 1
        return self._order

    def now(self) -> float:
        """Seconds since the trial began."""
        return time.perf_counter() - self._began

    def arguments(self, call: Call, step: int) -> Snapshot:
        """The call's arguments as they are now; what has no lossless form is named instead."""
        try:
            return snapshot(call)
        except UnkeepableValue as error:
            path = error.path.replace("value", "arguments", 1)
            problem = self._problem(path, error, step, call)
            return Snapshot(pack({"unkept": str(problem)}), {})

    def append(self, interaction: Interaction, arguments: Snapshot) -> Interaction:
        """Write an interaction; returns it as it was kept: an outcome that has no lossless form is named instead.

        Raises:
            CassetteError: it could not be written.
            UnkeepableValue: it cannot be kept, not even without its outcome.
        """
        try:
            self._writer.append(interaction, arguments)
        except UnkeepableValue as error:
            problem = self._unkept(interaction, error)
        else:
            return interaction
        bare = evolve(interaction, outcome=Value({"unkept": str(problem)}))
        try:
            self._writer.append(bare, arguments)
        except UnkeepableValue as error:
            raise self._unkept(interaction, error) from error
        return bare

    def mark(self, kind: str, data: Any) -> None:
        """Write a mark.

        Raises:
            UnkeepableValue: its data has no lossless form.
        """
        self._writer.mark(Mark(kind, self.now(), data))

    def change(self) -> Patch | None:
        """What changed in the tracked state; a part of it that cannot be kept is a problem of the trial."""
        try:
            return None if self.state is None else self.state.change()
        except UnkeepableValue as error:
            self.problems.append(error)
            return None

    def change_by(self, call: Call, step: int, *, others_write: bool) -> Patch | None:
        """What a live tool changed in the tracked state; one that is declared a read should have changed nothing.

        Args:
            call: that has just ended.
            step: its place.
            others_write: live calls that may write are in progress: a read cannot be told from them.
        """
        if self.state is None or call.kind != "tool" or (not call.may_write and others_write):
            return None
        patch = self.change()
        if patch is not None and not call.may_write:
            self.misdeclared[call.name] += 1
            if self.misdeclared[call.name] == 1:
                told = _misdeclared_told(call, step, patch)
                _log.warning("%s", told)
                self.mark("problem", told)
        return patch

    def _unkept(self, interaction: Interaction, error: UnkeepableValue) -> UnkeepableValue:
        path = "result" + error.path.removeprefix("value").removeprefix("[1]")
        return self._problem(path, error, interaction.step, interaction.call)

    def _problem(self, path: str, error: UnkeepableValue, step: int, call: Call) -> UnkeepableValue:
        problem = UnkeepableValue(path, f"{error.reason} (step {step}, {call.name})")
        self.problems.append(problem)
        return problem


def _misdeclared_told(call: Call, step: int, patch: Patch) -> str:
    """A tool that is declared to change nothing, and after which the tracked state is another."""
    where = ", ".join(list(paths_of(patch))[:3])
    return (
        f"step {step}: {call.name} is declared effect={call.effect!r}, but the tracked state changed while it ran, at "
        f'{where}: declare effect="write"'
    )
