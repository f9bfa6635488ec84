"""``trialtape export --to json`` and the refusals of ``--to vcr`` (its round trip is in test_vcr.py)."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
from click.testing import CliRunner

from cassettes.model import Cancelled, Changed, Chunk, Ending, Error, Mark, Patch, Reply, Stream, Value
from cassettes.values import Opaque, pack
from replay.cli import main
from replay.plain import plain
from tests.factories import call, interaction, model_call, write_cassette
from tests.strategies import Attrs, Colour, Point


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)], catch_exceptions=False)


DONE = Ending("completed", "done")


def recorded(home, *interactions, marks=(), ending=DONE):
    path = home / "cassettes" / "baseline" / "exchange-1" / "0.cassette"
    write_cassette(path, interactions, ending, marks=marks)
    return path


def exported(home, *options):
    done = run(home, "export", "baseline/exchange-1#0", "--to", "json", *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_whole_trial(tmp_path):
    hi, ok = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}
    patch = Patch(((("orders", "W1"), None, pack(1)), (("b",), pack(2), None)))
    recorded(
        tmp_path,
        interaction(0, Value(ok), call=model_call([hi]), reply=Reply(text="ok")),
        interaction(1, Value({"a": 1}), patch=patch, parent=0),
        interaction(2, Value("2"), call=model_call([hi, ok])),
        marks=[Mark("message", 0.5, hi), Mark("changed", 1.0, patch)],
    )
    document = exported(tmp_path)
    assert document["trial"] == "baseline/exchange-1#0"
    assert document["header"]["began"] == 1_700_000_000.0
    assert document["ending"] == {"status": "completed", "reason": "done", "cause": None}
    assert document["counts"] == {"model": 2, "tool": 1, "origin live": 3, "mark message": 1, "mark changed": 1}
    first, second, third = document["steps"]
    assert first["outcome"] == {"value": ok}
    assert first["reply"]["text"] == "ok"
    assert third["call"]["arguments"]["messages"] == [hi, ok]
    assert second["parent"] == 0
    changes = [{"path": ["orders", "W1"], "new": 1}, {"path": ["b"], "old": 2}]
    assert second["patch"] == changes
    assert [mark["data"] for mark in document["marks"]] == [hi, changes]
    assert "One way only" in document["note"]


def test_each_kind_of_outcome(tmp_path):
    stream = Stream({"status": 200}, (Chunk(0.5, b"\xff"), Chunk(1.0, "b")), complete=False, error=OSError("cut"))
    outcomes = [Error(KeyError("k")), Cancelled(), stream, Value(Changed(1, {"x": [2]}))]
    recorded(tmp_path, *(interaction(i, outcome) for i, outcome in enumerate(outcomes)))
    error, cancelled, streamed, changed = (step["outcome"] for step in exported(tmp_path)["steps"])
    assert error == {"error": {"$type": "builtins:KeyError", "text": "'k'", "args": ["k"]}}
    assert cancelled == {"cancelled": True}
    assert streamed["stream"]["chunks"] == [
        {"at": 0.5, "data": {"$type": "bytes", "base64": "/w=="}},
        {"at": 1.0, "data": "b"},
    ]
    assert (streamed["stream"]["complete"], streamed["stream"]["error"]["text"]) == (False, "cut")
    assert changed == {"value": 1, "changed_arguments": {"x": [2]}}


@pytest.mark.parametrize(
    ("value", "readable"),
    [
        ([1, True, 1.5, None, "s", {"a": [2]}], [1, True, 1.5, None, "s", {"a": [2]}]),
        (2**80, 2**80),
        (float("nan"), {"$type": "float", "text": "nan"}),
        (float("-inf"), {"$type": "float", "text": "-inf"}),
        (b"\x00", {"$type": "bytes", "base64": "AA=="}),
        (bytearray(b"\x00"), {"$type": "bytearray", "base64": "AA=="}),
        ((1, (2,)), {"$type": "tuple", "items": [1, {"$type": "tuple", "items": [2]}]}),
        ({3}, {"$type": "set", "items": [3]}),
        (frozenset({3}), {"$type": "frozenset", "items": [3]}),
        ({1: "a"}, {"$type": "dict", "items": [[1, "a"]]}),
        (dt.datetime(2024, 5, 1, 2, 3, tzinfo=dt.UTC), {"$type": "datetime", "text": "2024-05-01T02:03:00+00:00"}),
        (dt.date(2024, 5, 1), {"$type": "date", "text": "2024-05-01"}),
        (dt.time(1, 2), {"$type": "time", "text": "01:02:00"}),
        (dt.timedelta(minutes=1), {"$type": "timedelta", "seconds": 60.0}),
        (Decimal("1.10"), {"$type": "Decimal", "text": "1.10"}),
        (UUID(int=1), {"$type": "UUID", "text": "00000000-0000-0000-0000-000000000001"}),
        (1 + 2j, {"$type": "complex", "text": "(1+2j)"}),
        (Path("a/b"), {"$type": "PosixPath", "text": "a/b"}),
        (Colour.BLUE, {"$type": "tests.strategies:Colour", "name": "BLUE", "value": plain(("b", 1))}),
        (Point(1, b""), {"$type": "tests.strategies:Point", "fields": {"x": 1, "y": plain(b"")}}),
        (Attrs(1, 2), {"$type": "tests.strategies:Attrs", "fields": {"a": 1, "_b": 2}}),
        (Opaque("m:Gone", 16, pack({"a": 1})), {"$type": "m:Gone", "fields": {"a": 1}}),
    ],
    ids=repr,
)
def test_values_that_json_cannot_hold(value, readable):
    made = plain(value)
    assert made == readable
    json.dumps(made, allow_nan=False)


def test_half_of_a_surrogate_pair_is_still_json(tmp_path):
    recorded(tmp_path, interaction(0, Value("\ud83d and ☃")))
    assert exported(tmp_path)["steps"][0]["outcome"] == {"value": "\ud83d and ☃"}


def test_an_incomplete_trial_says_so(tmp_path):
    recorded(tmp_path, interaction(0), ending=None)
    document = exported(tmp_path)
    assert (document["ending"]["status"], document["digest"], len(document["steps"])) == ("incomplete", None, 1)


def test_into_a_file(tmp_path):
    recorded(tmp_path, interaction(0))
    target = tmp_path / "new" / "trial.json"
    done = run(tmp_path, "export", "@last", "--to", "json", "-o", target)
    assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads(target.read_text())["trial"] == "baseline/exchange-1#0"
    into_folder = run(tmp_path, "export", "@last", "--to", "json", "-o", tmp_path)
    assert (into_folder.exit_code, len(into_folder.stderr.splitlines())) == (2, 1)


def test_vcr_tells_what_it_left_out(tmp_path):
    recorded(tmp_path, interaction(0), interaction(1, call=call("clock", "time.time", arguments={})))
    done = run(tmp_path, "export", "baseline/exchange-1#0", "--to", "vcr", "-o", tmp_path / "a.yaml")
    assert done.exit_code == 0
    assert "0 exchanges written; 2 left out" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("baseline/exchange-1#0", "--to", "vcr"),
        ("baseline/exchange-1#0", "--to", "vcr", "-o", "a.txt"),
        ("baseline/exchange-1#7", "--to", "json"),
        ("nonsense", "--to", "json"),
    ],
)
def test_bad_input_is_one_line(tmp_path, arguments):
    recorded(tmp_path, interaction(0))
    done = run(tmp_path, "export", *arguments)
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
