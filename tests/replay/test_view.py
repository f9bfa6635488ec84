from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.errors import CorruptCassette, NotACassette
from cassettes.model import Reply
from replay.view import View, coverage_of
from tests import factories


@tt.tool(effect="write", external=False, ignore=("db",))
def put(db: dict, key: str, value: int) -> None:
    db[key] = value


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def recorded(home):
    """A trial that tracks a state, writes three times."""
    db = {"a": 0}
    with tt.trial(run="r", task="t", home=home) as trial:
        trial.track(db)
        for number in range(3):
            put(db, f"k{number}", number)
    return "r/t#0"


def test_the_state_at_any_step(home, recorded):
    view = tt.open(recorded, home=home)
    assert view.state(step=0) == {"a": 0, "k0": 0}
    assert view.state(step=1) == {"a": 0, "k0": 0, "k1": 1}
    assert view.state() == {"a": 0, "k0": 0, "k1": 1, "k2": 2}
    view.state()["a"] = 7
    assert view.state()["a"] == 0


def test_a_trial_may_be_opened_by_its_path(home, recorded, tmp_path):
    path = home / "cassettes/r/t/0.cassette"
    assert tt.open(path).state() == tt.open(recorded, home=home).state()
    alone = tmp_path / "alone.cassette"
    alone.write_bytes(path.read_bytes())
    assert len(tt.open(alone).steps) == 3
    with pytest.raises(CorruptCassette, match="state"):
        tt.open(alone).state()


def test_a_trial_without_a_state_says_so(tmp_path):
    view = View(factories.write_cassette(tmp_path / "0.cassette", [factories.interaction(0)]))
    assert not view.tracks_state
    with pytest.raises(tt.BadInput, match="tracked no state"):
        view.state()


def test_a_missing_state_is_told(home, recorded):
    (state,) = (home / "states").iterdir()
    state.unlink()
    with pytest.raises(CorruptCassette, match="initial state"):
        tt.open(recorded, home=home).state()


def test_the_messages_of_a_model_call_are_those_that_were_sent(tmp_path):
    history = [[{"role": "user", "content": str(n)} for n in range(turn + 1)] for turn in range(3)]
    steps = [
        factories.interaction(place, call=factories.model_call(sent), reply=Reply(text=f"t{place}"))
        for place, sent in enumerate(history)
    ]
    view = View(factories.write_cassette(tmp_path / "0.cassette", [*steps, factories.interaction(3)]))
    assert [view.messages(step=place) for place in range(3)] == history
    assert [step.text for step in view.steps[:3]] == ["t0", "t1", "t2"]
    assert view.agent_messages == ["t0", "t1", "t2"]
    with pytest.raises(tt.BadInput, match=r"step 3 .* is a tool call"):
        view.messages(step=3)


def test_steps_are_a_sequence(tmp_path):
    view = View(factories.write_cassette(tmp_path / "0.cassette", map(factories.interaction, range(5))))
    assert len(view.steps) == 5
    assert view.steps[-1].number == 4
    assert [step.number for step in view.steps[1:3]] == [1, 2]
    assert [step.number for step in view.steps] == list(range(5))
    with pytest.raises(IndexError):
        view.steps[5]


def test_coverage_leaves_live_calls_out():
    counts = {"origin live": 3, "origin own": 2, "origin missed": 1, "tool": 6}
    assert coverage_of(counts) == {"own": 2, "missed": 1}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("r/t#9", "its trials: r/t#0"),
        ("x/t#0", "no such run"),
        ("nonsense", "no trial id"),
        ("a.cassette", "not exist"),
    ],
)
def test_what_is_not_there(home, recorded, name, told):
    with pytest.raises(tt.BadInput, match=told):
        tt.open(name, home=home)


def test_what_is_no_cassette(tmp_path):
    (tmp_path / "x.cassette").write_text("text")
    with pytest.raises(NotACassette):
        tt.open(tmp_path / "x.cassette")
