"""All that a trial is made from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from attrs import frozen

from cassettes.given import GivenRule
from cassettes.model import Header, TrialId

from .branching.prefix import Prefix
from .home import Home
from .orchestration.tasks import Task
from .orchestration.throttle import Throttle
from .playback import Playback
from .policy import Policy
from .worlds import World

__all__ = ["Setup", "seeded_by", "user_seed_in"]


def seeded_by(header: Header) -> TrialId:
    """The trial whose seed a recorded one had: its own, or of a replay and of a fork that of the first recording."""
    named = header.config.get("seed_of")
    return header.id if named is None else TrialId.parse(named)


def user_seed_in(header: Header) -> dict[str, Any]:
    """The user's seed, as the configuration of a recorded trial says it; nothing if that shares none."""
    return {"user_seed": header.config["user_seed"]} if "user_seed" in header.config else {}


@frozen
class Setup:
    """All that a trial is made from; `replay.block`, the runner of suites and the verifier build it.

    Attributes:
        source: the recorded answers, made ready for this trial.
        config: kept in the cassette's header.
        environ: where secrets are looked for.
        index_is_free: the index was only proposed: if another trial takes it first, the next free one serves.
        redact: the user's redaction rules.
        pace: recorded streams are handed out as slowly as they came.
        prefix: of a fork, what answers the calls before it.
        ambient: which of ``clock`` and ``random`` are recorded, besides those that the source freezes.
        emulator: the model that plays tools which on-miss ``emulate`` means.
        seed_of: the trial whose seed this one has, if not its own: a replay's is that of the recording.
    """

    id: TrialId
    path: Path
    home: Home
    policy: Policy
    task: Task
    source: Playback | World | None
    config: Mapping[str, Any]
    environ: Mapping[str, str]
    throttle: Throttle | None = None
    index_is_free: bool = False
    seed_of: TrialId | None = None
    redact: tuple[GivenRule, ...] = ()
    pace: bool = False
    ambient: tuple[str, ...] = ()
    prefix: Prefix | None = None
    emulator: str | None = None

    @property
    def first_source(self) -> Playback | World | Prefix | None:
        """What answers from the first call on."""
        return self.source if self.prefix is None else self.prefix

    def seed_for(self, trial: TrialId) -> int:
        """The seed of ``trial``, which may have another index than was proposed."""
        seeded = self.seed_of or trial
        return crc32(f"{self.config.get('seed', 0)}/{seeded.task}#{seeded.index}".encode())

    def user_seed_for(self, trial: TrialId) -> int:
        """The seed of the user of ``trial``: the one that trials of its world share, else the trial's own."""
        shared: int | None = self.config.get("user_seed")
        return self.seed_for(trial) if shared is None else shared
