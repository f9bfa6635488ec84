"""The published airline trials of tau-bench, made again over the database: what drifted since, and nothing else."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from replay.cli import main
from replay.home import Home
from tests.replay import airline
from tests.replay.recorded import AIRLINE, needs_airline

pytestmark = needs_airline

ENVIRONMENT = airline.__file__


def carried_out(home, *options):
    done = CliRunner().invoke(main, ["--home", str(home.root), "lab", "reexecute", "airline", "--json", *options])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A home with the trials of two tasks as run ``airline``: some pass, some write."""
    root = tmp_path_factory.mktemp("few")
    sample = root / AIRLINE.name
    sample.write_text(json.dumps([r for r in json.loads(AIRLINE.read_text()) if r["task_id"] in {1, 12}]))
    done = CliRunner().invoke(main, ["--home", str(root), "import", "taubench", str(sample), "--run", "airline"])
    assert done.exit_code == 0, done.output
    return Home(root)


def test_answers_are_repeated_byte_for_byte_and_final_states_by_their_digest(few):
    found = carried_out(few, "--env", f"{ENVIRONMENT}:old")
    assert found["verdicts"] == {"identical": found["calls"]}
    assert found["calls"] == 13
    assert found["states"].keys() == {"same", "unknown"}


def test_a_field_that_was_renamed_is_told_with_how_many_answers_it_is_in(few):
    found = carried_out(few, "--env", f"{ENVIRONMENT}:new")
    asked = found["tools"]["get_user_details"]["calls"]
    assert found["differ"] == asked > 0
    assert found["tools"]["get_user_details"]["fields"] == {"address.province renamed to address.state": asked}
    assert found["verdicts"] == {"identical": found["calls"] - asked, "differs": asked}
    assert found["states"].keys() == {"differs", "unknown"}


@pytest.mark.slow
def test_all_1164_answers_and_81_final_states_are_repeated(airline_home):
    found = carried_out(airline_home, "--env", f"{ENVIRONMENT}:old")
    assert found["verdicts"] == {"identical": 1164}
    assert found["states"] == {"same": 81, "unknown": 119}


@pytest.mark.slow
def test_120_of_1164_answers_differ_in_one_renamed_field_and_no_final_state_is_the_same(airline_home):
    found = carried_out(airline_home, "--env", f"{ENVIRONMENT}:new")
    assert found["verdicts"] == {"identical": 1044, "differs": 120}
    differing = {name: tool for name, tool in found["tools"].items() if tool["differ"]}
    assert list(differing) == ["get_user_details"]
    assert differing["get_user_details"]["fields"] == {"address.province renamed to address.state": 120}
    assert found["states"] == {"differs": 81, "unknown": 119}
