"""Objects taken apart into plain state, and put together again without running their own code.

A class is known by its name ``module:qualname`` and one of four forms. Only a class that is loaded already is found
again, and only if it has the form that was recorded; fields are set without ``__init__``.
"""

from __future__ import annotations

import sys
from enum import Enum, Flag
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any, Final, cast

__all__ = ["ENUM", "EXCEPTION", "NAMEDTUPLE", "OBJECT", "fields_of", "find_class", "rebuild", "reference", "take_apart"]

ENUM, OBJECT, EXCEPTION, NAMEDTUPLE = range(15, 19)  # the extension types of the four forms

_MARKERS: Final = ("__dataclass_fields__", "__attrs_attrs__", "__pydantic_fields__")

# Fields of built-in exceptions that are neither in ``args`` nor in the instance's dict.
_C_FIELDS: Final[dict[type[BaseException], tuple[str, ...]]] = {
    ImportError: ("name", "path"),
    NameError: ("name",),
    AttributeError: ("name",),
}


def reference(cls: type) -> str:
    """The name by which ``cls`` is found again.

    Raises:
        TypeError: it cannot be found by its name (it is defined inside a function, say).
    """
    name = f"{cls.__module__}:{cls.__qualname__}"
    if _find(name) is not cls:
        raise TypeError(
            f"class {cls.__qualname__} is no top-level name of {cls.__module__}, so it cannot be found again"
        )
    return name


def find_class(name: str, form: int) -> type | None:
    """The loaded class of that name and form; nothing is imported or called to find it."""
    cls = _find(name)
    return cls if cls is not None and _form_of(cls) == form else None


def take_apart(value: Any) -> tuple[int, Any]:
    """The form of the value's class, and its state as something that can be packed.

    Raises:
        TypeError: its class has none of the four forms.
    """
    cls = type(value)
    form = _form_of(cls)
    if form == ENUM:
        return ENUM, value.value if isinstance(value, Flag) else value._name_
    if form == EXCEPTION:
        return EXCEPTION, [_arguments(value), fields_of(value)]
    if form in {NAMEDTUPLE, OBJECT}:
        return form, fields_of(value)
    raise TypeError(f"a value of class {cls.__module__}.{cls.__qualname__} has no lossless form")


def fields_of(value: Any) -> dict[str, Any]:
    """What an object holds: its dict and its slots, less what it can compute again."""
    if isinstance(value, tuple):
        return dict(zip(getattr(value, "_fields", ()), value, strict=False))
    held: Any = object.__getstate__(value)  # not the class's own one, which may leave things out
    named, slots = held if isinstance(held, tuple) else (held, None)
    fields = {**(named or {}), **(slots or {})}
    for base, names in _C_FIELDS.items():
        if isinstance(value, base):
            fields |= {name: getattr(value, name) for name in names}
    cls: Any = type(value)
    skipped = _recomputed(cls)
    return {name: _portable(name, item) for name, item in fields.items() if name not in skipped}


def rebuild(cls: Any, form: int, state: Any) -> Any:
    """The inverse of `take_apart`.

    Raises:
        Exception: the class no longer fits the state.
    """
    if form == ENUM:
        return cls(state) if issubclass(cls, Flag) else cls[state]
    if form == NAMEDTUPLE:
        return tuple.__new__(cls, [state[name] for name in cls._fields])
    builtin = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    if form == OBJECT:
        made, fields = builtin.__new__(cls), state
    elif _is_of_pydantic(cls):
        (title, lines, *others), fields = state
        made = cls.from_exception_data(title, [_line_again(line) for line in lines], *others)
    else:
        arguments, fields = state
        made = builtin.__new__(cls, *arguments)
        # The C fields (a file's name) are set by the built-in constructor, which runs no foreign code.
        builtin.__init__(made, *arguments)
    for name, item in fields.items():
        object.__setattr__(made, name, item)
    return made


def _find(name: str) -> type | None:
    module_name, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module_name)
    for part in qualname.split("."):
        if not isinstance(found, ModuleType | type):
            return None
        found = vars(found).get(part)  # no getattr: a module's ``__getattr__`` may import
    return found if isinstance(found, type) else None


def _form_of(cls: type) -> int | None:
    if issubclass(cls, Enum):
        return ENUM
    if issubclass(cls, BaseException):
        return EXCEPTION
    if issubclass(cls, tuple):
        return NAMEDTUPLE if hasattr(cls, "_fields") else None
    if issubclass(cls, dict | list | set | frozenset | str | bytes | bytearray | int | float | complex | type):
        return None  # what the container itself holds would be lost
    return OBJECT if any(hasattr(cls, marker) for marker in _MARKERS) else None


def _is_of_pydantic(cls: type) -> bool:
    """True for pydantic's `ValidationError`, which holds all that it says where Python does not see it."""
    return (cls.__module__, cls.__qualname__) == ("pydantic_core._pydantic_core", "ValidationError")


def _line(line: dict[str, Any]) -> dict[str, Any]:
    """What a `ValidationError` says of one field; an error that a validator made itself as its parts."""
    kind = line["type"]
    return line if isinstance(kind, str) else {**line, "type": [kind.type, kind.message_template, kind.context]}


def _line_again(line: dict[str, Any]) -> dict[str, Any]:
    kind = line["type"]
    return line if isinstance(kind, str) else {**line, "type": sys.modules["pydantic_core"].PydanticCustomError(*kind)}


def _arguments(error: BaseException) -> tuple[Any, ...]:
    """What makes ``error`` again: of most, what the built-in constructor needs."""
    if _is_of_pydantic(type(error)):
        title, lines, *others = cast("tuple[Any, ...]", error.__reduce__()[1])
        return title, [_line(line) for line in lines], *others
    if isinstance(error, OSError):
        arguments: tuple[Any, ...] = OSError.__reduce__(error)[1]  # type: ignore[assignment, unused-ignore]
        return arguments
    if isinstance(error, BaseExceptionGroup):
        return error.message, list(error.exceptions)
    return error.args


@lru_cache(maxsize=512)
def _recomputed(cls: type) -> frozenset[str]:
    """The names in an object's dict that Python puts there by itself."""
    cached = (name for base in cls.__mro__ for name, item in vars(base).items() if isinstance(item, cached_property))
    return frozenset({*cached, "__orig_class__"})


def _portable(name: str, item: Any) -> Any:
    """A hash that attrs keeps in the object holds for this process only; None makes attrs compute it again."""
    return None if name == "_attrs_cached_hash" else item
