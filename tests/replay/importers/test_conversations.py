from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cassettes.errors import BadInput
from replay.cli import main
from replay.home import Home
from replay.importers.conversations import Fields, read_conversations
from replay.runs import load_run
from replay.scores.scorefile import read_scores
from replay.view import View
from tests.replay.importers.records import asks, result, says, user
from tests.replay.importers.simulations import calls, marks, whats


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)], catch_exceptions=False)


def written(folder, *documents):
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    return path


TALK = [
    {"role": "system", "content": "policy"},
    user("hi"),
    asks(("c1", "look", {"n": 1}), ("c2", "look", {"n": 2})),
    result("c2", "look", "two"),
    result("c1", "look", "one"),
    says("Done."),
]


def test_a_conversation_becomes_model_calls_and_tool_calls(tmp_path):
    (trial,) = read_conversations(
        written(tmp_path, {"messages": TALK, "model": "m", "task_id": "t", "reward": 1})
    ).trials
    assert (trial.task, trial.index, trial.ending.status) == ("t", 0, "completed")
    assert [(c.call.name, dict(c.call.arguments), c.outcome.value) for c in calls(trial)] == [
        ("look", {"n": 2}, "two"),
        ("look", {"n": 1}, "one"),
    ]
    first, second = calls(trial, "model")
    assert (first.call.name, first.call.arguments["messages"]) == ("m", TALK[:2])
    assert second.call.arguments["messages"] == TALK[:5]
    assert (second.reply.text, second.outcome.value) == ("Done.", says("Done."))
    assert [m["content"] for m in marks(trial)] == ["hi"]
    assert (trial.definition["instruction"], trial.scores[0].score.value) == ("hi", 1.0)


def test_what_no_field_tells_stays_unknown(tmp_path):
    found = read_conversations(written(tmp_path, {"messages": TALK}, TALK))
    assert [(t.task, t.index, t.scores) for t in found.trials] == [("line-1", 0, ()), ("line-2", 0, ())]
    assert {c.call.name for t in found.trials for c in calls(t, "model")} == {"unknown"}
    assert {c.call.effect for t in found.trials for c in calls(t)} == {"unknown"}
    assert found.primary is None


def test_trials_of_a_task_are_numbered_by_a_field_or_in_their_order(tmp_path):
    lines = [
        {"messages": TALK, "task_id": t, "trial": n} for t, n in (("a", None), ("a", None), ("b", 4), ("a", 1), (3, 0))
    ]
    found = read_conversations(written(tmp_path, *lines))
    assert [(t.task, t.index) for t in found.trials] == [("a", 0), ("a", 1), ("b", 4), ("3", 0)]
    assert whats(found) == ["a second record of this task and trial; the first is kept"]


def test_fields_may_have_other_names(tmp_path):
    path = written(tmp_path, {"messages": TALK, "question": "q", "epoch": 2, "ok": True, "llm": "m"})
    home = tmp_path / "home"
    options = ["--task-field", "question", "--trial-field", "epoch", "--score-field", "ok", "--model-field", "llm"]
    done = run(home, "import", "jsonl", path, "--run", "r", *options, "--json")
    assert json.loads(done.stdout)["scores"] == {"ok@jsonl": 1}
    assert [str(t) for t, _ in Home(home).trials("r")] == ["r/q#2"]
    assert load_run(Home(home), "r").primary == "ok@jsonl"
    found = read_conversations(path, fields=Fields("question", "epoch", "ok", "llm"))
    assert {c.call.name for c in calls(found.trials[0], "model")} == {"m"}


def test_older_and_richer_messages_are_read(tmp_path):
    talk = [
        {"role": "developer", "content": "be kind"},
        user([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}]),
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"n": 1}'}},
        {"role": "function", "name": "look", "content": "one"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Yes"}, {"type": "text", "text": "No"}],
            "model": "other",
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        },
        {"role": "assistant", "content": None, "refusal": "I will not."},
    ]
    found = read_conversations(written(tmp_path, {"messages": talk, "tools": [{"type": "function"}], "temperature": 0}))
    assert whats(found) == []
    (trial,) = found.trials
    assert [(c.call.name, c.call.arguments, c.outcome.value) for c in calls(trial)] == [("look", {"n": 1}, "one")]
    _, second, third = calls(trial, "model")
    assert (second.call.name, second.reply.text, second.reply.usage.input) == ("other", "Yes\nNo", 3)
    assert (second.call.arguments["tools"], second.call.arguments["temperature"]) == ([{"type": "function"}], 0)
    assert third.reply.refusal == "I will not."
    assert marks(trial)[0]["whole"] == talk[1]["content"]
    assert trial.definition["instruction"] == "see"


def test_an_import_with_pictures_in_messages_can_be_looked_at(tmp_path):
    path = written(tmp_path, {"messages": [user([{"type": "image_url", "image_url": {"url": "x"}}]), says("A cat.")]})
    home = tmp_path / "home"
    assert run(home, "import", "jsonl", path, "--run", "r").exit_code == 0
    assert "A cat." in run(home, "show", "r/line-1#0").stdout


def test_oddities_are_told_by_line(tmp_path):
    talk = [
        user("hi"),
        asks(("c1", "one", "not json"), ("c2", "two", {})),
        result("c1", "one", "1"),
        result("zz", "x", "stray"),
        {"role": "narrator", "content": "?"},
        {"role": "tool", "content": "no id"},
        says("x"),
        {"role": "tool", "name": "x", "content": "late"},
    ]
    found = read_conversations(written(tmp_path, {"messages": talk, "reward": "high"}))
    assert whats(found) == [
        "message 2: the arguments of one are no JSON object; kept as the text 'unparsed'",
        "message 3: a result of no call just before it; kept as a mark",
        "message 4: is no message of a known role; kept as a mark",
        "message 5: a result without tool_call_id; taken as that of two",
        "message 7: a result of no call just before it; kept as a mark",
        "its reward is no number; left unscored",
    ]


def test_lines_that_are_no_conversation_are_told_and_make_the_exit_code_1(tmp_path):
    path = written(tmp_path, {"messages": TALK}, 7, {"messages": "x"}, {"messages": []}, {"messages": [{}]})
    path.write_text(path.read_text() + "{\n")
    done = run(tmp_path / "home", "import", "jsonl", path, "--run", "r", "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["trials"], [r["record"] for r in told["remarks"]]) == (1, 1, [1, 2, 3, 4, 5])


@pytest.mark.parametrize("text", ["", "\n\n", "7\n", "[]\n"])
def test_a_file_without_a_conversation_is_one_error(tmp_path, text):
    path = tmp_path / "in.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match="holds no conversation"):
        read_conversations(path)


def test_half_a_surrogate_pair_is_kept_in_messages_and_escaped_in_tables(tmp_path):
    path, home = tmp_path / "in.jsonl", tmp_path / "home"
    line = '{"task_id": "a", "reward": "\\ud800", "messages": [{"role": "assistant", "content": "\\udc00"}]}'
    path.write_text(line + "\n")
    assert run(home, "import", "jsonl", path, "--run", "r").exit_code == 0
    (view,) = [View(place) for _, place in Home(home).trials("r")]
    assert view.steps[0].outcome.value["content"] == "\udc00"
    (score,) = read_scores(Home(home), "r")
    assert json.loads(score.evidence) == {"reward": "\\ud800"}
    assert run(home, "ls", "r").exit_code == 0
