"""Lossless values: any supported Python value to msgpack bytes and back, with its type.

JSON-like data is plain msgpack. Everything else is an extension type whose payload is packed the same way. Nothing
is imported when reading: a class is restored only if its module is already loaded and it is a dataclass, an attrs
class, a pydantic model, an enum, a named tuple or an exception; its fields are set without ``__init__``. Otherwise
the value is an `Opaque`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, Final

import msgpack
from attrs import frozen

from .blame import Packer, blaming
from .classes import ENUM, EXCEPTION, NAMEDTUPLE, OBJECT, find_class, rebuild, reference, take_apart
from .errors import CorruptCassette
from .standard import BYTEARRAY, FROZENSET, ORDERED, PATH, RESTORE, SET, SIMPLE, TUPLE

__all__ = [
    "NESTING",
    "ORDERED",
    "PACKED",
    "TUPLE",
    "Layer",
    "Opaque",
    "Packer",
    "blaming",
    "encode_with",
    "pack",
    "unpack",
]

MAX_LENGTH: Final = 1 << 30  # of one string, list or map: a cassette is untrusted input
MAX_DEPTH: Final = 100  # of extension types inside each other, so that what is written can be read

_BUFFER: Final = 1 << 16

PACKED: Final = 19  # the payload is a value that was packed before, and stays packed when it is read

_CLASSES: Final = frozenset({ENUM, OBJECT, EXCEPTION, NAMEDTUPLE})

# Extension types whose payload holds packed values as bytes.
NESTING: Final = frozenset({SET, FROZENSET, *_CLASSES})


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


def unpack(data: bytes, on_opaque: Callable[[Opaque], None] | None = None) -> Any:
    """The value that `pack` packed.

    Args:
        data: what `pack` returned.
        on_opaque: told of each value whose class is not loaded.

    Raises:
        CorruptCassette: the bytes are no packed value.
    """
    extended = False

    def hook(code: int, payload: bytes) -> msgpack.ExtType:
        nonlocal extended
        extended = True
        return msgpack.ExtType(code, payload)

    try:
        plain = msgpack.unpackb(
            data,
            # Extensions are restored afterwards: msgpack takes 40 kB of the C stack for each that it is inside of.
            ext_hook=hook,
            strict_map_key=False,
            unicode_errors="surrogatepass",
            max_str_len=MAX_LENGTH,
            max_bin_len=MAX_LENGTH,
            max_array_len=MAX_LENGTH,
            max_map_len=MAX_LENGTH,
            max_ext_len=MAX_LENGTH,
        )
        return _restored(plain, on_opaque) if extended else plain
    except (ValueError, TypeError, RecursionError, LookupError, ArithmeticError, OSError) as error:
        raise CorruptCassette(f"a packed value is damaged: {type(error).__name__}: {error}") from error


def encode_with(value: Any, inner: Packer) -> msgpack.ExtType:
    """The extension type of one value that is no plain msgpack; its parts are packed by ``inner``.

    Raises:
        TypeError: the value has no lossless form.
    """
    cls = type(value)
    simple = SIMPLE.get(cls)
    if simple is not None:
        code, to_plain = simple
        return msgpack.ExtType(code, inner(to_plain(value)))
    if cls is set or cls is frozenset:
        # Sorted, so that equal sets have equal bytes whatever the hash seed.
        parts = sorted(inner(item) for item in value)
        return msgpack.ExtType(SET if cls is set else FROZENSET, inner(parts))
    if isinstance(value, Opaque):
        return msgpack.ExtType(value.form, inner([value.name, inner(value.fields)]))
    if isinstance(value, PurePath):
        if cls not in {type(Path()), type(PurePath())}:
            raise TypeError(f"a {cls.__name__} of another system cannot be kept")
        return msgpack.ExtType(PATH, inner([str(value), isinstance(value, Path)]))
    form, state = take_apart(value)
    return msgpack.ExtType(form, inner([reference(cls), inner(state)]))


class Layer(threading.local):
    """Packs values; what is inside an extension type is packed by the next of at most `MAX_DEPTH` layers.

    Each thread has a msgpack packer of its own in each layer, made when it is first needed: making one costs more
    than packing a small value.

    Args:
        prepare: turns a value into the one that is packed.
        depth: the number of layers above this one.

    Raises:
        TypeError, ValueError, RecursionError, OverflowError: a value has no lossless form.
    """

    def __init__(self, prepare: Callable[[Any], Any] | None = None, depth: int = 0) -> None:
        self._prepare = prepare
        self._depth = depth
        self._inner: Layer | None = None
        self._busy = False
        self._packer = msgpack.Packer(default=self._encode, strict_types=True, buf_size=_BUFFER if not depth else 1024)

    def __call__(self, value: Any) -> bytes:
        """The packed value."""
        if self._prepare is not None:
            value = self._prepare(value)
        packed = self._packed(value)
        # msgpack writes a bytearray as bytes without asking; its mark in the bytes is rare, so looking is cheap.
        if (b"\xc4" in packed or b"\xc5" in packed or b"\xc6" in packed) and _has_buffer(value):
            return self(_without_buffers(value))
        return packed

    def _packed(self, value: Any) -> bytes:
        packed: bytes
        if not self._busy:  # a finalizer may pack something in the middle of packing
            self._busy = True
            try:
                packed = self._packer.pack(value)
            except UnicodeEncodeError:
                pass  # a lone surrogate; asking for this always would be slower for every text
            else:
                return packed
            finally:
                self._busy = False
        packed = msgpack.packb(value, default=self._encode, strict_types=True, unicode_errors="surrogatepass")
        return packed

    def _encode(self, value: Any) -> msgpack.ExtType:
        if self._inner is None:
            if self._depth >= MAX_DEPTH:
                raise ValueError("is nested too deeply, or contains itself")
            self._inner = Layer(self._prepare, self._depth + 1)
        return encode_with(value, self._inner)


_pack: Final = Layer()


def _restored(node: Any, on_opaque: Callable[[Opaque], None] | None) -> Any:
    """Plain data with the extension types in it restored."""
    kind = type(node)
    if kind is list:
        return [_restored(item, on_opaque) for item in node]
    if kind is dict:
        return {_restored(key, on_opaque): _restored(item, on_opaque) for key, item in node.items()}
    return _decode(node.code, node.data, on_opaque) if kind is msgpack.ExtType else node


def _decode(code: int, payload: bytes, on_opaque: Callable[[Opaque], None] | None) -> Any:
    if code == PACKED:
        return payload
    plain = unpack(payload, on_opaque)
    if code in RESTORE:
        return RESTORE[code](plain)
    if code in {SET, FROZENSET}:
        items = (unpack(part, on_opaque) for part in plain)
        return set(items) if code == SET else frozenset(items)
    if code in _CLASSES:
        return _object(Opaque(plain[0], code, plain[1]), on_opaque)
    raise ValueError(f"unknown extension type {code}")


def _object(kept: Opaque, on_opaque: Callable[[Opaque], None] | None) -> Any:
    """The object that was kept; itself opaque if its class is not loaded, or no longer fits."""
    cls = find_class(kept.name, kept.form)
    if cls is not None:
        state = unpack(kept.state, on_opaque)
        with suppress(LookupError, TypeError, ValueError, AttributeError):
            return rebuild(cls, kept.form, state)
    if on_opaque is not None:
        on_opaque(kept)
    return kept


# -- buffers -----------------------------------------------------------------------------------------------------------


def _has_buffer(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is bytearray or kind is memoryview:
            return True
        if kind is dict:
            stack.extend(item)
            stack.extend(item.values())
        elif kind is list:
            stack.extend(item)
    return False


def _without_buffers(value: Any) -> Any:
    kind = type(value)
    if kind is bytearray:
        return msgpack.ExtType(BYTEARRAY, msgpack.packb(bytes(value)))
    if kind is memoryview:
        raise TypeError("a memoryview has no lossless form; use bytes")
    if kind is dict:
        return {_without_buffers(key): _without_buffers(item) for key, item in value.items()}
    if kind is list:
        return [_without_buffers(item) for item in value]
    return value
