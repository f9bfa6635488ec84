"""Texts that a task puts into the results of tools: attacks, the same for every agent and every defence.

A tool is called as ever, or answered from a recording; what it returned is copied, and the copy, with the text in it,
is what the agent gets. Both are kept: a world of recordings holds what tools return, and each task attacks in its way.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import attrs
from attrs import asdict, field, frozen
from attrs.validators import in_, instance_of, optional

from cassettes.canonical import canonical
from cassettes.codec import fresh
from cassettes.errors import BadInput, UnkeepableValue
from cassettes.model import Call, Changed, Injected, Outcome, Value

__all__ = ["Injecting", "Injection", "injected_into", "injection_from"]

How = Literal["append", "prepend", "replace"]


@frozen
class Injection:
    """A text that is put into results of a tool.

    Attributes:
        text: the attack, word for word.
        tool: whose results: a name or pattern, such as ``read_*``; only calls of the agent count.
        at: the text for which it stands in, such as ``{injection_bill}``, wherever it is in the result. None: at
            ``path``.
        path: where in the result, as keys and places: ``mails.0.body``, ``mails.-1.body``, ``mails.*.body``; empty is
            the whole result. A text that holds JSON is looked into.
        how: what becomes of the text that is there: ``append``, ``prepend`` or ``replace`` (of anything).
        arguments: only calls whose arguments have these values; None for all.
        call: only the call with this number, from 1, of those that fit; None for all.
        name: by which steps and reports tell it.
    """

    text: str = field(validator=instance_of(str))
    tool: str = field(default="*", validator=instance_of(str))
    at: str | None = field(default=None, validator=optional(instance_of(str)))
    path: str = field(default="", validator=instance_of(str))
    how: How = field(default="append", validator=in_(("append", "prepend", "replace")))
    arguments: Mapping[str, Any] | None = None
    call: int | None = None
    name: str = "injection"

    def __attrs_post_init__(self) -> None:
        if not self.text or not self.name:
            raise BadInput("an injection needs a text, and a name that is not empty")
        if self.at == "":
            raise BadInput(f"injection {self.name}: `at` is the text that is replaced, and it is empty")
        if self.at is not None and (self.path or self.how != "append"):
            raise BadInput(f"injection {self.name}: it stands in for `at`, or lies at `path`; name one of them")
        if self.call is not None and (isinstance(self.call, bool) or self.call < 1):
            raise BadInput(f"injection {self.name}: call {self.call!r} is no number of a call; the first is 1")

    def fits(self, call: Call) -> bool:
        """True if it is meant for results of such a call."""
        if call.kind != "tool" or call.actor != "agent" or not fnmatchcase(call.name, self.tool):
            return False
        wanted = self.arguments or {}
        return all(name in call.arguments and _same(value, call.arguments[name]) for name, value in wanted.items())

    def to_dict(self) -> dict[str, Any]:
        """As data, without what was not said."""
        said = asdict(self, filter=lambda attribute, value: value != attribute.default)
        return {**said, "arguments": dict(self.arguments)} if self.arguments is not None else said


def _same(wanted: Any, found: Any) -> bool:
    """True if an argument is what is wanted; 2 and 2.0 are the same, ``True`` and 1 are not."""
    if type(wanted) in {int, float} and type(found) in {int, float}:
        return bool(wanted == found)
    try:
        return canonical(wanted) == canonical(found)
    except UnkeepableValue:  # nothing that can be written down, so nothing that a task can name
        return False


def injection_from(data: Any) -> Injection:
    """The injection that data describe.

    Raises:
        BadInput: they describe none.
    """
    known = [attribute.name for attribute in attrs.fields(Injection)]
    if not isinstance(data, Mapping):
        raise BadInput(f"an injection is a map with {', '.join(known)}, and not {data!r}")
    unknown = [str(name) for name in data if name not in known]
    if unknown or "text" not in data:
        what = f"has {', '.join(unknown)}" if unknown else "has no text"
        raise BadInput(f"an injection {what}; it has {', '.join(known)}")
    if not isinstance(data.get("arguments") or {}, Mapping):
        raise BadInput(f"the arguments of an injection are a map, and not {data['arguments']!r}")
    try:
        return Injection(**data)
    except (TypeError, ValueError) as error:
        raise BadInput(f"an injection is not right: {error.args[0]}") from error


class Injecting:
    """Which injections of a task are meant for which calls of one trial; used by one thread at a time."""

    def __init__(self, injections: Iterable[Injection]) -> None:
        self._injections = tuple(injections)
        self._fitting: Counter[int] = Counter()

    def meant_for(self, call: Call) -> tuple[Injection, ...]:
        """What is put into the result of this call; calls are told in the order in which they start."""
        return tuple(self._meant_for(call))

    def _meant_for(self, call: Call) -> Iterator[Injection]:
        for place, injection in enumerate(self._injections):
            if injection.fits(call):
                self._fitting[place] += 1
                if injection.call in {None, self._fitting[place]}:
                    yield injection


def injected_into(outcome: Outcome, injections: Sequence[Injection]) -> tuple[Outcome, Injected | None]:
    """The outcome as the caller gets it, and what was put into it; None if nothing found its place.

    What the tool returned stays as it is: it may be a part of the tracked state.
    """
    if not isinstance(outcome, Value):
        return outcome, None
    try:
        copied, unknown = fresh(outcome)
    except UnkeepableValue:  # it cannot be recorded either, which is told there
        return outcome, None
    if unknown or not isinstance(copied, Value):
        return outcome, None
    told, by = copied.result, []
    for injection in injections:
        told, places = _put(injection, told)
        if places:
            by.append(injection.name)
    if not by:
        return outcome, None
    changed = Changed(told, copied.value.arguments) if isinstance(copied.value, Changed) else told
    return Value(changed), Injected(tuple(by), outcome)


def _put(injection: Injection, value: Any) -> tuple[Any, int]:
    """The value with the text in it, and at how many places it is."""
    if injection.at is not None:
        return _replaced(value, injection.at, injection.text)
    keys = [key for key in injection.path.split(".") if key]
    return _at(value, keys, lambda there: _joined(there, injection))


def _joined(there: Any, injection: Injection) -> tuple[Any, int]:
    if injection.how == "replace":
        return injection.text, 1
    if type(there) is not str:
        return there, 0
    return (there + injection.text if injection.how == "append" else injection.text + there), 1


def _replaced(value: Any, placeholder: str, text: str) -> tuple[Any, int]:
    if type(value) is str:
        found = value.count(placeholder)
        standing_in = json.dumps(text, ensure_ascii=False)[1:-1] if found and _json_in(value) is not None else text
        return value.replace(placeholder, standing_in), found
    return _each(value, None, lambda item: _replaced(item, placeholder, text))


def _at(value: Any, keys: Sequence[str], change: Callable[[Any], tuple[Any, int]]) -> tuple[Any, int]:
    if not keys:
        return change(value)
    if type(value) is str:
        inside = _json_in(value)
        if inside is None:
            return value, 0
        told, places = _at(inside, keys, change)
        return (json.dumps(told, ensure_ascii=False), places) if places else (value, 0)
    return _each(value, keys[0], lambda item: _at(item, keys[1:], change))


def _json_in(text: str) -> Any:
    """The map or list that a text holds; None if it holds none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _each(value: Any, key: str | None, change: Callable[[Any], tuple[Any, int]]) -> tuple[Any, int]:
    """Change one item of a copied value, or all of them (None, ``*``); a tuple is made anew, all else is its own."""
    items: dict[Any, Any]
    if isinstance(value, dict):
        items = {name: item for name, item in value.items() if key in {None, "*"} or str(name) == key}
    elif isinstance(value, list | tuple):
        items = {place: value[place] for place in _places(len(value), key)}
    else:
        items = {name: getattr(value, name) for name in _fields(value) if key in {None, "*", name}}
    told = {name: change(item) for name, item in items.items()}
    count = sum(places for _, places in told.values())
    changed = {name: item for name, (item, places) in told.items() if places}
    if isinstance(value, tuple):
        parts = [changed.get(place, item) for place, item in enumerate(value)]
        return (type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)), count
    for name, item in changed.items():
        if isinstance(value, dict | list):
            value[name] = item
        else:
            object.__setattr__(value, name, item)  # a copy of our own, frozen or not
    return value, count


def _places(length: int, key: str | None) -> Iterable[int]:
    if key in {None, "*"}:
        return range(length)
    try:
        place = int(str(key))
    except ValueError:
        return ()
    return (place % length,) if -length <= place < length else ()


def _fields(value: Any) -> list[str]:
    """The fields of an object that is made of such: attrs, dataclass or pydantic."""
    kind = type(value)
    if attrs.has(kind):
        return [attribute.name for attribute in attrs.fields(kind)]
    if dataclasses.is_dataclass(kind):
        return [each.name for each in dataclasses.fields(kind)]
    return list(getattr(kind, "model_fields", ()))
