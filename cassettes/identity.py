"""Which trial: its id, and its names as parts of a path."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from attrs import frozen

from .errors import BadInput

__all__ = ["TrialId"]

_ID = re.compile(r"(?P<run>[^/]+)/(?P<task>.+)#(?P<index>\d+)", re.DOTALL)


@frozen(order=True)
class TrialId:
    """``run/task#index``: the last ``#`` and the first ``/`` split."""

    run: str
    task: str
    index: int

    @classmethod
    def parse(cls, text: str) -> TrialId:
        """Read ``run/task#index``.

        Raises:
            BadInput: the text has another form.
        """
        match = _ID.fullmatch(text)
        if match is None:
            raise BadInput(f"{text!r} is no trial id; it has the form run/task#index, such as baseline/exchange-1#0")
        return cls(match["run"], match["task"], int(match["index"]))

    def __str__(self) -> str:
        return f"{self.run}/{self.task}#{self.index}"

    @staticmethod
    def to_path(name: str) -> str:
        """A run's or task's name as one safe path element (percent-encoded)."""
        encoded = quote(name, safe=" @+=,()[]{}!'-_~")
        return encoded.replace(".", "%2E", 1) if encoded.startswith(".") else encoded

    @staticmethod
    def from_path(element: str) -> str:
        """The inverse of `to_path`."""
        return unquote(element)
