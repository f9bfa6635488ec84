"""Continuations are carried out by the suite's agent, each point in a run of its own."""

from __future__ import annotations

import functools
import random

import pytest

import trialtape as tt
from cassettes.model import TrialId
from replay.branching.fork_run import Terms, continue_from
from replay.branching.forking import Wish
from replay.given_policy import GivenPolicy
from replay.home import Home

ran: list[str] = []


@tt.tool(effect="read")
def look(number: int, drawn: float = 0.0) -> int:
    ran.append(f"look {number}")
    return number


@tt.tool(effect="write", external=False, ignore=["db"])
def put(db: dict, key: str) -> str:
    ran.append(f"put {key}")
    db[key] = 1
    return key


def agent(trial):
    look(1)
    put(trial.state, "done")
    look(2)


def drawing(trial):
    for number in range(3):
        look(number, random.random())


class Callable:
    def __call__(self, trial):
        agent(trial)


@pytest.fixture(autouse=True)
def _nothing_ran():
    ran.clear()


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def recorded(home):
    """Record a suite once; returns it with the view of its trial."""

    def make(act=agent, **options):
        suite = tt.Suite([tt.Task(id="t", state=dict, expected={"done": 1})], act, **options.pop("suite", {}))
        suite.run("base", trials=1, home=home.root, **options)
        ran.clear()
        return suite, tt.open("base/t#0", home=home.root)

    return make


def carried(view, suite, home, *points, terms=None, wish=None, told=None):
    seen = [] if told is None else told

    def progress(at, run):
        seen.append((at, run))

    return [
        *continue_from(view, dict.fromkeys(points, wish or Wish()), suite, home, terms or Terms(trials=2), progress)
    ]


def test_each_point_has_a_run_of_its_own(home, recorded):
    suite, view = recorded()
    told = []
    first, second = carried(view, suite, home, 1, 3, told=told)
    assert told == [(1, "base.fork-t-0-at1"), (3, "base.fork-t-0-at3")]
    assert ran == ["put done", "look 2"] * 2
    assert first.trials == [TrialId("base.fork-t-0-at1", "t", index) for index in (0, 1)]
    assert (first.result.passed, second.result.passed) == (2, 2)


def test_they_are_carried_out_one_after_the_other(home, recorded):
    suite, view = recorded()
    made = continue_from(view, {1: Wish(), 2: Wish()}, suite, home, Terms(trials=1), lambda at, run: None)
    next(made)
    assert ran == ["put done", "look 2"]
    next(made)
    assert ran == ["put done", "look 2", "look 2"]


def test_many_at_once(home, recorded):
    suite, view = recorded()
    [made] = carried(view, suite, home, 1, terms=Terms(trials=8, concurrency=4))
    assert made.result.passed == 8
    assert sorted(ran) == ["look 2"] * 8 + ["put done"] * 8


def test_a_point_that_cannot_be_is_told_before_anything_runs(home, recorded):
    suite, view = recorded()
    with pytest.raises(tt.BadInput, match="no step 9 to fork at"):
        carried(view, suite, home, 1, 9)
    assert ran == []
    assert home.runs() == ["base"]


def test_the_ignored_arguments_of_the_trial_are_ignored(home, recorded):
    suite, view = recorded(drawing, ignore=["drawn"])
    [made] = carried(view, suite, home, 2)
    assert made.result.endings == {"completed": 2}
    plain = tt.Suite([tt.Task(id="t", state=dict)], drawing)
    [made] = carried(view, plain, home, 3, wish=Wish(GivenPolicy(ignore="number")))
    assert made.result.endings == {"completed": 2}


def test_the_redaction_rules_of_the_suite_hold(home, recorded):
    suite, view = recorded(suite={"redact": "done"})
    [made] = carried(view, suite, home, 1)
    assert made.result.endings == {"completed": 2}
    for path in home.root.rglob("*.cassette"):
        assert tt.open(path).steps[1].call.arguments != {"key": "done"}


@pytest.mark.parametrize("act", [agent, Callable(), functools.partial(agent)], ids=["function", "object", "partial"])
def test_any_agent_goes_on(home, recorded, act):
    suite, view = recorded(act)
    [made] = carried(view, suite, home, 1)
    assert made.result.passed == 2


def test_an_agent_may_be_async(home, recorded):
    async def asynchronous(trial):
        agent(trial)

    suite, view = recorded(asynchronous)
    [made] = carried(view, suite, home, 2)
    assert made.result.passed == 2


def test_an_interrupted_continuation_is_replaced(home, recorded):
    suite, view = recorded()
    stop = True

    def stopping(trial):
        agent(trial)
        if stop:
            raise KeyboardInterrupt

    suite = tt.Suite(suite.tasks, stopping)
    with pytest.raises(KeyboardInterrupt):
        carried(view, suite, home, 1)
    stop = False
    [made] = carried(view, suite, home, 1)
    assert made.result.endings == {"completed": 2}
    assert made.result.replaced >= 1


def test_trials_that_recorded_random_numbers_go_on_one_at_a_time(home, recorded):
    suite, view = recorded(drawing, ambient="random")
    with pytest.raises(tt.BadInput, match="one after the other: --concurrency 1"):
        carried(view, suite, home, 1, terms=Terms(trials=2, concurrency=2))
    [made] = carried(view, suite, home, 1, terms=Terms(trials=3))
    drawn = {tt.open(str(trial), home=home.root).steps[2].call.arguments["drawn"] for trial in made.trials}
    assert len(drawn) == 3


def test_the_effects_that_a_file_declares_hold_after_the_fork(home, tmp_path):
    @tt.tool
    def pay() -> str:
        return "paid"

    @tt.tool
    def balance() -> int:
        return 7

    def paying(trial):
        balance()
        pay()
        balance()

    suite = tt.Suite([tt.Task(id="t", state=dict)], paying)
    suite.run("base", trials=1, home=home.root)
    view = tt.open("base/t#0", home=home.root)
    [undeclared] = carried(view, suite, home, 1)
    assert undeclared.result.endings == {"error": 2}, "balance may have written, and pay may notice it"
    effects = tmp_path / "effects.toml"
    effects.write_text('[tools.balance]\neffect = "read"\n')
    wish = Wish(GivenPolicy(effects=effects))
    [declared] = carried(view, suite, home, 1, wish=wish, terms=Terms(trials=2, name="declared"))
    assert declared.result.endings == {"completed": 2}
