"""Writing imported trials: each cassette once, whole, and going on where an interrupted import stopped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from cassettes.codec import snapshot
from cassettes.errors import NotACassette, UnkeepableValue
from cassettes.model import Ending, Header, Interaction, Mark, TrialId
from cassettes.reader import Cassette
from cassettes.redact import Redactor, secrets_of
from cassettes.writer import CassetteWriter
from replay.home import Home
from replay.runs import packages

__all__ = ["Done", "Keeper"]

Done = Literal["written", "replaced", "kept"]
"""``kept``: it was whole already. ``replaced``: an incomplete one was set aside first."""


class Keeper:
    """Writes imported trials below a home folder."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._redactor = Redactor(home.redaction_key(), secrets_of(os.environ))
        self._packages = packages()

    def keep(
        self,
        trial: TrialId,
        events: Iterable[Interaction | Mark],
        ending: Ending,
        *,
        config: Mapping[str, Any],
        definition: Mapping[str, Any] | None = None,
    ) -> tuple[Done, str]:
        """Write a trial unless it is there; returns what was done, and its cassette's digest.

        Raises:
            CassetteError: the one that is there is damaged, or the new one cannot be written.
            UnkeepableValue: an event has no lossless form.
        """
        path = self._home.cassette(trial)
        done: Done = "written"
        if path.exists():
            known = _digest_if_whole(path)
            if known is not None:
                return "kept", known
            path.rename(self._home.next_attempt(trial))
            done = "replaced"
        # When it was recorded is not known: 0.
        header = Header(trial.run, trial.task, trial.index, 0.0, config, definition, self._packages)
        writer = CassetteWriter(path, header, self._redactor)
        try:
            for event in events:
                if isinstance(event, Mark):
                    writer.mark(event)
                else:
                    writer.append(event, snapshot(event.call))
        except UnkeepableValue:
            writer.abandon()
            path.unlink()  # nothing is lost: the file that is imported holds it all
            raise
        except BaseException:
            writer.abandon()
            raise
        return done, writer.close(ending)


def _digest_if_whole(path: Path) -> str | None:
    try:
        return Cassette(path).digest
    except NotACassette:  # killed while it was created: not even its header is there
        return None
