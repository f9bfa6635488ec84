# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""What is written down of a trial, and what cannot be."""

from __future__ import annotations

import threading

import pytest

import trialtape as tt


@tt.tool(effect="read")
def give(name: str):
    return 1


@tt.tool(effect="read")
def echo(value):
    return value


@tt.tool(effect="read")
def handle():
    return {"items": [0, 1, 2, {"handle": threading.Lock()}]}


def test_a_result_that_cannot_be_kept_is_named_by_its_path_and_still_reaches_the_agent(tmp_path, trial):
    got = []
    with pytest.raises(tt.UnkeepableValue, match=r"result\.items\[3\]\.handle"), trial(run="r") as block:
        got.append(handle())
        got.append(give("one"))
    assert type(got[0]["items"][3]["handle"]) is type(threading.Lock())
    assert got[1] == 1
    assert (block.ending.status, block.ending.cause) == ("error", "recording")
    view = tt.open("r/t#0", home=tmp_path)
    assert [step.call.name for step in view.steps] == ["handle", "give"]


def test_an_argument_that_cannot_be_kept_is_named_by_its_path(trial):
    with pytest.raises(tt.UnkeepableValue, match=r"arguments\.value\.deep\[0\]"), trial(run="r"):
        assert echo({"deep": [open]}) is not None


def test_a_state_that_becomes_unkeepable_is_told_and_the_tool_still_answers(trial):
    db = {"rows": {}}

    @tt.tool(effect="write", external=False)
    def put(key):
        db["rows"][key] = threading.Lock()
        return "put"

    got = []
    with pytest.raises(tt.UnkeepableValue, match=r"state\['rows'\]\['a'\]"), trial(run="r") as block:
        block.track(db)
        got.append(put("a"))
    assert got == ["put"]
    assert block.ending.cause == "recording"


def test_a_change_that_no_write_explains_is_reported(tmp_path, trial):
    db = {"x": 0}
    with trial(run="r") as block:
        block.track(db)
        give("one")
        db["x"] = 1
    view = tt.open("r/t#0", home=tmp_path)
    assert [m.data for m in view.cassette.marks() if m.kind == "problem"] == [
        "1 change(s) of the tracked state that no write explains"
    ]
    assert view.state() == {"x": 1}
