"""The world of one recorded trial, for an agent that may have changed since."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from attrs import asdict, frozen

from cassettes.errors import UnkeepableValue
from cassettes.model import Call

from .effects import recorded_effects
from .home import Home
from .ignoring import checked_rules, matching_key
from .orchestration.suite import Suite
from .orchestration.tasks import Task
from .orchestration.variant import environ_of_trial, settings_of_trial
from .policy import Action, Policy
from .policy import freeze as freezing
from .setup import Setup, seeded_by, user_seed_in
from .tagless import TaglessWorld, tagless, tagless_recording
from .view import View

__all__ = ["setup_of"]


def setup_of(view: View, suite: Suite, task: Task, selectors: Sequence[str], folder: Path, *, live: bool) -> Setup:
    """All that the retrial is made from.

    Args:
        view: the recorded trial.
        suite: the suite with the agent.
        task: the suite's task.
        selectors: of what the recording answers.
        folder: for the retrial's cassette and a home of its own.
        live: what is selected but not recorded is asked live: models, and reads of the outside.

    Raises:
        BadInput: a selector has another form, or there is none.
    """
    header = view.cassette.header
    rules = checked_rules(header.config.get("ignore", ()))
    recording = tagless_recording(view, rules)
    effects = recorded_effects(header.config.get("effects"))
    policy = freezing(selectors, on_miss="live" if live else "fail", ignore=rules, effects=effects)
    if live:
        keys = frozenset(entry.key for entry in recording.entries if entry.interaction.call.kind == "model")
        policy = _ThenLive(**asdict(policy, recurse=False), recorded=keys)
    seeded = seeded_by(header)
    return Setup(
        id=view.id,
        path=folder / "0.cassette",
        home=Home(folder / "home"),
        policy=policy,
        task=task,
        source=TaglessWorld([recording]),
        config={
            "mode": "freeze",
            "freeze": list(selectors),
            "seed": header.config.get("seed", 0),
            "ignore": list(rules),
            "seed_of": str(seeded),
            "settings": settings_of_trial(header, suite.settings),
            **user_seed_in(header),
        },
        environ=environ_of_trial(header, os.environ),
        redact=suite.redact,
        seed_of=seeded,
    )


@frozen
class _ThenLive(Policy):
    """Frozen as far as it is recorded: a model call that no recording holds goes live.

    Attributes:
        recorded: keys of the recorded model calls.
    """

    recorded: frozenset[str] = frozenset()

    def decide(self, call: Call) -> Action:
        action = super().decide(call)
        if action != "frozen" or call.kind != "model":
            return action
        try:
            return "frozen" if matching_key(tagless(call), self.ignore) in self.recorded else "live"
        except UnkeepableValue:
            return action  # the session tells it
