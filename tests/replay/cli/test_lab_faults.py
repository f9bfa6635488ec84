"""`trialtape lab faults`: a judge is asked, and what it says stands beside people and rules."""

from __future__ import annotations

import json

import pytest

from replay.home import Home
from tests.replay.recorded import keep, read, write

TOOLS = '{"fault": "tool", "type": null, "user_error": "none", "step": 1, "because": "It answered wrongly."}'
JUDGE = """
import openai
import trialtape as tt

def ask(messages):
    with openai.OpenAI(max_retries=0) as client:
        return client.chat.completions.create(model="m", messages=messages).choices[0].message.content

judge = tt.fault_judge(ask, name="reviewer", version="1")
other = 5
"""


@pytest.fixture
def runs(home, tmp_path, monkeypatch, provider):
    """A run of two trials that failed and one that passed; a judge's file; and a provider to ask."""
    place = Home(home)
    keep(place, "base/a#0", [read(), write(n=1)], passed=True)
    keep(place, "base/a#1", [read(), write(n=2)], passed=False)
    keep(place, "base/a#2", [read(), write(n=3)], passed=False)
    (tmp_path / "judges.py").write_text(JUDGE)
    monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    provider.says = TOOLS
    return tmp_path / "judges.py"


def test_a_judge_is_asked_once_and_its_labels_stand_between_people_and_rules(call, runs, provider):
    call("label", "base/a#1", "--fault", "task", "--author", "ada")
    done = call("lab", "faults", "base", "--with", runs)
    assert (done.exit_code, provider.count) == (0, 2)
    assert "judge reviewer@1: 2 trials, 2 answers asked for now" in done.stdout
    shown = [line.split() for line in done.stdout.splitlines()]
    assert ["base/a#1", "task", "tool", "agent", "task", "people", "they", "differ"] in shown
    assert ["base/a#2", "tool", "agent", "tool", "judge", "they", "differ"] in shown
    assert "people and judge on 1 trial: 0% alike" in done.stdout
    again = call("lab", "faults", "base", "--with", runs)
    assert "nothing asked: it was recorded before" in again.stdout
    assert provider.count == 2


def test_rules_know_the_passing_trials_of_runs_that_no_command_has_read_yet(call, home):
    place, same = Home(home), {"task_definition": {"id": "a", "digests": {"instruction": "a"}}}
    keep(place, "base/a#0", [write("put", key=1)], passed=False, **same)
    keep(place, "other/a#0", [write("put", key=2)], passed=True, **same)
    shown = [line.split() for line in call("lab", "faults", "base").stdout.splitlines()]
    assert ["base/a#0", "agent", "agent", "rules"] in shown


def test_without_a_judge_what_was_said_is_shown(call, runs, provider):
    call("lab", "faults", "base", "--with", runs)
    provider.stop()
    document = json.loads(call("lab", "faults", "base", "--json").stdout)
    assert document["taken"] == {"tool": {"judge": 2}}
    assert document["judge"] is None
    listed = json.loads(call("label", "--list", "base", "--json").stdout)
    assert {(label["author"], label["source"], label["fault"]) for label in listed} == {("reviewer@1", "judge", "tool")}
    assert "tool (no error of the user) at step 1, by judge reviewer@1" in call("show", "base/a#1").stdout


def test_a_model_is_asked_by_its_name_with_the_prompts_digest_as_version(call, runs, provider):
    document = json.loads(call("lab", "faults", "base", "--model", "some/model", "--grades", 3, "--json").stdout)
    assert document["judge"]["judge"].startswith("some/model@")
    assert (document["judge"]["live"], document["judge"]["alike"], provider.count) == (6, 1.0, 6)


def test_passed_trials_are_asked_about_on_demand(call, runs, provider):
    provider.says = TOOLS.replace('"tool"', "null")
    done = call("lab", "faults", "base", "--with", runs, "--all", "--json")
    document = json.loads(done.stdout)
    assert document["judge"]["trials"] == 3
    assert document["judge"]["unanswered"] == ["base/a#1", "base/a#2"]  # they failed: somebody must be at fault
    assert document["users"]["said"] == 1
    assert done.exit_code == 3


def test_an_answer_of_another_form_ends_with_3_and_takes_nothing(call, runs, provider):
    provider.says = "hard to say"
    done = call("lab", "faults", "base", "--with", runs)
    assert done.exit_code == 3
    assert "unanswered (of another form than asked for, or no majority): base/a#1, base/a#2" in done.stdout
    assert "2 agent: 2 by rules" in done.stdout


def test_a_judge_that_cannot_be_asked_is_told_and_ends_with_1(call, runs, provider):
    provider.stop()
    done = call("lab", "faults", "base", "--with", runs)
    assert done.exit_code == 1
    assert "base/a#1 cannot be judged: APIConnectionError" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--grades", "2"], "--grades and --all go with a judge"),
        (["--all"], "--grades and --all go with a judge"),
        (["--model", "m", "--with", "FILE"], "name two judges"),
        (["--with", "FILE:other"], "names a int; a judge made by tt.fault_judge is needed"),
    ],
)
def test_what_does_not_go_together_is_refused(call, runs, arguments, told):
    done = call("lab", "faults", "base", *(word.replace("FILE", str(runs)) for word in arguments))
    assert done.exit_code == 2
    assert told in done.stderr
