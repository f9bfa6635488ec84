"""The benchmarks run, with tiny parameters; how long anything takes is not tested."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve
from click.testing import CliRunner
from vcr import VCR

import trialtape as tt
from benchmarks import (
    __main__,
    airline,
    bootstrap,
    command,
    killed,
    model_call,
    opening,
    outside_share,
    recorders,
    replaying,
    rescoring,
    results,
    rivals,
    sessions,
    size,
    streaming,
    tool_call,
    tracking,
)
from benchmarks.rows import Row, Skipped, Target, shown

SMALL = {
    tool_call: {"calls": 50, "rounds": 1},
    model_call: {"turns": 2, "conversations": 3, "rounds": 1},
    sessions: {"calls": 10, "sessions": 2, "rounds": 1},
    streaming: {"chunks": 2, "delay": 0.001, "rounds": 1},
    size: {"limit": 2, "turns": (2, 4)},
    replaying: {"sizes": (5, 10, 20), "vcr_up_to": 5, "rounds": 1},
    opening: {"steps": 30, "opened": 3, "turns": 4, "rounds": 1},
    tracking: {"rounds": 1},
    rescoring: {"limit": 2, "rounds": 1},
    command: {"tasks": 2, "repetitions": 2, "rounds": 1},
    bootstrap: {"tasks": 20, "trials": 3, "resamples": 20, "few": 10, "rounds": 1},
    killed: {"kills": 1, "at_most": 3},
    outside_share: {"worlds": 2, "trials": 2, "simulated": 5},
    rivals: {"turns": (2, 3), "sizes": (3, 6), "chunks": 2, "delay": 0.001, "vcr_up_to": 3, "rounds": 1},
}
SLOW = {command, killed, outside_share}  # they start processes, or run the demo


def conversation(number):
    """A record in the form of the published ones."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_user_details", "arguments": '{"user_id": "u"}'},
    }
    turns = [
        {"role": "user", "content": f"I am customer {number}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "name": "get_user_details", "content": '{"name": "Mia"}'},
        {"role": "assistant", "content": f"hello, Mia {number}"},
    ]
    messages = [{"role": "system", "content": "You are an airline's agent."}, *turns, *turns]
    messages.append({"role": "user", "content": "###STOP###"})
    info = {
        "task": {"instruction": "ask", "outputs": [], "actions": [], "user_id": "u"},
        "reward_info": {"reward": 1.0},
    }
    return {"task_id": number, "trial": 0, "reward": 1.0, "info": info, "traj": messages}


@pytest.fixture
def recordings(tmp_path, monkeypatch):
    folder = tmp_path / "taubench"
    folder.mkdir()
    (folder / "gpt-4o-airline.json").write_text(json.dumps([conversation(number) for number in range(3)]))
    for name in ("flights", "reservations", "users"):
        (folder / f"airline-{name}.json").write_text(json.dumps({"R1": {"total_baggages": 1}, "R2": {}}))
    for module in (airline, rescoring):
        monkeypatch.setattr(module, "FOLDER", folder)
    if not recorders.PEERS.is_dir():
        monkeypatch.setitem(
            sys.modules, "cassetter", SimpleNamespace(use_cassette=in_its_place, CassetteLoadError=OSError)
        )


def in_its_place(path, *, record_mode, match_on, intercept):
    """Stands in for cassetter, which is installed for the measurements alone."""
    return VCR(match_on=match_on, record_mode=record_mode).use_cassette(str(path))


@pytest.mark.parametrize(
    "module",
    [pytest.param(m, id=m.__name__.rpartition(".")[2], marks=[pytest.mark.slow] * (m in SLOW)) for m in SMALL],
)
def test_every_group_measures_something_with_tiny_parameters(module, recordings):
    found = module.rows(**SMALL[module])

    assert found
    for row in found:
        assert all(isinstance(cell, str) for cell in row.cells())


def test_no_group_is_left_out():
    assert {group.__module__ for group in __main__.GROUPS.values()} == {module.__name__ for module in SMALL}


def test_a_group_without_its_data_is_skipped_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(airline, "FOLDER", tmp_path)

    with pytest.raises(Skipped, match=r"gpt-4o-airline\.json is not there"):
        size.rows()
    outcome = CliRunner().invoke(__main__.main, ["tracking"])

    assert outcome.exit_code == 0
    assert "not measured: tracking" in outcome.output


def test_a_peer_that_is_not_installed_is_told_with_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(recorders, "PEERS", tmp_path / ".peers")
    monkeypatch.setitem(sys.modules, "cassetter", None)

    with pytest.raises(Skipped, match=r"pip install --target \.peers cassetter=="):
        recorders.recorders(tmp_path)


def test_the_peer_is_the_one_that_make_installs():
    makefile = Path(recorders.__file__).parents[1] / "Makefile"

    assert f"PEER_PACKAGES := cassetter=={recorders.VERSION}\n" in makefile.read_text()


def test_a_replay_that_is_not_answered_by_the_recording_is_no_measurement(recordings, tmp_path):
    ours, *_ = recorders.recorders(tmp_path)
    exchanges = [event for event in airline.events(conversation(0)["traj"], 0) if isinstance(event, airline.Exchange)]
    rivals._spent(ours.record("a"), exchanges[:1], live=True)

    with pytest.raises(tt.Divergence):
        rivals._spent(ours.replay("a"), exchanges[:2], live=False)


def test_a_peer_that_cannot_read_what_it_wrote_is_told_as_such(recordings, tmp_path):
    def broken(name):
        raise OSError(name)

    ours, vcrpy, cassetter = recorders.recorders(tmp_path)
    exchanges = [event for event in airline.events(conversation(0)["traj"], 0) if isinstance(event, airline.Exchange)]
    found = rivals._conversation([ours, vcrpy, evolve(cassetter, replay=broken, unreadable=(OSError,))], exchanges, 1)

    told = [row.cells()[2] for row in found if row.what.startswith(("replay", "begin"))]
    assert sum("cassetter cannot read the file that it wrote" in cell for cell in told) == 2
    assert sum("(vcrpy)" in cell for cell in told) == 2


def test_the_groups_are_told_without_measuring():
    outcome = CliRunner().invoke(__main__.main, ["--list"])

    assert [line.split()[0] for line in outcome.output.splitlines()] == list(__main__.GROUPS)


def test_a_row_is_judged_by_its_own_figure_or_by_the_ratio():
    assert Row("a", 30.0, "us", target=Target("<=", 30)).met is True
    assert Row("a", 30.1, "us", target=Target("<=", 30)).met is False
    assert Row("a", 10.0, "B", 200.0, target=Target(">=", 20, "ratio")).met is True
    assert Row("a", 11.0, "B", 200.0, target=Target(">=", 20, "ratio")).met is False
    assert Row("a", 11.0, "B").met is None


def test_the_ratio_says_how_many_times_better_ours_is():
    assert Row("time", 2.0, "s", 6.0).ratio == 3
    assert Row("rate", 6.0, "/s", 2.0, more_is_better=True).ratio == 3
    assert Row("nothing lost", 0.0, "", 5.0).ratio is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.0123, "0.0123"),
        (9.876, "9.88"),
        (12.34, "12.3"),
        (123.4, "123"),
        (1234567.0, "1,234,567"),
        (20, "20"),
    ],
)
def test_numbers_are_shown_with_three_digits(number, text):
    assert shown(number) == text


def test_the_document_names_what_was_missed_and_what_was_not_measured():
    rows = [
        Row("size | of it", 2.0, "B", 1.0, "raw", Target("<=", 1), note="small"),
        Row("fine", 1.0, "s", note="small"),
    ]

    text = results.markdown(rows, {"tracking": "no data"}, 1.0)

    assert "| size \\| of it [1] | 2 B | 1 B (raw) | 0.5x | <= 1 B | **NOT met** |" in text
    assert "Targets met: 0 of 1. NOT met: size | of it." in text
    assert "- tracking: no data" in text
    assert text.count("1. small") == 1
