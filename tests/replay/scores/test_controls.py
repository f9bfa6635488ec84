"""How many passes survive if the last write is dropped, or nothing is done."""

from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Error, Interaction, Value
from replay.scores.controls import controlled
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score, final_state
from replay.store import Store
from tests.replay.recorded import keep, needs_airline, read, write


@tt.tool(effect="write", external=False, ignore=["db"])
def put(db, key):
    db[key] = 1
    return "put"


@pytest.fixture
def control(home):
    def run(name, kind, *scorers):
        with Store(home) as store:
            store.refresh()
            return controlled(store, name, kind, scorers)

    return run


def told(result):
    return {trial.trial: (trial.outcome, trial.by) for trial in result.trials}


def components(home, view, **parts):
    """A score as the importer of a benchmark keeps it."""
    score = Score(min(parts.values()), evidence={"components": parts})
    append_scores(home, view.id.run, [KeptScore.of(view.id, "s", "1", score, view.cassette.digest)])


@pytest.fixture
def tracked(home):
    """A run in which each trial writes the keys that its index tells, of a task that wants ``a``."""

    def make(*keys):
        def agent(trial):
            look()
            for key in keys[trial.index]:
                put(trial.state, key)

        @tt.tool(effect="read")
        def look():
            return 1

        task = tt.Task(id="t", state=lambda: {"start": 0}, expected={"a": 1})
        tt.Suite([task], agent).run("r", trials=len(keys), home=home.root)

    return make


def test_where_the_state_was_tracked_the_scorers_look_at_the_altered_trial(tracked, control):
    tracked("a", "ab", "b")
    dropped = control("r", "drop-last-write")
    assert told(dropped) == {"r/t#0": ("flips", "scorers"), "r/t#1": ("survives", "scorers")}  # the third one failed
    assert told(control("r", "do-nothing")) == {"r/t#0": ("flips", "scorers"), "r/t#1": ("flips", "scorers")}


def test_a_pass_that_wrote_nothing_has_nothing_to_drop(home, control):
    @tt.tool(effect="read")
    def look():
        return 1

    task = tt.Task(id="t", state=lambda: {"a": 1}, expected={"a": 1})
    tt.Suite([task], lambda trial: look()).run("r", trials=1, home=home.root)
    assert told(control("r", "drop-last-write")) == {"r/t#0": ("no write", None)}
    assert told(control("r", "do-nothing")) == {"r/t#0": ("survives", "scorers")}


def test_other_scorers_may_look(tracked, control):
    tracked("ab")
    assert told(control("r", "drop-last-write", tt.scorer(lambda view: len(view.steps) > 2), final_state)) == {
        "r/t#0": ("flips", "scorers")
    }


def test_recordings_tell_where_no_state_was_tracked(home, control):
    components(home, keep(home, "r/t#0", [write(n=1), write(n=2)]), r_actions=1.0)
    components(home, keep(home, "r/t#1", [write(n=1)]), r_actions=0.0)
    components(home, keep(home, "r/u#0", [write(n=1)]), r_actions=1.0)
    result = control("r", "drop-last-write")
    assert told(result) == {"r/t#0": ("flips", "recordings"), "r/u#0": ("unknown", None)}
    assert "r/t#1 made just the writes that are left" in result.trials[0].because


def test_a_refused_write_had_changed_nothing(home, control):
    refused = [
        Interaction(step=0, call=write(n=1), outcome=Value("Error: no"), started=0, ended=1),
    ]
    raised = [Interaction(step=0, call=write(n=1), outcome=Error(ValueError("no")), started=0, ended=1)]
    components(home, keep(home, "r/t#0", refused), r_actions=1.0)
    components(home, keep(home, "r/u#0", raised), r_actions=1.0)
    assert told(control("r", "drop-last-write")) == {
        "r/t#0": ("survives", "recordings"),
        "r/u#0": ("survives", "recordings"),
    }


def test_the_expected_actions_tell_what_state_is_right(home, control):
    definition = {"id": "t", "actions": [{"name": "put", "kwargs": {"n": 1}}]}
    keep(home, "r/t#0", [write(n=1), write(n=2)], passed=True, task_definition=definition)
    assert told(control("r", "drop-last-write")) == {"r/t#0": ("survives", "recordings")}


def test_who_says_nothing_tells_no_required_output(home, control):
    definition = {"id": "t", "outputs": ["54.04"]}
    keep(home, "r/t#0", [read()], passed=True, task_definition=definition)
    assert told(control("r", "do-nothing")) == {"r/t#0": ("flips", "recordings")}


def test_a_run_without_a_pass_has_nothing_to_control(home, control):
    keep(home, "r/t#0", [read()], passed=False)
    with pytest.raises(tt.BadInput, match="nothing to control"):
        control("r", "do-nothing")


@needs_airline
def test_53_of_the_84_airline_passes_made_no_write_and_4_of_31_survive_without_their_last(airline_home):
    """Re-execution against the benchmark's own environment: 4 of the 31 still pass, 27 fail. Recordings tell 29."""
    with Store(airline_home) as store:
        store.refresh()
        dropped = controlled(store, "airline", "drop-last-write")
        idle = controlled(store, "airline", "do-nothing")
    counts = {name: dropped.number(name) for name in ("no write", "survives", "flips", "unknown")}
    assert counts == {"no write": 53, "survives": 4, "flips": 25, "unknown": 2}
    assert {t.trial for t in dropped.trials if t.outcome == "survives"} == {
        "airline/13#1",
        "airline/13#2",
        "airline/15#2",
        "airline/15#3",
    }
    assert {name: idle.number(name) for name in ("survives", "flips", "unknown")} == {
        "survives": 55,
        "flips": 28,
        "unknown": 1,
    }
