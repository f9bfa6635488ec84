"""Secrets leave a value before its bytes reach the disk.

A credential is found by its shape, by the name of its field or argument, or because it is the value of a
secret-named environment variable. It becomes a placeholder such as ``{secret:github:4f1c09ab}``: the tag is an HMAC
under a key that stays beside the recordings, so that different secrets stay different and the same one stays the
same. A placeholder is a fixed point, so both sides of a match may be redacted.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgpack
from attrs import evolve

from .model import Call
from .values import NESTING, pack, unpack

__all__ = ["Redactor", "secrets_of"]

MIN_ENV_LENGTH: Final = 16  # a short value ("postgres") stands in many harmless texts

_NAME_PATTERN: Final = (
    r"(?:[a-z0-9]+[_-])*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?token|auth[_-]?token"
    r"|refresh[_-]?token|bearer[_-]?token|client[_-]?secret|private[_-]?key|secret[_-]?key|authorization)"
)
_FIELD = re.compile(_NAME_PATTERN, re.IGNORECASE)
_ENV_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{secret:[a-z_]+(?::[0-9a-f]{8})?\}")

# Each rule: its name, and a pattern whose group ``secret`` is replaced.
_RULES: Final[tuple[tuple[str, str], ...]] = (
    ("openai", r"\b(?P<secret>sk-[A-Za-z0-9_-]{16,})"),
    ("stripe", r"\b(?P<secret>[srp]k_(?:live|test)_[0-9A-Za-z]{10,})"),
    ("github", r"\b(?P<secret>gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("aws", r"\b(?P<secret>(?:AKIA|ASIA)[0-9A-Z]{16})\b"),
    ("google", r"\b(?P<secret>AIza[0-9A-Za-z_-]{30,})"),
    ("slack", r"\b(?P<secret>xox[abposr]-[0-9A-Za-z-]{10,})"),
    ("huggingface", r"\b(?P<secret>hf_[A-Za-z0-9]{30,})"),
    ("jwt", r"\b(?P<secret>eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    ("bearer", r"(?i:\bbearer)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)"),
    (
        "private_key",
        r"(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))",
    ),
    ("url", r"[a-z]://[^/\s:@\"']*:(?P<secret>[^/\s:@\"'{}]{3,})@"),
    ("field", r"(?i:\\?[\"']" + _NAME_PATTERN + r"\\?[\"']\s*[:=]\s*\\?[\"'])(?P<secret>[^\"'\\]+)"),
)

# A fast look that finds every text that any rule could change (and some more). Literal heads first: they are rare.
_LOOK = re.compile(
    rb"sk-|k_live_|k_test_|gh[pousr]_|github_pat_|A[KS]IA[0-9A-Z]|AIza|xox[abposr]-|hf_[A-Za-z0-9]|eyJ[A-Za-z0-9_-]{10}"
    rb"|[Bb][Ee][Aa][Rr][Ee][Rr]\s|PRIVATE KEY|://[^/\s:@\"']*:[^/\s@]*@"
    rb"|[Pp][Aa][Ss][Ss](?:[Ww]|[Pp][Hh])|[Ss][Ee][Cc][Rr][Ee][Tt]|[Aa][Pp][Ii][_-]?[Kk][Ee][Yy]|[_-][Tt]oken|[_-]TOKEN"
    rb"|[ShHs][TtEe]oken|[Pp]rivate[_-]?[Kk]ey|[Aa]uthorization"
)


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of secret-named environment variables that are long enough to be told from common words."""
    found = {value for name, value in environ.items() if _ENV_NAME.search(name) and len(value) >= MIN_ENV_LENGTH}
    return tuple(sorted(found, key=len, reverse=True))


