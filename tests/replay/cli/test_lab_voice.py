"""`trialtape lab voice`: the measures in a table, as JSON, and what is not known."""

from __future__ import annotations

import json

import pytest

from cassettes.model import Mark
from replay.home import Home
from replay.runs import RunFile, open_run
from tests.factories import write_cassette
from tests.replay.voice.ticks import ticks


@pytest.fixture
def keep(home):
    """Keep a trial of run ``v`` with these ticks."""

    def made(index, given):
        open_run(Home(home), RunFile("v"))
        path = Home(home).run("v") / "t" / f"{index}.cassette"
        write_cassette(path, marks=[Mark("annotation", 0.0, {"from": "ticks", "data": given})], run="v", task="t")

    return made


def test_the_table_has_units_events_and_says_where_they_are_few(call, keep):
    keep(0, ticks("uu.....u....", ".....aaa...."))
    shown = call("lab", "voice", "v").stdout
    rows = {line.split("  ")[0]: line for line in shown.splitlines()}
    assert "0.60 s" in rows["L_R response latency"]
    assert "1 answered turns" in rows["L_R response latency"]
    assert "few" in rows["L_R response latency"]
    assert "unknown" in rows["S_BC backchannel ignored"]
    assert "1 conversation, 2.4 s: the agent speaks 0.6 s, the user 0.6 s" in shown


def test_as_json_with_each_trial_and_the_windows(call, keep):
    keep(0, ticks("uu...", "....a"))
    told = json.loads(call("lab", "voice", "v", "--json").stdout)
    assert told["windows"] == {"interruption": 2.0, "ignored": 1.0, "unanswered": 2.0}
    assert told["trials"]["v/t#0"]["turns"]["response_gaps"] == pytest.approx([0.4])


def test_a_trial_that_cannot_be_measured_is_told_and_ends_with_1(call, keep):
    keep(0, ticks("uu...", "....a"))
    keep(1, [{"agent_chunk": {}}])
    done = call("lab", "voice", "v")
    assert done.exit_code == 1
    assert "not measured: v/t#1: tick 0 does not say whether the agent speaks" in done.stdout


def test_a_run_without_ticks_is_refused(call, recorded):
    done = call("lab", "voice", recorded)
    assert done.exit_code == 2
    assert "has ticks that can be measured; voice simulations of tau2 have them" in done.stderr
