# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

from __future__ import annotations

import json

import pytest

import trialtape as tt


@tt.tool(effect="read")
def look(name: str) -> str:
    return name


def steady(trial):
    look(f"{trial.task.id}#{trial.index}")


def test_a_frozen_run_pins_its_pool_and_gives_each_trial_a_world_of_its_own(tmp_path, run):
    drift = iter(range(100))

    @tt.tool(effect="read")
    def quote():
        return next(drift)

    got = {}

    def agent(trial):
        got[trial.id.run, trial.task.id, trial.index] = quote()

    run(agent, "base")
    run(agent, "frozen", freeze="external", source="base")
    recorded = {key[1:]: value for key, value in got.items() if key[0] == "base"}
    assert {key[1:]: value for key, value in got.items() if key[0] == "frozen"} == recorded
    assert next(drift) == 4  # nothing real ran in the frozen run
    pool = json.loads((tmp_path / "cassettes/frozen/run.json").read_text())["pool"]
    assert sorted(pool) == ["base/a#0", "base/a#1", "base/b#0", "base/b#1"]
    run(agent, "base", trials=3)
    run(agent, "frozen", freeze="external", source="base")  # goes on with the recordings that it began with
    assert json.loads((tmp_path / "cassettes/frozen/run.json").read_text())["pool"] == pool
    with pytest.raises(tt.BadInput, match="each in a world of its own"):
        run(agent, "frozen", trials=3, freeze="external", source="base")


def test_a_frozen_run_whose_recordings_are_gone_is_not_continued(tmp_path, run):
    run(steady, "base")
    run(steady, "frozen", freeze="external", source="base")
    (tmp_path / "cassettes/base/a/1.cassette").unlink()
    with pytest.raises(tt.BadInput, match=r"draws on the recording base/a#1, which has changed or is gone"):
        run(steady, "frozen", freeze="external", source="base")


def test_a_pool_takes_only_finished_trials(trial):
    with pytest.raises(ValueError, match="x"), trial(run="r"):
        look("one")
        raise ValueError("x")
    with pytest.raises(tt.BadInput, match="no finished trial of task 't'"):
        trial(run="other", freeze="tool", source="r")
