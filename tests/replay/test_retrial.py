from __future__ import annotations

import openai
import pytest

import trialtape as tt
from replay.retrial import retrial
from replay.view import View


@tt.tool(effect="read", name="stock")
def _stock(sku: str) -> int:
    return _stock.left.pop()


@tt.tool(effect="write", external=False, ignore=["db"], name="sell")
def _sell(db: dict, sku: str, number: int) -> str:
    db[sku] -= number
    return "sold"


TASK = tt.Task(id="t", instruction="sell two", state=lambda: {"A": 5}, expected={"A": 3})


def suite(agent, *, task=TASK, **options):
    return tt.Suite(tasks=[task], agent=agent, **options)


def agent(number, *, looks=1):
    """Looks up the stock, then sells so many."""

    def run(trial):
        for _ in range(looks):
            _stock("A")
        _sell(trial.state, "A", number)

    return run


@pytest.fixture(autouse=True)
def live_stock():
    """What the live tool answers, once each: a retrial must not ask it."""
    _stock.left = [7]


@pytest.fixture
def recorded(tmp_path):
    """Record a trial; gives its cassette."""

    def record(agent, **options):
        made = suite(agent, **options)
        made.run("r", trials=1, home=tmp_path / "home")
        return tmp_path / "home" / "cassettes" / "r" / "t" / "0.cassette"

    return record


def test_the_same_agent_fails_as_it_did_without_asking_the_outside(recorded):
    cassette = recorded(agent(4))
    again = retrial(cassette, suite=suite(agent(4)))
    assert not again.passed
    assert again.writes == [("sell", {"sku": "A", "number": 4})]
    assert again.explain([("sell", {"sku": "A", "number": 2})]) == (
        "r/t#0: first divergent write: other arguments: step 1 sell: number is 4, not 2\n"
        "r/t#0: failed: final_state: wrong: path A, expected 3, found 1"
    )


def test_a_mended_agent_passes(recorded):
    again = retrial(recorded(agent(4)), suite=suite(agent(2)))
    assert again.passed
    assert again.wrote([("sell", {"sku": "A", "number": 2})])
    assert again.explain() == "r/t#0: nothing speaks against it"


def test_other_writes_may_pass_too(recorded):
    def twice(trial):
        for _ in range(2):
            _sell(trial.state, "A", 1)

    again = retrial(recorded(agent(4)), suite=suite(twice))
    assert again.passed
    assert not again.wrote([("sell", {"sku": "A", "number": 2})])


def test_what_was_not_recorded_is_told_and_nothing_is_guessed(recorded):
    def other(trial):
        _stock("B")
        _sell(trial.state, "A", 2)

    again = retrial(recorded(agent(4)), suite=suite(other))
    assert not again.passed
    assert again.stopped.startswith("step 0: tool stock has no answer in the world of r/t#0 (missed):")
    told = again.explain([("sell", {"sku": "A", "number": 2})])
    assert "the agent now asks something that was not recorded" in told
    assert "divergent" not in told  # a write that is missing so far may still have come


def test_a_divergent_write_before_that_is_told(recorded):
    def other(trial):
        _sell(trial.state, "A", 4)
        _stock("B")

    told = retrial(recorded(agent(4)), suite=suite(other)).explain([("sell", {"sku": "A", "number": 2})])
    assert told.startswith("r/t#0: first divergent write: other arguments: step 0 sell: number is 4, not 2\n")
    assert "the agent now asks something that was not recorded" in told


def test_the_agents_own_exception_is_told(recorded):
    def raises(trial):
        _stock("A")
        raise ValueError("broken")

    again = retrial(recorded(agent(4)), suite=suite(raises))
    assert not again.passed
    assert "r/t#0: the agent raised ValueError: broken" in again.explain()


def test_a_capped_retrial_does_not_pass_though_the_state_is_right(recorded):
    def capped(trial):
        agent(2)(trial)
        trial.capped("30 steps")

    again = retrial(recorded(agent(4)), suite=suite(capped))
    assert not again.passed
    assert "the agent ended capped (30 steps)" in again.explain()


def test_without_a_check_writes_decide(recorded):
    task = tt.Task(id="t", state=lambda: {"A": 5})
    cassette = recorded(agent(4), task=task)
    again = retrial(cassette, suite=suite(agent(4), task=task))
    assert again.score.passed is None
    assert again.wrote([("sell", {"sku": "A", "number": 4})])
    wanted = [("sell", {"sku": "A", "number": 2})]
    assert not again.wrote(wanted)
    assert again.explain(wanted) == "r/t#0: first divergent write: other arguments: step 1 sell: number is 4, not 2"
    assert "it cannot be scored" in again.explain()


def test_a_changed_task_is_told(recorded):
    cassette = recorded(agent(4))
    changed = tt.Task(id="t", instruction="sell three", state=lambda: {"A": 6}, expected={"A": 3})
    told = retrial(cassette, suite=suite(agent(4), task=changed)).explain()
    assert "the task is another than when it was recorded: its instruction and state changed" in told


