"""The text of a test that tries a recorded trial again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import fill
from typing import Any, Final

from attrs import frozen

from .literals import literal

__all__ = ["TestFile", "slug_of", "text_of"]

_WIDTH: Final = 88
_MOST_LETTERS: Final = 100

_TEMPLATE: Final = '''"""Task {task}: {outcome} when it was recorded as {trial}.

{explanation}The agent of the suite, as it is now, tries the task again in the world of that trial:
the cassette beside this file answers what FREEZE selects, and all else runs. What was
not recorded fails the test and is told; with TRIALTAPE_LIVE=1 it is asked live, and
kept in the cassette if the trial passes.
"""

from pathlib import Path

import trialtape as tt

HERE = Path(__file__).parent
CASSETTE = HERE / {cassette}
SUITE = {suite}
FREEZE = {freeze}
{writes}

def test_{slug}() -> None:
    again = tt.retrial(CASSETTE, suite=SUITE, freeze=FREEZE)
    assert {assertion}
'''


@frozen
class TestFile:
    """What the test is made of.

    Attributes:
        trial: the recorded trial, and ``task`` its task.
        outcome: how it came out, such as ``failed``.
        explanation: what lost it, in one line; None if that is not known.
        slug: names the test and the cassette beside it.
        suite: from the test's folder to the suite's file, with forward slashes; ``suite_name`` what it defines there.
        freeze: the selectors.
        writes: what a trial that passes writes; None if none is known.
        writes_of: whose writes these are.
        scored: the suite's first scorer decides; else the writes do.
    """

    __test__ = False  # no test class, whatever its name

    trial: str
    task: str
    outcome: str
    explanation: str | None
    slug: str
    suite: str
    suite_name: str
    freeze: Sequence[str]
    writes: Sequence[tuple[str, dict[str, Any]]] | None
    writes_of: str
    scored: bool


def text_of(file: TestFile) -> str:
    """The source of the test.

    Raises:
        BadInput: a write holds a value that has no form as a literal.
    """
    asked = "" if file.writes is None else "WRITES"
    verdict = "again.passed" if file.scored else f"again.wrote({asked})"
    return _TEMPLATE.format(
        task=_in_docstring(file.task),
        outcome=file.outcome,
        trial=_in_docstring(file.trial),
        explanation="" if file.explanation is None else _paragraph(file.explanation),
        cassette=literal(f"{file.slug}.cassette"),
        suite=_suite(file),
        freeze=literal(list(file.freeze), _WIDTH, len("FREEZE = ")),
        writes="" if file.writes is None else _writes(file.writes, file.writes_of),
        slug=file.slug,
        assertion=f"{verdict}, again.explain({asked})",
    )


def slug_of(task: str, index: int) -> str:
    """A name for a trial that files and functions may have."""
    letters = re.sub(r"[^a-z0-9]+", "_", task.lower()).strip("_")[:_MOST_LETTERS] or "task"
    return f"{letters}_{index}"


def _suite(file: TestFile) -> str:
    if file.suite_name == "suite":
        return f"HERE / {literal(file.suite)}"
    rest = literal(f"{file.suite}:{file.suite_name}")[1:-1].replace("{", "{{").replace("}", "}}")
    return f'f"{{HERE}}/{rest}"'


def _writes(writes: Sequence[tuple[str, dict[str, Any]]], writes_of: str) -> str:
    whose = f"# What {_in_docstring(writes_of)} wrote."
    return f"\n{whose}\nWRITES = {literal(list(writes), _WIDTH, len('WRITES = '))}\n"


def _paragraph(text: str) -> str:
    filled = fill(
        _in_docstring(text), _WIDTH, initial_indent="    ", subsequent_indent="      ", break_long_words=False
    )
    return f"{filled}\n\n"


def _in_docstring(text: str) -> str:
    """Text on one line that ends no docstring and escapes nothing."""
    joined = " ".join(text.split())
    return joined.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
