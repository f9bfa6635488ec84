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
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, AnyStr, Final

import msgpack
from attrs import evolve

from .classes import NAMEDTUPLE, OBJECT
from .errors import UnkeepableValue
from .events import change_texts
from .given import MOST_ROUNDS, GivenRule, RuleFailed, at_path, change_of, found_by
from .model import Call, Changed, Outcome, Stream, Value
from .personal import Rule
from .shapes import FIELD, LOOK, PLACEHOLDER, RULES
from .spans import Span, splice, united, within
from .standard import BIG_INT, COMPLEX, DATE, DATETIME, DECIMAL, TIME, TIMEDELTA, UUID
from .values import NESTING, ORDERED, TUPLE, pack, unpack

__all__ = ["Redactor", "secrets_of"]

MIN_ENV_LENGTH: Final = 16  # a short value ("postgres") stands in many harmless texts

_ENV_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)

_HEAD: Final = frozenset({"status", "headers", "encoding", "http_version", "body"})  # names in every HTTP answer
_SCALARS: Final = frozenset({BIG_INT, DATETIME, DATE, TIME, TIMEDELTA, DECIMAL, UUID, COMPLEX})


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of secret-named environment variables that are long enough to be told from common words."""
    found = {value for name, value in environ.items() if _ENV_NAME.search(name) and len(value) >= MIN_ENV_LENGTH}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


class Redactor:
    """Replaces secrets in packed values.

    Args:
        key: the HMAC key that tells different secrets apart; None gives constant placeholders.
        secrets: texts that are secret wherever they stand (see `secrets_of`).
        rules: more of them, such as `personal.PERSONAL`.
        given: those of the user; they hold for what was said and done, not for the structure around it.

    Attributes:
        has_paths: some of the user's rules name paths.
        basic: the same without the user's rules.
        has_text_rules: the user gave a pattern or a function.
    """

    def __init__(
        self,
        key: bytes | None = None,
        secrets: Iterable[str] = (),
        rules: Iterable[Rule] = (),
        given: Sequence[GivenRule] = (),
    ) -> None:
        secrets, rules = tuple(secrets), tuple(rules)
        self.basic: Redactor = Redactor(key, secrets, rules) if given else self
        self._key = key
        self._paths = [rule for rule in given if rule.path]
        self.has_paths = bool(self._paths)
        self._patterns = [rule for rule in given if rule.pattern is not None]
        self._functions = [rule for rule in given if rule.function is not None]
        self.has_text_rules = bool(self._patterns or self._functions)
        self._rules = [(name, re.compile(pattern, re.DOTALL)) for name, pattern in RULES]
        self._known = _ways(secrets)
        if self._known:
            pattern = b"(?P<secret>" + b"|".join(map(re.escape, self._known)) + b")"
            self._rules.append(("environment", re.compile(pattern)))
        self._more = {len(self._rules) + place: rule for place, rule in enumerate(rules)}
        self._rules += [(rule.name, rule.pattern) for rule in self._more.values()]
        self._looks = tuple(dict.fromkeys(rule.look for rule in self._more.values()))

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
        if self.has_text_rules:
            return True
        if LOOK.search(data) is not None:
            return True
        if self._known and any(map(data.__contains__, self._known)):
            return True
        return bool(self._looks) and any(look.search(data) is not None for look in self._looks)

    def call(self, call: Call) -> Call:
        """The call with its arguments less their secrets: what is matched and kept."""
        data, counts = pack(dict(call.arguments)), Counter[str]()
        if self.has_paths:
            data, counts = self.arguments(data)
        cleaned, found = self.packed(data)
        if self.has_text_rules:
            call = self.named(call, counts)
        if not counts and not found:
            return call
        return evolve(call, arguments=unpack(cleaned))

    def arguments(self, packed: bytes) -> tuple[bytes, Counter[str]]:
        """Packed arguments less what stands at the user's paths."""
        counts: Counter[str] = Counter()
        return self._at_paths(packed, ("arguments",), counts), counts

    def items(self, name: str, packed: list[bytes]) -> tuple[list[bytes], Counter[str]]:
        """The same of the argument ``name``, a list whose items are packed one by one."""
        counts: Counter[str] = Counter()
        if not any(rule.path[:2] == ("arguments", name) or rule.path == ("arguments",) for rule in self._paths):
            return packed, counts
        whole = _untree({name: [_tree(item) for item in packed]})
        cleaned = _tree(self._at_paths(whole, ("arguments",), counts))
        kept = cleaned.get(name) if isinstance(cleaned, dict) else None
        if not isinstance(kept, list):
            raise RuleFailed(f"a redaction rule cannot take the whole of arguments.{name}; name what is inside: [*]")
        return [_untree(item) for item in kept], counts

    def outcome(self, outcome: Outcome, counts: Counter[str]) -> Outcome:
        """The outcome, of a stream of bytes or of text less the secrets of its joined pieces."""
        if isinstance(outcome, Value) and any(rule.path[0] == "result" for rule in self._paths):
            packed = pack(outcome.result)
            cleaned = self._at_paths(packed, ("result",), counts)
            if cleaned is packed:
                return outcome
            result = unpack(cleaned)
            changed = type(outcome.value) is Changed
            return Value(evolve(outcome.value, result=result) if changed else result)
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

    # -- the user's rules ---------------------------------------------------------------------------------------------

    def named(self, call: Call, counts: Counter[str]) -> Call:
        """The call, its name less its secrets if it holds a path; that of a tool or a model is no text."""
        return evolve(call, name=self.value(call.name, counts)) if call.kind == "http" else call

    def value(self, value: Any, counts: Counter[str]) -> Any:
        """A value less its secrets."""
        cleaned, found = self.packed(pack(value))
        counts.update(found)
        return unpack(cleaned) if found else value

    def _at_paths(self, packed: bytes, head: tuple[str, ...], counts: Counter[str]) -> bytes:
        rules = [rule for rule in self._paths if rule.path[: len(head)] == head]
        if not rules:
            return packed
        tree = before = _tree(packed)
        for rule in rules:
            replace = partial(self._at, rule.name, counts)
            tree = at_path(tree, rule.path[len(head) :], replace, _inside)
        return packed if tree is before else _untree(tree)

    def _at(self, name: str, counts: Counter[str], node: Any) -> Any:
        text = _bytes_of(node) if type(node) in {str, bytes} else _untree(node)
        if node is None or node in ("", b"") or PLACEHOLDER.fullmatch(text):
            return node
        counts[name] += 1
        return self._placeholder(name, text).decode()

    # -- texts --------------------------------------------------------------------------------------------------------

    def pieces(self, pieces: list[AnyStr], counts: Counter[str]) -> list[AnyStr]:
        """The pieces of a stream less the secrets of their joined text; a secret over two pieces stays in the first.

        Of server-sent events the texts inside their JSON are joined too.
        """
        given: list[Any] = pieces
        before = parts = [_bytes_of(piece) for piece in given]
        # First, lest the part of a secret that stands in one event is taken for all of it.
        if spans := change_texts(b"".join(parts), lambda texts: self._texts(texts, counts)):
            parts = splice(parts, spans)
        parts = self._parts(parts, counts)
        return pieces if parts is before else [_like(piece, part) for piece, part in zip(given, parts, strict=True)]

    def _texts(self, texts: list[str], counts: Counter[str]) -> list[str]:
        before = [_bytes_of(text) for text in texts]
        parts = self._parts(before, counts)
        return texts if parts is before else [_like("", part) for part in parts]

    def _parts(self, parts: list[bytes], counts: Counter[str]) -> list[bytes]:
        # What a placeholder has made of its neighbourhood is looked at again, so that the result is a fixed point.
        rounds = 0
        while True:
            while spans := self._spans(b"".join(parts), counts):
                parts = splice(parts, spans)
            for rule in self._functions:
                if (change := change_of(rule, b"".join(parts))) is not None:
                    parts = splice(parts, [change])
                    counts[rule.name] += 1
                    spans = [change]
                    if rounds == MOST_ROUNDS:
                        raise RuleFailed(
                            f"the redaction rule {rule.name!r} never comes to rest: it changes its own result again"
                        )
            if not spans:
                return parts
            rounds += 1

    def _spans(self, data: bytes, counts: Counter[str]) -> list[Span]:
        """What is to be replaced in ``data``, in order and without overlaps."""
        if not self.suspects(data):
            return []
        replaced = [match.span() for match in PLACEHOLDER.finditer(data)]
        found = sorted(
            (*match.span("secret"), rank)
            for rank, (_, pattern) in enumerate(self._rules)
            for match in pattern.finditer(data)
            if not within(match.span("secret"), replaced)
            and (rank not in self._more or self._more[rank].holds(match["secret"]))
        )
        if self._patterns:
            found = sorted(
                found
                + [
                    (*span, len(self._rules) + place)
                    for place, rule in enumerate(self._patterns)
                    if rule.pattern is not None
                    for span in found_by(rule.pattern, data)
                    if not within(span, replaced)
                ]
            )
        spans: list[Span] = []
        for start, stop, rank in united(found):
            own = len(self._rules)
            name = self._rules[rank][0] if rank < own else self._patterns[rank - own].name
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
            return {self._key_of(key, counts): self._field(key, item, counts) for key, item in node.items()}
        if kind is list:
            return [self._walk(item, counts) for item in node]
        if kind is msgpack.ExtType:
            return self._extension(node, counts)
        return node

    def _key_of(self, key: Any, counts: Counter[str]) -> Any:
        return self.basic._walk(key, counts) if key in _HEAD else self._walk(key, counts)  # noqa: SLF001 - the same

    def _class(self, reference: Any, counts: Counter[str]) -> Any:
        return self.basic._walk(reference, counts)  # noqa: SLF001 - the same

    def _extension(self, node: Any, counts: Counter[str]) -> Any:
        if self.has_text_rules and node.code in _SCALARS:  # no texts: another number or time would be none
            return node
        before = counts.total()
        inner = _tree(node.data)
        if node.code in NESTING:  # the parts of a set or of an object: each bytes is a packed value of its own
            inner = [
                _untree(self._walk(_tree(part), counts)) if type(part) is bytes else self._class(part, counts)
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


def _inside(node: Any, go_on: Callable[[Any], Any]) -> Any:
    """Go on in a tuple, an ordered dict or an object."""
    if type(node) is not msgpack.ExtType or node.code not in {TUPLE, ORDERED, OBJECT, NAMEDTUPLE}:
        return node
    tree = _tree(node.data)
    if node.code in {TUPLE, ORDERED}:
        made = go_on(tree)
        return node if made is tree else msgpack.ExtType(node.code, _untree(made))
    reference, packed = tree
    state = _tree(packed)
    made = go_on(state)
    return node if made is state else msgpack.ExtType(node.code, _untree([reference, _untree(made)]))


def _tree(data: bytes) -> Any:
    """The packed value as plain lists, maps and extension types: no class is looked up."""
    return msgpack.unpackb(data, strict_map_key=False, unicode_errors="surrogatepass", ext_hook=msgpack.ExtType)


def _untree(tree: Any) -> bytes:
    packed: bytes = msgpack.packb(tree, unicode_errors="surrogatepass")
    return packed
