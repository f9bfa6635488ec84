"""AgentDojo's tools as calls, against a stand-in with its interface; the library itself: tests/replay/dojo."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

import trialtape as tt
from adapters import agentdojo
from adapters.agentdojo import AgentDojoAdapter, recorded_model
from adapters.agentdojo_effects import _READS, _WRITES, EFFECTS
from replay.patching import adapters


class FunctionCall(SimpleNamespace):
    """A call that may stand in the arguments of another one."""


class FunctionsRuntime:
    """As the library's: results and errors side by side, unless errors are to be raised."""

    def __init__(self, **functions):
        self.functions = functions

    def _execute_nested_calls(self, env, kwargs):
        return {
            name: self.run_function(env, value.function, value.args, raise_on_error=True)[0]
            if isinstance(value, FunctionCall)
            else value
            for name, value in kwargs.items()
        }

    def run_function(self, env, function, kwargs, raise_on_error=False):
        if function not in self.functions:
            return "", f"ToolNotFoundError: {function}"
        try:
            return self.functions[function](env, **self._execute_nested_calls(env, kwargs)), None
        except Exception as error:
            if raise_on_error:
                raise
            return "", f"{type(error).__name__}: {error}"


ORIGINAL = FunctionsRuntime.run_function


@pytest.fixture(autouse=True)
def library(monkeypatch):
    """The stand-in in the place of the library, for the adapter that trials use."""
    modules = {
        "agentdojo": {},
        "agentdojo.functions_runtime": {"FunctionsRuntime": FunctionsRuntime, "FunctionCall": FunctionCall},
        "agentdojo.agent_pipeline": {},
        "agentdojo.agent_pipeline.base_pipeline_element": {"BasePipelineElement": object},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        module.__spec__ = SimpleNamespace(name=name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    assert agentdojo.AGENTDOJO in adapters()


def send(env, amount):
    env["balance"] -= amount
    return {"left": env["balance"]}


RUNTIME = FunctionsRuntime(send_money=send, get_balance=lambda env: env["balance"], own_tool=lambda env, **more: more)


def recorded(tmp_path, agent):
    suite = tt.Suite([tt.Task(id="t", state=lambda: {"balance": 10})], agent, [lambda view: True])
    result = suite.run("r", trials=1, home=tmp_path)
    assert result.endings == {"completed": 1}, [tt.open("r/t#0", home=tmp_path).ending]
    return tt.open("r/t#0", home=tmp_path)


def test_the_patch_is_put_back_exactly():
    adapter = AgentDojoAdapter()
    adapter.install()
    adapter.install()
    assert adapter.patched() == ["agentdojo.functions_runtime.FunctionsRuntime.run_function"]
    assert RUNTIME.run_function({"balance": 1}, "get_balance", {}) == (1, None)
    adapter.uninstall()
    assert FunctionsRuntime.run_function is ORIGINAL
    assert adapter.patched() == []


def test_calls_are_recorded_with_their_effects_and_the_change_of_the_environment(tmp_path):
    def agent(trial):
        assert RUNTIME.run_function(trial.state, "get_balance", {}) == (10, None)
        assert RUNTIME.run_function(trial.state, "send_money", {"amount": 4}) == ({"left": 6}, None)
        assert RUNTIME.run_function(trial.state, "own_tool", {"a": 1}) == ({"a": 1}, None)

    view = recorded(tmp_path, agent)
    assert [(s.call.name, s.call.effect, s.call.external) for s in view.steps] == [
        ("get_balance", "read", False),
        ("send_money", "write", False),
        ("own_tool", "unknown", False),
    ]
    assert (view.state(-1), view.state()) == ({"balance": 10}, {"balance": 6})


def test_what_went_wrong_is_told_or_raised_as_the_library_does_it_live_and_frozen(tmp_path):
    def told(trial):
        found = [RUNTIME.run_function(trial.state, "send_money", {"much": 4})]
        found.append(RUNTIME.run_function(trial.state, "invented", {}))
        with pytest.raises(TypeError) as caught:
            RUNTIME.run_function(trial.state, "send_money", {"much": 4}, raise_on_error=True)
        return [*found, str(caught.value)]

    seen = []
    recorded(tmp_path, lambda trial: seen.append(told(trial)))
    with tt.trial(run="again", task=tt.Task(id="t", state=lambda: {"balance": 10}), replay="r/t#0", home=tmp_path) as t:
        seen.append(told(t))
    assert seen[0] == seen[1]
    assert seen[0][0][0] == ""
    assert seen[0][0][1].startswith("TypeError: ")
    assert seen[0][1] == ("", "ToolNotFoundError: invented")


def test_a_call_in_the_arguments_of_another_is_recorded_before_it_and_not_inside(tmp_path):
    nested = {"amount": FunctionCall(function="get_balance", args={})}

    def agent(trial):
        assert RUNTIME.run_function(trial.state, "send_money", nested) == ({"left": 0}, None)
        broken = {"amount": FunctionCall(function="send_money", args={})}
        assert RUNTIME.run_function(trial.state, "own_tool", broken)[1].startswith("TypeError")
        with pytest.raises(TypeError):
            RUNTIME.run_function(trial.state, "own_tool", broken, raise_on_error=True)

    view = recorded(tmp_path, agent)
    calls = [(s.call.name, dict(s.call.arguments), s.interaction.parent) for s in view.steps]
    assert calls[:2] == [("get_balance", {}, None), ("send_money", {"amount": 10}, None)]
    assert [name for name, _, _ in calls[2:]] == ["send_money", "send_money"]


def test_a_frozen_call_changes_the_environment_as_it_was_changed(tmp_path):
    recorded(tmp_path, lambda trial: RUNTIME.run_function(trial.state, "send_money", {"amount": 4}))
    empty = FunctionsRuntime()
    with tt.trial(run="again", task=tt.Task(id="t", state=lambda: {"balance": 10}), replay="r/t#0", home=tmp_path) as t:
        assert empty.run_function(t.state, "send_money", {"amount": 4}) == ({"left": 6}, None)
        assert t.state == {"balance": 6}


class Environment:
    """As the library's: parts with names."""

    def __init__(self):
        self.bank, self.lock, self.note = {"balance": 10}, object(), "n"


def pay(env, amount):
    env.bank["balance"] -= amount
    env.note = "paid"
    return "paid"


def test_an_environment_that_no_trial_tracks_is_changed_by_frozen_calls_too(tmp_path):
    runtime = FunctionsRuntime(send_money=pay, get_balance=lambda env: env.bank["balance"])

    def agent(env):
        told = runtime.run_function(env, "send_money", {"amount": 4})
        return told, runtime.run_function(env, "get_balance", {}), env.bank, env.note

    with tt.trial(run="r", task="t", home=tmp_path):
        live = agent(Environment())
    runtime.functions = {}
    with tt.trial(run="again", task="t", replay="r/t#0", home=tmp_path):
        assert agent(Environment()) == live == (("paid", None), (6, None), {"balance": 6}, "paid")


# -- a model in this process -------------------------------------------------------------------------------------------


class Echo:
    name = "echo"

    def __init__(self):
        self.asked = 0

    def query(self, query, runtime, env, messages, extra_args):
        self.asked += 1
        said = {"role": "assistant", "content": [{"type": "text", "content": query}], "tool_calls": None}
        return query, runtime, env, [*messages, said], {**extra_args, "seen": len(messages)}


def test_a_model_in_this_process_is_recorded_with_what_it_was_told_and_answered_when_frozen(tmp_path):
    echo = Echo()
    model = recorded_model(echo)
    before = [{"role": "user", "content": [{"type": "text", "content": "hi"}]}]

    def agent(trial):
        *_, messages, extra = model.query("hi", RUNTIME, trial.state, before, {"a": 1})
        assert [message["role"] for message in messages] == ["user", "assistant"]
        assert extra == {"a": 1, "seen": 1}

    view = recorded(tmp_path, agent)
    (step,) = view.steps
    assert (step.call.kind, step.call.name, step.text) == ("model", "echo", "hi")
    assert view.messages(0) == [{"role": "user", "content": "hi"}]
    with tt.trial(run="again", task=tt.Task(id="t", state=lambda: {"balance": 10}), replay="r/t#0", home=tmp_path) as t:
        agent(t)
    assert echo.asked == 1


def test_outside_a_trial_everything_passes(tmp_path):
    model = recorded_model(Echo(), "other")
    *_, messages, extra = model.query("hi", RUNTIME, {}, [], None)
    assert (len(messages), extra, model.name) == (1, {"seen": 0}, "echo")


def test_a_model_that_fails_is_recorded_as_failing(tmp_path):
    class Broken:
        def query(self, *_):
            raise TimeoutError("no answer")

    def agent(trial):
        with pytest.raises(TimeoutError):
            recorded_model(Broken()).query("hi", RUNTIME, trial.state, [], {})

    (step,) = recorded(tmp_path, agent).steps
    assert step.call.name == "Broken"
    assert isinstance(step.outcome.error, TimeoutError)


def test_no_tool_is_a_read_and_a_write():
    assert set(EFFECTS.values()) == {"read", "write"}
    assert len(EFFECTS) == len(_READS) + len(_WRITES) == 69
