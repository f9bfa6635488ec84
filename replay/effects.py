"""What tools do to the world, declared in a file: for agents whose code cannot be edited.

A file of TOML. The table ``tools`` holds names of tools, ``http`` such as ``GET api.shop.example/*``; both may be
patterns. What a table leaves out stays as the tool itself declares it::

    [tools.cancel_order]
    effect = "write"
    reads = "order:{order_id}"
    writes = ["order:{order_id}", "balance"]

    [tools."get_*"]
    effect = "read"
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, get_args

from attrs import evolve, frozen

from cassettes.canonical import canonical, digest_bytes
from cassettes.errors import BadInput
from cassettes.model import Call, Effect
from cassettes.templates import Template

from .toml_files import read_toml

__all__ = ["AS_DECLARED", "NOTHING_DECLARED", "Declared", "Effects", "effects_in", "read_effects", "recorded_effects"]

_TABLES: Final[dict[str, Literal["tool", "http"]]] = {"tools": "tool", "http": "http"}
_FIELDS: Final = ("effect", "external", "reads", "writes")
NOTHING_DECLARED: Final = "none"


@frozen
class Declared:
    """What is declared of the calls that ``pattern`` names; None is "not said here".

    Attributes:
        reads, writes: templates of resources; an empty one is "none at all".
    """

    kind: Literal["tool", "http"]
    pattern: str
    effect: Effect | None = None
    external: bool | None = None
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is said, as the file says it."""
        told = {name: getattr(self, name) for name in _FIELDS}
        return {
            name: list(item) if isinstance(item, tuple) else item for name, item in told.items() if item is not None
        }


@frozen(slots=False)
class Effects:
    """What a file declares.

    Attributes:
        rules: the first exact name wins, else the first pattern that fits.
        forget: what the tools themselves declare does not count.
    """

    rules: tuple[Declared, ...] = ()
    forget: bool = False

    @cached_property
    def _known(self) -> dict[tuple[str, str], Declared | None]:
        return {}

    def applied(self, call: Call) -> Call:
        """The call with what is declared of it."""
        if call.kind not in {"tool", "http"} or not (self.rules or self.forget):
            return call
        if self.forget:
            call = evolve(call, effect="unknown", reads=None, writes=None)
        rule = self._rule(call.kind, call.name)
        if rule is None:
            return call
        return evolve(
            call,
            effect=call.effect if rule.effect is None else rule.effect,
            external=call.external if rule.external is None else rule.external,
            reads=call.reads if rule.reads is None else _filled(rule.reads, call.arguments),
            writes=call.writes if rule.writes is None else _filled(rule.writes, call.arguments),
        )

    def _rule(self, kind: str, name: str) -> Declared | None:
        known = self._known
        if (kind, name) not in known:
            of_kind = [rule for rule in self.rules if rule.kind == kind]
            exact = [rule for rule in of_kind if rule.pattern == name]
            fitting = [rule for rule in of_kind if fnmatchcase(name, rule.pattern)]
            known[kind, name] = next(iter([*exact, *fitting]), None)
        return known[kind, name]

    def to_dict(self) -> dict[str, Any]:
        """The rules as data, for run.json."""
        return {f"{rule.kind} {rule.pattern}": rule.to_dict() for rule in self.rules}

    @property
    def digest(self) -> str:
        """Tells two sets of rules apart; their order matters."""
        return digest_bytes(
            canonical([self.forget, [[rule.kind, rule.pattern, rule.to_dict()] for rule in self.rules]])
        )


AS_DECLARED: Final = Effects()
"""What tools themselves declare."""


def read_effects(place: str | Path | Effects | None) -> Effects:
    """The effects of a file, or those given; ``none`` forgets what tools declare, None changes nothing.

    Raises:
        BadInput: there is no such file, or it says what cannot be understood.
    """
    if isinstance(place, Effects):
        return place
    if place is None:
        return AS_DECLARED
    if str(place) == NOTHING_DECLARED:
        return Effects(forget=True)
    path = Path(place)
    document = read_toml(path, "tables such as [tools.get_order]")
    unknown = [name for name in document if name not in _TABLES]
    if unknown:
        raise BadInput(f'{path}: unknown table [{unknown[0]}]; there are [tools.NAME] and [http."METHOD HOST/PATH"]')
    return effects_in(document, str(path))


def effects_in(document: Mapping[str, Any], where: str) -> Effects:
    """The effects that the tables ``tools`` and ``http`` of a document declare; ``where`` is named in errors.

    Raises:
        BadInput: a table says what cannot be understood.
    """
    rules: list[Declared] = []
    for table, kind in _TABLES.items():
        entries = document.get(table, {})
        if not isinstance(entries, dict):
            raise BadInput(f"{where}: [{table}] is no table of names")
        rules += [_declared(kind, name, entry, f"{where}: [{table}.{name}]") for name, entry in entries.items()]
    return Effects(tuple(rules))


def recorded_effects(told: Mapping[str, Any] | None) -> Effects:
    """The effects that a trial was made under, as the configuration in its cassette tells them."""
    if not told:
        return AS_DECLARED if told is None else Effects(forget=True)
    tables: dict[str, dict[str, Any]] = {"tools": {}, "http": {}}
    for name, declared in told.items():
        kind, _, pattern = name.partition(" ")
        tables["http" if kind == "http" else "tools"][pattern] = declared
    return effects_in(tables, "the effects in the cassette")


def _declared(kind: Literal["tool", "http"], name: str, entry: Any, where: str) -> Declared:
    if not isinstance(entry, dict):
        raise BadInput(f'{where} is no table; write effect = "read" below it')
    unknown = [field for field in entry if field not in _FIELDS]
    if unknown:
        raise BadInput(f"{where}: unknown field {unknown[0]!r}; there are {', '.join(_FIELDS)}")
    if not entry:
        raise BadInput(f"{where} declares nothing")
    effect, external = entry.get("effect"), entry.get("external")
    if effect is not None and effect not in get_args(Effect):
        raise BadInput(f"{where}: effect {effect!r} is none of {', '.join(get_args(Effect))}")
    if external is not None and not isinstance(external, bool):
        raise BadInput(f"{where}: external is true or false, not {external!r}")
    return Declared(kind, name, effect, external, _resources(entry, "reads", where), _resources(entry, "writes", where))


def _resources(entry: Mapping[str, Any], field: str, where: str) -> tuple[str, ...] | None:
    given = entry.get(field)
    if given is None:
        return None
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f'{where}: {field} is a text or a list of texts, such as "order:{{order_id}}"')
    for text in texts:
        try:
            Template(text, (), open_ended=True)
        except ValueError as error:
            raise BadInput(f"{where}: {error}") from error
    return tuple(texts)


def _filled(templates: tuple[str, ...], arguments: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(Template(text, (), open_ended=True).fill(arguments) for text in templates)
