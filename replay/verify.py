"""Replay recorded trials with everything frozen, and tell what is different."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from attrs import evolve, field, frozen

from cassettes.canonical import canonical
from cassettes.errors import CassetteError, TrialHalted
from cassettes.given import GivenRule
from cassettes.model import Ending, TrialId
from cassettes.redact import Redactor, secrets_of
from cassettes.values import pack, unpack

from .agents import run_agent
from .home import Home
from .ignoring import checked_rules
from .orchestration.tasks import Task
from .orchestration.variant import environ_of_trial, settings_of_trial
from .playback import Playback
from .policy import REPLAY
from .setup import Setup, seeded_by, user_seed_in
from .sources import recording_of
from .trial import Trial
from .view import View

__all__ = ["Checked", "check_file", "verify_trial"]

Status = Literal["identical", "differs", "damaged", "not replayed"]


@frozen
class Checked:
    """What came of verifying one trial.

    Attributes:
        why: the first difference, or why the trial was not replayed.
        report: the same as data.
    """

    trial: str
    status: Status
    why: str = ""
    report: dict[str, Any] = field(factory=dict)


def check_file(identity: TrialId, path: Path, home: Home) -> Checked | View:
    """Read every byte of a cassette; the view of one that is whole and can be replayed."""
    try:
        view = View(path, home)
        view.cassette.check()
    except CassetteError as error:
        return Checked(str(identity), "damaged", str(error))
    ending = view.ending
    if ending.status in {"completed", "capped"} or (ending.status == "error" and ending.cause == "agent"):
        if ending.reason and ending.reason.startswith("timeout of"):
            return Checked(
                str(identity), "not replayed", f"it ended by a {ending.reason}, which a replay does not repeat"
            )
        return view
    cause = f" ({ending.cause})" if ending.cause else ""
    return Checked(str(identity), "not replayed", f"it ended {ending.status}{cause}")


def verify_trial(
    view: View,
    home: Home,
    task: Task,
    agent: Callable[[Any], Any],
    ignore: tuple[str, ...] = (),
    redact: tuple[GivenRule, ...] = (),
    settings: Mapping[str, Any] | None = None,
    looked_at: Callable[[View], str | None] | None = None,
) -> Checked:
    """Run the agent again with everything answered from the recording.

    Identical means: the same calls in an order that the recording allows, all of them, the same final state, and the
    same ending. What the trial's own configuration ignores, and ``ignore``, does not count; ``redact`` and
    ``settings`` are the suite's; the settings of the trial win over them. ``looked_at`` is shown the replay of such a
    trial, and says if something else about it differs.
    """
    header = view.cassette.header
    rules = checked_rules([*header.config.get("ignore", ()), *ignore])
    playback = Playback(recording_of(view, rules))
    with TemporaryDirectory(prefix="trialtape-verify-") as folder:
        setup = Setup(
            id=view.id,
            path=Path(folder) / "0.cassette",
            home=home,
            policy=evolve(REPLAY, ignore=rules),
            task=task,
            source=playback,
            config={
                "mode": "replay",
                "seed": header.config.get("seed", 0),
                "settings": settings_of_trial(header, settings or {}),
                **user_seed_in(header),
            },
            environ=environ_of_trial(header, os.environ),
            redact=redact,
            seed_of=seeded_by(header),
        )
        trial = Trial(setup)
        before = _other_start(view, trial)
        if before is not None:
            return before
        trial.begin()
        leaving = trial.end(run_agent(agent, trial, None))
        found = _compared(view, trial, setup, leaving)
        why = looked_at(View(setup.path, home)) if looked_at is not None and found.status == "identical" else None
        return found if why is None else Checked(str(view.id), "differs", why, {"kind": "verdict"})


def _compared(view: View, trial: Trial, setup: Setup, leaving: BaseException | None) -> Checked:
    """A trial and its replay, which has ended."""
    if isinstance(leaving, TrialHalted):
        return Checked(str(view.id), "differs", str(leaving), leaving.to_dict())
    if isinstance(leaving, KeyboardInterrupt):
        raise leaving
    if trial.session.steps == 0 and isinstance(leaving, Exception) and len(view.cassette):
        why = (
            f"the agent raised before its first call: {type(leaving).__name__}: {leaving} "
            "(what it needs to start, such as an API key, may be any value in a replay)"
        )
        return Checked(str(view.id), "differs", why, {"kind": "start"})
    if trial.ending is None or not _same_ending(view.ending, trial.ending):
        why = f"the recording ended {_told(view.ending)}, the replay {_told(trial.ending)}"
        return Checked(str(view.id), "differs", why, {"kind": "ending"})
    if view.tracks_state and canonical(view.state()) != canonical(_as_recorded(trial.state, setup)):
        return Checked(str(view.id), "differs", "the final state is another", {"kind": "state"})
    return Checked(str(view.id), "identical")


def _as_recorded(state: Any, setup: Setup) -> Any:
    """The state less its secrets."""
    redactor = Redactor(setup.home.redaction_key(), secrets_of(setup.environ), given=setup.redact)
    cleaned, counts = redactor.packed(pack(state))
    return unpack(cleaned) if counts else state


def _other_start(view: View, trial: Trial) -> Checked | None:
    """A changed task is told as such, before its calls diverge for that reason."""
    recorded = (view.cassette.header.task_definition or {}).get("digests", {})
    changed = [name for name in ("instruction", "state") if recorded.get(name) != trial.digests.get(name)]
    if not changed:
        return None
    why = f"the task is another than when it was recorded: its {' and '.join(changed)} changed"
    return Checked(str(view.id), "differs", why, {"kind": "task", "changed": changed})


def _same_ending(recorded: Ending, now: Ending) -> bool:
    if recorded.status != now.status:
        return False
    return recorded.status != "error" or recorded.reason == now.reason


def _told(ending: Ending | None) -> str:
    if ending is None:
        return "not at all"
    return ending.status + (f" ({ending.reason})" if ending.reason else "")
