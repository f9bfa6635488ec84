from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay.aligning import Row, aligned, similarity
from tests.replay.recorded import read, write


def test_the_same_calls_are_the_same_in_any_order_of_arguments():
    assert aligned([read(a=1, b=2)], [read(b=2, a=1)]) == (Row("same", 0, 0),)


def test_the_same_tool_with_other_arguments_is_paired():
    rows = aligned([read("a"), read("get", id=1), read("z")], [read("a"), read("get", id=2), read("z")])
    assert rows == (Row("same", 0, 0), Row("arguments", 1, 1), Row("same", 2, 2))


def test_extra_is_only_in_the_left_list_and_missing_only_in_the_right():
    assert aligned([read("a"), read("b")], [read("a")]) == (Row("same", 0, 0), Row("extra", 1, None))
    assert aligned([read("a")], [read("a"), read("b")]) == (Row("same", 0, 0), Row("missing", None, 1))


def test_another_tool_is_extra_and_missing():
    assert aligned([read("a")], [read("b")]) == (Row("extra", 0, None), Row("missing", None, 0))


def test_tools_of_one_name_are_paired_across_an_extra_one():
    rows = aligned([read("a", id=1), read("b", id=1)], [read("b", id=2)])
    assert rows == (Row("extra", 0, None), Row("arguments", 1, 0))


def test_ignored_arguments_do_not_count():
    calls = [write(id=1, request="x")], [write(id=1, request="y")]
    assert aligned(*calls)[0].kind == "arguments"
    assert aligned(*calls, ignore=["request"])[0].kind == "same"


def test_long_lists_of_one_repeated_call_are_still_the_same():
    calls = [read("poll")] * 500
    assert {row.kind for row in aligned(calls, [*calls])} == {"same"}


def test_similarity_is_the_share_of_the_same_calls():
    assert similarity([read("a")], [read("a")]) == 1.0
    assert similarity([read("a"), read("b")], [read("a"), read("c")]) == 0.5
    assert similarity([read("a")], [read("b")]) == 0.0


CALLS = st.lists(st.builds(lambda name, n: read(name, n=n), st.sampled_from("abc"), st.integers(0, 2)), max_size=8)


@given(CALLS, CALLS)
def test_every_call_has_one_row_and_both_orders_are_kept(left, right):
    rows = aligned(left, right)
    assert [row.left for row in rows if row.left is not None] == list(range(len(left)))
    assert [row.right for row in rows if row.right is not None] == list(range(len(right)))
    for row in rows:
        if row.kind in {"same", "arguments"}:
            a, b = left[row.left], right[row.right]
            assert (a == b) == (row.kind == "same")
            assert a.name == b.name
        else:
            assert (row.left is None) == (row.kind == "missing")
            assert (row.right is None) == (row.kind == "extra")
