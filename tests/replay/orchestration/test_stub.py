"""A recording becomes a task whose file can be imported, and whose check holds for what was recorded."""

from __future__ import annotations

from datetime import date

import pytest
from attrs import evolve

import trialtape as tt
from cassettes.model import Mark
from replay.orchestration.loading import load_object
from replay.orchestration.stub import default_path, expected_of, instruction_of, write_stub
from tests.factories import interaction, model_call, write_cassette


@tt.tool(effect="write", external=False, ignore=["db"])
def put(db, key, value):
    db[key] = value
    return "put"


@tt.tool(effect="write", external=False, ignore=["db"])
def drop(db, key):
    del db[key]


def recorded(home, state=None, agent=lambda _: None, **options):
    """A session around ``agent``."""
    with tt.session(home=home, **options) as session:
        if state is not None:
            session.track(state)
        agent(state)
    assert session.ending.status == "completed"
    return tt.open(str(session.id), home=home)


def suite_of(stub):
    return load_object(str(stub.path), "suite")


@pytest.mark.parametrize(
    ("state", "beside"),
    [
        ({"orders": {"W1": {"status": "open"}, "W2": {"status": "open"}}}, []),
        ({"orders": {"W1": {"status": "open"}}, "users": {f"u{n}": {"n": n} for n in range(300)}}, ["_state.json"]),
        ({"orders": {"W1": {"status": "open", "day": date(2024, 5, 1)}}}, ["_state.msgpack"]),
    ],
)
def test_the_task_passes_where_the_agent_does_the_same_again(tmp_path, state, beside):
    def agent(db):
        put(db["orders"], "W1", {"status": "cancelled"})
        put(db["orders"], "W9", {"status": "new"})

    before = {key: dict(rows) for key, rows in state.items()}
    stub = write_stub(recorded(tmp_path, state, agent), tmp_path / "incident.py")
    assert [p.name for p in stub.others] == ["incident.cassette", *(f"incident{name}" for name in beside)]
    suite = suite_of(stub)
    (task,) = suite.tasks
    assert (task.id, task.state(), task.state() is task.state()) == ("session-0", before, False)
    assert task.expected == {"orders": {"W1": {"status": "cancelled"}, "W9": {"status": "new"}}}
    again = tt.Suite(tasks=[task], agent=lambda trial: agent(trial.state))
    assert again.run("same", trials=1, home=tmp_path).passed == 1
    other = tt.Suite(tasks=[task], agent=lambda trial: put(trial.state["orders"], "W1", {"status": "open"}))
    assert other.run("other", trials=1, home=tmp_path).passed == 0


def test_the_stub_runs_before_an_agent_is_written(tmp_path):
    suite = suite_of(write_stub(recorded(tmp_path), tmp_path / "incident.py"))
    result = suite.run("stub", trials=1, home=tmp_path)
    assert result.endings == {"error": 1}
    assert "call your agent" in tt.open("stub/session-0#0", home=tmp_path).ending.reason


def test_the_cassette_beside_it_answers_a_replay(tmp_path):
    def agent(_):
        return put({}, "a", 1)

    stub = write_stub(recorded(tmp_path, None, agent), tmp_path / "incident.py")
    cassette = load_object(str(stub.path), "CASSETTE")
    with tt.trial(run="again", task="t", home=tmp_path, replay=str(cassette)) as trial:
        assert agent(None) == "put"
    assert trial.verdicts == {"own": 1}


def test_without_a_state_the_writes_are_told_on_one_line_each(tmp_path):
    def agent(_):
        put({}, "a\nb", "x" * 1000)

    text = write_stub(recorded(tmp_path, None, agent), tmp_path / "incident.py").path.read_text()
    (line,) = [line for line in text.splitlines() if "step 0" in line]
    assert line.startswith(r"    #   step 0: put(key='a\nb', value='xxx")
    assert len(line) < 350
    assert "expected=" not in text


