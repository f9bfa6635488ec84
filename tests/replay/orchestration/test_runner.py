"""A run: tasks x trials, resumable at any moment."""

from __future__ import annotations

import asyncio
import functools
import threading
from types import SimpleNamespace

import openai
import pytest

import trialtape as tt
from replay.home import Home
from replay.runs import load_run
from replay.scores.scorefile import read_scores

PATIENCE = 20.0
ran: list[str] = []


@tt.tool(effect="read")
def look(name: str) -> str:
    ran.append(name)
    return name


@tt.tool(effect="write", external=False)
def put(db, key):
    db[key] = 1


def steady(trial):
    look(f"{trial.task.id}#{trial.index}")


class Told:
    """A progress that keeps what it is told."""

    def __init__(self):
        self.told = []

    def planned(self, total, done):
        self.told.append(("planned", total, done))

    def finished(self, trial, ending, passed):
        self.told.append((str(trial), ending.status, passed))

    def replaced(self, trial, ending):
        self.told.append(("replaced", str(trial), ending.cause))


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


def ask(provider, status=200, model="m"):
    with openai.OpenAI(api_key="k", base_url=provider.base_url, max_retries=0) as client:
        headers = {"x-status": str(status)}
        return client.chat.completions.create(model=model, messages=[], extra_headers=headers)


# -- order and independence --------------------------------------------------------------------------------------------


def test_trials_run_interleaved_over_the_tasks(run):
    result = run(steady, trials=3)
    assert ran == ["a#0", "b#0", "a#1", "b#1", "a#2", "b#2"]
    assert (result.trials, result.resumed, dict(result.endings)) == (6, 0, {"completed": 6})


def test_every_trial_starts_from_a_fresh_state(run):
    seen = []

    def agent(trial):
        seen.append(dict(trial.state))
        put(trial.state, f"key {trial.index}")

    run(agent, suite={"tasks": [tt.Task(id="a", state=lambda: {"start": 1})]}, trials=3)
    assert seen == [{"start": 1}] * 3


def test_a_state_that_trials_share_is_refused(run):
    shared = {"start": 1}
    with pytest.raises(tt.BadInput, match="does not make a fresh state"):
        run(lambda trial: put(trial.state, "k"), suite={"tasks": [tt.Task(id="a", state=lambda: shared)]})


def test_a_state_that_raises_is_told_with_its_task(run):
    with pytest.raises(tt.BadInput, match=r"task a: its state\(\) raised ZeroDivisionError"):
        run(steady, suite={"tasks": [tt.Task(id="a", state=lambda: 1 / 0)]})


def test_trials_have_stable_seeds_of_their_own(run):
    def seeds(name, **options):
        got = []
        run(lambda trial: (got.append(trial.seed), look("x")), name, **options)
        return got

    first = seeds("first")
    assert len(set(first)) == 4
    assert seeds("second") == first
    assert seeds("third", seed=1) != first


def test_as_many_trials_run_at_once_as_asked_for(run):
    barrier = threading.Barrier(3)

    def agent(trial):
        barrier.wait(PATIENCE)  # passes only if three are here at once
        look(f"{trial.task.id}#{trial.index}")

    result = run(agent, ids="abc", concurrency=3)
    assert dict(result.endings) == {"completed": 6}


# -- errors ------------------------------------------------------------------------------------------------------------


def test_an_infrastructure_error_is_tried_again_and_the_attempt_is_kept(tmp_path, provider, run):
    statuses = iter([503, 503, 200])
    told = Told()
    result = run(lambda trial: ask(provider, next(statuses)), ids="a", trials=1, retries=2, progress=told)
    assert dict(result.endings) == {"completed": 1}
    assert result.replaced == 2
    folder = tmp_path / "cassettes/r/a"
    assert sorted(p.name for p in folder.iterdir()) == ["0.attempt-1.cassette", "0.attempt-2.cassette", "0.cassette"]
    assert told.told == [
        ("planned", 1, 0),
        ("replaced", "r/a#0", "infrastructure"),
        ("replaced", "r/a#0", "infrastructure"),
        ("r/a#0", "completed", None),
    ]


