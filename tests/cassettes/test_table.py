from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.table import MAX_STEPS, Table

rows = st.lists(
    st.tuples(
        st.integers(0, 2**64 - 1), st.one_of(st.none(), st.integers(0, 50)), st.integers(0, 2**31), st.booleans()
    ),
    max_size=20,
)


@given(rows)
def test_a_table_comes_back_from_its_bytes(added):
    table = Table()
    for offset, step, first, restart in added:
        table.add(offset, step, first, restart=restart)
    again = Table.unpack(table.pack())
    assert vars(again) == vars(table)
    assert list(again.offsets) == [row[0] for row in added]
    assert [f for f, row in enumerate(added) if row[1] is None] == list(again.marks)
    assert [f for f, row in enumerate(added) if row[3]] == list(again.restarts)
    for step in range(51):
        frames = [f for f, row in enumerate(added) if row[1] == step]
        known = again.frames_of_steps[step] if step < len(again.frames_of_steps) else -1
        assert known == (frames[-1] if frames else -1)


def test_steps_may_be_written_in_any_order():
    table = Table()
    for step in (2, 0, 1):
        table.add(100 + step, step, 0, restart=False)
    assert list(table.frames_of_steps) == [1, 2, 0]


@pytest.mark.parametrize("step", [-1, MAX_STEPS, 2**60])
def test_a_step_out_of_bounds_is_refused_without_making_room_for_it(step):
    table = Table()
    with pytest.raises(ValueError, match="there can be no step"):
        table.add(0, step, 0, restart=False)
    assert not table.offsets
    assert not table.frames_of_steps


@pytest.mark.parametrize(
    ("name", "column"),
    [("offsets", b"12345"), ("offsets", b""), ("marks", None), ("marks", "text"), ("first_messages", b"")],
)
def test_a_column_of_another_shape_is_refused(name, column):
    table = Table()
    table.add(1, 0, 0, restart=True)
    with pytest.raises((ValueError, TypeError)):
        Table.unpack({**table.pack(), name: column})


def test_a_missing_column_is_refused():
    packed = Table().pack()
    del packed["marks"]
    with pytest.raises(KeyError):
        Table.unpack(packed)
