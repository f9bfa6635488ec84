"""Two runs compared: what is paired, what is refused, and what is told."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

import trialtape as tt
from cassettes.model import TrialId
from replay.analysis.run_compare import compare_runs
from replay.analysis.run_settings import DECISIVE, SETTINGS
from replay.report.compare_text import compared_notes
from replay.scores.scorefile import append_scores
from replay.stats import fixed_differences, paired_differences
from replay.store import Store
from tests import factories
from tests.replay.verdicts import CAPPED, INFRASTRUCTURE, UNANSWERED, make_run, passes, score_of

BEFORE = {"a": passes(4, 4), "b": passes(2, 4), "c": passes(1, 4)}
AFTER = {"a": passes(4, 4), "b": passes(4, 4), "c": passes(0, 4)}


@pytest.fixture
def compare(home):
    def told(**options):
        with Store(home) as store:
            assert store.refresh() == []
            return compare_runs(store, "old", "new", **options)

    return told


def model(name, actor="agent", **arguments):
    messages = arguments.pop("messages", [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "?"}])
    call = factories.call("model", name, actor=actor, arguments={"model": name, "messages": messages, **arguments})
    return factories.interaction(0, call=call)


def test_runs_are_paired_by_task(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", dict(reversed(AFTER.items())))
    found = compare()
    numbers = [4, 2, 1], [4, 4, 4], [4, 4, 0], [4, 4, 4]

    assert found.paired == paired_differences(*numbers)
    assert found.fixed == fixed_differences(*numbers)
    assert (found.trials_a, found.trials_b, found.unpaired, found.whole) == (12, 12, (), ())
    assert (found.settings, found.unknown_tasks, found.given) == ((), 0, (None, None))


def test_tasks_that_moved_are_told_with_their_failed_trials(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", AFTER)
    first, second = compare().moved

    assert (first.task, first.a, first.b, first.change) == ("b", 2, 4, 0.5)
    assert (first.failed_a, first.failed_b) == (("old/b#2", "old/b#3"), ())
    assert (second.task, second.change) == ("c", -0.25)
    assert second.failed_b == ("new/c#0", "new/c#1", "new/c#2", "new/c#3")


def test_the_conventions_of_stats_hold(home, compare):
    make_run(home, "old", {"a": [True, True, INFRASTRUCTURE], "b": [True, CAPPED]})
    make_run(home, "new", {"a": [True, False], "b": [True, True]})
    found = compare()

    assert (found.left_out_a, found.trials_a) == ({"error (infrastructure)": 1}, 4)
    assert found.paired.rows[0].a == 0.75
    assert compare(errors="fail").paired.thinned == 1


def test_n_may_differ(home, compare):
    make_run(home, "old", {"a": passes(3, 8), "b": passes(8, 8)})
    make_run(home, "new", {"a": passes(2, 4), "b": passes(4, 4)})
    found = compare()

    assert [row.k for row in found.paired.rows] == [1, 2, 3, 4]
    assert (found.paired.thinned, found.paired.thinnings) == (2, 100)


def talk(caps=None, **options):
    """The configuration of a run with a dialogue."""
    dialogue = {"mode": "default", "versions": {"prompt": "1"}, "user": {"model": "u", "prompt": "a"}, **options}
    return {"config": {"dialogue": dialogue, **({"caps": caps} if caps else {})}}


@pytest.mark.parametrize(
    ("options", "other", "name"),
    [
        ({"interactions": [model("m-1")]}, {"interactions": [model("m-2")]}, "model: m-1 → m-2"),
        (
            {"interactions": [model("m", actor="user")]},
            {"interactions": [model("n", actor="user")]},
            "user-model: m → n",
        ),
        (
            {"interactions": [model("m", temperature=0)]},
            {"interactions": [model("m", temperature=1)]},
            "parameters: agent",
        ),
        ({"config": {"timeout": 10}}, {"config": {"timeout": 20}}, "caps: timeout 10 → timeout 20"),
        ({}, {"config": {"settings": {"depth": 2}}}, "settings: depth none → depth 2"),
        ({}, {"config": {"agent": "b.py:agent"}}, "agent: none → b.py:agent"),
        ({"config": {"env": {"M": "1"}}}, {"config": {"env": {"M": "2"}}}, "env: M 1 → M 2"),
        (talk(), talk(caps={"max_actions": 9}), "caps: caps none → caps {'max_actions': 9}"),
        (talk(), talk(mode="oracle-plan"), "mode: default → oracle-plan"),
        (talk(), talk(versions={"prompt": "2"}), "dialogue: versions .*'1'.* → versions .*'2'"),
        (talk(), talk(user={"model": "u", "prompt": "b"}), "dialogue: user .*'a'.* → user .*'b'"),
        (
            {"config": {"freeze": ["external"], "source": "x"}},
            {"config": {"freeze": ["tool"], "source": "x"}},
            r"freezing: freeze external → freeze tool",
        ),
        ({}, {"config": {"freeze": ["external"], "source": "x"}}, "freezing: freeze none"),
    ],
)
def test_a_decisive_difference_is_refused_by_name_unless_it_was_meant(home, compare, options, other, name):
    make_run(home, "old", BEFORE, **options)
    make_run(home, "new", AFTER, **other)
    with pytest.raises(tt.BadInput, match=name):
        compare()
    setting = name.partition(":")[0]
    assert setting in DECISIVE

    found = compare(changed=[setting])
    assert [(change.name, change.named) for change in found.settings] == [(setting, True)]
    assert found.not_changed == ()


def test_that_a_mode_without_a_user_has_no_user_is_told_by_the_mode_alone(home, compare):
    asked = [model("m"), evolve(model("u", actor="user", temperature=1), step=1)]
    make_run(home, "old", BEFORE, **talk(), interactions=asked)
    make_run(home, "new", AFTER, **talk(mode="no-user", user=None, opening="Hi"), interactions=asked[:1])
    with pytest.raises(tt.BadInput, match=r"more than luck: mode: default → no-user\. If .*--changed mode$"):
        compare()
    found = compare(changed=["mode"])
    assert [str(change) for change in found.settings] == ["mode: default → no-user"]
    first, last = found.paired.rows[0], found.paired.rows[-1]
    told = f"delta no-user - default: pass^1 {first.difference:+.3f}, pass^{last.k} {last.difference:+.3f}"
    assert next(compared_notes(found)) == told


def test_the_difference_is_that_to_the_default_mode_whichever_run_came_first(home, compare):
    make_run(home, "old", AFTER, **talk(mode="no-user"))
    make_run(home, "new", BEFORE, **talk())
    found = compare(changed=["mode"])
    assert next(compared_notes(found)).startswith(
        f"delta no-user - default: pass^1 {-found.paired.rows[0].difference:+.3f}"
    )


def test_other_scorers_are_refused_and_may_be_named(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", AFTER, scorer="s@2")
    with pytest.raises(tt.BadInput, match=r"scorer: s@1 → s@2.*--changed scorer"):
        compare()
    assert compare(changed=["scorer"]).score == ("s@1", "s@2")


def test_one_score_may_be_chosen_for_both(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", AFTER, scorer="s@2")
    append_scores(home, "new", [score_of(home, TrialId("new", task, 0), True, "s@1") for task in "abc"])

    assert compare(score="s@1").paired.rows[0].b == 1.0


def test_prompts_tools_and_commits_are_told_and_never_refused(home, compare):
    prompts = (
        [{"role": "system", "content": text}, {"role": "user", "content": "?"}] for text in ("Be kind.", "Be short.")
    )
    for run, verdicts, messages, commit in zip(("old", "new"), (BEFORE, AFTER), prompts, "ab", strict=True):
        make_run(
            home,
            run,
            verdicts,
            about={"git": {"commit": commit * 40, "changed": run == "new"}},
            interactions=[model("m", messages=messages, tools=[{"name": run}])],
        )
    found = compare(changed=["prompt"])
    told = {change.name: str(change) for change in found.settings}

    assert told["prompt"] == "prompt: as of 3 tasks → another for 3 of them"
    assert told["git"] == f"git: {'a' * 10} → {'b' * 10} with changes"
    assert [(change.name, change.named) for change in found.settings] == [
        ("prompt", True),
        ("tools", False),
        ("git", False),
    ]


def test_a_change_that_was_named_and_is_not_there_is_told(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", AFTER)

    assert compare(changed=["prompt", "git"]).not_changed == ("prompt", "git")


def digests(**changed):
    return {task: {"instruction": changed.get(task, task), "expected": task, "state": None} for task in "abcd"}


def test_other_tasks_are_refused_by_name(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", {"a": passes(4, 4), "b": passes(1, 4), "d": passes(1, 4)}, digests=digests(b="other"))
    with pytest.raises(tt.BadInput, match=r"b changed \(instruction\), c removed, d added; --common"):
        compare()


def test_common_pairs_what_did_not_change_and_tells_the_effect_of_the_rest(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", {"a": passes(4, 4), "b": passes(1, 4), "d": passes(3, 4)}, digests=digests(b="other"))
    found = compare(common=True)

    assert (found.paired.tasks, found.paired.rows[0].difference) == (1, 0.0)
    assert [(t.task, t.change, t.parts, t.a, t.b) for t in found.unpaired] == [
        ("b", "changed", ("instruction",), (2, 4), (1, 4)),
        ("c", "removed", (), (1, 4), None),
        ("d", "added", (), None, (3, 4)),
    ]
    row = found.whole[0]
    assert (row.a, row.b) == (pytest.approx(7 / 12), pytest.approx(8 / 12))
    assert (row.whole, row.effect) == (pytest.approx(1 / 12), pytest.approx(1 / 12))


def test_a_task_of_which_nothing_counts_is_told(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", {**AFTER, "c": [INFRASTRUCTURE] * 4})
    found = compare()

    assert [(task.task, task.change, task.b) for task in found.unpaired] == [("c", "uncounted", None)]
    assert found.paired.tasks == 2


def test_runs_without_a_common_task_are_refused(home, compare):
    make_run(home, "old", {"a": passes(1, 2)})
    make_run(home, "new", {"b": passes(1, 2)})
    with pytest.raises(tt.BadInput, match="no task in common"):
        compare(common=True)


FROZEN = {"config": {"freeze": ["external"], "source": "base"}, "pool": {"base/a#0": "1", "base/a#1": "2"}}


def test_runs_in_the_same_worlds_are_paired_by_world(home, compare):
    make_run(home, "old", {"a": [*passes(5, 19), UNANSWERED]}, **FROZEN)
    make_run(home, "new", {"a": [UNANSWERED, *passes(6, 19)]}, **FROZEN)
    found = compare()

    assert (found.worlds, found.given, found.other_worlds) == ("base", ("base", "base"), (1, 1))
    assert (found.trials_a, found.trials_b) == (18, 18)
    assert (found.paired.rows[0].a, found.paired.rows[0].b) == (pytest.approx(4 / 18), pytest.approx(6 / 18))


def test_many_unanswered_trials_have_no_difference(home, compare):
    make_run(home, "old", {"a": passes(1, 3)}, **FROZEN)
    make_run(home, "new", {"a": [True, True, UNANSWERED]}, **FROZEN)
    with pytest.raises(tt.BadInput, match=r"run 'new': 1 of 3 trials ended unanswered, and not at random"):
        compare()
    assert compare(errors="fail").trials_b == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changed": ["colour"]}, f"'colour' is no setting of a run; known are {', '.join(SETTINGS)}"),
        ({"ks": [5]}, "k = 5 needs as many counted trials of every task, but 'a' has 4 in 'old'"),
        ({"score": "other"}, "has no score 'other'"),
    ],
)
def test_what_cannot_be_told_is_refused(home, compare, options, message):
    make_run(home, "old", BEFORE)
    make_run(home, "new", AFTER)
    with pytest.raises(tt.BadInput, match=message):
        compare(**options)


def test_a_run_is_not_compared_with_itself(home):
    make_run(home, "old", BEFORE)
    with Store(home) as store, pytest.raises(tt.BadInput, match="compared with itself"):
        compare_runs(store, "old", "old")


def test_as_data_it_is_json(home, compare):
    make_run(home, "old", BEFORE)
    make_run(home, "new", AFTER)
    document = json.loads(json.dumps(compare().to_dict(), allow_nan=False))

    assert [task["change"] for task in document["moved"]] == [0.5, -0.25]
    assert document["paired"]["rows"][0]["difference"] == pytest.approx(1 / 12)


def test_what_a_benchmark_makes_comparable_is_decisive(home, compare):
    told = {"mode": "import", "domain": "retail", "domain_commit": "a1", "policy": "digest 1"}
    make_run(home, "old", BEFORE, config=told)
    make_run(home, "new", AFTER, config={**told, "domain_commit": "b2", "ablation": "no-user", "policy": "digest 2"})
    with pytest.raises(
        tt.BadInput, match="benchmark: ablation none, domain_commit a1, policy digest 1 → ablation no-u"
    ):
        compare()
    (change,) = compare(changed=["benchmark"]).settings
    assert (change.name, change.named) == ("benchmark", True)


def published(shares, of=50):
    """A run of one trial per task in which this share passed."""
    return {str(task): [task < round(shares * of)] for task in range(of)}


def test_the_gap_between_modes_is_a_difference_of_two_runs(home, compare):
    """Without a user to talk to, gpt-4.1 gains about 18 points: the mode is named, and the gap has an interval."""
    make_run(home, "old", published(0.34), config={"mode": "import", "domain": "telecom"})
    make_run(home, "new", published(0.52), config={"mode": "import", "domain": "telecom", "ablation": "no-user"})
    found = compare(changed=["benchmark"])
    assert found.paired.rows[0].difference == pytest.approx(0.18)
    assert found.paired.rows[0].low > 0
    assert [str(change) for change in found.settings] == ["benchmark: ablation none → ablation no-user"]