def test_after_the_last_retry_the_error_stays_and_the_next_call_replaces_it(provider, run):
    result = run(lambda trial: ask(provider, 503), ids="a", trials=1, retries=1)
    assert dict(result.endings) == {"error": 1}
    assert provider.count == 2
    result = run(lambda trial: ask(provider), ids="a", trials=1, retries=1)
    assert dict(result.endings) == {"completed": 1}
    assert result.resumed == 0


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(3), asyncio.CancelledError()])
def test_the_agents_own_exception_is_not_tried_again_and_does_not_stop_the_run(run, error):
    def agent(trial):
        look(f"{trial.task.id}#{trial.index}")
        if trial.task.id == "a":
            raise error

    result = run(agent)
    assert ran == ["a#0", "b#0", "a#1", "b#1"]
    assert result.endings["completed"] == 2
    assert result.replaced == 0


def test_trials_in_which_nothing_was_captured_are_told(run):
    result = run(lambda trial: None, ids="a", trials=1)
    assert dict(result.endings) == {"error": 1}
    assert result.problems[0].startswith("r/a#0: 0 calls captured")


def test_all_trials_wait_after_the_provider_refused_one_for_its_rate(monkeypatch, provider, run):
    waited = []
    monkeypatch.setattr("adapters.httpx.time", SimpleNamespace(sleep=waited.append))

    def agent(trial):
        ask(provider, 429 if trial.task.id == "a" else 200)

    run(agent, trials=1, retries=0)
    assert len(waited) == 1
    assert 0 < waited[0] <= 1.0


# -- going on ----------------------------------------------------------------------------------------------------------


def test_finished_trials_are_not_run_again(run):
    scored = {"scorers": [lambda view: view.id.index == 0]}
    first = run(steady, suite=scored)
    ran.clear()
    told = Told()
    second = run(steady, suite=scored, progress=told)
    assert ran == []
    assert told.told == [("planned", 4, 4)]
    assert (second.resumed, second.endings, second.passed) == (4, first.endings, first.passed)
    assert first.passed == 2


def test_more_trials_may_be_asked_for_later(run):
    run(steady, trials=1)
    run(steady, trials=2)
    assert ran == ["a#0", "b#0", "a#1", "b#1"]


def test_trials_that_did_not_finish_are_set_aside_and_replaced(tmp_path, run):
    run(steady)
    whole = (tmp_path / "cassettes/r/a/0.cassette").read_bytes()
    (tmp_path / "cassettes/r/a/0.cassette").write_bytes(whole[:-40])  # killed before its end
    (tmp_path / "cassettes/r/b/1.cassette").write_bytes(b"")  # killed while it was created
    ran.clear()
    result = run(steady)
    assert ran == ["a#0", "b#1"]
    assert (result.resumed, result.replaced, dict(result.endings)) == (2, 2, {"completed": 4})
    assert (tmp_path / "cassettes/r/a/0.attempt-1.cassette").read_bytes() == whole[:-40]


def test_a_trial_that_was_killed_before_it_was_scored_is_scored_later(tmp_path, run):
    scored = {"scorers": [tt.scorer(name="s", version="1")(lambda view: True)]}
    run(steady, suite=scored)
    file = tmp_path / "cassettes/r/scores.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    ran.clear()
    result = run(steady, suite=scored)
    assert ran == []
    assert result.passed == 4
    assert sorted(score.trial for score in read_scores(Home(tmp_path), "r")) == ["r/a#0", "r/a#1", "r/b#0", "r/b#1"]


def test_an_interrupt_ends_running_trials_as_cancelled_and_the_run_goes_on_later(tmp_path, run):
    def agent(trial):
        look(f"{trial.task.id}#{trial.index}")
        if (trial.task.id, trial.index) == ("b", 0):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(agent)
    assert ran == ["a#0", "b#0"]
    assert tt.open("r/b#0", home=tmp_path).ending.status == "cancelled"
    run(steady)
    assert ran == ["a#0", "b#0", "b#0", "a#1", "b#1"]


