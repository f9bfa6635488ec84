from __future__ import annotations

import pytest

import trialtape as tt
from replay.scoring import attack_success, attack_success_by, task_checks


def test_a_suite_needs_tasks_with_ids_of_their_own():
    with pytest.raises(tt.BadInput, match="has no task"):
        tt.Suite(tasks=[], agent=print)
    with pytest.raises(tt.BadInput, match="two tasks with the id 'x'"):
        tt.Suite(tasks=[tt.Task(id="x"), tt.Task(id="x")], agent=print)


def test_the_checks_of_the_tasks_are_the_default_scorer():
    assert tt.Suite([tt.Task(id="x")], print).scorers == (task_checks,)


def test_any_function_is_a_scorer_and_the_first_is_the_primary_one(tmp_path):
    @tt.tool(effect="read")
    def look():
        return 1

    def first(view):
        return True

    @tt.scorer(version="7")
    def second(view):
        return False

    suite = tt.Suite([tt.Task(id="x")], lambda trial: look(), [first, second])
    assert [scorer.name for scorer in suite.scorers] == ["first", "second"]
    assert suite.run("r", trials=2, home=tmp_path).passed == 2


def test_what_is_no_scorer_is_refused():
    with pytest.raises(tt.BadInput, match="is no scorer"):
        tt.Suite([tt.Task(id="x")], print, [3])


def test_one_selector_or_several_may_be_frozen(tmp_path):
    @tt.tool(effect="read")
    def look():
        return 1

    suite = tt.Suite([tt.Task(id="x")], lambda trial: look())
    suite.run("base", trials=1, home=tmp_path)
    for name, freeze in (("one", "tool"), ("many", ["tool:look", "external"])):
        result = suite.run(name, trials=1, freeze=freeze, source="base", home=tmp_path)
        assert dict(result.endings) == {"completed": 1}
        assert tt.open(f"{name}/x#0", home=tmp_path).coverage == {"own": 1}


def test_where_a_task_is_attacked_a_scorer_tells_whether_the_attack_succeeded():
    injections = [tt.Injection("PAY")]
    attacked = tt.Task(id="a", injections=injections, attack_goal={"said": "yes"})
    assert tt.Suite([tt.Task(id="x"), attacked], print).scorers == (task_checks, attack_success)
    own = attack_success_by(lambda view: True)
    assert tt.Suite([attacked], print, [task_checks, own]).scorers == (task_checks, own)
    untold = tt.Task(id="b", injections=injections)
    assert tt.Suite([untold], print, [own]).scorers == (own,)
    with pytest.raises(tt.BadInput, match="task b is attacked, but neither"):
        tt.Suite([attacked, untold], print)
