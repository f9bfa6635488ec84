"""Lossless values: any supported Python value to msgpack bytes and back, with its type.

JSON-like data is plain msgpack. Everything else is an extension type whose payload is packed the same way. Nothing
is imported when reading: a class is restored only if its module is already loaded and it is a dataclass, an attrs
class, a pydantic model, an enum, a named tuple or an exception; its fields are set without ``__init__``. Otherwise
the value is an `Opaque`.
"""

from __future__ import annotations

import datetime as dt
import sys
import uuid
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgpack
from attrs import frozen

from .errors import CorruptCassette, UnkeepableValue

__all__ = ["NESTING", "Opaque", "Packer", "blaming", "dump", "encode_with", "pack", "unpack"]

MAX_LENGTH: Final = 1 << 30  # of one string, list or map: a cassette is untrusted input

(
    _BIG_INT,
    _TUPLE,
    _SET,
    _FROZENSET,
    _DATETIME,
    _DATE,
    _TIME,
    _TIMEDELTA,
    _DECIMAL,
    _UUID,
    _COMPLEX,
    _BYTEARRAY,
    _PATH,
    _ORDERED,
    _ENUM,
    _OBJECT,
    _EXCEPTION,
    _NAMEDTUPLE,
) = range(1, 19)

# Extension types whose payload holds packed values as bytes.
NESTING: Final = frozenset({_SET, _FROZENSET, _ENUM, _OBJECT, _EXCEPTION, _NAMEDTUPLE})

Packer = Callable[[Any], bytes]
"""Packs one value; `pack` in the order given, or a canonical one."""


@frozen
class Opaque:
    """A value whose class is not loaded here.

    Attributes:
        name: ``module:qualname`` of the class to import.
        form: which kind of class it was (the extension code).
        state: the packed fields, kept so that writing it again loses nothing.
    """

    name: str
    form: int
    state: bytes

    @property
    def fields(self) -> Any:
        """The fields, unpacked."""
        return unpack(self.state)


def pack(value: Any) -> bytes:
    """Pack ``value``, keys in the order given.

    Raises:
        UnkeepableValue: something in it has no lossless form; names its path.
    """
    return blaming(value, _pack)


