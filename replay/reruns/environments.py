"""Real environments in which recorded tool calls are carried out again, and where they are found.

A factory makes a fresh one for each trial. It is named as ``FILE.py:FACTORY`` or ``MODULE:FACTORY``, or by the name
under which an installed distribution offers it in the entry-point group ``trialtape.environments``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, Final, Protocol

from attrs import frozen

from cassettes.errors import BadInput, CassetteError
from cassettes.values import unpack
from replay.home import Home
from replay.ignoring import checked_rules
from replay.orchestration.loading import load_from_module, load_object
from replay.view import View

__all__ = ["Environment", "Factory", "Facts", "environment_factory", "facts_of", "known_of", "made_by"]

_GROUP: Final = "trialtape.environments"


class Environment(Protocol):
    """A real environment, fresh for one trial; any object with this method is one.

    What else it has is used, if it is there:

    * ``call_user(name, arguments)``: the same for tools of the simulated user;
    * ``state()``: the state that the tools act on, as plain data; it is compared with the recorded final state;
    * ``state_hash()``: the digest of that state as the benchmark makes it, where its results hold such a digest;
    * ``verdict(view)``: what its own check says of the trial: a truth value, a number, a `replay.scoring.Score` or
      None, which stands beside the run's primary score, or a map of these by the names of scores. ``view`` is the
      recorded trial with the final state of now;
    * ``name``, ``version``, ``data_digest``: texts that say which environment it is;
    * ``ignore_fields``, ``ignore_state``: paths of what differs each time, such as times: below answers, behind a
      selector or not (see `replay.ignoring`), and below the state.
    """

    def call(self, name: str, arguments: Mapping[str, Any], /) -> Any:
        """What the tool returns, as the agent was given it; what it raises is its outcome, too.

        Raises:
            UnknownTool: there is no tool of that name.
        """


Factory = Callable[[Mapping[str, Any]], Environment]


@frozen
class Facts:
    """Which environment it was; None for what it does not say."""

    name: str | None = None
    version: str | None = None
    data_digest: str | None = None


def environment_factory(spec: str) -> Factory:
    """What ``spec`` names.

    Raises:
        BadInput: there is no such factory, or it cannot be loaded.
    """
    if ".py:" in spec or spec.endswith(".py"):
        found = load_object(spec, "environment")
    elif ":" in spec:
        found = load_from_module(spec)
    else:
        found = _offered(spec)
    if not callable(found):
        raise BadInput(f"{spec} names a {type(found).__name__}; a function is needed that makes an environment")
    factory: Factory = found
    return factory


def _offered(name: str) -> Any:
    known = sorted(entry.name for entry in entry_points(group=_GROUP))
    found = next(iter(entry_points(group=_GROUP, name=name)), None)
    if found is None:
        told = f"those offered here: {', '.join(known)}" if known else "no installed distribution offers one"
        raise BadInput(f"{name!r} is no environment; give FILE.py:FACTORY or MODULE:FACTORY, or a name ({told})")
    try:
        return found.load()
    except (ImportError, AttributeError) as error:
        raise BadInput(f"the environment {name} ({found.value}) cannot be loaded: {error}") from error


def known_of(view: View, home: Home) -> dict[str, Any]:
    """What a factory is told: the task as the recording keeps it, and which trial it is.

    ``trial`` is its id, ``config`` what is known of how it was made, ``state`` the initial state that it tracked, made
    anew, or None.

    Raises:
        CorruptCassette: the initial state is missing or damaged.
    """
    header = view.cassette.header
    tracked = next((mark.data["digest"] for mark in view.marks if mark.kind == "state"), None)
    return {
        "instruction": "",
        "tags": {},
        **(header.task_definition or {}),
        "id": header.task,
        "trial": str(view.id),
        "config": dict(header.config),
        "state": None if tracked is None else unpack(home.state(tracked)),
    }


def made_by(factory: Factory, known: Mapping[str, Any]) -> Environment:
    """A fresh environment for one trial.

    Raises:
        BadInput: the factory raised, or gave something else.
    """
    try:
        made = factory(known)
    except CassetteError:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"the environment cannot be made: {type(error).__name__}: {error}") from error
    if not callable(getattr(made, "call", None)):
        raise BadInput(
            f"the factory gave a {type(made).__name__} without a method call(name, arguments), which is no environment"
        )
    return made


def ignored_by_environment(environment: Environment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What it says differs each time: below answers, and below the state.

    Raises:
        BadInput: a path has another form.
    """
    fields, state = (tuple(getattr(environment, name, ())) for name in ("ignore_fields", "ignore_state"))
    return checked_rules(fields), state


def facts_of(environment: Environment) -> Facts:
    """What it says of itself."""
    told = (getattr(environment, name, None) for name in ("name", "version", "data_digest"))
    return Facts(*(None if value is None else str(value) for value in told))
