"""Every row of docs/reference/capabilities.md names tests that exist, or says why there is none."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.docs.documents import ROOT

_PAGE = ROOT / "docs" / "reference" / "capabilities.md"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_LEAST_REASON = 20  # letters


def _rows():
    """The rows of the page's tables: their cells by name of the first."""
    found = {}
    for line in _PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "capability":
            assert cells[0] not in found, f"{cells[0]} stands there twice"
            found[cells[0]] = cells
    return found


ROWS = _rows()


@cache
def _tests_in(file):
    path = ROOT / file
    assert path.is_file(), f"{file} does not exist"
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_each_capability_is_shown_by_tests_that_exist_or_has_a_reason(row):
    _, numbers, shown = row
    assert numbers
    named = _NAMED.findall(shown)
    for file, test in named:
        assert test in _tests_in(file), f"{file} has no {test}"
    reason = re.search(r"\bnot here: (.+)", shown)
    assert named or reason, "name a test, or say `not here: ` and why"
    assert reason is None or len(reason[1]) >= _LEAST_REASON
    rest = _NAMED.sub("", shown if reason is None else shown[: reason.start()])
    assert not rest.replace(",", "").replace(";", "").strip(), f"neither tests nor a reason: {rest}"


def test_no_row_was_lost():
    assert len(ROWS) >= 43
