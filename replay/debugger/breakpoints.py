"""Conditions on a step, typed by a person: parsed into plain tests, never evaluated as code.

::

    condition  = all {"or" all}
    all        = one {"and" one}
    one        = "not" one | "(" condition ")" | KIND [":" GLOB] | WORD | FIELD SIGN VALUE
    KIND       = model, tool, http, clock, random
    WORD       = error, write, read, frozen, live, exact, missed, differs
    FIELD      = kind, name, actor, effect, verdict, step, at, seconds, tokens, text, result, arg.PATH
    SIGN       = == != < <= > >= ~      (~ is "contains", upper and lower case alike)
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, NoReturn, Protocol

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.model import KINDS, Interaction

from .glances import Glance
from .outcomes import compact, outcome_told

__all__ = ["Breakpoint", "Moment", "parse"]

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"[^"]*"|'[^']*')|(?P<sign>==|!=|<=|>=|<|>|~|\(|\))|(?P<word>[^\s()=!<>~"']+))"""
)
_MOST_NESTED: Final = 50


class Moment(Protocol):
    """A step, as far as a condition asks for it."""

    @property
    def glance(self) -> Glance:
        """The step at a glance."""

    @property
    def whole(self) -> Interaction:
        """The step with all that it holds; read only by conditions that need it."""

    @property
    def differs(self) -> bool:
        """True if the trials that are compared part here."""


Test = Callable[[Moment], bool]

_WORDS: Final[Mapping[str, Test]] = {
    "error": lambda seen: seen.glance.failed,
    "write": lambda seen: seen.glance.writes,
    "read": lambda seen: seen.glance.kind != "model" and not seen.glance.writes,
    "frozen": lambda seen: seen.glance.verdict not in {"live", "extended"},
    "live": lambda seen: seen.glance.verdict in {"live", "extended"},
    "exact": lambda seen: seen.glance.verdict in {"own", "borrowed", "repeated"},
    "missed": lambda seen: seen.glance.verdict in {"missed", "stale", "refused"},
    "differs": lambda seen: seen.differs,
}
_FIELDS: Final[Mapping[str, Callable[[Moment], Any]]] = {
    "kind": lambda seen: seen.glance.kind,
    "name": lambda seen: seen.glance.name,
    "actor": lambda seen: seen.whole.call.actor,
    "effect": lambda seen: seen.whole.call.effect,
    "verdict": lambda seen: seen.glance.verdict,
    "step": lambda seen: seen.glance.number,
    "at": lambda seen: seen.glance.at,
    "seconds": lambda seen: seen.glance.seconds,
    "tokens": lambda seen: seen.glance.tokens,
    "text": lambda seen: None if seen.whole.reply is None else seen.whole.reply.text,
    "result": lambda seen: outcome_told(seen.whole.outcome),
}
_NUMBERS: Final = frozenset({"step", "at", "seconds", "tokens"})
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SIGNS: Final = frozenset({"==", "!=", "~", *_ORDERS})


@frozen
class Breakpoint:
    """A condition with the text that says it."""

    text: str
    meets: Test


def parse(text: str) -> Breakpoint:
    """Read a condition.

    Raises:
        BadInput: it is none; the text says what was expected, and where.
    """
    try:
        return Breakpoint(text.strip(), _Parser(text).whole())
    except RecursionError:
        raise BadInput("the condition is nested too deeply") from None


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0
        self._depth = 0

    def whole(self) -> Test:
        if not self._tokens:
            raise BadInput("a condition is empty; write for example tool:cancel_*, error, or seconds > 2 and write")
        found = self._any()
        if self._at < len(self._tokens):
            self._wrong("the end")
        return found

    def _any(self) -> Test:
        tests = [self._all()]
        while self._takes("or"):
            tests.append(self._all())
        return tests[0] if len(tests) == 1 else lambda seen: any(test(seen) for test in tests)

    def _all(self) -> Test:
        tests = [self._one()]
        while self._takes("and"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda seen: all(test(seen) for test in tests)

    def _one(self) -> Test:
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise BadInput("the condition is nested too deeply")
        try:
            if self._takes("not"):
                test = self._one()
                return lambda seen: not test(seen)
            if self._takes("("):
                inner = self._any()
                if not self._takes(")"):
                    self._wrong("a closing parenthesis")
                return inner
            return self._test()
        finally:
            self._depth -= 1

    def _test(self) -> Test:
        word = self._next("a test")
        if self._at < len(self._tokens) and self._tokens[self._at] in _SIGNS:
            return self._comparison(word)
        kind, colon, glob = word.partition(":")
        if kind in KINDS:
            if colon and not glob:
                self._wrong(f"a name behind {word}")
            return lambda seen: seen.glance.kind == kind and (not colon or fnmatchcase(seen.glance.name, glob))
        if word in _WORDS:
            return _WORDS[word]
        if word in _FIELDS or word.startswith("arg."):
            self._wrong(f"one of {' '.join(sorted(_SIGNS))} behind {word}")
        raise BadInput(
            f"{word!r} is no condition; a tool is meant by tool:{word}, and the words are {', '.join(_WORDS)}"
        )

    def _comparison(self, field: str) -> Test:
        sign, text = self._next("a sign"), self._next("a value")
        if text[0] in "\"'":
            text = text[1:-1]
        if field.startswith("arg."):
            path = field.removeprefix("arg.").split(".")
            return _compares(lambda seen: _at_path(seen.whole.call.arguments, path), sign, text)
        if field not in _FIELDS:
            raise BadInput(f"{field!r} is nothing to compare; there are {', '.join(_FIELDS)} and arg.PATH")
        if field in _NUMBERS and _number(text) is None:
            raise BadInput(f"{field} is compared with a number, not with {text!r}")
        return _compares(_FIELDS[field], sign, text)

    def _takes(self, token: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at] == token
        self._at += found
        return found

    def _next(self, what: str) -> str:
        if self._at >= len(self._tokens) or self._tokens[self._at] in {"(", ")"}:
            self._wrong(what)
        self._at += 1
        return self._tokens[self._at - 1]

    def _wrong(self, expected: str) -> NoReturn:
        found = repr(self._tokens[self._at]) if self._at < len(self._tokens) else "the end"
        raise BadInput(f"{self._text.strip()!r}: {expected} was expected instead of {found}")


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise BadInput(
                f"{text.strip()!r} cannot be read from {text[at:].strip()!r} on; is a quote or a sign alone?"
            )
        at = match.end()
        yield match[match.lastgroup or 0]


def _compares(value: Callable[[Moment], Any], sign: str, text: str) -> Test:
    if sign == "~":
        return lambda seen: (found := value(seen)) is not None and text.casefold() in compact(found).casefold()
    if sign in {"==", "!="}:
        return lambda seen: _equal(value(seen), text) == (sign == "==")
    order, number = _ORDERS[sign], _number(text)
    if number is None:
        raise BadInput(f"{sign} compares numbers, and {text!r} is none")
    return lambda seen: (found := _number(value(seen))) is not None and order(found, number)


def _equal(found: Any, text: str) -> bool:
    if isinstance(found, bool) or found is None:
        return text.casefold() == {True: "true", False: "false", None: "none"}[found]
    if isinstance(found, int | float):
        return _number(text) == found
    return isinstance(found, str) and found == text


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _at_path(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
