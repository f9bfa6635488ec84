"""Lines are appended whole, by several processes too, and what a crash left of one is removed first."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cassettes.errors import RecordingFailed
from replay.jsonl import append_lines


def test_lines_are_appended_and_a_torn_one_is_removed(tmp_path):
    path = tmp_path / "f.jsonl"
    append_lines(path, ["1", "2"])
    path.write_bytes(path.read_bytes() + b'{"to')
    append_lines(path, ['"\ud800"'])
    assert path.read_bytes() == b'1\n2\n"\xed\xa0\x80"\n'


def test_nothing_to_append_makes_no_file(tmp_path):
    append_lines(tmp_path / "f.jsonl", [])
    assert not (tmp_path / "f.jsonl").exists()


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(RecordingFailed, match="cannot be written"):
        append_lines(tmp_path / "gone" / "f.jsonl", ["1"])


def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "f.jsonl"
    code = """
import json, sys
from pathlib import Path
from replay.jsonl import append_lines
for number in range(100):
    append_lines(Path(sys.argv[1]), [json.dumps([sys.argv[2], number, "x" * 500])])
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in "ab"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for name in "ab":
        assert [number for who, number, _ in lines if who == name] == list(range(100))
