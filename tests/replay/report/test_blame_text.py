"""Bars of continuations, drawn."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from replay.branching.blame import bar_of, blame
from replay.report.blame_text import blame_table, left_out_text, share_line, verdict_lines

BARS = [
    bar_of(7, 'cancel_order(order_id="W1024")', 7, 8, {}, (8,)),
    bar_of(9, "refund(), note(), ask(), tell()", 0, 8, {"unanswered": 2}, (10, 11, 12, 13)),
    bar_of(14, "the end", 0, 0, {"error (refused)": 8}),
]


def drawn(read, width=120):
    out = io.StringIO()
    Console(file=out, width=width, no_color=True).print(blame_table(read, width))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_each_bar_has_its_share_its_interval_and_what_comes_then():
    head, first, second, last = drawn(blame(BARS))
    assert head.split() == ["from", "step", "pass", "95%", "left", "out", "then"]
    assert first.endswith('7/8 [0.53, 0.98] 8 cancel_order(order_id="W1024")')
    assert "●" in first
    assert "0/8 [0.00, 0.32] 2 unanswered 10, 11, 12, ... refund(), note(), ask(), tell()" in second
    assert "?" in last
    assert last.endswith("0/0 8 error (refused) the end")


def test_without_anything_left_out_there_is_no_column_for_it():
    assert "left out" not in drawn(blame(BARS[:1]))[0]


def test_a_narrow_terminal_cuts_what_comes_then():
    assert all(len(line) <= 90 for line in drawn(blame(BARS), 90))


def test_the_interval_is_drawn_with_the_rate_on_it():
    [_, line] = drawn(blame([bar_of(0, "x", 4, 8)]))
    assert "····━━━━━━●━━━━━━····" in line


@pytest.mark.parametrize(
    ("bar", "told"),
    [
        (bar_of(1, "x", 3, 4), "3 of 4 continuations pass   95% [0.30, 0.95]"),
        (bar_of(1, "x", 0, 0), "no continuation can be counted"),
    ],
)
def test_a_share_in_words(bar, told):
    assert share_line(bar) == told


def test_what_was_left_out_in_words():
    assert left_out_text({"unanswered": 2, "error (refused)": 1}) == "2 unanswered, 1 error (refused)"


def test_a_loss_is_set_off():
    [line] = verdict_lines(blame([bar_of(7, "cancel()", 16, 16, {}, (8,)), bar_of(9, "the end", 0, 16)]))
    assert line.plain.startswith("lost at step 8, cancel()")
    assert str(line.style) == "bold red"
    assert [str(line.style) for line in verdict_lines(blame(BARS[:1]))] == ["bold"]
