"""Values as Python source, laid out as formatters do it."""

from __future__ import annotations

import json
import math
from typing import Any

from cassettes.errors import BadInput

__all__ = ["literal"]

_INDENT = "    "


def literal(value: Any, width: int = 88, before: int = 0, depth: int = 0) -> str:
    """Source that evaluates to ``value``: on one line if it fits, else an item per line with a trailing comma.

    Args:
        value: made of dicts, lists, tuples, texts, numbers, truth values and None.
        width: of a line, in characters.
        before: characters that stand before it on its first line.
        depth: how far the line is indented.

    Raises:
        BadInput: a part is of another type, or no finite number.
    """
    line = _line(value)
    if before + len(line) + 1 <= width or not (isinstance(value, dict | list | tuple) and value):
        return line
    inner = _INDENT * (depth + 1)
    if isinstance(value, dict):
        keys = [f"{_line(key)}: " for key in value]
        items = zip(keys, value.values(), strict=True)
        rows = [f"{key}{literal(item, width, len(inner) + len(key), depth + 1)}" for key, item in items]
    else:
        rows = [literal(item, width, len(inner), depth + 1) for item in value]
    opening, closing = {dict: ("{", "}"), list: ("[", "]"), tuple: ("(", ")")}[type(value)]
    body = "".join(f"{inner}{row},\n" for row in rows)
    return f"{opening}\n{body}{_INDENT * depth}{closing}"


def _line(value: Any) -> str:
    kind = type(value)
    if kind is str:
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(letter if letter.isprintable() else _escaped(letter) for letter in quoted)
    if value is None or kind in {bool, int} or (kind is float and math.isfinite(value)):
        return repr(value)
    if kind is list:
        return f"[{', '.join(map(_line, value))}]"
    if kind is tuple:
        return f"({', '.join(map(_line, value))}{',' if len(value) == 1 else ''})"
    if kind is dict:
        return f"{{{', '.join(f'{_line(key)}: {_line(item)}' for key, item in value.items())}}}"
    raise BadInput(f"a {kind.__name__} has no form as a literal: {value!r}")


def _escaped(letter: str) -> str:
    """A letter that cannot be printed, or stands for half of one."""
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
