"""Two arms as two runs: side by side, in the same worlds, under one budget, resumable."""

from __future__ import annotations

import threading
from collections import Counter

import openai
import pytest

import trialtape as tt
from replay.home import Home
from replay.orchestration.ab_run import compare_arms, jobs_of, refuse_impossible_ks, run_arms
from replay.orchestration.arms import Arm
from replay.orchestration.run_terms import RunTerms
from replay.runs import load_run

asked: list[str] = []
answered: Counter[str] = Counter()
lock = threading.Lock()


@tt.tool(effect="read", external=False)
def look(what: str) -> str:
    with lock:
        asked.append(what)
    return what


@tt.tool(effect="read")
def quote(what: str) -> int:
    """Drifts: each real call answers something else."""
    with lock:
        answered[what] += 1
        return answered.total()


def steady(trial):
    look(f"{trial.settings['arm']} {trial.task.id}#{trial.index}")


SETTINGS = {"arm": "none", "passes": True}


def suite(agent=steady, ids="xy", scorers=(lambda view: view.cassette.header.config["settings"]["passes"],), **more):
    return tt.Suite([tt.Task(id=task) for task in ids], agent, scorers, settings=SETTINGS, **more)


@pytest.fixture(autouse=True)
def nothing_asked():
    asked.clear()
    answered.clear()


@pytest.fixture
def arms(tmp_path):
    def of(name, text=""):
        path = tmp_path / f"{name}.toml"
        path.write_text(f'{text}\n[settings]\narm = "{name}"\npasses = {"false" if name == "bad" else "true"}\n')
        return Arm.read(path)

    return of


@pytest.fixture
def both(tmp_path, arms):
    """Run the arms ``a`` and ``b``."""

    def run(made=None, names="ab", progress=None, **terms):
        jobs = jobs_of(made or suite(), [arms(name) for name in names], RunTerms(**{"trials": 2, **terms}))
        return run_arms(jobs, tmp_path, progress)

    return run


def test_the_trials_of_both_arms_stand_next_to_each_other_and_take_turns_at_being_first(both):
    one, two = both()
    assert asked == ["a x#0", "b x#0", "b y#0", "a y#0", "b x#1", "a x#1", "a y#1", "b y#1"]
    assert [(r.name, r.trials, dict(r.endings)) for r in (one, two)] == [
        ("a", 4, {"completed": 4}),
        ("b", 4, {"completed": 4}),
    ]


@pytest.mark.parametrize("ids", ["x", "xy", "xyz"])
def test_each_arm_is_first_as_often_as_the_other_of_each_task(both, ids):
    both(suite(ids=ids), trials=4)
    first = Counter(turn.partition("#")[0] for turn in asked[::2])
    assert first == {f"{arm} {task}": 2 for task in ids for arm in "ab"}


def test_each_run_keeps_what_its_arm_was_given(both, tmp_path):
    both()
    home = Home(tmp_path)
    assert [load_run(home, name).config["settings"]["arm"] for name in "ab"] == ["a", "b"]


def test_they_go_on_where_they_stopped(both):
    both(trials=1)
    asked.clear()
    one, two = both(trials=2)
    assert asked == ["b x#1", "a x#1", "a y#1", "b y#1"]
    assert (one.resumed, two.resumed) == (2, 2)


def test_an_arm_that_is_there_already_is_the_baseline(both, tmp_path):
    suite(steady).run("a", trials=2, home=tmp_path)  # made alone, under other settings
    with pytest.raises(tt.BadInput, match=r"run 'a' exists already with another configuration \(settings\.arm"):
        both()
    assert Home(tmp_path).runs() == ["a"]  # nothing of the other arm was begun


def test_the_same_run_twice_is_refused(both):
    with pytest.raises(tt.BadInput, match="both arms are run 'a'"):
        both(names="aa")


def test_each_arm_may_have_a_policy_of_its_own(arms, tmp_path):
    (tmp_path / "p.toml").write_text('refuse = ["tool:look"]')
    made = [arms("a", 'policy = "p.toml"'), arms("b")]
    one, two = run_arms(jobs_of(suite(), made, RunTerms(trials=1)), tmp_path, None)
    assert (dict(one.endings), dict(two.endings)) == ({"error": 2}, {"completed": 2})
    with pytest.raises(tt.BadInput, match=r"a\.toml names a policy, and so does --policy"):
        jobs_of(suite(), made, RunTerms(trials=1, policy=tmp_path / "p.toml"))


def test_another_agent_is_code_against_code(arms, tmp_path):
    (tmp_path / "agent_of_an_ab_run.py").write_text(
        "from tests.replay.orchestration.test_ab_run import look\n\ndef agent(trial):\n    look('by other code')\n"
    )
    made = [arms("a"), arms("b", 'agent = "agent_of_an_ab_run.py"')]
    run_arms(jobs_of(suite(), made, RunTerms(trials=1)), tmp_path, None)
    assert tt.open("b/x#0", home=tmp_path).steps[0].call.arguments == {"what": "by other code"}
    assert load_run(Home(tmp_path), "b").config["agent"].endswith("agent_of_an_ab_run.py")
    assert [c.name for c in compare_arms(Home(tmp_path), made).settings if c.named] == ["settings", "agent"]


# -- what holds over both ----------------------------------------------------------------------------------------------


