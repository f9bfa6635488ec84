"""What an agent is told of how to do its work, and that a replay tells it the same."""

from __future__ import annotations

import json

import pytest

import trialtape as tt
from replay.home import Home
from replay.orchestration.variant import checked_settings
from replay.runs import load_run
from replay.verify import verify_trial
from replay.view import View


@tt.tool(effect="read")
def look(style: str) -> str:
    return style


def agent(trial):
    look(trial.settings["style"])


def suite(**settings):
    return tt.Suite([tt.Task(id="t")], agent, [lambda view: True], settings=settings)


def test_settings_reach_the_agent_the_run_and_its_cassettes(tmp_path):
    suite(style="short").run("r", trials=1, home=tmp_path)
    assert load_run(Home(tmp_path), "r").config["settings"] == {"style": "short"}
    view = tt.open("r/t#0", home=tmp_path)
    assert view.steps[0].call.arguments == {"style": "short"}
    assert view.cassette.header.config["settings"] == {"style": "short"}


def test_what_a_trial_does_to_its_settings_stays_in_it(tmp_path):
    def greedy(trial):
        look(",".join(trial.settings["tones"]))
        trial.settings["tones"].append("loud")

    made = tt.Suite([tt.Task(id="t")], greedy, settings={"tones": ["soft"]})
    made.run("r", trials=2, home=tmp_path)
    asked = [tt.open(f"r/t#{i}", home=tmp_path).steps[0].call.arguments["style"] for i in range(2)]
    assert asked == ["soft", "soft"]


def test_a_run_goes_on_under_the_same_settings_only(tmp_path):
    suite(style="short").run("r", trials=1, home=tmp_path)
    with pytest.raises(tt.BadInput, match=r"settings\.style: short there, long now"):
        suite(style="long").run("r", trials=2, home=tmp_path)


def test_a_replay_gets_the_settings_of_the_recording(tmp_path):
    suite(style="short").run("r", trials=1, home=tmp_path)
    home = Home(tmp_path)
    view = View(home.cassette(tt.TrialId("r", "t", 0)), home)
    assert verify_trial(view, home, tt.Task(id="t"), agent, settings={"style": "long"}).status == "identical"
    with tt.trial(run="again", task="t", replay="r/t#0", home=tmp_path) as trial:
        agent(trial)
    with tt.trial(run="forked", task="t", fork="r/t#0", at=0, home=tmp_path) as trial:
        assert trial.settings == {"style": "short"}
        agent(trial)


def test_a_secret_among_the_settings_is_kept_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", "a-very-secret-key-1")
    suite(style="a-very-secret-key-1").run("r", trials=1, home=tmp_path)
    assert load_run(Home(tmp_path), "r").config["settings"]["style"].startswith("{secret:")
    assert tt.open("r/t#0", home=tmp_path).cassette.header.config["settings"]["style"].startswith("{secret:")
    suite(style="a-very-secret-key-1").run("r", trials=2, home=tmp_path)


def test_a_rule_of_the_user_holds_for_settings_too(tmp_path):
    made = tt.Suite([tt.Task(id="t")], agent, settings={"style": "as Ada likes it"}, redact=["Ada"])
    made.run("r", trials=1, home=tmp_path)
    assert "Ada" not in json.dumps(load_run(Home(tmp_path), "r").config)
    assert "Ada" not in json.dumps(tt.open("r/t#0", home=tmp_path).cassette.header.config)


@pytest.mark.parametrize("value", [{1}, float("nan"), b"x", (1, 2), {1: 2}])
def test_what_no_file_holds_as_it_is_is_no_setting(value):
    with pytest.raises(tt.BadInput, match="the setting 'odd' cannot be kept"):
        checked_settings({"odd": value})