class Redactor:
    """Replaces secrets in packed values.

    Args:
        key: the HMAC key that tells different secrets apart; None gives constant placeholders.
        secrets: texts that are secret wherever they stand (see `secrets_of`).
    """

    def __init__(self, key: bytes | None = None, secrets: Iterable[str] = ()) -> None:
        self._key = key
        known = "|".join(re.escape(text) for text in secrets)
        rules = [*_RULES, ("environment", f"(?P<secret>{known})")] if known else _RULES
        self._rules = [(name, re.compile(pattern, re.DOTALL)) for name, pattern in rules]
        self._known = re.compile(known.encode()) if known else None

    def packed(self, data: bytes) -> tuple[bytes, Counter[str]]:
        """The packed value less its secrets, and how many each rule replaced."""
        if _LOOK.search(data) is None and (self._known is None or self._known.search(data) is None):
            return data, Counter()
        counts: Counter[str] = Counter()
        cleaned = self._walk(_tree(data), counts)
        return (_untree(cleaned), counts) if counts else (data, counts)

    def call(self, call: Call) -> Call:
        """The call with its arguments less their secrets: what is matched and kept."""
        data = pack(dict(call.arguments))
        cleaned, counts = self.packed(data)
        if not counts:
            return call
        return evolve(call, arguments=unpack(cleaned))

    def text(self, text: str, counts: Counter[str]) -> str:
        """``text`` less its secrets; ``counts`` is told of each."""
        for name, pattern in self._rules:
            text = pattern.sub(self._replacement(name, counts), text)
        return text

    def pieces(self, pieces: list[bytes], counts: Counter[str]) -> list[bytes]:
        """The pieces of a stream less the secrets of their joined text; a secret over two pieces stays in the first."""
        joined = b"".join(pieces)
        if _LOOK.search(joined) is None and (self._known is None or self._known.search(joined) is None):
            return pieces
        text = joined.decode("utf-8", "surrogateescape")
        spans: list[tuple[int, int, str]] = []
        for name, pattern in self._rules:
            for match in pattern.finditer(text):
                if not _PLACEHOLDER.search(match["secret"]):
                    spans.append((*match.span("secret"), self._placeholder(name, match["secret"])))
                    counts[name] += 1
        return _splice(pieces, [(_size(text[:a]), _size(text[:b]), new.encode()) for a, b, new in sorted(spans)])

    def _replacement(self, name: str, counts: Counter[str]) -> Callable[[re.Match[str]], str]:
        def replace(match: re.Match[str]) -> str:
            secret = match["secret"]
            if _PLACEHOLDER.search(secret):
                return match[0]
            counts[name] += 1
            start = match.start("secret") - match.start()
            return match[0][:start] + self._placeholder(name, secret) + match[0][start + len(secret) :]

        return replace

    def _placeholder(self, rule: str, secret: str) -> str:
        if self._key is None:
            return f"{{secret:{rule}}}"
        tag = hmac.new(self._key, secret.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:8]
        return f"{{secret:{rule}:{tag}}}"

    def _walk(self, node: Any, counts: Counter[str]) -> Any:
        kind = type(node)
        if kind is str:
            return self.text(node, counts)
        if kind is dict:
            return {key: self._field(key, item, counts) for key, item in node.items()}
        if kind is list:
            return [self._walk(item, counts) for item in node]
        if kind is bytes:
            return self._bytes(node, counts)
        if kind is msgpack.ExtType:
            before = sum(counts.values())
            plain = _tree(node.data)
            inner = self._nested(plain, counts) if node.code in NESTING else self._walk(plain, counts)
            return msgpack.ExtType(node.code, _untree(inner)) if sum(counts.values()) > before else node
        return node

    def _field(self, key: Any, item: Any, counts: Counter[str]) -> Any:
        if type(key) is not str or _FIELD.fullmatch(key) is None or type(item) not in {str, bytes, int, float}:
            return self._walk(item, counts)
        if not item or (type(item) is str and _PLACEHOLDER.fullmatch(item)):
            return item
        counts["field"] += 1
        return self._placeholder("field", item if type(item) is str else repr(item))

    def _nested(self, parts: list[Any], counts: Counter[str]) -> list[Any]:
        """The parts of a set or of a class's state: each bytes is a packed value of its own."""
        return [
            _untree(self._walk(_tree(part), counts)) if type(part) is bytes else self._walk(part, counts)
            for part in parts
        ]

    def _bytes(self, data: bytes, counts: Counter[str]) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        return self.text(text, counts).encode("utf-8", "surrogateescape")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _splice(pieces: list[bytes], spans: list[tuple[int, int, bytes]]) -> list[bytes]:
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
