"""Server-sent events, read from bytes that may be split anywhere."""

from __future__ import annotations

from attrs import frozen

__all__ = ["Event", "Parser", "events"]


@frozen
class Event:
    """One event; ``data`` joins its lines by newlines."""

    data: str
    event: str | None = None
    id: str | None = None


class Parser:
    """Bytes in, events out. Only whole lines are decoded, so no character is ever cut."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []  # the pieces of a line that has not ended
        self._first = True
        self._data: list[str] = []
        self._event: str | None = None
        self._id: str | None = None

    def feed(self, data: bytes) -> list[Event]:
        """The events that ``data`` completes."""
        if b"\n" not in data and b"\r" not in data and not (self._rest and self._rest[-1].endswith(b"\r")):
            if data:
                self._rest.append(data)  # joined once: a line of megabytes may come in small pieces
            return []
        text = b"".join([*self._rest, data])
        if self._first:
            text = text.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        # A CR at the end may be half a line break: wait for what follows.
        held = b"\r" if text.endswith(b"\r") else b""
        text = text.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, last = text.split(b"\n")
        self._rest = [last + held]
        return [event for line in lines if (event := self._line(line.decode("utf-8", "replace"))) is not None]

    def finish(self) -> list[Event]:
        """The last event, if the stream ended without its blank line (clients hand it out, too)."""
        return self.feed(b"\n\n")

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _dispatch(self) -> Event | None:
        event = Event("\n".join(self._data), self._event, self._id) if self._data else None
        self._data, self._event = [], None
        return event


def events(data: bytes) -> list[Event]:
    """All events of a whole stream."""
    parser = Parser()
    return parser.feed(data) + parser.finish()
