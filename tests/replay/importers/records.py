"""Records of tau-bench, and results files of them."""

from __future__ import annotations

import json

from replay.importers.taubench import read_results

STOP = {"role": "user", "content": "Thanks. ###STOP###"}


def asks(*calls, content=None):
    """An assistant message with tool calls of (id, name, arguments)."""
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {
                "id": identity,
                "type": "function",
                "function": {"name": name, "arguments": a if isinstance(a, str) else json.dumps(a)},
            }
            for identity, name, a in calls
        ],
    }


def result(identity, name, content):
    return {"role": "tool", "tool_call_id": identity, "name": name, "content": content}


def says(text):
    return {"role": "assistant", "content": text}


def user(text):
    return {"role": "user", "content": text}


def record(*messages, task_id=0, trial=0, reward=1.0, **changes):
    reward_info = {"reward": reward, "info": {"r_actions": True, "gt_data_hash": "00"}, "actions": []}
    made = {
        "task_id": task_id,
        "reward": reward,
        "info": {
            "task": {"user_id": "u", "actions": [{"name": "a", "kwargs": {}}], "instruction": "Do.", "outputs": ["1"]},
            "source": "user",
            "user_cost": 0.0,
            "reward_info": reward_info,
        },
        "traj": [{"role": "system", "content": "policy"}, user("hi"), *messages],
        "trial": trial,
    }
    return {**made, **changes}


def read(tmp_path, *records):
    return read_results(written(tmp_path, *records))


def written(tmp_path, *records, name="results.json"):
    path = tmp_path / name
    path.write_text(json.dumps(list(records)))
    return path


def whats(results):
    return [remark.what for remark in results.remarks]
