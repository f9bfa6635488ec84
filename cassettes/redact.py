"""Secrets leave a value before its bytes reach the disk.

A credential is found by its shape, by the name of its field or argument, or because it is the value of a
secret-named environment variable. It becomes a placeholder such as ``{secret:github:4f1c09ab}``: the tag is an HMAC
under a key that stays beside the recordings, so that different secrets stay different and the same one stays the
same. A placeholder is a fixed point, so both sides of a match may be redacted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, AnyStr, Final

import msgpack
from attrs import evolve

from .errors import UnkeepableValue
from .events import change_texts
from .finder import Finder, bytes_of, like
from .framed import Cleaning, clean_frames
from .given import GivenRule, RuleFailed, at_path
from .model import Call, Changed, Outcome, Stream, Value
from .personal import Rule
from .shapes import FIELD, PLACEHOLDER
from .spans import splice
from .standard import BIG_INT, COMPLEX, DATE, DATETIME, DECIMAL, TIME, TIMEDELTA, UUID
from .trees import inside, tree_of, untree
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
        self._paths = [rule for rule in given if rule.path]
        self.has_paths = bool(self._paths)
        self._finder = Finder(key, secrets, rules, given)
        self.has_text_rules = self._finder.has_text_rules

    def packed(self, data: bytes) -> tuple[bytes, Counter[str]]:
        """The packed value less its secrets, and how many each rule replaced.

        Raises:
            UnkeepableValue: it is nested too deeply to be looked through.
        """
        return self._packed(data, self._walk)

    def packed_outcome(self, data: bytes) -> tuple[bytes, Counter[str]]:
        """The same of a packed outcome: the pieces of a stream are looked at as they are joined, and never alone.

        Raises:
            UnkeepableValue: it is nested too deeply to be looked through.
        """
        return self._packed(data, self._outcome)

    def _packed(self, data: bytes, clean: Callable[[Any, Counter[str]], Any]) -> tuple[bytes, Counter[str]]:
        if not self.suspects(data):
            return data, Counter()
        counts: Counter[str] = Counter()
        try:
            cleaned = clean(tree_of(data), counts)
        except RecursionError as error:
            raise UnkeepableValue("value", "is nested too deeply") from error
        return (untree(cleaned), counts) if counts else (data, counts)

    def suspects(self, data: bytes) -> bool:
        """True if ``data`` may hold a secret; False is certain."""
        return self._finder.suspects(data)

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
        whole = untree({name: [tree_of(item) for item in packed]})
        cleaned = tree_of(self._at_paths(whole, ("arguments",), counts))
        kept = cleaned.get(name) if isinstance(cleaned, dict) else None
        if not isinstance(kept, list):
            raise RuleFailed(f"a redaction rule cannot take the whole of arguments.{name}; name what is inside: [*]")
        return [untree(item) for item in kept], counts

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
        tree = before = tree_of(packed)
        for rule in rules:
            replace = partial(self._at, rule.name, counts)
            tree = at_path(tree, rule.path[len(head) :], replace, inside)
        return packed if tree is before else untree(tree)

    def _at(self, name: str, counts: Counter[str], node: Any) -> Any:
        text = bytes_of(node) if type(node) in {str, bytes} else untree(node)
        if node is None or node in ("", b"") or PLACEHOLDER.fullmatch(text):
            return node
        counts[name] += 1
        return self._finder.placeholder(name, text).decode()

    # -- texts --------------------------------------------------------------------------------------------------------

    def pieces(self, pieces: list[AnyStr], counts: Counter[str]) -> list[AnyStr]:
        """The pieces of a stream less the secrets of their joined text; a secret over two pieces stays in the first.

        Of server-sent events, and of those of AWS, the texts inside their JSON are joined too.
        """
        given: list[Any] = pieces
        before = parts = [bytes_of(piece) for piece in given]
        if given and type(given[0]) is bytes and (framed := clean_frames(parts, self._cleaning(counts))) is not None:
            cleaned: list[Any] = framed
            return pieces if framed == parts else cleaned
        # First, lest the part of a secret that stands in one event is taken for all of it.
        if spans := change_texts(b"".join(parts), lambda texts: self._finder.texts(texts, counts)):
            parts = splice(parts, spans)
        parts = self._finder.parts(parts, counts)
        return pieces if parts is before else [like(piece, part) for piece, part in zip(given, parts, strict=True)]

    def _cleaning(self, counts: Counter[str]) -> Cleaning:
        return Cleaning(
            texts=lambda texts: self._finder.texts(texts, counts),
            tree=lambda tree: self._walk(tree, counts),
            raw=lambda parts: self._finder.parts(parts, counts),
            suspects=self.suspects,
        )

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

    def _outcome(self, plain: Any, counts: Counter[str]) -> Any:
        """An outcome as `codec.outcome_plain` makes it plain; 3 is a stream."""
        match plain:
            case [3, head, [*chunks], complete, error]:
                pieces: list[Any] = [piece for _, piece in chunks]
                if {*map(type, pieces)} in ({bytes}, {str}):
                    pieces = self.pieces(pieces, counts)
                else:
                    pieces = [self._walk(piece, counts) for piece in pieces]
                timed = [[at, piece] for (at, _), piece in zip(chunks, pieces, strict=True)]
                return [3, self._walk(head, counts), timed, complete, self._walk(error, counts)]
        return self._walk(plain, counts)

    def _key_of(self, key: Any, counts: Counter[str]) -> Any:
        return self.basic._walk(key, counts) if key in _HEAD else self._walk(key, counts)  # noqa: SLF001 - the same

    def _class(self, reference: Any, counts: Counter[str]) -> Any:
        return self.basic._walk(reference, counts)  # noqa: SLF001 - the same

    def _extension(self, node: Any, counts: Counter[str]) -> Any:
        if self.has_text_rules and node.code in _SCALARS:  # no texts: another number or time would be none
            return node
        before = counts.total()
        inner = tree_of(node.data)
        if node.code in NESTING:  # the parts of a set or of an object: each bytes is a packed value of its own
            inner = [
                untree(self._walk(tree_of(part), counts)) if type(part) is bytes else self._class(part, counts)
                for part in inner
            ]
        else:
            inner = self._walk(inner, counts)
        return msgpack.ExtType(node.code, untree(inner)) if counts.total() > before else node

    def _field(self, key: Any, item: Any, counts: Counter[str]) -> Any:
        """The value of a field: all of it is secret if the name says so."""
        if type(key) not in {str, bytes} or FIELD.fullmatch(bytes_of(key)) is None:
            return self._walk(item, counts)
        return self._secret(item, counts)

    def _secret(self, item: Any, counts: Counter[str]) -> Any:
        kind = type(item)
        if kind is list:
            return [self._secret(part, counts) for part in item]
        if kind is msgpack.ExtType and item.code == TUPLE:
            return msgpack.ExtType(TUPLE, untree(self._secret(tree_of(item.data), counts)))
        if kind is dict or kind is bool or not item or (kind is msgpack.ExtType and item.code in {*NESTING, ORDERED}):
            return self._walk(item, counts)
        text = bytes_of(item) if kind is str or kind is bytes else repr(item).encode()
        if PLACEHOLDER.fullmatch(text):
            return item
        counts["field"] += 1
        placeholder = self._finder.placeholder("field", text)
        return placeholder if kind is bytes else placeholder.decode()
