from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay.analysis.task_order import begun_in_order, drawn_order

NAMES = st.lists(st.text(min_size=1), unique=True, max_size=12)


def test_a_seed_draws_the_order():
    tasks = [f"t{number}" for number in range(20)]
    assert drawn_order(tasks, 1) == drawn_order(tasks[::-1], 1)
    assert drawn_order(tasks, 1) != drawn_order(tasks, 2)
    assert sorted(drawn_order(tasks, 1)) == sorted(tasks)


def test_each_task_is_first_about_as_often_as_any_other():
    tasks = [f"t{number}" for number in range(5)]
    first = [drawn_order(tasks, seed)[0] for seed in range(1000)]
    assert all(150 < first.count(task) < 250 for task in tasks)


@given(NAMES, st.integers(), st.data())
def test_a_task_that_is_taken_away_leaves_the_order_of_the_others(tasks, seed, data):
    if not tasks:
        return
    gone = data.draw(st.sampled_from(tasks))
    others = [task for task in tasks if task != gone]
    assert drawn_order(others, seed) == [task for task in drawn_order(tasks, seed) if task != gone]


@given(NAMES, st.integers(), st.data())
def test_what_is_seen_of_a_growing_run_is_a_beginning_of_what_will_be_seen(tasks, seed, data):
    now = data.draw(st.sets(st.sampled_from(tasks)) if tasks else st.just(set()))
    later = now | data.draw(st.sets(st.sampled_from(tasks)) if tasks else st.just(set()))
    seen = begun_in_order(tasks, now, seed)
    assert begun_in_order(tasks, later, seed)[: len(seen)] == seen
    assert {*seen} <= now
