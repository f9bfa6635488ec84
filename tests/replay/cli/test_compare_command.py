from __future__ import annotations

import json

import pytest

from cassettes.model import TrialId
from replay.home import Home
from replay.scores.scorefile import append_scores
from tests.replay.verdicts import make_run, passes, score_of


@pytest.fixture
def two(home):
    """Two runs of four tasks, and a second judge of the first."""
    place = Home(home)
    make_run(place, "old", {"a": passes(4, 4), "b": passes(2, 4), "c": passes(1, 4), "d": passes(3, 4)})
    make_run(place, "new", {"a": passes(4, 4), "b": passes(4, 4), "c": passes(0, 4), "d": passes(4, 4)})
    append_scores(place, "old", [score_of(place, TrialId("old", task, 0), task == "a", "s@2") for task in "abcd"])
    return place


def test_it_tells_the_difference_and_the_tasks_that_moved(two, call):
    done = call("compare", "old", "new", "--changed", "prompt")
    assert done.exit_code == 0
    assert (
        done.stdout
        == """\
old → new: 4 tasks paired, 16 and 16 trials counted, score s@1
  not changed: prompt was named, but is the same in both runs as far as they tell

                             on other tasks like these                    if you rerun this suite
k    old    new  difference                        95%       p  p, all k                      95%
1  0.625  0.750      +0.125           [-0.389, +0.639]  0.7384    0.7384         [-0.124, +0.374]
2  0.417  0.750      +0.333           [-0.316, +0.983]  0.4911    0.4911         [+0.004, +0.662]
3  0.312  0.750      +0.438           [-0.383, +1.000]  0.4911    0.4911         [+0.079, +0.796]
4  0.250  0.750      +0.500           [-0.419, +1.000]  0.4911    0.4911         [+0.117, +0.883]

3 of 4 tasks moved: 1 down, 2 up
  b   2/4 → 4/4   failed: old/b#2, #3
  c   1/4 → 0/4   failed: new/c#0, #1, #2, #3
  d   3/4 → 4/4   failed: old/d#3
no k shows more than luck, at 0.05 over all k of the table; that is no proof that nothing changed
few events (fewer than 10 tasks): the intervals may cover less than they say
p by 9999 sign flips over tasks, seed 0
"""
    )


def test_the_same_command_gives_the_same_digits(two, call):
    assert call("compare", "old", "new").stdout == call("compare", "old", "new").stdout


@pytest.mark.parametrize(("c", "moved"), [(4, "no task moved"), (0, "3 of 3 tasks moved: 3 down, 0 up")])
def test_an_interval_of_width_0_is_no_certainty_whether_tasks_moved_or_not(home, call, c, moved):
    for name, passed in (("before", 4), ("after", c)):
        make_run(Home(home), name, {task: passes(passed, 4) for task in "abc"})
    told = call("compare", "before", "after", "-k", 1, "-k", 4).stdout
    assert moved in told
    assert f"[{(c - 4) / 4:+.3f}, {(c - 4) / 4:+.3f}]" in told
    assert "an interval of width 0 is no certainty (k = 1, 4): all pairs are alike" in told


def test_intervals_with_a_width_have_no_such_remark(two, call):
    assert "width 0" not in call("compare", "old", "new").stdout


def test_json_holds_all(two, call):
    document = json.loads(call("compare", "old", "new", "--json", "-k", 2).stdout)
    assert [row["k"] for row in document["paired"]["rows"]] == [2]
    assert [task["task"] for task in document["moved"]] == ["b", "c", "d"]


def test_scores_of_one_run_are_compared_on_the_same_trials(two, call):
    told = call("compare", "old", "--scores", "s@1", "s@2").stdout
    assert told.startswith("old: s@1 → s@2 on 4 trials of 4 tasks\n  alike on 1: 1 passed, 0 failed\n")
    assert "  left out: 12 unscored by s@2\n" in told
    assert "3 verdicts of 4 flip: 3 passed by s@1 only, 0 by s@2 only" in told
    assert "  old/b#0   passed by s@1 only" in told
    assert "if you rerun" not in told
    document = json.loads(call("compare", "old", "--scores", "s@1", "s@2", "--json").stdout)
    assert len(document["flips"]) == 3


def test_other_tasks_need_a_word(two, call):
    make_run(two, "later", {"a": passes(1, 4), "b": passes(1, 4), "c": passes(1, 4), "e": passes(4, 4)})
    refused = call("compare", "old", "later")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("trialtape: runs 'old' and 'later' have not the same tasks: d removed, e added;")
    told = call("compare", "old", "later", "--common").stdout
    assert "  not paired: d removed, 3/4 → nothing counted\n  not paired: e added, nothing counted → 4/4\n" in told
    assert "over all tasks of each run pass^1 goes from 0.625 to 0.438 (-0.188), +0.146 of it because of tasks" in told


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["old"], "two runs are compared, and 1 given"),
        (["old", "new", "x"], "two runs are compared, and 3 given"),
        (["old", "nothing"], "there is no run 'nothing'"),
        (["old", "new", "--scores", "s@1", "s@2"], "name one run only"),
        (["old", "--scores", "s@1", "s@2", "--common"], "goes with none of"),
        (["old", "new", "--changed", "mood"], "'mood' is no setting of a run"),
        (["old", "new", "-k", "9"], "k = 9 needs"),
    ],
)
def test_what_does_not_go_together_is_refused(two, call, arguments, why):
    done = call("compare", *arguments)
    assert done.exit_code == 2
    assert why in done.stderr
    assert done.stdout == ""
