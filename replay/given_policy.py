"""A policy as a user writes it: what is frozen, live or refused, in one file or one value.

A file of TOML; every key may be left out, and the tables ``tools`` and ``http`` are those of `replay.effects`::

    freeze = ["external"]
    live = ["tool:search_*"]
    emulate = ["tool:send_mail"]
    refuse = ["tool:issue_refund"]
    catch_up = ["tool:reserve"]
    ignore_fields = ["tool:reserve:made_at"]
    ignore = ["metadata.request_id"]
    offline = false

    emulator = "gpt-5-mini"

    [on_miss]
    default = "fail"
    "tool:get_*" = "extend"

    [tools.cancel_order]
    effect = "write"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import evolve, field, fields, frozen

from cassettes.canonical import canonical, digest_bytes
from cassettes.errors import BadInput

from .effects import AS_DECLARED, Effects, effects_in, read_effects
from .ignoring import checked_rules
from .on_miss import BY_DEFAULT, EVERYTHING_FAILS, Missed, on_miss_rules
from .policy import Policy, freeze_or_record
from .selector import Selector
from .toml_files import read_toml

__all__ = ["GivenPolicy", "settled"]

T = TypeVar("T")

_ACTIONS: Final = ("freeze", "live", "emulate", "refuse")
_TABLES: Final = ("tools", "http")
_PATHS: Final = ("ignore", "ignore_fields")
_LISTS: Final = (*_ACTIONS, "catch_up", *_PATHS)
_KEYS: Final = (*_LISTS, "offline", "on_miss", "emulator", *_TABLES)
_EVERY_CALL: Final = "default"


def _selectors(given: str | Iterable[str]) -> tuple[str, ...]:
    texts = tuple(text.strip() for text in ((given,) if isinstance(given, str) else given))
    for text in texts:
        Selector.parse(text)
    return texts


def _misses(given: str | Iterable[str] | Mapping[str, str] | Missed | None) -> Missed:
    if isinstance(given, Mapping):
        given = [action if text == _EVERY_CALL else f"{text}={action}" for text, action in given.items()]
    return on_miss_rules(given)


def _effects(given: str | Path | Effects | Mapping[str, Any] | None) -> Effects:
    if not isinstance(given, Mapping):
        return read_effects(given)
    _refuse_unknown(given, _TABLES, "effects")
    return effects_in(given, "effects")


@frozen(kw_only=True)
class GivenPolicy:
    """How the calls of a trial are answered; the same as a file of TOML says it.

    The most specific selector wins; among equals ``refuse``, then ``emulate``, ``live`` and ``freeze``.

    Attributes:
        freeze: selectors of calls that are answered from recordings.
        live: selectors of calls that are not, though a wider selector freezes them.
        emulate: selectors of tools, each by its name, that a model plays (see `replay.emulation`).
        refuse: selectors of calls that end the trial.
        catch_up: selectors of tools, each by its name: such frozen writes are carried out before a live call that would
            notice their absence (see `replay.lacking`).
        ignore: paths of arguments that do not count in a match (see `replay.ignoring`).
        ignore_fields: the same below the outcomes of what is carried out by ``catch_up``: fields that do not count.
        on_miss: what happens where no recording answers (see `replay.on_miss`): an action, rules, or a map of selectors
            to actions in which ``default`` means every call.
        offline: no frozen call goes live, whatever is missed.
        effects: what tools do: a file, or a map with the tables ``tools`` and ``http``.
        emulator: the model that plays the tools which ``emulate`` in ``on_miss`` means (see `replay.emulation`).
        name: told in run.json; of a file its name.

    Raises:
        BadInput: something in it cannot be understood, or does not go together.
    """

    freeze: tuple[str, ...] = field(default=(), converter=_selectors)
    live: tuple[str, ...] = field(default=(), converter=_selectors)
    emulate: tuple[str, ...] = field(default=(), converter=_selectors)
    refuse: tuple[str, ...] = field(default=(), converter=_selectors)
    catch_up: tuple[str, ...] = field(default=(), converter=_selectors)
    ignore: tuple[str, ...] = field(default=(), converter=checked_rules)
    ignore_fields: tuple[str, ...] = field(default=(), converter=checked_rules)
    on_miss: Missed = field(default=BY_DEFAULT, converter=_misses)
    offline: bool = False
    effects: Effects = field(default=AS_DECLARED, converter=_effects)
    emulator: str | None = None
    name: str | None = None

    def __attrs_post_init__(self) -> None:
        for one, other in ((a, b) for a in _ACTIONS for b in _ACTIONS if a < b):
            both = [text for text in getattr(self, one) if text in getattr(self, other)]
            if both:
                raise BadInput(f"{self._where}{both[0]!r} is in {one} and in {other}; leave it out of one of them")
        for text in self.refuse:
            if Selector.parse(text).kind in {"clock", "random"}:
                raise BadInput(f"{self._where}refuse: {text!r} is no call that can be refused")
        self._check_named("emulate", "what a model plays")
        self._check_named("catch_up", "what is carried out again")
        if self.offline and self.catch_up:
            raise BadInput(
                f"{self._where}offline lets no frozen call go live, so catch_up has nothing to say; leave one of them "
                "out"
            )
        if self.offline and self.on_miss.rules:
            raise BadInput(
                f"{self._where}offline lets no frozen call go live, so on_miss has nothing to say; leave one of them "
                "out"
            )

    def _check_named(self, key: str, what: str) -> None:
        for text in getattr(self, key):
            selector = Selector.parse(text)
            if selector.kind != "tool" or selector.glob is None:
                raise BadInput(
                    f"{self._where}{key}: {text!r} names no tool: {what} is named, such as tool:issue_refund"
                )

    @classmethod
    def read(cls, place: str | Path) -> GivenPolicy:
        """The policy in a file.

        Raises:
            BadInput: there is no such file, or it says what cannot be understood; file, table and key are named.
        """
        path = Path(place)
        document = read_toml(path, 'keys such as freeze = ["external"]')
        return _in_document(document, path)

    @property
    def policy(self) -> Policy:
        """What decides about each call."""
        made = freeze_or_record(
            self.freeze,
            live=self.live,
            emulate=self.emulate,
            refuse=self.refuse,
            on_miss=self.missed,
            ignore=self.ignore,
            effects=self.effects,
        )
        catch_up = tuple(map(Selector.parse, self.catch_up))
        return evolve(made, catch_up=catch_up, ignore_fields=self.ignore_fields)

    @property
    def missed(self) -> Missed:
        """What is done about calls that no recording answers."""
        return EVERYTHING_FAILS if self.offline else self.on_miss

    def to_dict(self) -> dict[str, Any]:
        """What it says, less its name; what is left out is not said."""
        content: dict[str, Any] = {name: list(getattr(self, name)) for name in _LISTS}
        content |= {"on_miss": self.on_miss.to_list(), "offline": self.offline, "effects": self.effects.to_dict()}
        content |= {"emulator": self.emulator}
        return {name: said for name, said in content.items() if said}

    @property
    def digest(self) -> str:
        """Tells two policies apart; their names do not count."""
        return digest_bytes(canonical([self.to_dict(), self.effects.digest]))

    @property
    def told(self) -> dict[str, Any]:
        """Its name, its digest and what it says, for run.json."""
        return {"name": self.name, "digest": self.digest, "content": self.to_dict()}

    @property
    def _where(self) -> str:
        return f"{self.name}: " if self.name else ""


def settled(policy: str | Path | GivenPolicy | None, options: GivenPolicy) -> GivenPolicy:
    """A policy with the options that were given beside it.

    Raises:
        BadInput: both say the same thing, the policy's file cannot be understood, or nobody says who emulates.
    """
    both = _joined(policy, options)
    if both.ignore_fields and not both.catch_up:
        raise BadInput(
            "ignore_fields says which fields do not count after a catch-up, and there is none: name catch_up"
        )
    emulates = bool(both.emulate) or both.on_miss.emulates
    if emulates and both.emulator is None:
        raise BadInput("to emulate needs a model that plays the tools: name it with --emulator MODEL")
    if both.emulator is not None and not emulates:
        raise BadInput(
            f"nothing is emulated by {both.emulator}: say which tools are, with on-miss, such as tool:get_*=emulate"
        )
    return both


def _joined(policy: str | Path | GivenPolicy | None, options: GivenPolicy) -> GivenPolicy:
    if policy is None:
        return options
    given = policy if isinstance(policy, GivenPolicy) else GivenPolicy.read(policy)
    defaults = GivenPolicy()
    changes: dict[str, Any] = {}
    for attribute in fields(GivenPolicy):
        said = getattr(options, attribute.name)
        if said == getattr(defaults, attribute.name):
            continue
        if getattr(given, attribute.name) != getattr(defaults, attribute.name):
            raise BadInput(
                f"{given.name or 'the policy'} says {attribute.name} already, and so does an option; say it in one "
                "place only"
            )
        changes[attribute.name] = said
    return evolve(given, **changes) if changes else given


def _in_document(document: Mapping[str, Any], path: Path) -> GivenPolicy:
    _refuse_unknown(document, _KEYS, str(path))
    made: dict[str, Any] = {}
    for name in _LISTS:
        texts = document.get(name, [])
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise BadInput(f'{path}: {name} is a text or a list of texts, such as {name} = ["tool:get_*"]')
        made[name] = _read(f"{path}: {name}", checked_rules if name in _PATHS else _selectors, texts)
    offline = document.get("offline", False)
    if not isinstance(offline, bool):
        raise BadInput(f"{path}: offline is true or false, not {offline!r}")
    made |= {"offline": offline, "on_miss": _on_miss_in(document.get("on_miss", {}), path)}
    emulator = document.get("emulator")
    if emulator is not None and not (isinstance(emulator, str) and emulator):
        raise BadInput(f"{path}: emulator is the name of a model, not {emulator!r}")
    made["emulator"] = emulator
    tables = {name: document[name] for name in _TABLES if name in document}
    made["effects"] = effects_in(tables, str(path)) if tables else AS_DECLARED
    return GivenPolicy(**made, name=path.name)


def _on_miss_in(given: Any, path: Path) -> Missed:
    if isinstance(given, str):
        return _read(f"{path}: on_miss", on_miss_rules, given)
    if not isinstance(given, dict):
        raise BadInput(f'{path}: on_miss is an action, or a table such as [on_miss] with lines "tool:get_*" = "extend"')
    rules: list[Any] = []
    for key, action in given.items():
        where = f"{path}: [on_miss] {key!r}"
        if not isinstance(action, str):
            raise BadInput(f'{where} is a text, such as "fail", not {action!r}')
        rules += _read(where, _misses, {key: action}).rules
    return Missed(tuple(rules))


def _read(where: str, reading: Callable[[Any], T], given: Any) -> T:
    """What was read, or an error that says where it stands."""
    try:
        return reading(given)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error


def _refuse_unknown(document: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    names = list(known)
    for key, value in document.items():
        if key not in names:
            told = f"table [{key}]" if isinstance(value, dict) else f"key {key!r}"
            close = get_close_matches(key, names, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise BadInput(f"{where}: unknown {told}; {hint}There are {', '.join(names)}")
