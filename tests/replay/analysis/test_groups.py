from __future__ import annotations

import json

import pytest

import trialtape as tt
from replay.analysis.groups import groups_of
from replay.analysis.run_stats import run_stats
from replay.stats import interval
from replay.store import Store
from tests.replay.verdicts import UNANSWERED, make_run, passes

TAGS = {"a": {"domain": "shop", "intent": "return"}, "b": {"domain": "air"}, "c": {"domain": "shop"}}


@pytest.fixture
def grouped(home):
    def told(by, tasks=None, ks=()):
        make_run(home, "r", tasks or {"a": passes(2, 4), "b": passes(4, 4), "c": passes(1, 4)}, tags=TAGS)
        with Store(home) as store:
            store.refresh()
            return groups_of(store, run_stats(store, "r"), by, ks)

    return told


def test_tasks_are_grouped_by_a_tag(grouped):
    found = grouped("domain")

    assert [(group.name, group.tasks, group.successes, group.trials) for group in found.groups] == [
        ("air", ("b",), 4, 4),
        ("shop", ("a", "c"), 3, 8),
    ]
    assert found.ks == (1, 4)
    assert found.groups[1].fixed[0] == interval([2, 1], 4, 1, "fixed")
    assert found.groups[1].population[1] == interval([2, 1], 4, 4, "population")


def test_tasks_without_the_tag_are_a_group_of_their_own(grouped):
    assert [group.name for group in grouped("intent").groups] == ["return", None]


def test_by_all_tags_a_task_stands_in_several_groups(grouped):
    found = grouped("tag", ks=[2])
    assert [group.name for group in found.groups] == ["domain=air", "domain=shop", "intent=return"]
    assert (found.overlapping, found.ks) == (True, (2,))


def test_by_task_each_task_is_told(grouped):
    found = grouped("task")
    assert [(group.name, group.successes) for group in found.groups] == [("a", 2), ("b", 4), ("c", 1)]
    json.dumps(found.to_dict(), allow_nan=False)


def test_an_unknown_tag_is_refused_with_those_that_there_are(grouped):
    with pytest.raises(tt.BadInput, match=r"has a tag 'colour' \(known: domain, intent\)"):
        grouped("colour")


def test_no_number_by_group_where_the_run_has_none(grouped):
    with pytest.raises(tt.BadInput, match="too many trials ended unanswered, so no number by group holds"):
        grouped("domain", {"a": [True, UNANSWERED], "b": [True, True]})


def test_failures_by_kind_of_risk(home):
    """ToolEmu's agents failed 19.0% of the cases about privacy, and 16.1% of those about money."""
    failed = {"privacy": (8, 42), "financial": (5, 31)}
    tasks = {f"{kind} {n}": [n >= bad] for kind, (bad, of) in failed.items() for n in range(of)}
    make_run(home, "r", tasks, tags={task: {"risk": task.split()[0]} for task in tasks})
    with Store(home) as store:
        store.refresh()
        groups = groups_of(store, run_stats(store, "r"), "risk", ()).groups
    told = {group.name: 1 - group.fixed[0].estimate for group in groups}
    assert told == {"privacy": pytest.approx(0.190, abs=5e-4), "financial": pytest.approx(0.161, abs=5e-4)}
