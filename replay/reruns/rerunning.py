"""Recorded trials carried out again with the model frozen and tools live where that changes nothing outside."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import evolve, frozen

from cassettes.errors import BadInput, TrialHalted
from replay.agents import run_agent
from replay.effects import AS_DECLARED, Effects, recorded_effects
from replay.home import Home
from replay.ignoring import checked_rules
from replay.orchestration.suite import Suite
from replay.orchestration.variant import environ_of_trial, settings_of_trial
from replay.policy import REPLAY
from replay.selector import Selector
from replay.setup import Setup, seeded_by, user_seed_in
from replay.sources import recording_of
from replay.trial import Trial
from replay.view import View

from .answer_changes import answer_changes
from .drift import AskedAgain, TrialDrift
from .rerun import Parting, Rerun

__all__ = ["Terms", "named_writes", "rerun"]


@frozen
class Terms:
    """What is asked again, and what counts.

    Attributes:
        allow_live: which of the calls that may write are made for real.
        effects: what is declared of tools besides what they say themselves; by default as the trial was made under.
        ignore: arguments that do not count in a match, besides those that the run ignores.
        ignore_fields: the same below the answers: fields that do not count.
    """

    allow_live: tuple[Selector, ...] = ()
    effects: Effects = AS_DECLARED
    ignore: tuple[str, ...] = ()
    ignore_fields: tuple[str, ...] = ()


def named_writes(texts: Iterable[str]) -> tuple[Selector, ...]:
    """The selectors of writes that may go live.

    Raises:
        BadInput: one has another form, or names no tool.
    """
    found = tuple(Selector.parse(text) for text in texts)
    for selector in found:
        if selector.glob is None:
            raise BadInput(
                f"{selector.text!r} names no tool: what may write goes live by name only, such as tool:update_index"
            )
    return found


def rerun(view: View, home: Home, suite: Suite, terms: Terms, only: Collection[int] | None = None) -> TrialDrift:
    """Carry a recorded trial out again: its model frozen, its tools live where that changes nothing outside.

    Args:
        view: of a trial that can be replayed (see `replay.verify.check_file`).
        home: where initial states and the redaction key lie.
        suite: its agent and its task.
        terms: what is asked again, and what counts.
        only: the steps that are asked again, if not all that may be.

    Raises:
        CassetteError: the cassette cannot be read.
    """
    task = next((task for task in suite.tasks if task.id == view.task.id), None)
    if task is None:
        return TrialDrift(str(view.id), left_out="the suite has no such task any more")
    header = view.cassette.header
    rules = checked_rules([*header.config.get("ignore", ()), *terms.ignore])
    as_recorded = recorded_effects(header.config.get("effects"))
    effects = as_recorded if terms.effects is AS_DECLARED else terms.effects
    source = Rerun(recording_of(view, rules, effects), terms.allow_live, only)
    with TemporaryDirectory(prefix="trialtape-drift-") as folder:
        setup = Setup(
            id=view.id,
            path=Path(folder) / "0.cassette",
            home=home,
            policy=evolve(REPLAY, ignore=rules, effects=effects),
            task=task,
            source=source,
            config={
                "mode": "replay",
                "seed": header.config.get("seed", 0),
                "settings": settings_of_trial(header, suite.settings),
                **user_seed_in(header),
            },
            environ=environ_of_trial(header, os.environ),
            redact=suite.redact,
            seed_of=seeded_by(header),
        )
        return _carried_out(setup, view, suite.agent, source, terms)


def _carried_out(setup: Setup, view: View, agent: Callable[[Any], Any], source: Rerun, terms: Terms) -> TrialDrift:
    trial = Trial(setup)
    recorded = (view.cassette.header.task_definition or {}).get("digests", {})
    changed = [name for name in ("instruction", "state", "injections") if recorded.get(name) != trial.digests.get(name)]
    if changed:
        why = f"the task is another than when it was recorded: its {' and '.join(changed)} changed"
        return TrialDrift(str(view.id), left_out=why)
    trial.begin()
    leaving = trial.end(run_agent(agent, trial, None))
    if isinstance(leaving, KeyboardInterrupt):
        raise leaving
    parting, stopped = source.parting, _stopped(view, trial, leaving)
    if parting is not None and stopped is not None:
        parting = evolve(parting, why=stopped.why, goes_on=False)
    asked = tuple(_asked_again(view, setup.path, terms))
    return TrialDrift(str(view.id), asked, dict(source.kept), parting or stopped)


def _asked_again(view: View, path: Path, terms: Terms) -> Iterable[AskedAgain]:
    """The answers that came now, each with the one that was recorded, in the order of the recorded steps."""
    now, began = time.time(), view.cassette.header.began
    came = {i.origin.step: i for i in View(path).cassette if i.origin.verdict == "live" and i.origin.step is not None}
    for step in sorted(came):
        then = view.cassette.step(step)
        changes = answer_changes(then.call, then.returned, came[step].returned, terms.ignore_fields)
        yield AskedAgain(step, then.call.name, max(0.0, now - (began + then.at)), changes)


def _stopped(view: View, trial: Trial, leaving: BaseException | None) -> Parting | None:
    """Where a trial, whose models were all asked what they had been asked, ended otherwise."""
    if isinstance(leaving, TrialHalted):
        step = leaving.report.get("step", next(iter(leaving.report.get("steps", [])), None))
        return Parting(step, leaving.report.get("path"), str(leaving).partition("\n")[0].removesuffix(":"))
    ended = trial.ending
    if ended is None or ended.status == view.ending.status:
        return None
    last = len(view.cassette.step_numbers)
    reason = f" ({ended.reason})" if ended.reason else ""
    return Parting(last, None, f"the recording ended {view.ending.status}, now it ends {ended.status}{reason}")
