"""Finding secrets in text, and putting placeholders in their place."""

from __future__ import annotations

import hmac
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .given import MOST_ROUNDS, GivenRule, RuleFailed, change_of, found_by
from .personal import Rule
from .shapes import LOOK, PLACEHOLDER, RULES
from .spans import Span, splice, united, within

__all__ = ["Finder", "bytes_of", "like"]


class Finder:
    """Looks texts through, by all rules at once.

    Args:
        key: the HMAC key that tells different secrets apart; None gives constant placeholders.
        secrets: texts that are secret wherever they stand.
        rules: more of them, such as `personal.PERSONAL`.
        given: those of the user that look at texts.

    Attributes:
        has_text_rules: the user gave a pattern or a function.
    """

    def __init__(
        self, key: bytes | None, secrets: Iterable[str], rules: Iterable[Rule], given: Sequence[GivenRule]
    ) -> None:
        self._key = key
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

    def suspects(self, data: bytes) -> bool:
        """True if ``data`` may hold a secret; False is certain."""
        if self.has_text_rules:
            return True
        if LOOK.search(data) is not None:
            return True
        if self._known and any(map(data.__contains__, self._known)):
            return True
        return bool(self._looks) and any(look.search(data) is not None for look in self._looks)

    def texts(self, texts: list[str], counts: Counter[str]) -> list[str]:
        """Pieces of one text less the secrets of their joined text."""
        before = [bytes_of(text) for text in texts]
        parts = self.parts(before, counts)
        return texts if parts is before else [like("", part) for part in parts]

    def parts(self, parts: list[bytes], counts: Counter[str]) -> list[bytes]:
        """The same of bytes; the very list if nothing was found.

        Raises:
            RuleFailed: a function of the user never comes to rest.
        """
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
            spans.append((start, stop, self.placeholder(name, data[start:stop])))
        return spans

    def placeholder(self, rule: str, secret: bytes) -> bytes:
        """What stands in the place of a secret."""
        if self._key is None:
            return f"{{secret:{rule}}}".encode()
        tag = hmac.digest(self._key, secret, "sha256").hex()[:8]
        return f"{{secret:{rule}:{tag}}}".encode()


def _ways(secrets: Iterable[str]) -> list[bytes]:
    """The texts as they stand in text and in JSON text, the longest first."""
    ways = {bytes_of(way) for text in secrets if text for way in (text, json.dumps(text)[1:-1])}
    return sorted(ways, key=lambda way: (-len(way), way))


def bytes_of(text: str | bytes) -> bytes:
    """As bytes; half of a surrogate pair stays what it is."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def like(piece: Any, part: bytes) -> Any:
    """``part`` as text or as bytes, as ``piece`` is."""
    return part if isinstance(piece, bytes) else part.decode("utf-8", "surrogatepass")
