"""Resources with places for arguments, such as ``order:{order_id}``."""

from __future__ import annotations

import string
from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["Template"]


class Template:
    """A resource such as ``order:{order_id}``, filled from a call's arguments.

    Raises:
        ValueError: a field is no plain parameter of the function.
    """

    def __init__(self, text: str, names: Collection[str], *, open_ended: bool) -> None:
        self._parts: list[tuple[str, str | None]] = []
        for literal, name, form, conversion in string.Formatter().parse(text):
            if name is not None and (form or conversion or not name.isidentifier()):
                raise ValueError(f"resource {text!r}: {{{name}}} must be the plain name of a parameter")
            if name is not None and name not in names and not open_ended:
                known = ", ".join(names) or "none"
                raise ValueError(f"resource {text!r} names {name!r}, which is no parameter (there are: {known})")
            self._parts.append((literal, name))

    def fill(self, arguments: Mapping[str, Any]) -> str:
        """The resource; ``*`` stands for an argument that is None or missing."""
        return "".join(
            literal if name is None else literal + ("*" if (value := arguments.get(name)) is None else str(value))
            for literal, name in self._parts
        )
