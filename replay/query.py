"""What is searched for: a small language of words, prefixes and phrases, as an expression of SQLite's FTS5.

::

    cancel refund       both words, anywhere in one step
    cancel*             a word that begins so
    "not found"         words next to each other; "not fo"* with a beginning last
    order:17, re-book   as a phrase: what is no letter and no digit only separates words

Nothing else means anything: AND, OR, NOT, NEAR, brackets and colons are text like any other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from attrs import frozen

from cassettes.errors import BadInput

__all__ = ["Query", "parsed"]

_MOST_CHARACTERS = 2000  # no one types more; FTS5 has limits of its own
_TERM = re.compile(r'"(?P<phrase>[^"]*)"(?P<star>\*?)|(?P<word>[^\s"]+)')


@frozen
class Query:
    """A query that FTS5 can answer.

    Attributes:
        match: the right side of ``MATCH``.
        literals: texts that must stand in the step as they are, but for case: the index cannot tell ``cancel_*`` from
            ``cancel*``.
    """

    match: str
    literals: tuple[str, ...]


def parsed(text: str) -> Query:
    """Read a query.

    Raises:
        BadInput: a quote is not closed, a star stands inside a word, there is no letter or digit, or it is too long.
    """
    if len(text) > _MOST_CHARACTERS:
        raise BadInput(f"the query has {len(text)} characters; at most {_MOST_CHARACTERS} are searched for")
    if text.count('"') % 2:
        raise BadInput(f"a quote is not closed in the query {text!r}; a phrase stands in two of them")
    terms: list[str] = []
    literals: list[str] = []
    for words, prefix in _terms(text):
        if not _has_word(words):
            continue
        terms.append(f'"{words}"{"*" if prefix else ""}')
        if prefix and not _has_word(words[-1]):
            literals.append(words.lstrip())
    if not terms:
        raise BadInput(f"the query {text!r} has no letter and no digit, so there is nothing to search for")
    return Query(" AND ".join(terms), tuple(literals))


def _terms(text: str) -> Iterator[tuple[str, bool]]:
    """The words and phrases, each with whether it is a beginning."""
    for match in _TERM.finditer(_storable(text)):
        if match["word"] is None:
            yield match["phrase"], bool(match["star"])
            continue
        word, star = match["word"].removesuffix("*"), match["word"].endswith("*")
        if "*" in word:
            raise BadInput(f"{match['word']!r}: a * stands at the end of a word, once, and means that it begins so")
        yield word, star


def _storable(text: str) -> str:
    """The text without what ends a string for SQLite, or cannot be handed to it."""
    return "".join(" " if c == "\0" or unicodedata.category(c) == "Cs" else c for c in text)


def _has_word(text: str) -> bool:
    """True if the tokenizer unicode61 finds a word in it: letters, digits and private characters make words."""
    return any((category := unicodedata.category(c))[0] in "LN" or category == "Co" for c in text)
