"""The arguments of a call as they were when it was made; of a model call, messages are kept once and referred to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import msgpack
from attrs import frozen

from .errors import CorruptCassette, UnkeepableValue
from .model import Call
from .values import pack, unpack

__all__ = ["Snapshot", "ranges", "references", "resolve", "snapshot", "with_references"]

REFERENCES: Final = 64  # extension type: runs of message numbers, [first, length, first, length, ...]
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})  # what needs no restoring
MAX_MESSAGES: Final = 1 << 20  # of one call: a cassette is untrusted input


@frozen
class Snapshot:
    """The arguments of a call, packed at the moment of the call: later changes in place do not reach it.

    Attributes:
        plain: all arguments but ``lists``, packed as one map.
        lists: of a model call, each argument that is a list, its items packed one by one.
    """

    plain: bytes
    lists: dict[str, list[bytes]]


def snapshot(call: Call) -> Snapshot:
    """Pack the arguments of ``call`` now.

    Raises:
        UnkeepableValue: an argument has no lossless form; names its path.
    """
    if call.kind != "model":
        return Snapshot(pack(dict(call.arguments)), {})
    lists = {name: item for name, item in call.arguments.items() if type(item) is list and item}
    plain = {name: None if name in lists else item for name, item in call.arguments.items()}
    try:
        return Snapshot(pack(plain), {name: _items(pack(items)) for name, items in lists.items()})
    except UnkeepableValue:
        pack(dict(call.arguments))  # names the whole path
        raise


def _items(packed: bytes) -> list[bytes]:
    """The items of a packed list, each packed."""
    unpacker = msgpack.Unpacker(max_buffer_size=len(packed))
    unpacker.feed(packed)
    places: list[int] = []
    for _ in range(unpacker.read_array_header()):
        places.append(unpacker.tell())
        unpacker.skip()
    places.append(unpacker.tell())
    return [packed[start:stop] for start, stop in pairwise(places)]


def ranges(numbers: Sequence[int]) -> list[int]:
    """``[3, 4, 5, 9]`` as runs: ``[3, 3, 9, 1]``."""
    runs: list[int] = []
    for number in numbers:
        if runs and runs[-2] + runs[-1] == number:
            runs[-1] += 1
        else:
            runs += (number, 1)
    return runs


def references(numbers: Sequence[int]) -> msgpack.ExtType:
    """What stands in the arguments for the messages ``numbers``."""
    return msgpack.ExtType(REFERENCES, msgpack.packb(ranges(numbers)))


def with_references(plain: bytes, lists: dict[str, list[int]]) -> bytes:
    """The packed arguments ``plain``, each of the ``lists`` given by the numbers of its messages."""
    arguments = _tree(plain)
    arguments.update({name: references(numbers) for name, numbers in lists.items()})
    packed: bytes = msgpack.packb(arguments, unicode_errors="surrogatepass")
    return packed


def resolve(arguments: bytes, message: Callable[[int], Any]) -> Any:
    """The arguments with references replaced by the messages they stand for.

    Raises:
        CorruptCassette: the references have another shape.
    """
    if bytes([REFERENCES]) not in arguments:
        return unpack(arguments)
    try:
        found: dict[str, Any] = {}
        for name, item in _tree(arguments).items():
            if type(item) is msgpack.ExtType and item.code == REFERENCES:
                found[name] = list(map(message, _numbers(item.data)))
            elif type(item) in _PLAIN:
                found[name] = item
            else:
                found[name] = unpack(msgpack.packb(item, unicode_errors="surrogatepass"))
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise CorruptCassette(f"the arguments of a call have an unknown shape: {error}") from error
    return found


def _numbers(packed: bytes) -> Sequence[int]:
    runs = msgpack.unpackb(packed)
    if len(runs) == 2 and 0 < runs[1] <= MAX_MESSAGES:  # a history that only grew
        return range(runs[0], runs[0] + runs[1])
    starts, lengths = runs[::2], runs[1::2]
    if sum(lengths) > MAX_MESSAGES or min(lengths, default=1) < 1:
        raise ValueError("a call of too many messages")
    return [number for first, length in zip(starts, lengths, strict=True) for number in range(first, first + length)]


def _tree(data: bytes) -> Any:
    """The packed arguments as plain lists, maps and extension types: no class is looked up."""
    return msgpack.unpackb(data, strict_map_key=False, unicode_errors="surrogatepass", ext_hook=msgpack.ExtType)
