"""Results of tau2, made up: simulations, their messages and ticks, and files of them."""

from __future__ import annotations

import json

from cassettes.model import Interaction

GREETING = {"role": "assistant", "content": "Hi! How can I help you?"}
STOP = {"role": "user", "content": "###STOP###"}


def says(role, text, **more):
    return {"role": role, "content": text, **more}


def asks(role, *calls, **more):
    """A message with tool calls of (id, name, arguments)."""
    made = [{"id": i, "name": name, "arguments": arguments, "requestor": role} for i, name, arguments in calls]
    return {"role": role, "content": None, "tool_calls": made, **more}


def result(identity, content, requestor="assistant", **more):
    return {"id": identity, "role": "tool", "content": content, "requestor": requestor, "error": False, **more}


def simulation(*messages, task_id="t1", trial=0, reason="user_stop", reward=1.0, **changes):
    reward_info = None
    if reward is not None:
        reward_info = {
            "reward": reward,
            "db_check": {"db_match": reward == 1.0, "db_reward": reward},
            "reward_basis": ["DB"],
            "reward_breakdown": {"DB": reward},
        }
    made = {
        "id": f"{task_id}-{trial}",
        "task_id": task_id,
        "trial": trial,
        "start_time": "2026-01-01T00:00:00",
        "end_time": "2026-01-01T00:01:00",
        "duration": 60.0,
        "termination_reason": reason,
        "reward_info": reward_info,
        "messages": list(messages) or [GREETING, says("user", "Bye."), STOP],
        "seed": 1,
    }
    return {**made, **changes}


def results(*simulations, **changes):
    info = {
        "git_commit": "abc",
        "num_trials": 1,
        "max_steps": 200,
        "max_errors": 10,
        "seed": 300,
        "user_info": {"implementation": "user_simulator", "llm": "user-model", "llm_args": {"temperature": 0.0}},
        "agent_info": {"implementation": "llm_agent", "llm": "agent-model", "llm_args": {"temperature": 0.0}},
        "environment_info": {"domain_name": "telecom", "policy": "Be kind."},
    }
    task = {
        "id": "t1",
        "user_scenario": {"persona": None, "instructions": "Fix the phone."},
        "evaluation_criteria": {"actions": [], "communicate_info": ["12"], "reward_basis": ["DB"]},
    }
    return {"timestamp": "t", "info": info, "tasks": [task], "simulations": list(simulations), **changes}


def written(folder, document, name="results.json"):
    path = folder / name
    path.write_text(json.dumps(document))
    return path


def in_folder(folder, document):
    """The same results as a folder with an index, as tau2 writes voice results."""
    (folder / "simulations").mkdir(parents=True)
    for each in document["simulations"]:
        (folder / "simulations" / f"{each['id']}.json").write_text(json.dumps(each))
    index = [
        {name: each[name] for name in ("id", "task_id", "trial", "termination_reason")}
        for each in document["simulations"]
    ]
    meta = {name: value for name, value in document.items() if name != "simulations"}
    written(folder, {**meta, "simulation_index": index})
    return folder


def calls(trial, kind="tool"):
    return [e for e in trial.events if isinstance(e, Interaction) and e.call.kind == kind]


def marks(trial, kind="message"):
    return [e.data for e in trial.events if not isinstance(e, Interaction) and e.kind == kind]


def whats(findings):
    return [remark.what for remark in findings.remarks]