def test_the_money_is_that_of_both_arms(both, provider):
    def ask(trial):
        with openai.OpenAI(api_key="k", base_url=provider.base_url, max_retries=0) as client:
            client.chat.completions.create(model="m", messages=[])

    made = suite(ask, prices={"m": tt.Price(input=0.0, output=1e6)})  # 5 output tokens: 5.0 for each trial
    with pytest.raises(tt.BudgetReached, match=r"runs 'a' and 'b': 15\.0000 of 12\.0000 is spent"):
        both(made, max_cost=12.0)
    assert provider.count == 3
    with pytest.raises(tt.BudgetReached):
        both(made, max_cost=12.0)
    assert provider.count == 3
    one, two = both(made, max_cost=100.0)
    assert provider.count == 8
    assert (one.cost, two.cost, one.resumed + two.resumed) == (15.0, 10.0, 3)


def test_the_progress_is_that_of_both_arms(both):
    class Told:
        def __init__(self):
            self.plan, self.ended = None, []

        def planned(self, total, done):
            self.plan = (total, done)

        def finished(self, trial, ending, passed):
            self.ended.append((trial.run, passed))

        def replaced(self, trial, ending):
            raise AssertionError

    told = Told()
    both(names=("a", "bad"), progress=told)
    assert told.plan == (8, 0)
    assert Counter(told.ended) == {("a", True): 4, ("bad", False): 4}


def test_as_many_trials_as_asked_for_run_at_once_over_both_arms(both):
    together = threading.Barrier(3, timeout=20)

    def waits(trial):
        together.wait()
        steady(trial)

    one, two = both(suite(waits, ids="xyz"), trials=1, concurrency=3)
    assert one.endings + two.endings == {"completed": 6}


def test_an_interrupt_stops_both_arms_and_they_go_on_later(both):
    def breaks(trial):
        steady(trial)
        if trial.settings["arm"] == "b":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        both(suite(breaks))
    asked.clear()
    one, two = both()
    assert (one.resumed, two.resumed, two.replaced) == (1, 0, 1)
    assert asked[0] == "b x#0"


# -- in the same worlds ------------------------------------------------------------------------------------------------


def asks_more(trial):
    look(trial.settings["arm"])
    quote("known")
    quote(f"new {trial.task.id}")


def answers(tmp_path, run, index=0):
    steps = tt.open(f"{run}/x#{index}", home=tmp_path).steps
    return [step.outcome.value for step in steps if step.call.name == "quote"]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_what_one_arm_calls_live_in_a_world_answers_the_other_there(both, tmp_path, concurrency):
    suite(lambda trial: quote("known")).run("base", trials=2, home=tmp_path)
    answered.clear()
    both(suite(asks_more), source="base", freeze="external", concurrency=concurrency)
    assert answered == {"new x": 2, "new y": 2}  # once in each world
    for index in range(2):
        assert answers(tmp_path, "a", index) == answers(tmp_path, "b", index)
    assert answers(tmp_path, "a", 0) != answers(tmp_path, "a", 1)
    found = compare_arms(Home(tmp_path), [Arm.read(tmp_path / f"{name}.toml") for name in "ab"])
    assert (found.worlds, found.shared_worlds) == ("base", False)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_trials_that_share_worlds_share_them_over_both_arms(both, tmp_path, concurrency):
    suite(lambda trial: quote("known")).run("base", trials=2, home=tmp_path)
    answered.clear()
    both(suite(asks_more), source="base", freeze="external", worlds=1, trials=3, concurrency=concurrency)
    assert answered == {"new x": 1, "new y": 1}
    assert len({tuple(answers(tmp_path, run, index)) for run in "ab" for index in range(3)}) == 1


@pytest.mark.parametrize(
    ("given", "ks", "why"),
    [
        ({"trials": 3}, (1, 4), "3 are planned: --trials 4"),
        ({"trials": 1, "worlds": 3, "source": "base", "freeze": "external"}, (4,), "3 are planned: --worlds 4"),
        (
            {"trials": 3, "worlds": 2, "source": "base", "freeze": "external"},
            (2,),
            r"only pass\^1 can be compared: -k 1",
        ),
    ],
)
def test_a_k_that_cannot_be_compared_is_refused_and_others_are_not(arms, given, ks, why):
    plan = jobs_of(suite(), [arms("one"), arms("two")], RunTerms(**given))[0].plan
    refuse_impossible_ks(plan, ())
    refuse_impossible_ks(plan, (1,))
    with pytest.raises(tt.BadInput, match=why):
        refuse_impossible_ks(plan, ks)


def test_arms_under_other_policies_share_nothing(arms, tmp_path):
    suite(lambda trial: quote("known")).run("base", trials=1, home=tmp_path)
    (tmp_path / "p.toml").write_text('freeze = ["external"]\nignore = ["noise"]')
    (tmp_path / "q.toml").write_text('freeze = ["external"]')
    made = [arms("a", 'policy = "p.toml"'), arms("b", 'policy = "q.toml"')]
    answered.clear()
    run_arms(jobs_of(suite(asks_more), made, RunTerms(trials=1, source="base")), tmp_path, None)
    assert answered == {"new x": 2, "new y": 2}


# -- compared ----------------------------------------------------------------------------------------------------------


def test_what_the_arms_say_is_meant_and_nothing_else_is_named(both, tmp_path, arms):
    both(names=("a", "bad"))
    found = compare_arms(Home(tmp_path), [arms("a"), arms("bad")])
    assert [(change.name, change.named) for change in found.settings] == [("settings", True)]
    assert found.not_changed == ()
    assert found.paired.rows[0].difference == -1.0