# -- money -------------------------------------------------------------------------------------------------------------

PRICES = {"prices": {"m": tt.Price(input=0.0, output=1e6)}}  # an answer of 5 tokens costs 5


def test_the_run_stops_when_the_money_is_spent_and_goes_on_with_more(provider, run):
    agent = functools.partial(lambda trial: ask(provider))
    with pytest.raises(tt.BudgetReached, match=r"15\.0000 of 12\.0000 is spent"):
        run(agent, trials=3, suite=PRICES, max_cost=12.0)
    assert provider.count == 3
    with pytest.raises(tt.BudgetReached):
        run(agent, trials=3, suite=PRICES, max_cost=12.0)  # the budget is the run's
    assert provider.count == 3
    result = run(agent, trials=3, suite=PRICES, max_cost=100.0)
    assert provider.count == 6
    assert (result.resumed, result.cost) == (3, 15.0)


def test_an_unknown_price_stops_the_run_with_the_models_name(provider, run):
    with pytest.raises(tt.BadInput, match="the cost of model 'm' is unknown"):
        run(lambda trial: ask(provider), suite={"prices": {"other": tt.Price(1, 1)}}, max_cost=1.0)
    assert provider.count == 1


def test_a_budget_without_any_price_of_the_model_stops_the_run(provider, run):
    with pytest.raises(tt.BadInput, match="the cost of model 'm' is unknown"):
        run(lambda trial: ask(provider), max_cost=1.0)
    assert provider.count == 1


def test_a_budget_takes_prices_from_the_table(provider, run):
    result = run(lambda trial: ask(provider, model="gpt-4o-2024-08-06"), trials=1, max_cost=1.0)
    used = tt.open("r/a#0", home=result.home).steps[0].reply.usage
    once = (used.input - used.cached) * 2.5 + used.cached * 1.25 + used.output * 10
    assert result.cost == pytest.approx(2 * once / 1e6)


def test_without_prices_and_budget_no_model_stops_the_run(provider, run):
    assert run(lambda trial: ask(provider)).cost is None


def test_the_suites_prices_stay_with_the_run(provider, run, tmp_path):
    run(lambda trial: ask(provider), trials=1, suite=PRICES)
    about = load_run(Home(tmp_path), "r").about
    assert about["prices"] == {"m": {"input": 0.0, "output": 1e6, "cached": None, "up_to": None, "written": None}}


# -- frozen runs -------------------------------------------------------------------------------------------------------


def test_an_unanswered_trial_does_not_stop_the_run(run):
    run(steady, "base")
    result = run(
        lambda trial: look("other" if trial.index else f"{trial.task.id}#0"),
        "frozen",
        freeze="tool",
        source="base",
        offline=True,
    )
    assert dict(result.endings) == {"completed": 2, "unanswered": 2}


def test_a_run_that_is_being_carried_out_is_left_alone(tmp_path, run):
    told = []

    def agent(trial):
        look(f"{trial.task.id}#{trial.index}")
        with pytest.raises(tt.BadInput, match="is being carried out right now") as caught:
            run(steady, trials=1)
        told.append(caught.value)

    result = run(agent, ids="ab", trials=1)
    assert dict(result.endings) == {"completed": 2}
    assert ran == ["a#0", "b#0"]
    assert len(told) == 2
    assert not list(tmp_path.glob("cassettes/r/*/*attempt*"))


def test_20_tasks_with_8_trials_each_are_160_trials(tmp_path):
    suite = tt.Suite([tt.Task(id=str(n)) for n in range(20)], steady)
    run = suite.run("r", trials=8, home=tmp_path)
    assert run.trials == 160
    assert sum(1 for _ in Home(tmp_path).trials("r")) == 160
