from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Ending, Error, Reply, Usage, Value
from replay.home import Home
from replay.store import Store
from tests import factories


@tt.tool(effect="read")
def look(number: int) -> int:
    return number


def agent(trial):
    for number in range(3):
        look(number)
    if trial.index == 1:
        raise ValueError("agent")


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def test_what_sqlite_cannot_hold_does_not_keep_a_trial_out(home):
    odd = [
        factories.interaction(0, Value({(1, 2): "tuple keys"})),
        factories.interaction(1, Value("\ud800 \0")),
        factories.interaction(2, Error(ValueError("\udfff"))),
        factories.interaction(
            3, call=factories.model_call([]), reply=Reply(text="\ud800", usage=Usage(input=2**70, output=1))
        ),
        factories.interaction(4, call=factories.call(name="\ud800")),
    ]
    path = home.root / "cassettes/r/a/0.cassette"
    factories.write_cassette(path, odd, Ending("error", "reason \ud800", "agent"), run="r", task="a")
    with Store(home) as store:
        store.refresh()
        (row,) = store.rows("SELECT ending, steps, input_tokens FROM trials")
        assert row == {"ending": "error", "steps": 5, "input_tokens": 2**63 - 1}
        assert len(store.rows("SELECT * FROM interactions")) == 5


def test_readable_columns_and_views(home):
    suite = tt.Suite([tt.Task(id=task) for task in "ab"], agent, [lambda view: view.id.index == 0])
    suite.run("r", trials=2, home=home.root)
    with Store(home) as store:
        store.refresh()
        (row,) = store.rows("SELECT * FROM interactions WHERE trial = 'r/a#0' AND step = 2")
        assert (row["kind"], row["name"], row["arguments"], row["result"]) == ("tool", "look", '{"number": 2}', "2")
        failing = store.rows("SELECT id, ending FROM failing_trials ORDER BY id")
        assert failing == [{"id": f"r/{task}#1", "ending": "error"} for task in "ab"]
        (passed,) = store.rows("SELECT trials, passed FROM pass_by_task WHERE task = 'a'")
        assert passed == {"trials": 1, "passed": 1}
