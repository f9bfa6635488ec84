# ruff: noqa: PT012, SIM117  # what leaves a trial's block of several calls is what is tested

"""What a frozen call hands out is the agent's own: it may change it, and it is what was recorded or nothing."""

from __future__ import annotations

import sys
from types import ModuleType

import attrs
import pytest

import trialtape as tt


@tt.tool(effect="read")
def basket():
    return {"items": [1]}


@tt.tool(effect="read")
def failing():
    raise ValueError("locked")


def test_an_answer_that_the_agent_changed_is_served_again_as_it_was_recorded(tmp_path):
    with tt.trial(run="base", task="t", home=tmp_path):
        basket()
    with tt.trial(run="frozen", task="t", home=tmp_path, freeze="external", source="base") as trial:
        basket()["items"].append(2)
        assert basket() == {"items": [1]}
    assert dict(trial.verdicts) == {"own": 1, "repeated": 1}
    assert tt.open("frozen/t#0", home=tmp_path).steps[0].outcome.value == {"items": [1]}


def test_what_one_trial_changed_does_not_reach_another_that_shares_the_recordings(tmp_path):
    @tt.tool(effect="read")
    def lent():
        return [0]

    seen = []

    def agent(trial):
        basket()
        if trial.id.run == "frozen" or trial.index == 1:  # only recording 1 holds it, and lends it to world 0
            answer = lent()
            seen.append(list(answer))
            answer.append(trial.index)

    suite = tt.Suite(tasks=[tt.Task(id="t")], agent=agent)
    suite.run("base", trials=2, home=tmp_path)
    seen.clear()
    suite.run("frozen", trials=2, home=tmp_path, freeze="external", source="base")
    assert seen == [[0], [0]]
    assert tt.open("frozen/t#0", home=tmp_path).coverage == {"own": 1, "borrowed": 1}


def test_each_raising_of_a_recorded_error_is_an_exception_of_its_own(tmp_path):
    with tt.trial(run="base", task="t", home=tmp_path):
        with pytest.raises(ValueError, match="locked"):
            failing()
    raised = []
    with tt.trial(run="frozen", task="t", home=tmp_path, freeze="external", source="base"):
        for _ in range(2):
            with pytest.raises(ValueError, match="locked") as info:
                failing()
            raised.append(info.value)
    assert raised[0] is not raised[1]


@pytest.fixture
def loaded(monkeypatch):
    """A module with a class that tools return."""
    module = ModuleType("quotes_of_elsewhere")

    @attrs.frozen
    class Quote:
        price: float

    Quote.__module__, Quote.__qualname__ = module.__name__, "Quote"
    module.Quote = Quote
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


@pytest.mark.parametrize("options", [{"replay": "base/t#0"}, {"freeze": "external", "source": "base"}])
def test_an_answer_of_a_class_that_is_not_loaded_is_never_handed_out(tmp_path, loaded, monkeypatch, options):
    @tt.tool(effect="read")
    def quote():
        return loaded.Quote(1.5)

    with tt.trial(run="base", task="t", home=tmp_path):
        quote()
    monkeypatch.delitem(sys.modules, loaded.__name__)
    got = []
    with pytest.raises(tt.Unanswered, match=r"holds a Quote, .* import quotes_of_elsewhere before the trial"):
        with tt.trial(run="again", task="t", home=tmp_path, **options):
            try:
                got.append(quote())
            except Exception:
                pytest.fail("an agent that catches everything does not catch it")
    assert not got
    assert tt.open("again/t#0", home=tmp_path).ending.status == "unanswered"
