from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.debugger.beside import AloneRows, Row, folded, row_of, rows_beside
from replay.debugger.glances import glance_at
from tests.replay.debugger.scene import failing, model, passing, said, tool

_calls = st.lists(
    st.sampled_from(["get", "put", "say"]).flatmap(lambda name: st.tuples(st.just(name), st.integers(0, 2)))
)


def glances(interactions):
    return [glance_at(interaction) for interaction in interactions]


def made(calls):
    return glances(
        model(n, said("hello"), f"text {value}") if name == "say" else tool(n, name, value, value=value)
        for n, (name, value) in enumerate(calls)
    )


def signs(rows):
    return "".join(row.sign for row in rows)


def test_rows_tell_how_trials_part():
    rows = rows_beside(glances(failing()), glances(passing()))
    assert signs(rows) == "==++≈~-≈"
    assert [row.left for row in rows] == [0, 1, 2, 3, 4, 5, None, 6]
    assert [row.right for row in rows] == [0, 1, None, None, 2, 3, 4, 5]
    assert [row.differs for row in rows] == [False, False, True, True, False, True, True, False]


def test_what_is_ignored_does_not_part_them():
    left, right = glances([tool(0, "put", 1, id=1, trace="a")]), glances([tool(0, "put", 1, id=1, trace="b")])
    assert signs(rows_beside(left, right)) == "~"
    assert signs(rows_beside(left, right, ["trace"])) == "="


def test_the_same_call_with_another_result_differs():
    (row,) = rows_beside(glances([tool(0, "get", 1)]), glances([tool(0, "get", 1.0)]))
    assert (row.sign, row.differs) == ("≈", True)


@given(_calls, _calls)
def test_rows_hold_every_step_of_both_once_and_in_order(left, right):
    rows = rows_beside(made(left), made(right))
    assert [row.left for row in rows if row.left is not None] == list(range(len(left)))
    assert [row.right for row in rows if row.right is not None] == list(range(len(right)))
    assert all(row.left is not None or row.right is not None for row in rows)


@given(_calls)
def test_a_trial_beside_itself_is_the_same(calls):
    assert set(signs(rows_beside(made(calls), made(calls)))) <= {"="}


@given(_calls, _calls)
def test_folding_hides_equal_rows_alone_and_loses_none(left, right):
    rows = rows_beside(made(left), made(right))
    short = folded(rows)
    assert sum(max(1, row.hidden) for row in short) == len(rows)
    assert [row for row in short if row.differs] == [row for row in rows if row.differs]
    assert all(row.hidden == 0 or row.hidden >= 4 for row in short)


@given(_calls, _calls)
def test_the_row_of_a_step_shows_it_or_hides_it(left, right):
    rows = rows_beside(made(left), made(right))
    for place in range(len(left)):
        assert rows[row_of(rows, place)].left == place
        hiding = folded(rows)[row_of(folded(rows), place)]
        assert hiding.left is not None
        assert hiding.left <= place < hiding.left + max(1, hiding.hidden) or hiding.left == place


def test_a_trial_alone_has_a_row_for_each_step_made_when_asked_for():
    rows = AloneRows(10**9)
    assert len(rows) == 10**9
    assert rows[-1] == Row("", 10**9 - 1)
    assert row_of(rows, 7) == 7
    assert rows[2:4] == [Row("", 2), Row("", 3)]
    with pytest.raises(IndexError):
        rows[10**9]
