"""The measures of a run: against those that tau2-bench publishes for the same conversations, and by hand."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from cassettes.errors import BadInput
from cassettes.model import Mark
from replay.cli import main
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.voice.panel import voice_of
from tests.factories import write_cassette
from tests.replay.importers.test_tau2_ticks import VOICE, needs_voice
from tests.replay.voice.ticks import ticks


@pytest.fixture(scope="module")
def voice_home(tmp_path_factory):
    """A home with tau2's own voice experiment as run ``voice``."""
    home = tmp_path_factory.mktemp("voice")
    done = CliRunner().invoke(main, ["--home", str(home), "import", "tau2", str(VOICE), "--run", "voice"])
    assert done.exit_code == 0, done.output
    return Home(home)


@pytest.fixture
def keep(home):
    """Keep a trial of run ``r`` with these ticks, or with none."""

    def made(index, given, config=()):
        open_run(home, RunFile("r", dict(config)))
        marks = [] if given is None else [Mark("annotation", 0.0, {"from": "ticks", "data": given})]
        path = home.run("r") / "t" / f"{index}.cassette"
        write_cassette(path, marks=marks, run="r", task="t", index=index)

    return made


@needs_voice
def test_every_published_measure_of_the_three_conversations_comes_out(voice_home):
    published = json.loads(VOICE.with_name("expected_metrics.json").read_text())
    panel = voice_of(voice_home, "voice").panel
    assert {
        "response_latency_mean": panel.response_latency.mean,
        "yield_latency_mean": panel.yield_latency.mean,
        "response_rate": panel.response_rate.estimate,
        "yield_rate": panel.yield_rate.estimate,
        "agent_interruption_rate": panel.agent_interruption_rate,
        "selectivity_backchannel": panel.selectivity["backchannel"].estimate,
        "selectivity_vocal_tic": panel.selectivity["vocal tic"].estimate,
        "selectivity_non_directed": panel.selectivity["non-directed"].estimate,
    } == {name: pytest.approx(value) for name, value in published.items() if name != "counts"}
    assert published["counts"] == {
        "n_simulations": 3,
        "response_total": panel.response_rate.of,
        "yield_total": panel.yield_rate.of,
        "backchannel_total": panel.selectivity["backchannel"].of,
        "vocal_tic_total": panel.selectivity["vocal tic"].of,
        "non_directed_total": panel.selectivity["non-directed"].of,
        "agent_interrupts_count": panel.agent_interruptions,
    }


@needs_voice
@pytest.mark.parametrize("task", ["20", "40", "98"])
def test_one_conversation_counted_from_its_file_in_another_way(voice_home, task):
    """Each side as a text of one letter per tick, searched with patterns: turns, gaps, silence."""
    files = [json.loads(path.read_text()) for path in (VOICE / "simulations").iterdir()]
    (given,) = [file["ticks"] for file in files if file["task_id"] == task]

    def text(side):
        return "".join("x" if tick[f"{side}_chunk"]["contains_speech"] else "." for tick in given)

    user, agent = text("user"), text("agent")
    if user.endswith(".x"):
        user, agent = user[:-1], agent[:-1]
    both = "".join({"..": ".", "x.": "u", ".x": "a", "xx": "b"}[u + a] for u, a in zip(user, agent, strict=True))
    found = voice_of(voice_home, "voice").trials[f"voice/{task}#0"]
    assert found.turns.silent_seconds == pytest.approx(both.count(".") * 0.2)
    assert found.turns.overlap_seconds == pytest.approx(both.count("b") * 0.2)
    assert found.turns.longest_silence == pytest.approx(max(map(len, re.findall(r"\.+", both))) * 0.2)
    assert found.agent_interruptions == len(re.findall(r"(?<![ab])b", both))
    actions = [(tick["user_chunk"]["turn_taking_action"] or {}).get("action") for tick in given]
    gaps = []
    for turn in re.finditer(r"x+", user):
        if actions[turn.start()] == "backchannel" or agent[turn.end() : turn.end() + 1] == "x":
            continue
        silence = re.match(r"\.*(?=a|b)", both[turn.end() :])  # nobody, and then the agent
        if silence is not None:
            gaps.append(len(silence[0]) * 0.2)
    assert found.turns.response_gaps == pytest.approx(gaps)


def test_the_length_of_a_tick_is_that_of_the_ticks_or_else_of_the_run(home, keep):
    given = ticks("uu...", "....a")
    for tick in given:
        del tick["tick_duration_seconds"]
    keep(0, given, {"voice": {"tick_duration_seconds": 0.5}})
    assert voice_of(home, "r").panel.response_latency.mean == pytest.approx(1.0)


def test_what_cannot_be_measured_is_unknown_and_told(home, keep):
    keep(0, ticks("uu...", "....a"))
    keep(1, None)
    keep(2, [{"user_chunk": {"content": "Hi"}}])
    longer = ticks("uu...", "....a")
    longer[0]["tick_duration_seconds"] = 0.1
    keep(3, longer)
    found = voice_of(home, "r")
    assert list(found.trials) == ["r/t#0"]
    assert found.without_ticks == 1
    assert "does not say whether the user speaks" in found.unknown["r/t#2"]
    assert "how long a tick lasts is not told, or differs" in found.unknown["r/t#3"]


def test_where_nothing_happened_there_is_no_rate(home, keep):
    keep(0, ticks(".....", "....."))
    panel = voice_of(home, "r").panel
    assert panel.response_latency.mean is None
    assert panel.response_rate.estimate is None
    assert panel.agent_interruption_rate is None
    assert panel.selectivity["backchannel"].estimate is None


def test_without_turn_taking_the_numbers_are_doubtful(home, keep):
    given = ticks(".u...", "aa...")
    for tick in given:
        del tick["user_chunk"]["turn_taking_action"]
    keep(0, given)
    assert "backchannels count as interruptions" in voice_of(home, "r").remarks["r/t#0"]


def test_a_run_without_ticks_has_no_measures(home, keep):
    keep(0, None)
    with pytest.raises(BadInput, match="no trial of run 'r' has ticks that can be measured"):
        voice_of(home, "r")
