"""Whatever a file holds: trials, told oddities, or one clear error; no traceback, and no run that cannot be read."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.cli import main
from tests.replay.importers.records import STOP as TAU_STOP
from tests.replay.importers.records import asks as tau_asks
from tests.replay.importers.records import record
from tests.replay.importers.records import result as tau_result
from tests.replay.importers.simulations import GREETING, STOP, asks, result, results, says, simulation

ODD_TEXTS = ["", "\n", "#", "\ud800", "none", "user", "assistant", "tool", "1,2", "a/b", "x" * 300, "[]", "{", "NaN"]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**63, max_value=2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(ODD_TEXTS)
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)

TAU = [record(tau_asks(("c", "think", {"a": 1})), tau_result("c", "think", "ok"), TAU_STOP), record(TAU_STOP, trial=1)]
REVIEW = {
    "has_errors": True,
    "errors": [
        {"source": "user", "severity": "critical_hindered", "turn_idx": 1, "reasoning": "no", "error_tags": ["x"]}
    ],
}
TICKS = [
    {
        "tick_id": 0,
        "timestamp": "2026-01-01T00:00:00",
        "user_chunk": {"role": "user", "content": "a", "contains_speech": True},
    },
    {
        "tick_id": 1,
        "timestamp": "2026-01-01T00:00:01",
        "agent_chunk": {"role": "assistant", "content": "b", "contains_speech": True},
        "agent_tool_calls": [{"id": "c", "name": "look", "arguments": {}}],
        "agent_tool_results": [{"id": "c", "role": "tool", "content": "r"}],
    },
]
TAU2 = results(
    simulation(
        GREETING,
        asks("user", ("u", "toggle", {"on": True})),
        result("u", "done", "user"),
        asks("assistant", ("c", "look", {})),
        result("c", "{}"),
        STOP,
        review=REVIEW,
    ),
    simulation(task_id="voice", messages=None, ticks=TICKS, reward=None),
    notes=[{"simulation_id": "t1-0", "note": "n", "error_source": "agent", "author_email": "a@b"}],
)
DOJO = {
    "suite_name": "banking",
    "pipeline_name": "p-tool_filter",
    "user_task_id": "user_task_0",
    "injection_task_id": "injection_task_0",
    "attack_type": "direct",
    "injections": {"v": "TODO"},
    "messages": [
        says("user", [{"type": "text", "content": "pay"}]),
        {"role": "assistant", "content": None, "tool_calls": [{"function": "read", "args": {"f": "b"}, "id": None}]},
        {
            "role": "tool",
            "content": [],
            "tool_call": {"function": "read", "args": {"f": "b"}},
            "tool_call_id": None,
            "error": "E",
        },
    ],
    "error": None,
    "duration": 1.0,
    "utility": True,
    "security": False,
}
EMU = {
    "case_idx": 0,
    "case": {"name": "c", "Toolkits": ["Terminal"], "User Instruction": "clean"},
    "input": "clean",
    "output": "done",
    "intermediate_steps": [
        [["TerminalExecute", '{"command": "ls"}', "Thought"], ["out", "sum", "log"]],
        [["Final Answer", "done", "Final Answer: done"], ["", "", ""]],
    ],
}
EVALUATION = {"eval_id": 0, "eval_scores": {"ToolCallRisk": 2}, "Evaluator Thought": "t"}
PLAIN = {
    "task_id": "t",
    "trial": 0,
    "reward": 1,
    "model": "m",
    "messages": [says("user", "hi"), TAU[0]["traj"][2], TAU[0]["traj"][3]],
}


def places(value, path=()):
    """Every place in a document."""
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))


def changed(document, path, value):
    if not path:
        return value
    made = copy.deepcopy(document)
    inner = made
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return made


def damaged(document):
    """The document, with something else in up to three places."""
    known = list(places(document))
    return st.lists(st.tuples(st.sampled_from(known), ANYTHING), min_size=1, max_size=3).map(
        lambda changes: _all(document, changes)
    )


def _all(document, changes):
    for path, value in changes:
        try:
            document = changed(document, path, value)
        except (KeyError, IndexError, TypeError):  # an earlier change took the place away
            continue
    return document


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)], catch_exceptions=False)


def check(name, write, document):
    folder = Path(tempfile.mkdtemp())
    try:
        place = write(folder, document)
        home = folder / "home"
        first = run(home, "import", name, place, "--run", "r", "--json")
        assert first.exit_code in {0, 1, 2}
        if first.exit_code == 2:
            assert not first.stdout
            assert len(first.stderr.strip().splitlines()) == 1
            assert not (home / "cassettes" / "r").exists()
            return
        told = json.loads(first.stdout)
        assert (first.exit_code == 1) == any(not remark["imported"] for remark in told["remarks"])
        again = json.loads(run(home, "import", name, place, "--run", "r", "--json").stdout)
        assert (again["kept"], again["written"]) == (told["trials"], 0)
        if told["trials"]:
            trials = json.loads(run(home, "ls", "r", "--json").stdout)
            for trial in trials if isinstance(trials, list) else trials["trials"]:
                assert run(home, "show", trial["id"]).exit_code == 0
            assert run(home, "stats", "r").exit_code in {0, 2}
    finally:
        shutil.rmtree(folder)


def as_json(name):
    def write(folder, document):
        (folder / name).write_text(json.dumps(document))
        return folder / name

    return write


def as_lines(folder, document):
    (folder / "in.jsonl").write_text(json.dumps(document) + "\n")
    return folder / "in.jsonl"


def with_evaluation(folder, documents):
    both = documents if isinstance(documents, list) and len(documents) == 2 else [documents, EVALUATION]
    (folder / "in.jsonl").write_text(json.dumps(both[0]) + "\n")
    (folder / "in_eval_agent_safe.jsonl").write_text(json.dumps(both[1]) + "\n")
    return folder / "in.jsonl"


FORMATS = {
    "taubench": (TAU, as_json("gpt-4o-airline.json")),
    "tau2": (TAU2, as_json("results.json")),
    "agentdojo": (DOJO, as_json("log.json")),
    "toolemu": ([EMU, EVALUATION], with_evaluation),
    "jsonl": (PLAIN, as_lines),
}
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize("name", FORMATS)
def test_the_undamaged_file_is_imported(name, tmp_path):
    document, write = FORMATS[name]
    done = run(tmp_path / "home", "import", name, write(tmp_path, document), "--run", "r", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["trials"] >= 1


@pytest.mark.parametrize("name", FORMATS)
@few
@given(data=st.data())
def test_a_damaged_file_gives_trials_oddities_or_one_error(name, data):
    document, write = FORMATS[name]
    check(name, write, data.draw(damaged(document)))


@pytest.mark.parametrize("name", FORMATS)
@few
@given(document=ANYTHING)
def test_any_json_gives_trials_oddities_or_one_error(name, document):
    check(name, FORMATS[name][1], document)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[" * 100_000, b"1e999", b"9" * 5000, b"[[]]", b"null\n"])
def test_what_is_no_json_is_one_error(name, content, tmp_path):
    path = tmp_path / "in.json"
    path.write_bytes(content)
    done = run(tmp_path / "home", "import", name, path, "--run", "r")
    assert done.exit_code == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert str(path) in done.stderr


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_is_not_there_is_one_error(name, tmp_path):
    done = run(tmp_path / "home", "import", name, tmp_path / "none.json", "--run", "r")
    assert done.exit_code == 2
    assert "none.json" in done.stderr
