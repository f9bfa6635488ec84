from __future__ import annotations

import sys

import pytest
from attrs import evolve

from cassettes.errors import BadInput
from cassettes.model import Chunk, Stream, Value
from replay.branching.editing import read_edit
from replay.debugger.edits import editable, edited_by_hand, given_as_file
from tests.replay.debugger.scene import http, model, said, tool

STREAM = Stream({"status": 200}, (Chunk(0.0, b"data: 1\n\n"), Chunk(0.1, b"data: 2\n\n")))


@pytest.mark.parametrize(
    ("interaction", "text"),
    [
        (tool(0, "get", {"a": 1}), '{\n  "a": 1\n}\n'),
        (tool(0, "get", '{"a":1}'), '{"a":1}'),
        (tool(0, "get", None), "null\n"),
        (tool(0, "get", ValueError("x")), "null\n"),
        (http(0), '{\n  "status": "open"\n}\n'),
        (evolve(http(0), outcome=Value({"status": 200, "body": "plain"})), "plain"),
        (evolve(model(0, said("x")), outcome=STREAM), "data: 1\n\ndata: 2\n\n"),
    ],
)
def test_the_text_to_edit_is_what_the_fork_command_reads(interaction, text):
    assert editable(interaction) == text


@pytest.mark.parametrize("result", [{"a": [1, None, 2.5]}, "plain text", '{"a": 1}', [], True, None, 7])
def test_an_edit_that_was_not_touched_gives_the_recorded_result(result):
    interaction = tool(0, "get", result)
    assert read_edit(editable(interaction), interaction) == result


def test_the_users_editor_gets_the_text_and_its_result_is_taken(monkeypatch, tmp_path):
    script = tmp_path / "my editor.py"
    script.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[1])\npath.write_text(path.read_text() + '!')\n"
    )
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", f"{sys.executable} '{script}'")
    assert edited_by_hand("Grüße") == "Grüße!"


def test_an_editor_that_cannot_be_started_is_named(monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "no-such-editor")
    with pytest.raises(BadInput, match="the editor 'no-such-editor' cannot be started"):
        edited_by_hand("x")


def test_the_file_of_an_edit_is_its_owners_and_is_gone_afterwards():
    with given_as_file("x") as path:
        assert path.parent.stat().st_mode & 0o077 == 0
        assert path.read_text() == "x"
    assert not path.exists()
    with given_as_file(None) as path:
        assert path is None
