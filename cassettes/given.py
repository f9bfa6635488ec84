"""Redaction rules that a user gives: by path, by pattern, or as a function from text to text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import frozen

from .errors import BadInput, RecordingFailed

__all__ = ["GivenRule", "Replace", "RuleFailed", "at_path", "change_of", "found_by", "given_rules"]

MOST_ROUNDS: Final = 10  # a function that still changes its own result after so many never comes to rest

_PATH: Final = re.compile(r"(?:arguments|result)(?:\[(?:\d+|\*)\]|\.[^.\[\]]+)*")
_MEANT_AS_PATH: Final = re.compile(r"(?:arguments|result)(?:[.\[]|$)")
_STEPS: Final = re.compile(r"\[[^\]]*\]|[^.\[]+")
_NO_NAME: Final = re.compile(r"[^a-z_]+")
_NAME: Final = re.compile(r"[a-z_]+")

Replace = Callable[[Any, str], Any]
"""What stands instead of a value, by the name of the rule."""


class RuleFailed(RecordingFailed):
    """A rule raised, or never comes to rest: nothing more of the trial is written."""


@frozen
class GivenRule:
    """One of: a path below ``arguments`` or ``result``, a pattern, a function.

    Attributes:
        name: small letters and ``_``; it stands in the placeholder, and in counts.
    """

    name: str
    path: tuple[str, ...] = ()
    pattern: re.Pattern[Any] | None = None
    function: Callable[[str], str] | None = None

    def apply(self, text: str) -> str:
        """What the function makes of a text.

        Raises:
            RuleFailed: it raised, or gave no text. The text is not told.
        """
        assert self.function is not None
        try:
            made = self.function(text)
        except Exception as error:
            raise RuleFailed(
                f"the redaction rule {self.name!r} raised {type(error).__name__}; nothing unredacted was written"
            ) from error
        if not isinstance(made, str):
            raise RuleFailed(f"the redaction rule {self.name!r} gave a {type(made).__name__} instead of a text")
        return made


def given_rules(given: Any) -> tuple[GivenRule, ...]:
    """The rules of ``redact=``: one or several, or a map of names to rules.

    A text that begins with ``arguments.`` or ``result.`` is a path, any other text is looked for as it is.

    Raises:
        BadInput: one is nothing of that, or its name cannot stand in a placeholder.
    """
    if isinstance(given, Mapping):
        return tuple(_named(name, rule) for name, rule in given.items())
    several = not isinstance(given, str | re.Pattern) and isinstance(given, Iterable)
    return tuple(_rule(None, rule) for rule in (given if several else [given]))


def _named(name: Any, rule: Any) -> GivenRule:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} is no name for a redaction rule: small letters and _ only, it stands in placeholders")
    return _rule(name, rule)


def _rule(name: str | None, rule: Any) -> GivenRule:
    if isinstance(rule, str) and _MEANT_AS_PATH.match(rule):
        if rule == "arguments" or not _PATH.fullmatch(rule):
            raise BadInput(
                f"{rule!r} is no path for a redaction rule; it has the form arguments.customer.ssn, "
                "arguments.items[*].card or result.token"
            )
        return GivenRule(name or _NO_NAME.sub("_", rule.lower()).strip("_"), path=tuple(_STEPS.findall(rule)))
    if isinstance(rule, str) and rule:
        ways = dict.fromkeys((rule, json.dumps(rule)[1:-1], json.dumps(rule, ensure_ascii=False)[1:-1]))
        return GivenRule(name or "text", pattern=re.compile("|".join(map(re.escape, ways))))
    if isinstance(rule, re.Pattern):
        return GivenRule(name or "pattern", pattern=rule)
    if callable(rule):
        own = _NO_NAME.sub("_", getattr(rule, "__name__", "").lower()).strip("_")
        return GivenRule(name or own or "function", function=rule)
    raise BadInput(
        "a redaction rule is a path below arguments or result, a text, a compiled pattern, or a function from text to "
        f"text, not a {type(rule).__name__}"
    )


def found_by(pattern: re.Pattern[Any], data: bytes) -> Iterator[tuple[int, int]]:
    """Where the pattern (its group ``secret``, if it has one) matches, in bytes."""
    group: Any = "secret" if "secret" in pattern.groupindex else 0
    if isinstance(pattern.pattern, bytes):
        spans = [match.span(group) for match in pattern.finditer(data)]
    else:
        text = data.decode("utf-8", "surrogateescape")
        spans = [match.span(group) for match in pattern.finditer(text)]
        if len(text) != len(data):
            spans = [(_offset(text, start), _offset(text, stop)) for start, stop in spans]
    return ((start, stop) for start, stop in spans if 0 <= start < stop)


def _offset(text: str, place: int) -> int:
    return len(text[:place].encode("utf-8", "surrogateescape"))


def change_of(rule: GivenRule, data: bytes) -> tuple[int, int, bytes] | None:
    """What the rule's function changes in a text, as one span with what stands there instead; binary data is no text.

    Raises:
        RuleFailed: the function raised.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not text:
        return None
    new = rule.apply(text).encode("utf-8", "surrogatepass")
    if new == data:
        return None
    most = min(len(data), len(new))
    start = next((place for place in range(most) if data[place] != new[place]), most)
    end = next((n for n in range(most - start) if data[-1 - n] != new[-1 - n]), most - start)
    return start, len(data) - end, new[start : len(new) - end]


def at_path(value: Any, path: tuple[str, ...], replace: Callable[[Any], Any], inside: Callable[..., Any]) -> Any:
    """``value`` with what stands at ``path`` replaced; the very same object if nothing stands there.

    Args:
        value: plain data.
        path: steps such as ``customer`` and ``[*]``.
        replace: makes what stands there instead.
        inside: goes on in a value that is no plain data: called with it, and with a function for its inner value.
    """
    if not path:
        return replace(value)
    head, *others = path
    rest = tuple(others)
    if type(value) is dict and head in value:
        made = at_path(value[head], rest, replace, inside)
        return value if made is value[head] else {**value, head: made}
    if type(value) is list and head[0] == "[":
        items = [
            at_path(item, rest, replace, inside) if head[1:-1] in {"*", str(place)} else item
            for place, item in enumerate(value)
        ]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    if type(value) is str and value.lstrip()[:1] in {"{", "["}:  # JSON text, such as the body of an answer
        try:
            plain = json.loads(value)
        except (ValueError, RecursionError):
            return value
        made = at_path(plain, path, replace, inside)
        return value if made is plain else json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    return inside(value, lambda inner: at_path(inner, path, replace, inside))
