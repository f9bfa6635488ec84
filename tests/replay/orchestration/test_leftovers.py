from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.errors import NewerFormat
from cassettes.model import Ending
from replay.orchestration.leftovers import calls_in, ending_in
from tests.factories import interaction, write_cassette


@tt.tool(effect="read")
def look(name: str) -> str:
    return name


def steady(trial):
    look(f"{trial.task.id}#{trial.index}")


def test_a_cassette_of_a_later_version_is_not_set_aside(tmp_path, monkeypatch, run):
    run(steady)

    def newer(path, home=None):
        raise NewerFormat(f"{path} has format 999")

    monkeypatch.setattr("replay.orchestration.leftovers.View", newer)
    with pytest.raises(NewerFormat):
        run(steady)
    assert not list(tmp_path.glob("cassettes/r/*/*attempt*"))


def test_what_was_cut_short_is_incomplete_and_its_calls_are_there_as_far_as_they_can_be_read(tmp_path):
    path = write_cassette(tmp_path / "0.cassette", [interaction(0), interaction(1)], None)
    assert ending_in(path).status == "incomplete"
    assert [call.step for call in calls_in(path)] == [0, 1]
    whole = write_cassette(tmp_path / "1.cassette", [interaction(0)], Ending("capped", "30 steps"))
    assert ending_in(whole) == Ending("capped", "30 steps")


def test_a_file_killed_while_it_was_created_holds_nothing(tmp_path):
    path = tmp_path / "0.cassette"
    path.write_bytes(b"")
    assert ending_in(path).status == "incomplete"
    assert calls_in(path) == []
