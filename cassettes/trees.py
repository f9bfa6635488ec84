"""Packed values as plain trees of lists, maps and extension types: no class is looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgpack

from .classes import NAMEDTUPLE, OBJECT
from .values import ORDERED, TUPLE

__all__ = ["inside", "tree_of", "untree"]


def tree_of(data: bytes) -> Any:
    """The packed value as plain lists, maps and extension types: no class is looked up."""
    return msgpack.unpackb(data, strict_map_key=False, unicode_errors="surrogatepass", ext_hook=msgpack.ExtType)


def untree(tree: Any) -> bytes:
    """The inverse of `tree_of`."""
    packed: bytes = msgpack.packb(tree, unicode_errors="surrogatepass")
    return packed


def inside(node: Any, go_on: Callable[[Any], Any]) -> Any:
    """Go on in a tuple, an ordered dict or an object."""
    if type(node) is not msgpack.ExtType or node.code not in {TUPLE, ORDERED, OBJECT, NAMEDTUPLE}:
        return node
    tree = tree_of(node.data)
    if node.code in {TUPLE, ORDERED}:
        made = go_on(tree)
        return node if made is tree else msgpack.ExtType(node.code, untree(made))
    reference, packed = tree
    state = tree_of(packed)
    made = go_on(state)
    return node if made is state else msgpack.ExtType(node.code, untree([reference, untree(made)]))