def test_expected_are_the_final_values_of_what_changed(tmp_path):
    def agent(db):
        put(db["rows"], "a", {"n": 1})
        put(db["rows"], "a", {"n": 2})
        drop(db["rows"], "b")
        put(db, "number", 7)
        db["list"].append(3)
        put(db, "number", 8)
        drop(db, "gone")
        drop(db["emptied"], "x")

    state = {
        "rows": {"a": {}, "b": {}, "c": {}},
        "list": [1, 2],
        "number": 0,
        "gone": {"x": 1},
        "emptied": {"x": 1},
        "same": 1,
    }
    expected, gone = expected_of(recorded(tmp_path, state, agent))
    assert expected["rows"] == {"a": {"n": 2}}
    assert (expected["list"], expected["number"]) == ([1, 2, 3], 8)
    assert "same" not in expected
    assert "['rows']['b']" in gone
    assert "['gone']" in gone


def test_what_is_replaced_is_said(tmp_path):
    view = recorded(tmp_path, {"users": {"u": "mia@example.org"}})
    text = write_stub(view, tmp_path / "incident.py").path.read_text()
    assert "mia@" not in text
    assert "stand as {secret:...}" in text


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        ([{"role": "system", "content": "s"}, {"role": "user", "content": 'say "hi"\n'}], 'say "hi"\n'),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}], "a\nb"),
        ([{"role": "user", "parts": [{"text": "a"}]}], "a"),
        ([{"role": "user", "content": []}, {"role": "user", "content": "then"}], "then"),
        (["plain"], "plain"),
        ([{"role": "assistant", "content": "no"}, 7], ""),
    ],
)
def test_the_instruction_is_the_first_that_the_user_said(tmp_path, messages, wanted):
    simulator = model_call([{"role": "user", "content": "you are a customer"}])
    calls = [interaction(0, call=evolve(simulator, actor="user")), interaction(1, call=model_call(messages))]
    path = write_cassette(tmp_path / "0.cassette", calls)
    assert instruction_of(tt.open(path)) == wanted
    assert suite_of(write_stub(tt.open(path), tmp_path / "incident.py")).tasks[0].instruction == wanted


def test_a_message_that_was_kept_and_a_tasks_own_instruction_come_first(tmp_path):
    calls = [interaction(0, call=model_call([{"role": "user", "content": "later"}]))]
    marks = [Mark("message", 0.0, {"role": role, "content": role}) for role in ("assistant", "user")]
    assert instruction_of(tt.open(write_cassette(tmp_path / "a.cassette", calls, marks=marks))) == "user"
    definition = {"id": "t", "instruction": "from the task"}
    path = write_cassette(tmp_path / "b.cassette", calls, marks=marks, task_definition=definition, task="t")
    assert instruction_of(tt.open(path)) == "from the task"
    assert write_stub(tt.open(path), tmp_path / "incident.py").task == "t"


def test_nothing_is_overwritten(tmp_path):
    view = recorded(tmp_path)
    write_stub(view, tmp_path / "incident.py")
    with pytest.raises(tt.BadInput, match="exists already"):
        write_stub(view, tmp_path / "incident.py")
    (tmp_path / "other.cassette").write_text("")
    with pytest.raises(tt.BadInput, match=r"other\.cassette exists already"):
        write_stub(view, tmp_path / "other.py")
    assert not (tmp_path / "other.py").exists()


@pytest.mark.parametrize("name", ["a-b.py", "1.py", "a.txt", "a"])
def test_a_file_that_python_cannot_import_is_refused(tmp_path, name):
    with pytest.raises(tt.BadInput, match="import"):
        write_stub(recorded(tmp_path), tmp_path / name)


def test_odd_names_make_a_file_that_can_be_imported(tmp_path):
    view = recorded(tmp_path, run='a "b" \\ """', name="ü/x y")
    path = default_path(view)
    assert path.stem.isidentifier()
    assert suite_of(write_stub(view, tmp_path / path)).tasks[0].id == "ü/x y-0"
