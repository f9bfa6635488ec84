from __future__ import annotations

import json

import pytest

import trialtape as tt
from replay.analysis.watching_tasks import watched
from replay.store import Store
from tests.replay.verdicts import INFRASTRUCTURE, UNANSWERED, make_run, passes

BEFORE = {**{f"g{task}": passes(8, 8) for task in range(6)}, **{f"f{task}": passes(4, 8) for task in range(4)}}


@pytest.fixture
def watch(home):
    make_run(home, "old", BEFORE)

    def told(later=None, **options):
        if later is not None:
            make_run(home, "new", later, digests=options.pop("digests", None))
        with Store(home) as store:
            store.refresh()
            return watched(store, "old", later=None if later is None else "new", **options)

    return told


def test_lists_are_chosen(watch):
    found = watch(size=6)
    assert [task[0] for task in found.guards.tasks] == ["g"] * 3
    assert [task[0] for task in found.flaky.tasks] == ["f"] * 3
    assert (found.guards.test, found.later) == (None, None)


def test_each_list_is_tested_on_its_own(watch):
    later = {task: passes(0, 3) if task in {"g0", "g1", "g2"} else passes(3, 3) for task in BEFORE}
    found = watch(later, size=12)

    assert found.guards.test.p < 0.01
    assert found.flaky.test.p > 0.5
    assert [task for task, _, _ in found.guards.fallen] == ["g0", "g1", "g2"]
    json.dumps(found.to_dict(), allow_nan=False)


def test_tasks_that_are_missing_or_changed_are_told_and_not_used(watch):
    later = {task: passes(3, 3) for task in BEFORE if task != "g1"} | {"g0": [INFRASTRUCTURE]}
    digests = {"g2": {"instruction": "other", "expected": "g2", "state": None}}
    found = watch(later, size=12, digests=digests)

    assert set(found.guards.missing) == {"g0", "g1"}
    assert found.guards.changed == ("g2",)
    assert found.guards.test.trials == 9


def test_a_run_of_other_tasks_is_refused(watch):
    with pytest.raises(tt.BadInput, match="run 'new' has no counted trial of a listed task"):
        watch({"x": passes(1, 1)})


def test_other_scores_are_refused(home, watch):
    make_run(home, "new", {"g0": passes(1, 1)}, scorer="s@2")
    with Store(home) as store:
        store.refresh()
        with pytest.raises(tt.BadInput, match="'old' is scored by s@1, 'new' by s@2"):
            watched(store, "old", later="new")


def test_unanswered_trials_are_not_missing_at_random(watch, home):
    later = {task: [*passes(2, 2), UNANSWERED] for task in BEFORE}
    with pytest.raises(
        tt.BadInput, match="run 'new': 10 of 30 trials ended unanswered, and not at random, so it cannot be held"
    ):
        watch(later, size=6)
    make_run(home, "torn", later)
    with Store(home) as store:
        store.refresh()
        with pytest.raises(tt.BadInput, match=r"run 'torn': 10 of 30 trials ended unanswered.*always pass"):
            watched(store, "torn", size=6)
        assert watched(store, "torn", size=6, errors="fail").guards.tasks == ()
