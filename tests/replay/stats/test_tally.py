import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.stats import Cell, Tally, pass_at_k, pass_hat_k, summary, task_bootstrap
from replay.stats.tally import is_whole, require, require_level, whole_k

tasks = st.lists(st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30)


def test_tasks_with_the_same_outcome_are_counted_together():
    tally = Tally.of([2, 0, 2, 4], [4, 4, 4, 8])

    assert tally.cells == (Cell(4, 0, 1), Cell(4, 2, 2), Cell(8, 4, 1))


def test_one_number_of_trials_stands_for_all_tasks():
    assert Tally.of([2, 0, 2], 4) == Tally.of([2, 0, 2], [4, 4, 4])


def test_arrays_of_any_integer_type_are_taken():
    expected = Tally.of([2, 0], [4, 5])

    assert Tally.of(np.array([2, 0], dtype=np.uint8), np.array([4, 5], dtype=np.uint64)) == expected
    assert Tally.of(np.array([2, 0], dtype=object), (4, np.int16(5))) == expected


@given(tasks)
def test_totals_are_those_of_the_tasks(pairs):
    passed, tried = zip(*pairs, strict=True)
    tally = Tally.of(passed, tried)

    assert tally.tasks == len(pairs)
    assert tally.trials == sum(tried)
    assert tally.successes == sum(passed)
    assert (tally.min_trials, tally.max_trials) == (min(tried), max(tried))
    assert tally.always == sum(c == n for c, n in pairs)
    assert tally.never == sum(c == 0 for c, n in pairs)
    assert tally.weights.tolist() == [cell.tasks for cell in tally.cells]


@given(tasks, st.randoms(use_true_random=False))
def test_the_order_of_the_tasks_is_gone(pairs, random):
    shuffled = random.sample(pairs, len(pairs))

    assert Tally.of(*zip(*shuffled, strict=True)) == Tally.of(*zip(*pairs, strict=True))


@given(tasks)
def test_mirroring_exchanges_passes_and_failures(pairs):
    passed, tried = zip(*pairs, strict=True)
    failed = [n - c for c, n in pairs]

    assert Tally.of(passed, tried).mirrored() == Tally.of(failed, tried)


def test_the_tally_of_many_tasks_is_small():
    passed = np.arange(1_000_000) % 9

    assert Tally.of(passed, 8).cells == tuple(Cell(8, c, 111_112 if c == 0 else 111_111) for c in range(9))


@pytest.mark.parametrize(
    ("passed", "tried", "message"),
    [
        ([], 4, "successes is empty: there are no tasks"),
        ([1], [], "trials is empty: there are no tasks"),
        ([1, 2, 5], 4, "task 2 has 5 successes in 4 trials"),
        ([1, 2], [4, 1], "task 1 has 2 successes in 1 trials"),
        ([1, -1], 4, "task 1 has -1 successes: that is below 0"),
        ([0, 0], [4, 0], "task 1 has 0 trials: a task needs at least 1"),
        ([1, 2.5], 4, "task 1: successes must be a whole number, got 2.5"),
        ([1, 2, float("nan")], 4, "task 2: successes must be a whole number, got nan"),
        (np.array([1.0, 2.0]), 4, "task 0: successes must be a whole number, got"),
        ([1, None], 4, "task 1: successes must be a whole number, got None"),
        ([1, "2"], 4, "task 1: successes must be a whole number, got '2'"),
        ([1, 2**70], 4, "task 1: successes must be a whole number, got 118"),
        (np.array([1, 2**63], dtype=np.uint64), 4, "task 1: successes must be a whole number, got"),
        ([1, 2], [4, float("nan")], "task 1: trials must be a whole number, got nan"),
        ([1, 2], 4.0, "task 0: trials must be a whole number, got 4.0"),
        ([True, False], 1, "task 0: successes must be a whole number, got True .*not verdicts"),
        ([1, 2], [4, 4, 4], "successes of 2 tasks, but trials of 3"),
        ([1, 2], [4], "successes of 2 tasks, but trials of 1"),
        (3, 4, "successes must be a sequence with one whole number per task"),
        ([[1, 0], [1, 1]], 2, "successes must be a sequence with one whole number per task"),
        ([[1, 0], [1]], 2, "successes must be a sequence with one whole number per task"),
        ({1: 2}.values(), 2, "successes must be a sequence with one whole number per task"),
    ],
)
@pytest.mark.parametrize(
    "entrance",
    [
        Tally.of,
        summary,
        lambda passed, tried: pass_hat_k(passed, tried, 1),
        lambda passed, tried: pass_at_k(passed, tried, 1),
        lambda passed, tried: task_bootstrap(passed, tried, [1]),
    ],
    ids=["Tally.of", "summary", "pass_hat_k", "pass_at_k", "task_bootstrap"],
)
def test_wrong_input_is_refused_by_the_index_of_the_task(entrance, passed, tried, message):
    with pytest.raises(ValueError, match=message):
        entrance(passed, tried)


def test_a_task_with_too_few_trials_is_named():
    with pytest.raises(ValueError, match="k = 5, but task 1 has 4 trials: every task needs k or more"):
        Tally.of([3, 3, 3], [8, 4, 4], k=5)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "2", None, float("nan")])
def test_k_must_be_a_whole_number_of_at_least_one(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, got"):
        whole_k(k)
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, got"):
        Tally.of([1], 4, k=k)


def test_a_tally_knows_which_k_it_can_answer():
    tally = Tally.of([1, 1], [4, 8])
    require(tally, 4)

    with pytest.raises(ValueError, match="k = 5, but a task has 4 trials"):
        require(tally, 5)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan")])
def test_a_level_is_a_proportion(level):
    require_level(0.95)

    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        require_level(level)


def test_verdicts_and_numbers_too_large_are_not_whole_numbers():
    assert [is_whole(value) for value in (3, np.int8(3), -(2**63))] == [True, True, True]
    assert [is_whole(value) for value in (True, np.True_, 3.0, "3", 2**63)] == [False] * 5


@pytest.mark.parametrize("cell", [(0, 0, 1), (4, 5, 1), (4, -1, 1), (4, 2, 0)])
def test_an_impossible_cell_is_refused(cell):
    with pytest.raises(ValueError, match="impossible cell"):
        Cell(*cell)


@pytest.mark.parametrize(
    "cells", [(), (Cell(4, 2, 1), Cell(4, 1, 1)), (Cell(4, 2, 1), Cell(4, 2, 3)), (Cell(8, 0, 1), Cell(4, 0, 1))]
)
def test_cells_are_ascending_and_distinct(cells):
    with pytest.raises(ValueError, match="one cell or more, ascending"):
        Tally(cells)