def blaming(value: Any, packer: Packer) -> bytes:
    """``packer(value)``, with an error that names the part that cannot be kept.

    Raises:
        UnkeepableValue: something in it has no lossless form; names its path.
    """
    try:
        return packer(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise UnkeepableValue(*_blame(value, "value", packer, 0)) from error


def dump(value: Any, encode: Callable[[Any], Any]) -> bytes:
    """Bytes of msgpack for ``value``; ``encode`` turns what msgpack does not know into an extension type.

    Raises:
        TypeError, ValueError, RecursionError, OverflowError: something in it has no lossless form.
    """
    packed: bytes = msgpack.packb(value, default=encode, strict_types=True, unicode_errors="surrogatepass")
    # msgpack writes a bytearray as bytes without asking; its mark in the bytes is rare, so looking is cheap.
    if (b"\xc4" in packed or b"\xc5" in packed or b"\xc6" in packed) and _has_buffer(value):
        return dump(_without_buffers(value), encode)
    return packed


def unpack(data: bytes, on_opaque: Callable[[Opaque], None] | None = None) -> Any:
    """The value that `pack` packed.

    Args:
        data: what `pack` returned.
        on_opaque: told of each value whose class is not loaded.

    Raises:
        CorruptCassette: the bytes are no packed value.
    """

    def hook(code: int, payload: bytes) -> Any:
        value = _decode(code, payload, on_opaque)
        if on_opaque is not None and isinstance(value, Opaque):
            on_opaque(value)
        return value

    try:
        return msgpack.unpackb(
            data,
            ext_hook=hook,
            strict_map_key=False,
            unicode_errors="surrogatepass",
            max_str_len=MAX_LENGTH,
            max_bin_len=MAX_LENGTH,
            max_array_len=MAX_LENGTH,
            max_map_len=MAX_LENGTH,
            max_ext_len=MAX_LENGTH,
        )
    except CorruptCassette:
        raise
    except (
        ValueError,
        TypeError,
        RecursionError,
        KeyError,
        OverflowError,
        ArithmeticError,
        AttributeError,
    ) as error:
        raise CorruptCassette(f"a packed value is damaged: {type(error).__name__}: {error}") from error


def encode_with(value: Any, inner: Packer) -> msgpack.ExtType:
    """The extension type of one value that is no plain msgpack; its parts are packed by ``inner``.

    Raises:
        TypeError: the value has no lossless form.
    """
    cls = type(value)
    simple = _SIMPLE.get(cls)
    if simple is not None:
        code, to_plain = simple
        return msgpack.ExtType(code, inner(to_plain(value)))
    if cls is set or cls is frozenset:
        # Sorted, so that equal sets have equal bytes whatever the hash seed.
        parts = sorted(inner(item) for item in value)
        return msgpack.ExtType(_SET if cls is set else _FROZENSET, inner(parts))
    if isinstance(value, Opaque):
        return msgpack.ExtType(value.form, inner([value.name, value.state]))
    if isinstance(value, PurePath):
        if cls not in {type(Path()), type(PurePath())}:
            raise TypeError(f"a {cls.__name__} of another system cannot be kept")
        return msgpack.ExtType(_PATH, inner([str(value), isinstance(value, Path)]))
    form, state = _class_state(value)
    return msgpack.ExtType(form, inner([_reference(cls), inner(state)]))


def _encode(value: Any) -> msgpack.ExtType:
    return encode_with(value, _pack)


def _pack(value: Any) -> bytes:
    return dump(value, _encode)


# -- plain forms ------------------------------------------------------------------------------------------------------


def _zone_plain(zone: dt.tzinfo | None) -> Any:
    if zone is None:
        return None
    if isinstance(zone, ZoneInfo) and zone.key is not None:
        return zone.key
    if type(zone) is dt.timezone:
        offset = zone.utcoffset(None)
        return [offset.days, offset.seconds, offset.microseconds, zone.tzname(None)]
    raise TypeError(f"a time zone of class {type(zone).__name__} cannot be kept; use zoneinfo or datetime.timezone")


def _zone(plain: Any) -> dt.tzinfo | None:
    if plain is None:
        return None
    if isinstance(plain, str):
        return ZoneInfo(plain)
    days, seconds, micros, name = plain
    offset = dt.timedelta(days, seconds, micros)
    unnamed = dt.timezone(offset)
    return unnamed if unnamed.tzname(None) == name else dt.timezone(offset, name)


def _datetime_plain(v: dt.datetime) -> Any:
    return [v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.fold, _zone_plain(v.tzinfo)]


def _datetime(plain: Any) -> dt.datetime:
    *numbers, fold, zone = plain
    return dt.datetime(*numbers, fold=fold).replace(tzinfo=_zone(zone))  # noqa: DTZ001  # naive ones stay naive


def _time_plain(v: dt.time) -> Any:
    return [v.hour, v.minute, v.second, v.microsecond, v.fold, _zone_plain(v.tzinfo)]


def _time(plain: Any) -> dt.time:
    *numbers, fold, zone = plain
    return dt.time(*numbers, fold=fold).replace(tzinfo=_zone(zone))


_SIMPLE: dict[type, tuple[int, Callable[[Any], Any]]] = {
    int: (_BIG_INT, lambda v: v.to_bytes((v.bit_length() + 8) // 8, "big", signed=True)),
    tuple: (_TUPLE, list),
    dt.datetime: (_DATETIME, _datetime_plain),
    dt.date: (_DATE, lambda v: [v.year, v.month, v.day]),
    dt.time: (_TIME, _time_plain),
    dt.timedelta: (_TIMEDELTA, lambda v: [v.days, v.seconds, v.microseconds]),
    Decimal: (_DECIMAL, str),
    uuid.UUID: (_UUID, lambda v: v.bytes),
    complex: (_COMPLEX, lambda v: [v.real, v.imag]),
    bytearray: (_BYTEARRAY, bytes),
    OrderedDict: (_ORDERED, lambda v: [[key, item] for key, item in v.items()]),
}

_RESTORE: dict[int, Callable[[Any], Any]] = {
    _BIG_INT: lambda p: int.from_bytes(p, "big", signed=True),
    _TUPLE: tuple,
    _DATETIME: _datetime,
    _DATE: lambda p: dt.date(*p),
    _TIME: _time,
    _TIMEDELTA: lambda p: dt.timedelta(*p),
    _DECIMAL: Decimal,
    _UUID: lambda p: uuid.UUID(bytes=p),
    _COMPLEX: lambda p: complex(*p),
    _BYTEARRAY: bytearray,
    _PATH: lambda p: Path(p[0]) if p[1] else PurePath(p[0]),
    _ORDERED: lambda p: OrderedDict((key, item) for key, item in p),
}


def _decode(code: int, payload: bytes, on_opaque: Callable[[Opaque], None] | None) -> Any:
    plain = unpack(payload, on_opaque)
    if code in _RESTORE:
        return _RESTORE[code](plain)
    if code in {_SET, _FROZENSET}:
        items = (unpack(part, on_opaque) for part in plain)
        return set(items) if code == _SET else frozenset(items)
    if code in _REBUILD:
        name, state = plain
        found = _find_class(name)
        if found is None or not _is_form(found, code):
            return Opaque(name, code, state)
        return _REBUILD[code](found, unpack(state, on_opaque))
    raise ValueError(f"unknown extension type {code}")


# -- classes ----------------------------------------------------------------------------------------------------------


def _reference(cls: type) -> str:
    if "<locals>" in cls.__qualname__:
        raise TypeError(f"class {cls.__qualname__} is defined inside a function and could not be found again")
    return f"{cls.__module__}:{cls.__qualname__}"


def _find_class(name: str) -> type | None:
    module_name, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module_name)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _is_form(cls: type, form: int) -> bool:
    if form == _ENUM:
        return issubclass(cls, Enum)
    if form == _EXCEPTION:
        return issubclass(cls, BaseException)
    if form == _NAMEDTUPLE:
        return issubclass(cls, tuple) and hasattr(cls, "_fields")
    return _field_names(cls) is not None


def _field_names(cls: type) -> tuple[str, ...] | None:
    for marker in ("__dataclass_fields__", "__pydantic_fields__"):
        declared = getattr(cls, marker, None)
        if declared is not None:
            return tuple(declared)
    attributes = getattr(cls, "__attrs_attrs__", None)
    return None if attributes is None else tuple(attribute.name for attribute in attributes)


def _class_state(value: Any) -> tuple[int, Any]:
    """Which kind of class it is, and its state as something that can be packed."""
    cls = type(value)
    if isinstance(value, Enum):
        return _ENUM, value.name
    if isinstance(value, BaseException):
        notes = getattr(value, "__notes__", None)
        attributes = {k: v for k, v in value.__dict__.items() if k != "__notes__"}
        # The built-in reduction names all that the constructor needs, also what is not in ``args`` (a file's name).
        reduce = OSError.__reduce__ if isinstance(value, OSError) else BaseException.__reduce__
        return _EXCEPTION, [reduce(value)[1], attributes, notes]
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return _NAMEDTUPLE, list(value)
    names = _field_names(cls)
    if names is None or isinstance(value, type):
        raise TypeError(f"a value of class {cls.__module__}.{cls.__qualname__} has no lossless form")
    if isinstance(value, dict | list | str | bytes | int | float | tuple):
        raise TypeError(f"class {cls.__qualname__} is both a container and a record; it has no lossless form")
    state = {name: getattr(value, name) for name in names if hasattr(value, name)}
    if hasattr(cls, "__pydantic_fields__"):
        return _OBJECT, [
            state,
            value.__pydantic_extra__,
            sorted(value.__pydantic_fields_set__),
            value.__pydantic_private__,
        ]
    return _OBJECT, [state]


def _rebuild_enum(cls: Any, state: Any) -> Any:
    return cls[state]


def _rebuild_namedtuple(cls: Any, state: Any) -> Any:
    return tuple.__new__(cls, state)


def _rebuild_object(cls: Any, state: Any) -> Any:
    made = cls.__new__(cls)
    for name, item in state[0].items():
        object.__setattr__(made, name, item)
    if len(state) > 1:
        object.__setattr__(made, "__pydantic_extra__", state[1])
        object.__setattr__(made, "__pydantic_fields_set__", set(state[2]))
        object.__setattr__(made, "__pydantic_private__", state[3])
    return made


def _rebuild_exception(cls: Any, state: Any) -> Any:
    args, attributes, notes = state
    # The fields of built-in exceptions live in C and are set by their own constructors, which run no foreign code.
    made = cls(*args) if cls.__module__ == "builtins" else cls.__new__(cls, *args)
    if not isinstance(made, OSError):
        made.args = args
    made.__dict__.update(attributes)
    for note in notes or ():
        made.add_note(note)
    return made


_REBUILD: dict[int, Callable[[Any, Any], Any]] = {
    _ENUM: _rebuild_enum,
    _OBJECT: _rebuild_object,
    _EXCEPTION: _rebuild_exception,
    _NAMEDTUPLE: _rebuild_namedtuple,
}


# -- what cannot be kept ----------------------------------------------------------------------------------------------


def _children(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        pairs = [(f"[{key!r}]" if not isinstance(key, str) else f".{key}", item) for key, item in value.items()]
        return pairs + [(f".<key {key!r}>", key) for key in value if not isinstance(key, str)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", item) for name, item in zip(value._fields, value, strict=False)]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, BaseException):
        arguments = [(f".args[{place}]", item) for place, item in enumerate(value.args)]
        return arguments + [(f".{name}", item) for name, item in value.__dict__.items()]
    names = _field_names(type(value)) or ()
    return [(f".{name}", getattr(value, name)) for name in names if hasattr(value, name)]


def _blame(value: Any, path: str, packer: Packer, depth: int) -> tuple[str, str]:
    """The path of the innermost part of ``value`` that cannot be packed, and why."""
    if depth > 100:
        return path, "is nested too deeply, or contains itself"
    for name, part in _children(value):
        if _failure(part, packer) is not None:
            return _blame(part, path + name, packer, depth + 1)
    return path, _failure(value, packer) or "has no lossless form"


def _failure(value: Any, packer: Packer) -> str | None:
    try:
        packer(value)
    except RecursionError:
        return "is nested too deeply, or contains itself"
    except (TypeError, ValueError, OverflowError) as error:
        return str(error)
    return None


def _has_buffer(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is bytearray or kind is memoryview:
            return True
        if kind is dict:
            stack.extend(item.values())
        elif kind is list:
            stack.extend(item)
    return False


def _without_buffers(value: Any) -> Any:
    kind = type(value)
    if kind is bytearray:
        return msgpack.ExtType(_BYTEARRAY, _pack(bytes(value)))
    if kind is memoryview:
        raise TypeError("a memoryview has no lossless form; use bytes")
    if kind is dict:
        return {key: _without_buffers(item) for key, item in value.items()}
    if kind is list:
        return [_without_buffers(item) for item in value]
    return value
