"""Results print as tables, in a terminal and in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from attrs import frozen

from replay.stats import interval, noise_shares, summary
from replay.stats.told import Told


@frozen
class Result(Told):
    name: str
    share: float | None
    sure: bool
    ends: tuple[float, float]
    notes: tuple[str, ...] = ()
    rows: tuple[Told, ...] = ()


class Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.rows = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.rows[-1].append(data)


def test_facts_stand_below_each_other():
    assert str(Result("<b>", None, sure=True, ends=(-0.0, 0.25), notes=("one", "two"))).split("\n") == [
        "name   <b>",
        "share  undefined",
        "sure   yes",
        "ends   [0, 0.25]",
        "notes  one",
        "       two",
        "rows   none",
    ]


def test_several_of_a_kind_are_a_table():
    lines = str(summary([8, 8, 7, 4, 0], 8)).split("\n")
    assert lines[0] == "tasks       5"
    head = next(n for n, line in enumerate(lines) if line.startswith("k  pass^k"))
    assert len(lines) - head == 9
    assert lines[head + 2].split()[:2] == ["2", "0.5929"]
    assert "0.5929 [0.1439, 0.9242]" in lines[head + 2]
    fixed = lines[head].index("fixed")
    assert all(
        line[fixed - 2 : fixed] == "  " != line[fixed] for line in lines[head:]
    )  # columns stand under each other


def test_a_result_inside_a_result_is_its_estimate_with_its_ends():
    cells = [[[(1, 2), (2, 2)], [(0, 2), (1, 2)]], [[(2, 2), (2, 2)], [(1, 2), (1, 2)]]]
    found = noise_shares(cells).outside
    assert str(noise_shares(cells)).startswith(f"outside  {found.estimate:.4g} [{found.low:.4g}, {found.high:.4g}]\n")
    assert "low         undefined" in str(interval([1], 4, 1))


def test_a_notebook_gets_the_same_cells_and_no_markup_of_names():
    result = Result("<script>", 0.5, sure=False, ends=(0.0, 1.0), rows=(interval([3, 4], 4, 1),))
    cells = Cells(result._repr_html_()).rows
    assert cells[0] == ["name", "<script>"]
    assert cells[5] == ["estimate", "low", "high", "level", "target", "method", "few events"]
    assert cells[6][0] == "0.875"
    assert "<script>" not in result._repr_html_()


def test_repr_keeps_all_digits():
    found = interval([6, 8, 0, 3], 8, 2)
    assert repr(found.low) in repr(found)


class Printer:
    def __init__(self):
        self.told = ""

    def text(self, text):
        self.told += text


@pytest.mark.parametrize(("cycle", "told"), [(False, "estimate"), (True, "...")])
def test_ipython_prints_what_str_gives(cycle, told):
    printer = Printer()
    interval([6, 8], 8, 2)._repr_pretty_(printer, cycle)
    assert printer.told.startswith(told)
