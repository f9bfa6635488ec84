"""``trialtape lab noise``, from recording to the shares, with a user that is told apart."""

from __future__ import annotations

import json
import re

import pytest

SUITE = """
import random
import trialtape as tt

@tt.tool(effect="read")
def quote(task):
    return random.choice(["cheap", "dear"])

@tt.tool(effect="write", external=False, ignore=["db"])
def book(db, how):
    db["booked"] = how
    return "booked"

class Desk:
    def __init__(self, trial):
        self.trial = trial

    def act(self, heard):
        if heard.results:
            return tt.Act("###STOP###")
        price, luck = quote(self.trial.task.id), random.Random(self.trial.seed).random()
        right = (price == "cheap") + (heard.text == "Please.") + luck > 1.2
        return tt.Act(calls=[tt.Request("book", {"how": "right" if right else "wrong"})])

def tools(trial):
    return {"book": lambda how: book(trial.state, how)}

def suite_of(*lines):
    tasks = [tt.Task(id=f"t{n}", state=dict, expected={"booked": "right"}) for n in range(4)]
    return tt.Suite(tasks, tt.Dialogue(agent=Desk, user=tt.scripted(list(lines)), tools=tools))

suite = suite_of(["Please.", "Now!"])
scripted = suite_of("Please.")
"""


@pytest.fixture
def nested(call, tmp_path):
    file = tmp_path / "desk_suite.py"
    file.write_text(SUITE)

    def record(*options, name="suite"):
        assert call("run", f"{file}:{name}", "--run", "base", "-n", 3).exit_code == 0
        done = call("run", f"{file}:{name}", "--run", "nested", "--source", "base", "--freeze", "external", *options)
        assert done.exit_code == 0, done.stderr
        return file

    return record


def test_a_seeded_user_is_told_apart_and_nothing_differs_in_a_replay(call, nested):
    nested("--worlds", 3, "-n", 6, "--user-seeds", 3)
    done = call("lab", "noise", "nested", "--replay")
    assert done.exit_code == 0
    assert re.search(r"  user, in a world           [+-]0\.\d{4}\n  model, with one user       [+-]0\.", done.stdout)
    assert re.search(r"the user makes -?\d+%, 95% \[-?\d+%, \d+%\]\nthe model makes the rest, ", done.stdout)
    assert "given the same seed and words, the user says the same (36 replies compared)" in done.stdout
    assert "a user that always says the same would bring it to" in done.stdout
    assert "72 trials, trajectories and verdicts compared: nothing differs, so the residual is 0" in done.stdout

    document = json.loads(call("lab", "noise", "nested", "--json").stdout)
    apart = document["apart"]
    sources = (document["share"], apart["share"], apart["model"])
    assert sum(share["estimate"] for share in sources) == pytest.approx(1)
    assert document["user"]["kind"] == "seeded"
    assert document["residual"] is None


def test_a_user_of_whom_no_two_trials_share_a_seed_is_not_told_apart(call, nested):
    nested("--worlds", 3, "-n", 4)
    done = call("lab", "noise", "nested")
    assert "model and user make the rest" in done.stdout
    assert "no two trials share its seed: model and user cannot be told apart" in done.stdout
    assert "not checked whether a replay with everything frozen ends the same, as it must: --replay does" in done.stdout
    assert json.loads(call("lab", "noise", "nested", "--json").stdout)["apart"] is None


def test_a_scripted_user_makes_no_noise(call, nested):
    nested("--worlds", 3, "-n", 2, name="scripted")
    done = call("lab", "noise", "nested")
    assert "  user, in a world           +0.0000" in done.stdout
    assert "the user makes 0%\nthe model makes the rest, " in done.stdout
    document = json.loads(call("lab", "noise", "nested", "--json").stdout)
    assert document["apart"]["model"]["estimate"] == pytest.approx(1 - document["share"]["estimate"])
    assert document["apart"]["model"]["low"] == pytest.approx(1 - document["share"]["high"])


def test_a_replay_that_differs_takes_the_trust_away(call, nested):
    file = nested("--worlds", 3, "-n", 4, "--user-seeds", 2)
    file.write_text(SUITE.replace("+ luck > 1.2", "+ luck > 1.9"))
    done = call("lab", "noise", "nested", "--replay")
    assert done.exit_code == 1
    assert re.search(
        r"48 trials, trajectories and verdicts compared: \d+ differ, a residual variance of up to 0\.\d{4}", done.stdout
    )
    assert "the shares above are NOT to be trusted" in done.stdout
    residual = json.loads(call("lab", "noise", "nested", "--replay", "--json").stdout)["residual"]
    assert residual["at_most"] == pytest.approx(len(residual["differing"]) / 96)


def test_how_to_replay_goes_with_replay(call, nested):
    nested("--worlds", 3, "-n", 2)
    done = call("lab", "noise", "nested", "--suite", "x.py")
    assert (done.exit_code, "they go with --replay" in done.stderr) == (2, True)


def test_a_design_that_cannot_tell_the_user_is_refused_before_it_runs(call, tmp_path, nested):
    file = nested("--worlds", 3, "-n", 2)
    done = call(
        "run", file, "--run", "r", "--source", "base", "--freeze", "external", "--worlds", 3, "-n", 3, "--user-seeds", 2
    )
    assert done.exit_code == 2
    assert "2 user seeds and 3 trials in each world cannot tell the user apart" in done.stderr


def test_answers_that_were_called_live_later_are_told(call, nested):
    file = nested("--worlds", 3, "-n", 2)
    file.write_text(SUITE.replace("quote(self.trial.task.id)", "quote(self.trial.task.id + '!')"))
    options = ("--source", "base", "--freeze", "external", "--worlds", 3, "-n", 2)
    assert call("run", file, "--run", "later", *options).exit_code == 0
    told = call("lab", "noise", "later").stdout
    assert re.search(r"24 answers were called live after the recordings .* its worlds mix two times", told)
    assert json.loads(call("lab", "noise", "later", "--json").stdout)["extended"] == 24
