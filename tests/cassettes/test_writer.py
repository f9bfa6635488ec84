from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from cassettes import frames
from cassettes.codec import snapshot
from cassettes.errors import BadInput, RecordingFailed, UnkeepableValue
from cassettes.model import Chunk, Ending, Error, Mark, Origin, Patch, Reply, Stream, ToolRequest, Value
from cassettes.reader import Cassette
from cassettes.redact import Redactor
from cassettes.scan import inflate
from cassettes.values import pack, unpack
from cassettes.writer import RESTART_EVERY, CassetteWriter
from tests.factories import append, call, header, interaction, model_call, same, write_cassette
from tests.strategies import Failure


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "task" / "0.cassette"


def run_child(script: str, *arguments: object, **options) -> subprocess.CompletedProcess[str]:
    """Run a script that may use the factories."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


# -- what is kept -----------------------------------------------------------------------------------------------------


def test_a_step_is_readable_as_soon_as_append_returns(path):
    writer = CassetteWriter(path, header(), Redactor())
    for step in range(3):
        append(writer, interaction(step))
        view = Cassette(path)
        assert [item.step for item in view] == list(range(step + 1))
        assert (view.ending.status, view.problem) == ("incomplete", None)
    writer.abandon()


def test_steps_may_end_in_another_order_than_they_began(path):
    items = [interaction(step, Value(step), started=step, ended=9 - step) for step in (2, 0, 1)]
    view = Cassette(write_cassette(path, items))
    assert [(item.step, item.outcome.value) for item in view] == [(0, 0), (1, 1), (2, 2)]


def test_a_call_that_never_ended_leaves_a_gap(path):
    view = Cassette(write_cassette(path, [interaction(0), interaction(2)]))
    assert list(view.step_numbers) == [0, 2]
    assert len(view) == 2
    assert [item.step for item in view] == [0, 2]
    with pytest.raises(IndexError):
        view.step(1)


def test_counts_tell_kinds_origins_marks_and_secrets(path):
    items = [
        interaction(0, call=model_call([{"content": "sk-abcdefghij0123456789"}])),
        interaction(1),
        interaction(2, origin=Origin("own", "other", 3)),
    ]
    marks = [Mark("message", 1.0, {"role": "user"}), Mark("message", 1.5, None), Mark("state", 2.0, "digest")]
    whole = Cassette(write_cassette(path, items, marks=marks))
    assert whole.counts == {
        "model": 1,
        "tool": 2,
        "origin live": 2,
        "origin own": 1,
        "mark message": 2,
        "mark state": 1,
    }
    assert whole.redacted == {"openai": 1}
    assert whole.marks() == marks
    cut = Cassette(write_cassette(path.with_name("1.cassette"), items, None, marks=marks))
    assert cut.counts == whole.counts


def test_equal_content_has_an_equal_digest(tmp_path):
    def digest(name, *items):
        return Cassette(write_cassette(tmp_path / name, items)).digest

    assert digest("a", interaction(0), interaction(1)) == digest("b", interaction(0), interaction(1))
    assert digest("c", interaction(0), interaction(1)) != digest("d", interaction(0), interaction(1, Value(1.0)))


# -- histories --------------------------------------------------------------------------------------------------------


def conversation(path, *histories):
    """Write a model call for each history; give the histories as read, and the new messages of each step."""
    view = Cassette(write_cassette(path, [interaction(s, call=model_call(h)) for s, h in enumerate(histories)]))
    return (
        [item.call.arguments["messages"] for item in view],
        [view.new_messages(step) for step in range(len(histories))],
        view,
    )


def test_a_growing_history_stores_each_message_once(path):
    histories = [[{"n": n} for n in range(turn + 1)] for turn in range(200)]
    read, new, view = conversation(path, *histories)
    assert read == histories
    assert new == [[{"n": n}] for n in range(200)]
    assert view.number_of_messages == 200


def test_a_history_edited_in_the_middle_stores_only_the_edit(path):
    histories = [["a", "b", "c"], ["a", "B", "c", "d"], ["c", "a"], [], ["a", "b", "c"]]
    read, new, _ = conversation(path, *histories)
    assert read == histories
    assert new == [["a", "b", "c"], ["B", "d"], [], [], []]


def test_a_message_that_stands_twice_in_a_history_is_stored_once(path):
    read, new, _ = conversation(path, ["a", "a", "b", "a"])
    assert (read, new) == ([["a", "a", "b", "a"]], [["a", "b"]])


def test_values_that_python_calls_equal_are_different_messages(path):
    message = {"flag": 1}
    writer = CassetteWriter(path, header(), Redactor())
    for step, flag in enumerate([1, True, 1.0, -0.0, 0.0, 0, False]):
        message["flag"] = flag  # the agent edits its history in place
        append(writer, interaction(step, call=model_call([message])))
    writer.close(Ending("completed"))
    read = [item.call.arguments["messages"][0]["flag"] for item in Cassette(path)]
    assert list(map(repr, read)) == ["1", "True", "1.0", "-0.0", "0.0", "0", "False"]


def test_what_the_agent_edits_after_the_call_does_not_reach_the_file(path):
    messages = [{"role": "user", "content": ["before"]}]
    made = interaction(call=model_call(messages))
    taken = snapshot(made.call)
    messages[0]["content"][0] = "after"
    messages.append("more")
    writer = CassetteWriter(path, header(), Redactor())
    writer.append(made, taken)
    writer.close(Ending("completed"))
    assert Cassette(path).step(0).call.arguments["messages"] == [{"role": "user", "content": ["before"]}]


def test_histories_of_two_actors_do_not_disturb_each_other(path):
    items = [
        interaction(
            step, call=call("model", actor=actor, arguments={"messages": list(range(step + 1)), "tools": ["t"]})
        )
        for step, actor in enumerate(["agent", "user", "agent", "user"])
    ]
    view = Cassette(write_cassette(path, items))
    assert all(same(read, item) for read, item in zip(view, items, strict=True))


def test_an_append_that_fails_does_not_shift_the_messages_of_later_ones(path):
    writer = CassetteWriter(path, header(), Redactor())
    append(writer, interaction(0, call=model_call(["a"])))
    deep = "sk-abcdefghij0123456789"
    for _ in range(600):
        deep = [deep]
    with pytest.raises(UnkeepableValue):
        append(writer, interaction(1, call=model_call(["a", "lost", deep])))
    append(writer, interaction(2, call=model_call(["a", "b"])))
    writer.close(Ending("completed"))
    view = Cassette(path)
    assert [view.step(step).call.arguments["messages"] for step in (0, 2)] == [["a"], ["a", "b"]]
    assert view.counts["model"] == 2


def test_an_outcome_that_cannot_be_kept_leaves_the_file_as_it_was(path):
    writer = CassetteWriter(path, header(), Redactor())
    before = path.read_bytes()
    with pytest.raises(UnkeepableValue, match=r"items\[3\]\.handle"):
        append(writer, interaction(0, Value({"items": [1, 2, 3, {"handle": threading.Lock()}]})))
    assert path.read_bytes() == before
    append(writer, interaction(0))
    writer.close(Ending("completed"))
    assert len(Cassette(path)) == 1


def test_appends_from_many_threads_are_all_kept(path):
    writer = CassetteWriter(path, header(), Redactor())
    start = threading.Barrier(8)

    def work(worker):
        start.wait()
        for n in range(25):
            step = worker * 25 + n
            append(writer, interaction(step, Value(step), call=model_call([worker, *range(n)])))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close(Ending("completed"))
    view = Cassette(path)
    view.check()
    assert [item.outcome.value for item in view] == list(range(200))
    assert all(item.call.arguments["messages"] == [item.step // 25, *range(item.step % 25)] for item in view)


# -- secrets ----------------------------------------------------------------------------------------------------------


def plain_contents(path) -> list[bytes]:
    """Everything that stands in a cassette, decompressed."""
    contents, payloads, size = [], b"", 0
    for frame in frames.frames(path.read_bytes()):
        if frame.type != frames.STEPS:
            contents.append(inflate(frame.payload, frame.plain))
            continue
        if frame.restart:
            payloads, size = b"", 0
        payloads, size = payloads + frame.payload, size + frame.plain
        contents.append(inflate(payloads, size))
    return contents


def test_no_secret_reaches_the_disk_from_anywhere(path):
    shaped = ["config", "argument", "message", "tool", "outcome", "error", "head"]
    others = ["stream", "text", "mark", "detail", "reply", "call", "patch", "task", "ending"]
    secrets = [
        *(f"sk-proj-{name}-0123456789abcdef" for name in shaped),
        *(f"ghp_{name}{'0123456789abcdef' * 2}" for name in others),
    ]
    config, argument, message, tool, outcome, error, head = secrets[:7]
    stream, text, mark, detail, reply, requested, patch, task, ending = secrets[7:]
    writer = CassetteWriter(
        path,
        header(config={"key": config}, task_definition={"instruction": task}),
        Redactor(b"k", ["a value of the shell"]),
    )
    asked = model_call([{"role": "user", "content": message}], tools=[{"d": tool}], api_key="tiny-secret", x=argument)
    told = Reply(
        text=f"{reply} and a value of the shell", tool_calls=(ToolRequest("1", "f", f'{{"k": "{requested}"}}'),)
    )
    append(
        writer,
        interaction(0, Value({"a": (outcome, {"password": "tiny-secret"})}), call=asked, reply=told),
        interaction(1, Error(Failure(1, detail={error})), call=call(arguments={"password": "tiny-secret"})),
        interaction(
            2,
            Stream(head, (Chunk(0.1, b"data: " + stream[:9].encode()), Chunk(0.2, stream[9:].encode() + b"\n")), True),
            call=call("http", detail={"headers": {"x": detail}}),
        ),
        interaction(
            3, Stream(None, tuple(Chunk(0.1, piece) for piece in ("a " + text[:3], text[3:20], text[20:])), False)
        ),
        interaction(4, patch=Patch(((("db", "key"), None, pack({"note": f"{patch} ä", "n": 1})),))),
    )
    writer.mark(Mark("message", 1.0, {"content": mark}))
    writer.close(Ending("error", f"the provider said {ending}", "infrastructure"))
    held = [path.read_bytes(), *plain_contents(path)]
    for secret in [*secrets, "tiny-secret", "a value of the shell"]:
        assert not any(secret.encode() in content for content in held), secret
    for secret in secrets:
        assert not any(secret[-20:].encode() in content for content in held), secret
    view = Cassette(path)
    view.check()
    assert b"".join(chunk.data for chunk in view.step(2).outcome.chunks).startswith(b"data: {secret:github:")
    assert [chunk.data[:2] for chunk in view.step(3).outcome.chunks] == ["a ", "", ""]
    assert unpack(view.step(4).patch.changes[0][2])["n"] == 1
    assert view.redacted["github"] == 9


# -- failures ---------------------------------------------------------------------------------------------------------


def test_an_existing_file_is_never_overwritten(path):
    write_cassette(path, [interaction(0)])
    before = path.read_bytes()
    with pytest.raises(BadInput, match="exists already"):
        write_cassette(path)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RecordingFailed, match="cannot be created"):
        write_cassette(tmp_path / "file" / "0.cassette")


def test_a_header_that_cannot_be_kept_leaves_no_file(path):
    with pytest.raises(UnkeepableValue):
        write_cassette(path, config={"lock": threading.Lock()})
    assert not path.exists()


def test_nothing_is_written_after_the_end(path):
    writer = CassetteWriter(path, header(), Redactor())
    writer.close(Ending("completed"))
    before = path.read_bytes()
    for late in (lambda: append(writer, interaction(0)), lambda: writer.mark(Mark("x", 0.0, 1)), writer.abandon):
        if late == writer.abandon:
            late()
            continue
        with pytest.raises(RecordingFailed, match="is closed"):
            late()
    with pytest.raises(RecordingFailed, match="is closed"):
        writer.close(Ending("completed"))
    writer.sync()
    assert path.read_bytes() == before


def test_a_full_disk_is_an_error_now_and_at_every_later_append(path):
    done = run_child(
        """
        import os, resource, sys
        from pathlib import Path
        from cassettes.errors import RecordingFailed
        from cassettes.model import Ending, Value
        from cassettes.redact import Redactor
        from cassettes.writer import CassetteWriter
        from tests.factories import append, header, interaction

        writer = CassetteWriter(Path(sys.argv[1]), header(), Redactor())
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        kept, failed = 0, 0
        for step in range(200):
            try:
                append(writer, interaction(step, Value(os.urandom(200))))
                assert not failed
                kept += 1
            except RecordingFailed:
                failed += 1
        try:
            writer.close(Ending("completed"))
        except RecordingFailed:
            print(kept, failed)
        """,
        path,
    )
    kept, failed = map(int, done.stdout.split())
    assert kept > 20
    assert kept + failed == 200
    view = Cassette(path)
    assert (len(view), view.ending.status) == (kept, "incomplete")
    assert "cut short" in view.problem


@pytest.mark.parametrize("place", ["cassettes.writer.frames.encode", "cassettes.writer.os.write"])
def test_an_interrupt_in_the_midst_of_an_append_ends_the_recording_there(path, monkeypatch, place):
    writer = CassetteWriter(path, header(), Redactor())
    append(writer, interaction(0, call=model_call(["a"])))

    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    second = interaction(1, call=model_call(["a", "b"]))
    with monkeypatch.context() as patched:
        patched.setattr(place, interrupt)
        with pytest.raises(KeyboardInterrupt):
            append(writer, second)
    for late in (lambda: append(writer, interaction(2)), lambda: writer.close(Ending("completed"))):
        with pytest.raises(RecordingFailed, match="is closed"):
            late()
    view = Cassette(path)
    assert (len(view), view.ending.status, view.problem) == (1, "incomplete", None)


def test_a_disk_that_refuses_to_sync_closes_the_recording(path, monkeypatch):
    writer = CassetteWriter(path, header(), Redactor())
    append(writer, interaction(0))

    def refuse(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(RecordingFailed, match="cannot be synced"):
        writer.sync()
    with pytest.raises(RecordingFailed, match="is closed"):
        append(writer, interaction(1))
    monkeypatch.undo()
    assert len(Cassette(path)) == 1


def test_a_forked_child_cannot_write_into_its_parents_cassette(path):
    done = run_child(
        """
        import os, sys
        from pathlib import Path
        from cassettes.errors import RecordingFailed
        from cassettes.model import Ending
        from cassettes.redact import Redactor
        from cassettes.writer import CassetteWriter
        from tests.factories import append, header, interaction, write_cassette

        path = Path(sys.argv[1])
        writer = CassetteWriter(path, header(), Redactor())
        append(writer, interaction(0))
        child = os.fork()
        if child == 0:
            try:
                append(writer, interaction(1))
            except RecordingFailed:
                write_cassette(path.with_name("child.cassette"), [interaction(0)])
                os._exit(7)
            os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        append(writer, interaction(1))
        writer.close(Ending("completed"))
        print(status)
        """,
        path,
    )
    assert done.stdout.strip() == "7", done.stderr
    view = Cassette(path)
    view.check()
    assert [item.step for item in view] == [0, 1]
    assert Cassette(path.with_name("child.cassette")).ending.status == "completed"


def test_a_process_forked_while_a_cassette_is_being_closed_does_not_close_its_number_again(path, monkeypatch):
    writer = CassetteWriter(path, header(), Redactor())
    seen, close = [], os.close

    def closing(fd):
        seen.append(writer._fd)
        close(fd)

    monkeypatch.setattr(os, "close", closing)
    writer.abandon()
    assert seen == [-1]


@pytest.mark.parametrize("acknowledged", [1, 5, 63, 64, 150])
def test_no_step_that_was_acknowledged_is_lost_when_the_process_is_killed(path, acknowledged):
    script = """
        import sys
        from pathlib import Path
        from cassettes.redact import Redactor
        from cassettes.writer import CassetteWriter
        from tests.factories import append, header, interaction, model_call

        writer = CassetteWriter(Path(sys.argv[1]), header(), Redactor())
        for step in range(1_000_000):
            append(writer, interaction(step, call=model_call(list(range(step % 50)))))
            sys.stdout.write(f"{step}\\n")
            sys.stdout.flush()
        """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        last = [int(child.stdout.readline()) for _ in range(acknowledged)][-1]
        child.kill()
    view = Cassette(path)
    assert len(view) > last
    assert view.ending.status == "incomplete"
    for item in view:
        assert same(item, interaction(item.step, call=model_call(list(range(item.step % 50)))))


# -- layout -----------------------------------------------------------------------------------------------------------


def test_the_stream_starts_anew_every_so_many_frames(path):
    write_cassette(path, [interaction(step) for step in range(RESTART_EVERY * 2 + 1)])
    found = [frame for frame in frames.frames(path.read_bytes()) if frame.type == frames.STEPS]
    assert [place for place, frame in enumerate(found) if frame.restart] == [0, RESTART_EVERY, 2 * RESTART_EVERY]


def test_the_stream_starts_anew_after_many_bytes(path, monkeypatch):
    monkeypatch.setattr("cassettes.writer.RESTART_BYTES", 1000)
    view = Cassette(write_cassette(path, [interaction(step, Value("x" * 600)) for step in range(5)]))
    found = [frame for frame in frames.frames(path.read_bytes()) if frame.type == frames.STEPS]
    assert [frame.restart for frame in found] == [True, False, True, False, True]
    view.check()


def test_one_call_that_is_too_large_to_be_read_again_is_refused(path, monkeypatch):
    monkeypatch.setattr("cassettes.writer.MAX_INTERACTION", 1000)
    writer = CassetteWriter(path, header(), Redactor())
    with pytest.raises(UnkeepableValue, match="more than a cassette keeps"):
        append(writer, interaction(0, Value("x" * 1000)))
    append(writer, interaction(1))
    writer.close(Ending("completed"))
    Cassette(path).check()
