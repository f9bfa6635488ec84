"""Live runs of the installed AgentDojo: recorded, scored, replayed frozen, made again, with the library's own verdicts.

It is found in this environment, or by the interpreter that AGENTDOJO_PYTHON names; trialtape must be installed there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

_BEGIN = """
import json, sys, warnings
from collections import Counter
from pathlib import Path
warnings.simplefilter("ignore")
from agentdojo.agent_pipeline import GroundTruthPipeline
from agentdojo.task_suite.load_suites import get_suite
from click.testing import CliRunner
from replay.cli import main
from replay.dojo import agentdojo_suite
from replay.home import Home
from replay.scores.scorefile import read_scores

home = "home"


def verdicts(run, scorer="utility"):
    return {s.trial.partition("/")[2]: s.passed for s in read_scores(Home(Path(home)), run) if s.scorer == scorer}


def coverage(run):
    from replay.view import View
    total = Counter()
    for _, path in Home(Path(home)).trials(run):
        total.update(View(path).coverage)
    return total


def reexecuted(run, *options):
    done = CliRunner().invoke(main, ["--home", home, "lab", "reexecute", run, "--env", "agentdojo", "--json", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def tell(**told):
    Path("told.json").write_text(json.dumps(told))
"""


@pytest.fixture(scope="module")
def python():
    found = os.environ.get("AGENTDOJO_PYTHON", sys.executable)
    wanted = "import agentdojo; from importlib.metadata import version; version('trialtape')"
    there = subprocess.run([found, "-c", wanted], check=False, capture_output=True)
    if there.returncode:
        pytest.skip("agentdojo is not installed here, and AGENTDOJO_PYTHON names no interpreter that has it")
    return found


@pytest.fixture
def told(tmp_path, python):
    """Run a program in a process of its own, and return what it tells."""

    def run(program):
        # A set in the library decides the order of participants: with a seed it is the same each time.
        environ = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [python, "-c", _BEGIN + program], check=False, cwd=tmp_path, capture_output=True, text=True, env=environ
        )
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "told.json").read_text())

    return run


def test_all_97_user_tasks_are_solved_live_frozen_and_made_again(told):
    found = told("""
live, frozen, again, calls = {}, {}, {}, Counter()
effects = Counter()
for name in ("banking", "slack", "travel", "workspace"):
    suite = agentdojo_suite(name, GroundTruthPipeline)
    result = suite.run(f"live-{name}", trials=1, home=home)
    assert not result.misdeclared, result.misdeclared
    live |= verdicts(f"live-{name}")
    suite.run(f"frozen-{name}", trials=1, home=home, freeze="tool", source=f"live-{name}", offline=True)
    frozen |= verdicts(f"frozen-{name}")
    effects += coverage(f"frozen-{name}")
    document = reexecuted(f"live-{name}")
    calls.update(document["verdicts"])
    again |= {t["trial"]: [t["start"]["verdict"], t["state"]["verdict"], [s["kind"] for s in t["scores"]]]
              for t in document["trials"]}
tell(live=live, same=live == frozen, coverage=effects, calls=calls, again=again)
""")
    assert len(found["live"]) == 97
    assert all(found["live"].values())
    assert found["same"]
    assert found["coverage"].keys() == {"own"}
    # One banking task sets a password, which no recording holds.
    secret = [trial for trial, (_, state, _) in found["again"].items() if state == "unknown"]
    assert secret == ["live-banking/banking/user_task_14#0"]
    assert found["calls"].keys() == {"identical", "canonical", "not carried out"}
    assert found["calls"]["not carried out"] == 1
    assert {(start, state, *kinds) for start, state, kinds in found["again"].values()} == {
        ("same", "same", "same"),
        ("same", "unknown"),
    }


def test_an_attack_that_succeeds_is_scored_as_the_library_scores_it(told):
    found = told('''
from agentdojo.benchmark import benchmark_suite_with_injections
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.logging import OutputLogger

dojo = get_suite("v1.2.2", "banking")


class Careless:
    """Solves every task, and does what was injected where the task's number is even."""

    name = "careless"
    query_of = {}

    def query(self, query, runtime, env, messages=[], extra_args={}):
        tasks = {t.PROMPT: t for t in dojo.user_tasks.values()} | {t.GOAL: t for t in dojo.injection_tasks.values()}
        task = tasks[query]
        _, _, env, messages, _ = GroundTruthPipeline(task).query(query, runtime, env, messages, extra_args)
        if hasattr(task, "PROMPT") and int(task.ID.rpartition("_")[2]) % 2 == 0:
            goal = GroundTruthPipeline(dojo.get_injection_task_by_id("injection_task_4"))
            _, _, env, messages, _ = goal.query(query, runtime, env, messages, extra_args)
        return query, runtime, env, messages, extra_args


users = [f"user_task_{n}" for n in range(6)]
injections = ["injection_task_4", "injection_task_5"]
chosen = {"user_tasks": users, "injection_tasks": injections}
with OutputLogger("logs"):
    attack = load_attack("direct", dojo, Careless())
    library = benchmark_suite_with_injections(Careless(), dojo, attack, None, True, users, injections)
suite = agentdojo_suite("banking", Careless(), attack="direct", **chosen)
suite.run("attacked", trials=1, home=home)
suite.run("frozen", trials=1, home=home, freeze="tool", source="attacked", offline=True)
agentdojo_suite("banking", Careless(), user_tasks=users).run("benign", trials=1, home=home)
tell(
    library={name: {f"banking/{u}/direct/{i}#0": v for (u, i), v in library[name].items()}
             for name in ("utility_results", "security_results")},
    live=[verdicts("attacked"), verdicts("attacked", "attack_success")],
    frozen=[verdicts("frozen"), verdicts("frozen", "attack_success")],
    benign=verdicts("benign", "attack_success"),
    again=Counter(f"{s['score']} {s['kind']}" for t in reexecuted("attacked")["trials"] for s in t["scores"]),
)
''')
    utility, security = found["library"]["utility_results"], found["library"]["security_results"]
    assert found["live"] == found["frozen"] == [utility, security]
    assert len(security) == 12
    assert set(security.values()) == {True, False}
    assert set(found["benign"].values()) == {None}
    assert len(found["again"]) == 2
    assert all(name.endswith(" same") for name in found["again"])


def test_a_model_in_this_process_is_recorded_and_can_be_frozen(told):
    found = told("""
from adapters.agentdojo import recorded_model
from agentdojo.agent_pipeline import AgentPipeline, InitQuery, SystemMessage, ToolsExecutor, ToolsExecutionLoop
from agentdojo.agent_pipeline import BasePipelineElement
from agentdojo.functions_runtime import FunctionCall
from agentdojo.types import ChatAssistantMessage, text_content_block_from_string
from replay.view import View

asked = []


class Model(BasePipelineElement):
    name = "in-process"

    def query(self, query, runtime, env, messages=[], extra_args={}):
        asked.append(len(messages))
        names = {2: ["get_iban", "invented"], 5: ["get_balance"]}.get(len(messages), [])
        calls = [FunctionCall(function=name, args={}, id=f"c{n}") for n, name in enumerate(names)] or None
        text = "Working." if calls else "The balance is 1810.0."
        said = ChatAssistantMessage(role="assistant", content=[text_content_block_from_string(text)], tool_calls=calls)
        return query, runtime, env, [*messages, said], extra_args


model = recorded_model(Model())
pipeline = AgentPipeline([SystemMessage("Help."), InitQuery(), model, ToolsExecutionLoop([ToolsExecutor(), model])])
pipeline.name = "in-process"
suite = agentdojo_suite("banking", pipeline, user_tasks=["user_task_1"])
suite.run("live", trials=1, home=home)
live = len(asked)
suite.run("frozen", trials=1, home=home, freeze=["model", "tool"], source="live", offline=True)
((_, path),) = Home(Path(home)).trials("live")
view = View(path, Home(Path(home)))
tell(
    live=live, frozen=len(asked) - live, same=verdicts("live") == verdicts("frozen"), coverage=coverage("frozen"),
    steps=[[s.call.kind, s.call.name, s.text] for s in view.steps],
    asked=[[c.name for c in s.reply.tool_calls] for s in view.steps if s.reply],
    seen=[m["role"] for m in view.messages(2)], verdicts=reexecuted("live")["verdicts"],
)
""")
    assert (found["live"], found["frozen"], found["same"]) == (3, 0, True)
    assert found["coverage"] == {"own": 5}
    assert found["steps"] == [
        ["model", "in-process", "Working."],
        ["tool", "get_iban", None],
        ["model", "in-process", "Working."],
        ["tool", "get_balance", None],
        ["model", "in-process", "The balance is 1810.0."],
    ]
    assert found["asked"] == [["get_iban", "invented"], ["get_balance"], []]
    assert found["seen"] == ["system", "user", "assistant", "tool", "tool"]
    assert found["verdicts"] == {"identical": 2}


def test_a_program_s_own_run_of_a_task_has_the_same_verdict_when_everything_is_frozen(told):
    found = told("""
import trialtape as tt

names = {"banking": ["user_task_0", "user_task_3"], "slack": ["user_task_1", "user_task_6"]}
names |= {"travel": ["user_task_0"], "workspace": ["user_task_18", "user_task_26"]}
found = []
for name, tasks in names.items():
    dojo = get_suite("v1.2.2", name)
    for task in map(dojo.get_user_task_by_id, tasks):
        trial = f"{name}-{task.ID}"
        with tt.trial(run="own", task=trial, home=home):
            live = dojo.run_task_with_pipeline(GroundTruthPipeline(task), task, None, {})
        with tt.trial(run="again", task=trial, replay=f"own/{trial}#0", home=home):
            frozen = dojo.run_task_with_pipeline(GroundTruthPipeline(task), task, None, {})
        writes = sum(s.call.effect == "write" for s in tt.open(f"own/{trial}#0", home=home).steps)
        found.append([live[0], frozen[0], writes])
tell(found=found)
""")
    assert len(found["found"]) == 7
    assert all(live and frozen for live, frozen, _ in found["found"])
    assert sum(writes > 0 for *_, writes in found["found"]) >= 5


def test_imported_logs_are_made_again_too(told):
    found = told("""
from agentdojo.agent_pipeline import GroundTruthPipeline
from agentdojo.benchmark import benchmark_suite_without_injections
from agentdojo.logging import Logger, OutputLogger

dojo = get_suite("v1.2.2", "banking")


class Logged:
    name = "ground-truth"

    def query(self, query, runtime, env, messages=[], extra_args={}):
        task = next(t for t in dojo.user_tasks.values() if t.PROMPT == query)
        result = GroundTruthPipeline(task).query(query, runtime, env, messages, extra_args)
        Logger.get().log([{"role": "user", "content": [{"type": "text", "content": query}]}, *result[3]])
        return result


Path("runs").mkdir()
users = ["user_task_0", "user_task_1", "user_task_3"]
with OutputLogger("runs"):
    benchmark_suite_without_injections(Logged(), dojo, Path("runs"), True, users, benchmark_version="v1.2.2")
done = CliRunner().invoke(main, ["--home", home, "import", "agentdojo", "runs", "--run", "logs"])
assert done.exit_code == 0, done.output
document = reexecuted("logs")
tell(verdicts=document["verdicts"], seen=document["environment"]["seen"])
""")
    assert found["verdicts"] == {"identical": found["verdicts"]["identical"]}
    (seen,) = found["seen"]
    assert (seen["name"], seen["trials"]) == ("agentdojo banking", 3)
    assert seen["version"].endswith("benchmark v1.2.2")
