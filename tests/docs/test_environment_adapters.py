"""The environments of tau-bench and tau2 that the guide shows, against stand-ins with the names of the packages."""

from __future__ import annotations

import json
import sys
from collections import Counter
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner

from replay.cli import main
from tests.docs.documents import ROOT, blocks
from tests.replay import airline
from tests.replay.importers.simulations import GREETING, STOP, asks, result, results, simulation, written
from tests.replay.recorded import AIRLINE, needs_airline

_PAGE = ROOT / "docs" / "how-to" / "reexecute-tool-calls.md"


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Write a file of the guide, and let a distribution of that name and these modules be installed."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(file, distribution, modules):
        (text,) = (block for block in blocks(_PAGE, "python") if block.startswith(f"# {file}\n"))
        (tmp_path / file).write_text(text)
        info = tmp_path / f"{distribution}-9.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 9\n")
        for name, content in modules.items():
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)
        return f"{tmp_path / file}:environment"

    yield install
    for name in ("taubench_env", "tau2_env"):
        sys.modules.pop(name, None)


@pytest.fixture
def call(tmp_path):
    def run(*arguments):
        done = CliRunner().invoke(main, ["--home", str(tmp_path / "home"), *map(str, arguments)])
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


# -- tau-bench ---------------------------------------------------------------------------------------------------------


def tau_tool(name):
    """As tau-bench's tools are: classes that act on the data they are given."""
    return SimpleNamespace(
        get_info=lambda: {"type": "function", "function": {"name": name}},
        invoke=lambda data, **arguments: airline.Airline(data).call(name, arguments),
    )


def tau_bench(load_data):
    base = {"to_hashable": lambda data: data, "consistent_hash": airline.hash_of}
    return {
        "tau_bench": {},
        "tau_bench.envs": {},
        "tau_bench.envs.airline": {},
        "tau_bench.envs.base": base,
        "tau_bench.envs.airline.data": {"load_data": load_data},
        "tau_bench.envs.airline.tools": {"ALL_TOOLS": [tau_tool(name) for name in airline.TOOLS]},
    }


@pytest.fixture
def published(tmp_path):
    """Import the published trials of some tasks, or all."""

    def load(*tasks):
        sample = tmp_path / AIRLINE.name
        records = json.loads(AIRLINE.read_text())
        sample.write_text(json.dumps([r for r in records if not tasks or r["task_id"] in tasks]))
        return sample

    return load


@needs_airline
@pytest.mark.parametrize(
    ("tasks", "verdicts"),
    [((1, 8), {"same": 8}), pytest.param((), {"same": 195, "unknown": 5}, marks=pytest.mark.slow)],
)
def test_the_verdicts_of_tau_bench_stay_although_each_state_is_another(stand_in, call, published, tasks, verdicts):
    environment = stand_in("taubench_env.py", "tau_bench", tau_bench(airline.load_data))
    call("import", "taubench", published(*tasks), "--run", "air")
    found = json.loads(call("lab", "reexecute", "air", "--env", environment, "--json"))
    assert found["environment"]["seen"][0]["name"] == "tau-bench airline"
    assert found["environment"]["seen"][0]["version"] == "9"
    assert found["states"].keys() == {"differs", "unknown"}
    scores = [score for trial in found["trials"] for score in trial["scores"]]
    assert Counter(score["kind"] for score in scores) == verdicts
    assert {score["now"] for score in scores} == {True, False}


# -- tau2 --------------------------------------------------------------------------------------------------------------


class Kit:
    """As tau2's toolkits: one database, and tools by name."""

    def __init__(self, database, **tools):
        self.database, self.tools = database, tools

    def has_tool(self, name):
        return name in self.tools

    def get_db_hash(self):
        return json.dumps(self.database, sort_keys=True)


class Telecom:
    """As tau2's ``Environment``: with the methods that the guide's file uses."""

    def __init__(self):
        phone, line = {"data": False}, {"status": "off"}
        self.tools = Kit(line, enable=lambda: line.update(status="on") or {"status": "on"})
        self.user_tools = Kit(phone, toggle=lambda: phone.update(data=not phone["data"]) or f"data is {phone['data']}")

    def set_state(self, initialization_data, initialization_actions, message_history):
        assert not message_history
        for action in initialization_actions or ():
            self.user_tools.tools[action["func_name"]](**action["arguments"])

    def get_response(self, call):
        kit = {"assistant": self.tools, "user": self.user_tools}[call.requestor]
        try:
            answer = kit.tools[call.name](**call.arguments)
        except Exception as error:  # as tau2 does it
            return SimpleNamespace(content=f"Error: {error}")
        return SimpleNamespace(content=answer if isinstance(answer, str) else json.dumps(answer))

    def get_db_hash(self):
        return self.tools.get_db_hash()

    def get_user_db_hash(self):
        return self.user_tools.get_db_hash()


def validated(task):
    """As pydantic would read the task, as far as the guide's file looks."""
    criteria = task.get("evaluation_criteria") or {}
    actions = [SimpleNamespace(**{"requestor": "assistant", **action}) for action in criteria.get("actions") or ()]
    start = task.get("initial_state")
    return SimpleNamespace(
        initial_state=start and SimpleNamespace(initialization_data=None, **start),
        evaluation_criteria=SimpleNamespace(actions=actions),
    )


def test_the_tools_of_both_sides_of_tau2_are_asked_from_the_task_s_initial_state(stand_in, call, tmp_path):
    registry = SimpleNamespace(get_env_constructor=lambda domain: {"telecom": Telecom}[domain])
    environment = stand_in(
        "tau2_env.py",
        "tau2",
        {
            "tau2": {},
            "tau2.data_model": {},
            "tau2.data_model.message": {"ToolCall": SimpleNamespace},
            "tau2.data_model.tasks": {"Task": SimpleNamespace(model_validate=validated)},
            "tau2.registry": {"registry": registry},
        },
    )
    expected = [{"name": "enable", "arguments": {}}]
    task = {
        "id": "no-data",
        "user_scenario": {"instructions": "no data"},
        "initial_state": {"initialization_actions": [{"func_name": "toggle", "arguments": {}}]},
        "evaluation_criteria": {"actions": [*expected, {"name": "toggle", "arguments": {}, "requestor": "user"}]},
    }
    messages = [
        GREETING,
        asks("assistant", ("c0", "enable", {})),
        result("c0", '{"status": "on"}'),
        asks("user", ("c1", "toggle", {})),
        result("c1", "data is False", "user"),
        asks("assistant", ("c2", "invented", {})),
        result("c2", "Error: 'invented'"),
        STOP,
    ]
    document = results(simulation(*messages, task_id="no-data"), tasks=[task])
    call("import", "tau2", written(tmp_path, document), "--run", "tele")
    found = json.loads(call("lab", "reexecute", "tele", "--env", environment, "--json"))
    assert found["verdicts"] == {"identical": 2, "unknown tool": 1}
    assert found["differ"] == 0
    (trial,) = found["trials"]
    assert [(score["score"], score["kind"], score["now"]) for score in trial["scores"]] == [("db@tau2", "same", True)]
