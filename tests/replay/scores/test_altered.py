"""A recorded trial as if some of it had not happened."""

from __future__ import annotations

import pytest

import trialtape as tt
from replay.home import Home
from replay.scores.altered import altered, last_write
from replay.scoring import consent_before_write, final_state, required_outputs


@tt.tool(effect="write", external=False, ignore=["db"])
def put(db, key, value):
    db[key] = value
    return "put"


@tt.tool(effect="read")
def look():
    return 1


@pytest.fixture
def view(tmp_path):
    """A trial that wrote twice, looked, and told the user so."""
    with tt.trial(run="r", task=tt.Task(id="t", expected={"a": 1}, outputs=["done"]), home=tmp_path) as trial:
        db = {}
        trial.track(db)
        put(db, "a", 1)
        put(db, "b", 2)
        look()
        trial.message("assistant", "done")
    return tt.open("r/t#0", home=tmp_path)


def test_without_its_last_write_the_rest_stays_as_it_was(view, tmp_path):
    other = altered(view, Home(tmp_path), "drop-last-write")
    assert [step.number for step in other.steps] == [0, 2]
    assert other.state() == {"a": 1}
    assert other.agent_messages == ["done"]
    assert final_state(other).passed is True
    assert view.state() == {"a": 1, "b": 2}


def test_where_nothing_is_done_nothing_is_said_and_the_state_is_the_first(view, tmp_path):
    other = altered(view, Home(tmp_path), "do-nothing")
    assert (len(other.steps), other.state(), other.agent_messages, other.conversation) == (0, {}, [], [])
    assert (final_state(other).passed, required_outputs(other).passed) == (False, False)
    assert consent_before_write(other).passed is True


def test_a_trial_without_a_declared_write_has_none_to_drop(tmp_path):
    with tt.trial(run="r", task="t", home=tmp_path):
        look()
    reader = tt.open("r/t#0", home=tmp_path)
    assert last_write(reader) is None
    assert altered(reader, Home(tmp_path), "drop-last-write") is None


def test_what_happened_inside_the_write_goes_with_it(tmp_path):
    @tt.tool(effect="write", name="outer", ignore=["db"])
    def outer(db):
        return put(db, "a", look())

    with tt.trial(run="r", task="t", home=tmp_path) as trial:
        db = {}
        trial.track(db)
        look()
        outer(db)
    other = altered(tt.open("r/t#0", home=tmp_path), Home(tmp_path), "drop-last-write")
    assert [step.call.name for step in other.steps] == ["look"]
    assert other.state() == {}


def test_a_change_that_no_write_explains_did_not_happen_where_nothing_was_done(tmp_path):
    with tt.trial(run="r", task="t", home=tmp_path) as trial:
        db = {}
        trial.track(db)
        look()
        db["a"] = 1
    view = tt.open("r/t#0", home=tmp_path)
    assert view.state() == {"a": 1}
    assert altered(view, Home(tmp_path), "do-nothing").state() == {}
