"""Logs that the installed agentdojo writes have, imported, the very metrics that it computes itself.

It is found in this environment, or by the interpreter that AGENTDOJO_PYTHON names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from replay.importers.agentdojo import read_agentdojo

_PROGRAM = '''
import json, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
from agentdojo.agent_pipeline import GroundTruthPipeline
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.benchmark import aggregate_results, benchmark_suite_with_injections, benchmark_suite_without_injections
from agentdojo.logging import Logger, OutputLogger
from agentdojo.task_suite.load_suites import get_suite

folder, users, injections = Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3].split(",")
suite = get_suite("v1.2.2", "banking")


attacked = {"by": None}


class PerTask:
    """Solves user tasks with an even number, and carries out what is injected into every third."""

    name = "careless"

    def query(self, query, runtime, env, messages=[], extra_args={}):
        tasks = [*suite.user_tasks.values(), *suite.injection_tasks.values()]
        task = next(t for t in tasks if query in {getattr(t, "PROMPT", None), getattr(t, "GOAL", None)})
        number = int(task.ID.rpartition("_")[2])
        if task.ID.startswith("user_task") and number % 2:
            done = ([{"role": "user", "content": [{"type": "text", "content": query}]},
                     {"role": "assistant", "content": [{"type": "text", "content": "No."}], "tool_calls": None}])
            Logger.get().log(done)
            return query, runtime, env, done, extra_args
        pipeline = GroundTruthPipeline(task)
        result = pipeline.query(query, runtime, env, messages, extra_args)
        if number % 3 == 0 and task.ID.startswith("user_task") and attacked["by"] is not None:
            result = GroundTruthPipeline(attacked["by"]).query(query, result[1], result[2], [], extra_args)[:3] + (
                result[3], extra_args)
        Logger.get().log(result[3])
        return result


pipeline = PerTask()
with OutputLogger(str(folder)):
    benign = benchmark_suite_without_injections(pipeline, suite, folder, True, users, benchmark_version="v1.2.2")
    attack = load_attack("direct", suite, pipeline)
    both = {"utility_results": {}, "security_results": {}, "injection_tasks_utility_results": {}}
    for injection in injections:
        attacked["by"] = suite.get_injection_task_by_id(injection)
        made = benchmark_suite_with_injections(
            pipeline, suite, attack, folder, True, users, [injection], benchmark_version="v1.2.2")
        for name in both:
            both[name].update(made[name])
json.dump({
    "utility": aggregate_results([benign["utility_results"]]),
    "utility_under_attack": aggregate_results([both["utility_results"]]),
    "security": aggregate_results([both["security_results"]]),
    "injection_tasks": sum(both["injection_tasks_utility_results"].values()),
    "pairs": len(both["security_results"]),
}, open(sys.argv[4], "w"))
'''
_USERS = [f"user_task_{n}" for n in range(8)]
_INJECTIONS = ["injection_task_0", "injection_task_4"]


@pytest.fixture(scope="module")
def python():
    found = os.environ.get("AGENTDOJO_PYTHON", sys.executable)
    there = subprocess.run([found, "-c", "import agentdojo"], check=False, capture_output=True)
    if there.returncode:
        pytest.skip("agentdojo is not installed here, and AGENTDOJO_PYTHON names no interpreter that has it")
    return found


@pytest.mark.slow
def test_imported_logs_have_the_metrics_that_agentdojo_computes(tmp_path, python):
    runs, told = tmp_path / "runs", tmp_path / "told.json"
    runs.mkdir()
    subprocess.run(
        [python, "-c", _PROGRAM, str(runs), ",".join(_USERS), ",".join(_INJECTIONS), str(told)],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    library = json.loads(told.read_text())
    found = read_agentdojo([runs])
    metrics = found.told["metrics"]
    (direct,) = metrics["attacks"]
    assert direct["attack_success"]["of"] == library["pairs"] == len(_USERS) * len(_INJECTIONS)
    assert metrics["utility"]["banking"]["share"] == library["utility"]
    assert direct["utility_under_attack"]["share"] == library["utility_under_attack"]
    assert direct["attack_success"]["share"] == library["security"]
    assert direct["attack_success_as_agentdojo_counts"]["share"] == library["security"]
    assert metrics["injection_tasks_solved"]["banking"]["count"] == library["injection_tasks"]
    assert 0 < library["utility"] < 1
    assert 0 < library["security"] < 1
    assert not found.remarks