def test_the_seed_and_the_index_are_those_of_the_recording(recorded):
    seen = []

    def tells(trial):
        seen.append((trial.seed, trial.index))
        agent(2)(trial)

    cassette = recorded(tells)
    retrial(cassette, suite=suite(tells))
    assert seen[0] == seen[1]


def test_nothing_is_left_behind(recorded, tmp_path):
    cassette = recorded(agent(4))
    before = sorted(tmp_path.rglob("*"))
    content = cassette.read_bytes()
    retrial(cassette, suite=suite(agent(2)))
    assert sorted(tmp_path.rglob("*")) == before
    assert cassette.read_bytes() == content


@tt.tool(effect="read", name="log_in")
def _log_in(password: str) -> str:
    return "welcome"


def test_other_credentials_than_when_it_was_recorded_do_not_matter(recorded):
    def logs_in(password):
        def run(trial):
            assert _log_in(password) == "welcome"
            _sell(trial.state, "A", 2)

        return run

    cassette = recorded(logs_in("hunter2-hunter2"))
    again = retrial(cassette, suite=suite(logs_in("another-password")))
    assert again.passed, again.explain()


@tt.tool(name="ask")
def _ask(question: str) -> str:
    return _stock.left.pop() and "yes"


def test_effects_that_a_file_declared_hold_again(tmp_path):
    def asks(trial):
        for question in ("a", "b"):
            _ask(question)
        _sell(trial.state, "A", 2)

    _stock.left = [1, 1]
    file = tmp_path / "effects.toml"
    file.write_text('[tools.ask]\neffect = "read"\n')
    suite(asks).run("r", trials=1, home=tmp_path / "home", effects=file)
    cassette = tmp_path / "home" / "cassettes" / "r" / "t" / "0.cassette"
    again = retrial(cassette, suite=suite(asks))
    assert again.passed, again.explain()
    assert {step.call.effect for step in again.steps if step.call.name == "ask"} == {"read"}


# -- live --------------------------------------------------------------------------------------------------------------


def asks(url, text, number):
    """Asks a model, then sells so many."""

    def run(trial):
        with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
        _stock("A")
        _sell(trial.state, "A", number)

    return run


def test_a_prompt_that_was_not_recorded_needs_the_model(recorded, provider):
    cassette = recorded(asks(provider.base_url, "old prompt", 4))
    again = retrial(cassette, suite=suite(asks(provider.base_url, "new prompt", 2)))
    assert "step 0: model m has no answer" in again.stopped
    assert len(provider.requests) == 1


def test_live_asks_only_what_was_not_recorded_and_keeps_the_answers(recorded, provider, monkeypatch):
    cassette = recorded(asks(provider.base_url, "old prompt", 4))
    mended = suite(asks(provider.base_url, "new prompt", 2))
    monkeypatch.setenv("TRIALTAPE_LIVE", "1")
    assert retrial(cassette, suite=mended).passed
    assert [request.json["messages"][0]["content"] for request in provider.requests] == ["old prompt", "new prompt"]
    monkeypatch.delenv("TRIALTAPE_LIVE")
    assert retrial(cassette, suite=mended).passed
    assert len(provider.requests) == 2
    assert View(cassette).ending.status == "completed"


def test_live_keeps_nothing_of_a_retrial_that_fails(recorded, provider):
    cassette = recorded(asks(provider.base_url, "old prompt", 4))
    content = cassette.read_bytes()
    assert not retrial(cassette, suite=suite(asks(provider.base_url, "new prompt", 3)), live=True).passed
    assert cassette.read_bytes() == content


def test_live_does_not_ask_again_what_is_recorded(recorded, provider):
    cassette = recorded(asks(provider.base_url, "prompt", 4))
    assert retrial(cassette, suite=suite(asks(provider.base_url, "prompt", 2)), live=True).passed
    assert len(provider.requests) == 1


def test_what_is_not_frozen_is_live(recorded, provider):
    cassette = recorded(asks(provider.base_url, "prompt", 4))
    assert retrial(cassette, suite=suite(asks(provider.base_url, "prompt", 2)), freeze=["external"]).passed
    assert len(provider.requests) == 2


# -- what cannot be tried ----------------------------------------------------------------------------------------------


def test_a_missing_cassette_is_told(tmp_path):
    with pytest.raises(tt.BadInput, match="the test and its cassette belong together"):
        retrial(tmp_path / "gone.cassette", suite=suite(agent(2)))


def test_a_task_that_is_gone_is_told(recorded):
    with pytest.raises(tt.BadInput, match="the suite has no task 't' any more; its tasks: u"):
        retrial(recorded(agent(4)), suite=suite(agent(2), task=tt.Task(id="u")))


def test_a_suite_file_is_loaded(recorded, tmp_path):
    cassette = recorded(agent(4))
    file = tmp_path / "my_suite.py"
    file.write_text("suite = 1\n")
    with pytest.raises(tt.BadInput, match=r"names a int; a tt\.Suite is needed"):
        retrial(cassette, suite=file)
