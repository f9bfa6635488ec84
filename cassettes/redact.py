"""Secrets leave a value before its bytes reach the disk.

A credential is found by its shape, by the name of its field or argument, or because it is the value of a
secret-named environment variable. It becomes a placeholder such as ``{secret:github:4f1c09ab}``: the tag is an HMAC
under a key that stays beside the recordings, so that different secrets stay different and the same one stays the
same. A placeholder is a fixed point, so both sides of a match may be redacted.
"""

from __future__ import annotations

import hmac
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, AnyStr, Final

import msgpack
from attrs import evolve

from .errors import UnkeepableValue
from .events import change_texts
from .model import Call, Outcome, Stream
from .shapes import FIELD, LOOK, PLACEHOLDER, RULES
from .values import NESTING, ORDERED, TUPLE, pack, unpack

__all__ = ["Redactor", "secrets_of"]

MIN_ENV_LENGTH: Final = 16  # a short value ("postgres") stands in many harmless texts

_ENV_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)

Span = tuple[int, int, bytes]
"""Bytes from, to, and what stands there instead."""


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of secret-named environment variables that are long enough to be told from common words."""
    found = {value for name, value in environ.items() if _ENV_NAME.search(name) and len(value) >= MIN_ENV_LENGTH}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


class Redactor:
    """Replaces secrets in packed values.

    Args:
        key: the HMAC key that tells different secrets apart; None gives constant placeholders.
        secrets: texts that are secret wherever they stand (see `secrets_of`).
    """

    def __init__(self, key: bytes | None = None, secrets: Iterable[str] = ()) -> None:
        self._key = key
        self._rules = [(name, re.compile(pattern, re.DOTALL)) for name, pattern in RULES]
        self._known = _ways(secrets)
        if self._known:
            pattern = b"(?P<secret>" + b"|".join(map(re.escape, self._known)) + b")"
            self._rules.append(("environment", re.compile(pattern)))

    def packed(self, data: bytes) -> tuple[bytes, Counter[str]]:
        """The packed value less its secrets, and how many each rule replaced.

        Raises:
            UnkeepableValue: it is nested too deeply to be looked through.
        """
        if not self.suspects(data):
            return data, Counter()
        counts: Counter[str] = Counter()
        try:
            cleaned = self._walk(_tree(data), counts)
        except RecursionError as error:
            raise UnkeepableValue("value", "is nested too deeply") from error
        return (_untree(cleaned), counts) if counts else (data, counts)

    def suspects(self, data: bytes) -> bool:
        """True if ``data`` may hold a secret; False is certain."""
        return LOOK.search(data) is not None or any(map(data.__contains__, self._known))

    def call(self, call: Call) -> Call:
        """The call with its arguments less their secrets: what is matched and kept."""
        data = pack(dict(call.arguments))
        cleaned, counts = self.packed(data)
        if not counts:
            return call
        return evolve(call, arguments=unpack(cleaned))

    def outcome(self, outcome: Outcome, counts: Counter[str]) -> Outcome:
        """The outcome, of a stream of bytes or of text less the secrets of its joined pieces."""
        if not isinstance(outcome, Stream):
            return outcome
        before: list[Any] = [chunk.data for chunk in outcome.chunks]
        if {*map(type, before)} not in ({bytes}, {str}):
            return outcome
        after = self.pieces(before, counts)
        if after is before:
            return outcome
        chunks = (evolve(chunk, data=piece) for chunk, piece in zip(outcome.chunks, after, strict=True))
        return evolve(outcome, chunks=tuple(chunks))

    def text(self, text: str, counts: Counter[str]) -> str:
        """``text`` less its secrets; ``counts`` is told of each."""
        return self.pieces([text], counts)[0]

    def pieces(self, pieces: list[AnyStr], counts: Counter[str]) -> list[AnyStr]:
        """The pieces of a stream less the secrets of their joined text; a secret over two pieces stays in the first.

        Of server-sent events the texts inside their JSON are joined too.
        """
        given: list[Any] = pieces
        before = parts = [_bytes_of(piece) for piece in given]
        # First, lest the part of a secret that stands in one event is taken for all of it.
        if spans := change_texts(b"".join(parts), lambda texts: self._texts(texts, counts)):
            parts = _splice(parts, spans)
        parts = self._parts(parts, counts)
        return pieces if parts is before else [_like(piece, part) for piece, part in zip(given, parts, strict=True)]

    def _texts(self, texts: list[str], counts: Counter[str]) -> list[str]:
        before = [_bytes_of(text) for text in texts]
        parts = self._parts(before, counts)
        return texts if parts is before else [_like("", part) for part in parts]

    def _parts(self, parts: list[bytes], counts: Counter[str]) -> list[bytes]:
        # What a placeholder has made of its neighbourhood is looked at again, so that the result is a fixed point.
        while spans := self._spans(b"".join(parts), counts):
            parts = _splice(parts, spans)
        return parts

    def _spans(self, data: bytes, counts: Counter[str]) -> list[Span]:
        """What is to be replaced in ``data``, in order and without overlaps."""
        if not self.suspects(data):
            return []
        replaced = [match.span() for match in PLACEHOLDER.finditer(data)]
        found = sorted(
            (*match.span("secret"), rank)
            for rank, (_, pattern) in enumerate(self._rules)
            for match in pattern.finditer(data)
            if not _within(match.span("secret"), replaced)
        )
        spans: list[Span] = []
        for start, stop, rank in _united(found):
            name = self._rules[rank][0]
            counts[name] += 1
            spans.append((start, stop, self._placeholder(name, data[start:stop])))
        return spans

    def _placeholder(self, rule: str, secret: bytes) -> bytes:
        if self._key is None:
            return f"{{secret:{rule}}}".encode()
        tag = hmac.digest(self._key, secret, "sha256").hex()[:8]
        return f"{{secret:{rule}:{tag}}}".encode()

    def _walk(self, node: Any, counts: Counter[str]) -> Any:
        kind = type(node)
        if kind is str or kind is bytes:
            return self.pieces([node], counts)[0]
        if kind is dict:
            return {self._walk(key, counts): self._field(key, item, counts) for key, item in node.items()}
        if kind is list:
            return [self._walk(item, counts) for item in node]
        if kind is msgpack.ExtType:
            return self._extension(node, counts)
        return node

    def _extension(self, node: Any, counts: Counter[str]) -> Any:
        before = counts.total()
        inner = _tree(node.data)
        if node.code in NESTING:  # the parts of a set or of an object: each bytes is a packed value of its own
            inner = [
                _untree(self._walk(_tree(part), counts)) if type(part) is bytes else self._walk(part, counts)
                for part in inner
            ]
        else:
            inner = self._walk(inner, counts)
        return msgpack.ExtType(node.code, _untree(inner)) if counts.total() > before else node

    def _field(self, key: Any, item: Any, counts: Counter[str]) -> Any:
        """The value of a field: all of it is secret if the name says so."""
        if type(key) not in {str, bytes} or FIELD.fullmatch(_bytes_of(key)) is None:
            return self._walk(item, counts)
        return self._secret(item, counts)

    def _secret(self, item: Any, counts: Counter[str]) -> Any:
        kind = type(item)
        if kind is list:
            return [self._secret(part, counts) for part in item]
        if kind is msgpack.ExtType and item.code == TUPLE:
            return msgpack.ExtType(TUPLE, _untree(self._secret(_tree(item.data), counts)))
        if kind is dict or kind is bool or not item or (kind is msgpack.ExtType and item.code in {*NESTING, ORDERED}):
            return self._walk(item, counts)
        text = _bytes_of(item) if kind is str or kind is bytes else repr(item).encode()
        if PLACEHOLDER.fullmatch(text):
            return item
        counts["field"] += 1
        placeholder = self._placeholder("field", text)
        return placeholder if kind is bytes else placeholder.decode()


def _ways(secrets: Iterable[str]) -> list[bytes]:
    """The texts as they stand in text and in JSON text, the longest first."""
    ways = {_bytes_of(way) for text in secrets if text for way in (text, json.dumps(text)[1:-1])}
    return sorted(ways, key=lambda way: (-len(way), way))


def _bytes_of(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _like(piece: Any, part: bytes) -> Any:
    return part if isinstance(piece, bytes) else part.decode("utf-8", "surrogatepass")


def _within(span: tuple[int, int], replaced: Sequence[tuple[int, int]]) -> bool:
    """True unless ``span`` holds something that is no placeholder yet, and no part of one."""
    start, stop = span
    return any(
        (a <= start < b or a < stop <= b) and not (start <= a and b <= stop and b - a < stop - start)
        for a, b in replaced
    )


def _united(found: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Spans that overlap as one, with the first rule among them."""
    current: tuple[int, int, int] | None = None
    for start, stop, rank in found:
        if current is not None and start < current[1]:
            current = (current[0], max(stop, current[1]), min(rank, current[2]))
            continue
        if current is not None:
            yield current
        current = (start, stop, rank)
    if current is not None:
        yield current


def _splice(pieces: Sequence[bytes], spans: Sequence[Span]) -> list[bytes]:
    """Replace byte spans of the joined pieces; the new text stands in the piece where its span began."""
    result: list[bytes] = []
    offset = 0
    for piece in pieces:
        end, out, at = offset + len(piece), b"", offset
        for start, stop, new in spans:
            if stop <= at or start >= end:
                continue
            if start >= at:
                out += piece[at - offset : start - offset] + new
            at = min(stop, end)
        result.append(out + piece[at - offset :])
        offset = end
    return result


def _tree(data: bytes) -> Any:
    """The packed value as plain lists, maps and extension types: no class is looked up."""
    return msgpack.unpackb(data, strict_map_key=False, unicode_errors="surrogatepass", ext_hook=msgpack.ExtType)


def _untree(tree: Any) -> bytes:
    packed: bytes = msgpack.packb(tree, unicode_errors="surrogatepass")
    return packed
