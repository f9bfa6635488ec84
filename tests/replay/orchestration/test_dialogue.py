"""An agent and a user talk until a stop phrase, a terminal tool or a cap."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

import trialtape as tt
from replay.actors import current_actor
from replay.home import Home
from replay.report.trial_text import step_lines
from replay.runs import load_run
from replay.scoring import calls_tool, consent_before_write, ended_by

STOP = "###STOP###"


class Agent:
    """Does what it is told to do, and remembers what it heard."""

    def __init__(self, *acts):
        self.acts = list(acts)
        self.heard = []

    def act(self, heard):
        self.heard.append(heard)
        act = self.acts.pop(0) if self.acts else "nothing more"
        return tt.Act(act) if isinstance(act, str) else act


def calls(*requests):
    return tt.Act(calls=tuple(tt.Request(name, arguments) for name, arguments in requests))


@tt.tool(effect="read")
def look(order):
    return {"order": order}


@tt.tool(effect="write", external=False, ignore=["db"])
def cancel(db, order):
    db[order] = "cancelled"
    return "done"


@tt.tool(effect="read")
def transfer():
    return "transferred"


def tools_for(trial):
    return {"look": look, "cancel": lambda order: cancel(trial.state, order), "transfer": transfer}


@pytest.fixture
def talk(tmp_path):
    """Carry out one trial; returns its view and the agent."""

    def run(*acts, lines=("Cancel W1", "Yes, please"), **options):
        agent = Agent(*acts)
        dialogue = tt.Dialogue(
            **{"agent": lambda _trial: agent, "user": tt.scripted(lines), "tools": tools_for, **options}
        )
        task = tt.Task(id="t", instruction="Cancel W1", state=dict, expected={"W1": "cancelled"})
        tt.Suite([task], dialogue).run("r", trials=1, home=tmp_path)
        return tt.open("r/t#0", home=tmp_path), agent

    return run


def ending(view):
    return view.ending.status, view.ending.reason


def test_the_users_stop_phrase_ends_it_and_the_conversation_is_kept(talk):
    view, agent = talk(calls(("look", {"order": "W1"})), "Cancel W1?", calls(("cancel", {"order": "W1"})), "Done")
    assert ending(view) == ("completed", "user_stop")
    assert [(turn.who, turn.text) for turn in view.conversation] == [
        ("agent", "Hi! How can I help you today?"),
        ("user", "Cancel W1"),
        ("agent", "Cancel W1?"),
        ("user", "Yes, please"),
        ("agent", "Done"),
        ("user", STOP),
    ]
    assert [heard.text for heard in agent.heard] == ["Cancel W1", None, "Yes, please", None]
    assert json.loads(agent.heard[1].results[0].text) == {"order": "W1"}
    assert view.state() == {"W1": "cancelled"}
    assert (consent_before_write(view).passed, ended_by("user_stop")(view).passed) == (True, True)


def test_a_terminal_tool_ends_it_after_its_result(talk):
    view, _ = talk(calls(("transfer", {}), ("cancel", {"order": "W1"})), terminal_tools=["transfer"])
    assert ending(view) == ("completed", "transfer")
    assert [step.call.name for step in view.steps] == ["transfer"]


def test_an_agent_may_stop_too(talk):
    view, _ = talk(calls(("look", {"order": "W1"})), f"Bye {STOP}")
    assert ending(view) == ("completed", "agent_stop")


def test_actions_of_the_agent_are_capped_messages_and_calls_alike(talk):
    look_twice = calls(("look", {"order": "W1"}), ("look", {"order": "W2"}))
    view, _ = talk(look_twice, "What?", look_twice, lines=["hi", "so", "well"], max_actions=4)
    assert ending(view) == ("capped", "4 agent actions")
    assert len(view.steps) == 3


def test_at_its_last_action_the_user_may_still_end_it(talk):
    view, _ = talk(calls(("look", {"order": "W1"})), "Done", lines=["hi"], max_actions=2)
    assert ending(view) == ("completed", "user_stop")


def test_errors_of_tool_calls_are_told_to_the_agent_and_capped(talk):
    wrong = calls(("look", {"nothing": 1}), ("fly", {}))
    view, agent = talk(calls(("look", {"order": "W1"})), wrong, wrong, max_errors=3)
    assert ending(view) == ("capped", "3 errors of tool calls")
    assert [result.failed for result in agent.heard[2].results] == [True, True]
    assert agent.heard[2].results[1].text == "Error: there is no tool 'fly'"


def test_arguments_may_be_the_json_that_a_model_wrote(talk):
    view, agent = talk(
        tt.Act(calls=(tt.Request("look", '{"order": "W1"}', "a"), tt.Request("look", '{"order"', "b"))),
        tt.Act(calls=(tt.Request("look", "[1]", "c"),)),
        "Done",
    )
    assert [step.call.arguments for step in view.steps] == [{"order": "W1"}]
    assert agent.heard[1].results[1].text == 'Error: the arguments are no JSON object: {"order"'
    assert [result.failed for heard in agent.heard[1:3] for result in heard.results] == [False, True, True]


def test_what_a_side_opened_is_closed_behind_the_trial(talk):
    happened = []

    @contextmanager
    def side(name, party):
        happened.append(f"{name} for the {current_actor()}")
        yield party
        happened.append(f"{name} closed")

    agent = Agent(calls(("look", {"order": "W1"})), "Done")
    script = tt.scripted(["Cancel W1"])
    talk(agent=lambda _trial: side("a", agent), user=lambda trial: side("u", script(trial)))
    assert happened == ["a for the agent", "u for the user", "u closed", "a closed"]


def test_what_a_side_opened_is_closed_when_the_other_one_fails(talk):
    happened = []

    @contextmanager
    def side(_trial):
        try:
            yield Agent(calls(("look", {"order": "W1"})))
        finally:
            happened.append("closed")

    def broken(_trial):
        raise ValueError("no user today")

    view, _ = talk(agent=side, user=broken)
    assert (view.ending.status, happened) == ("error", ["closed"])


def test_a_frozen_call_that_is_not_answered_is_no_error_of_a_tool(talk, tmp_path):
    talk(calls(("look", {"order": "W1"})), "Done")
    agent = Agent(calls(("look", {"order": "W9"})), "never said")
    dialogue = tt.Dialogue(agent=lambda _trial: agent, user=tt.scripted(["hi"]), tools=tools_for)
    task = tt.Task(id="t", instruction="Cancel W1", state=dict, expected={"W1": "cancelled"})
    suite = tt.Suite([task], dialogue)
    suite.run("f", trials=1, freeze="external", source="r", offline=True, home=tmp_path)
    assert tt.open("f/t#0", home=tmp_path).ending.status == "unanswered"


def test_the_user_has_tools_of_its_own_on_the_same_state(talk):
    @tt.tool(effect="write", external=False, ignore=["db"])
    def toggle(db):
        db["airplane mode"] = "off"
        return "off"

    view, _ = talk(
        calls(("look", {"order": "W1"})),
        "Switch it off, please",
        lines=["No signal", calls(("toggle", {})), "Done"],
        user_tools=lambda trial: {"toggle": lambda: toggle(trial.state)},
    )
    step = next(step for step in view.steps if step.call.name == "toggle")
    assert step.call.actor == "user"
    assert any("user: toggle" in line.plain for line in step_lines(view, 80))
    assert view.state() == {"airplane mode": "off"}
    assert calls_tool("toggle")(view).passed is True
    assert ending(view) == ("completed", "user_stop")


def test_without_a_user_the_agent_gets_the_instruction_and_its_word_is_the_last(talk):
    view, agent = talk(calls(("cancel", {"order": "W1"})), "Done", mode="no-user", user=None)
    assert agent.heard[0].text == "Cancel W1"
    assert ending(view) == ("completed", "agent_stop")


def test_an_oracle_tells_the_plan_once(talk):
    plan = {"mode": "oracle-plan", "plan": lambda task: f"cancel, for {task.id}"}
    _, agent = talk(calls(("cancel", {"order": "W1"})), "Done", "Bye", **plan)
    assert [heard.plan for heard in agent.heard] == ["cancel, for t", None, None]


def test_what_decides_stands_in_the_runs_configuration(talk, tmp_path):
    talk(calls(("look", {"order": "W1"})), "Done", versions={"user prompt": "3"}, max_actions=12)
    config = load_run(Home(tmp_path), "r").config
    assert config["caps"] == {"max_actions": 12, "max_errors": 10}
    assert config["dialogue"]["mode"] == "default"
    assert config["dialogue"]["versions"] == {"user prompt": "3"}
    assert config["dialogue"]["user"]["last"] == STOP


def test_another_script_of_the_user_is_another_configuration(talk):
    talk(calls(("look", {"order": "W1"})), "Done")
    with pytest.raises(tt.BadInput, match="another configuration"):
        talk("Done", lines=["Cancel W2"])


def test_a_run_does_not_go_on_under_another_mode(talk):
    talk(calls(("look", {"order": "W1"})), "Done")
    with pytest.raises(tt.BadInput, match="another configuration"):
        talk("Done", mode="no-user")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "alone"}, "is no mode"),
        ({"user": None}, "needs a user"),
        ({"mode": "oracle-plan"}, "needs plan="),
        ({"max_actions": 0}, "at least 1"),
        ({"stop": ""}, "stop is a text"),
    ],
)
def test_what_does_not_go_together_is_refused(options, said):
    with pytest.raises(tt.BadInput, match=said):
        tt.Dialogue(**{"agent": Agent, "user": tt.scripted([]), **options})
