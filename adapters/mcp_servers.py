"""What a trial knows of the MCP servers that it talks to: their names, and what they say of their tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from attrs import Factory, define, frozen

from cassettes.model import Effect
from cassettes.recorder import Recorder

from .mcp_calls import effect_of

__all__ = ["Target", "hinted", "learn", "numbered"]


@frozen
class Target:
    """What a transport leads to.

    Attributes:
        whole: all that tells it from others in this process; never written down.
        label: for people, until the server has told its name.
        mark: tells programs apart that share a label; empty if the label does.
    """

    whole: str
    label: str
    mark: str


@define(slots=False)
class _Known:
    """Of one trial."""

    targets: dict[tuple[str, str], list[str]] = Factory(dict)
    effects: dict[str, dict[str, Effect]] = Factory(dict)


_known: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()
_listed: WeakKeyDictionary[Any, dict[str, Effect]] = WeakKeyDictionary()  # by session


def numbered(recorder: Recorder, name: str, target: Target | None, mark: str = "") -> str:
    """The name of a server in this trial: another one of that name (and mark) gets a number, in order."""
    if target is None:
        return name
    wholes = _known.setdefault(recorder, _Known()).targets.setdefault((name, mark), [])
    if target.whole not in wholes:
        wholes.append(target.whole)
    place = wholes.index(target.whole)
    return f"{name}#{place + 1}" if place else name


def learn(recorder: Recorder, session: Any, server: str, tools: Iterable[Any]) -> None:
    """A server has listed tools: keep what their annotations hint at, for this session and for the trial."""
    hints = {tool.name: effect_of(tool.annotations) for tool in tools}
    _listed.setdefault(session, {}).update(hints)
    _known.setdefault(recorder, _Known()).effects.setdefault(server, {}).update(hints)


def hinted(recorder: Recorder, session: Any, server: str, tool: str) -> Effect:
    """The effect of a tool, as its server told it to this session, or to another session of the trial."""
    known = _known.get(recorder)
    in_trial = {} if known is None else known.effects.get(server, {})
    return {**in_trial, **_listed.get(session, {})}.get(tool, "unknown")
