"""In what a run's agent differs from the one that the suite's file defines: its settings, its code, its environment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.model import Header
from cassettes.redact import Redactor

__all__ = ["Variant", "as_recorded", "checked_settings", "environ_of_trial", "settings_of_trial", "variant_of_trial"]


def checked_settings(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Settings that a run can keep: names with values that JSON holds.

    Raises:
        BadInput: one cannot be kept.
    """
    for name, value in given.items():
        try:
            kept = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError):
            kept = None
        if not isinstance(name, str) or not name or kept != value:
            raise BadInput(
                f"the setting {name!r} cannot be kept as {value!r}: a setting is a text, a number, true, false or "
                "null, or a list or a map with texts as keys of these"
            )
    return dict(given)


@frozen
class Variant:
    """What a run's agent was given; part of the run's configuration.

    Attributes:
        settings: handed to the agent as ``trial.settings``.
        agent: ``FILE.py:NAME`` of the agent, if it is not the suite's own.
        env: environment variables of the program that is the agent.
    """

    settings: Mapping[str, Any] = field(factory=dict, converter=checked_settings)
    agent: str | None = None
    env: Mapping[str, str] = field(factory=dict)

    @property
    def config(self) -> dict[str, Any]:
        """What run and cassettes say of it; nothing of what was not given."""
        said = {"settings": dict(self.settings), "agent": self.agent, "env": dict(self.env)}
        return {name: value for name, value in said.items() if value}

    def kept(self, redactor: Redactor) -> dict[str, Any]:
        """The same less its secrets, for a file that nothing else cleans."""
        cleaned: dict[str, Any] = redactor.value(self.config, Counter())
        return cleaned


def settings_of_trial(header: Header, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What the agent of a recorded trial is given when it is carried out again.

    Args:
        header: of the recording.
        defaults: of the suite as it is now, which may have more settings than then.
    """
    return {**defaults, **header.config.get("settings", {})}


def as_recorded(header: Header) -> dict[str, Any]:
    """The settings of a recorded trial, as a part of the configuration of another; nothing if it has none."""
    return {name: header.config[name] for name in ("settings",) if name in header.config}


def variant_of_trial(header: Header, defaults: Mapping[str, Any]) -> Variant:
    """What the agent of a trial that goes on from a recorded one is given."""
    return Variant(settings_of_trial(header, defaults), env=header.config.get("env", {}))


def environ_of_trial(header: Header, environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` with what a recorded program had besides; a secret is its placeholder."""
    return {**environ, **header.config.get("env", {})}
