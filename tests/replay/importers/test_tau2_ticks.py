from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cassettes.model import Interaction
from replay.cli import main
from replay.importers.tau2 import read_tau2
from replay.importers.tau2_audio import without_audio
from replay.importers.tau2_ticks import read_ticks
from replay.importers.timeline import Timeline
from tests.replay.importers.simulations import calls, marks, results, simulation, whats, written

VOICE = Path(__file__).parents[3].parent / "shared" / "data" / "tau2" / "voice_testdata" / "experiment"
needs_voice = pytest.mark.skipif(
    not VOICE.exists(), reason=f"{VOICE} is not here: tau2's results are no part of the project"
)


def chunk(role, text=None, speech=True, **more):
    return {"role": role, "content": text, "contains_speech": speech, **more}


def tick(number, agent=None, user=None, **more):
    return {
        "tick_id": number,
        "timestamp": f"2026-01-01T00:00:{number:02}",
        "tick_duration_seconds": 0.2,
        "agent_chunk": agent,
        "user_chunk": user,
        **more,
    }


def call(identity, name, **arguments):
    return {"id": identity, "name": name, "arguments": arguments}


def came(identity, content):
    return {"id": identity, "role": "tool", "content": content}


def read(tmp_path, *ticks, **changes):
    voice = simulation(messages=None, ticks=list(ticks), mode="full_duplex", reward=None, **changes)
    found = read_tau2(written(tmp_path, results(voice)))
    return found, found.trials[0]


@needs_voice
def test_a_voice_experiment_of_tau2_itself(tmp_path):
    done = CliRunner().invoke(main, ["--home", str(tmp_path), "import", "tau2", str(VOICE), "--run", "v", "--json"])
    told = json.loads(done.stdout)
    assert (told["form"], told["trials"], told["remarks"]) == ("folder", 3, [])
    assert (told["agent_model"], told["user_model"], told["domain"]) == (
        "openai:gpt-realtime-2",
        "gpt-4.1-2025-04-14",
        "retail",
    )
    assert told["verdicts"] == {"unscored": 3}  # the files hold no reward
    for trial in read_tau2(VOICE).trials:
        ticks = json.loads((VOICE / "simulations" / str(trial.record)).read_text())["ticks"]
        for side, actor in (("agent", "agent"), ("user", "user")):
            spoken = [t[f"{side}_chunk"]["contains_speech"] for t in ticks]
            starts = [n for n, now in enumerate(spoken) if now and not (n and spoken[n - 1])]
            said = [c for c in calls(trial, "model") if c.call.actor == actor]
            assert [c.outcome.value["tick_start"] for c in said] == starts
            assert sum(c.outcome.value["tick_end"] - c.outcome.value["tick_start"] + 1 for c in said) == sum(spoken)
        (kept,) = [m["data"] for m in marks(trial, "annotation") if m["from"] == "ticks"]
        assert kept == ticks
        times = [c.at for c in calls(trial, "model")]
        assert times == sorted(times)


def test_speech_without_a_pause_is_one_utterance(tmp_path):
    _, trial = read(
        tmp_path,
        tick(0, agent=chunk("assistant", "Hel", utterance_ids=["u1"])),
        tick(1, agent=chunk("assistant", "lo.", utterance_ids=["u1"])),
        tick(
            2,
            agent=chunk("assistant", "How?", utterance_ids=["u2"], audio_path="a/2.wav"),
            user=chunk("user", None, speech=False),
        ),
        tick(
            3,
            agent=chunk("assistant", None, speech=False),
            user=chunk("user", "Fine", turn_taking_action={"action": "x"}),
        ),
        tick(4, user=chunk("user", " thanks"), user_transcript="fine thanks"),
    )
    agent, user = calls(trial, "model")
    assert (agent.call.actor, agent.call.name, agent.reply.text) == ("agent", "agent-model", "Hello. How?")
    assert (agent.outcome.value["tick_start"], agent.outcome.value["tick_end"]) == (0, 2)
    assert agent.outcome.value["chunks"] == [{"tick": 2, "audio_path": "a/2.wav"}]
    assert agent.duration == pytest.approx(0.6)
    assert (user.call.actor, user.reply.text, user.at) == ("user", "Fine thanks", pytest.approx(0.6))
    assert user.outcome.value["heard"] == "fine thanks"
    assert user.outcome.value["chunks"] == [{"tick": 3, "turn_taking_action": {"action": "x"}}]


def test_tool_calls_come_in_order_the_users_before_the_agents(tmp_path):
    found, trial = read(
        tmp_path,
        tick(
            0,
            agent_tool_calls=[call("a1", "find", x=1), call("a2", "find", x=2)],
            agent_tool_results=[came("a1", "1"), came("a2", "2")],
            user_tool_calls=[call("u1", "toggle")],
            user_tool_results=[came("u1", "on")],
        ),
        tick(1, agent_tool_calls=[call("a3", "slow")]),
        tick(2, agent_tool_calls=[call("a4", "fast")], agent_tool_results=[came("a4", "4")]),
        tick(3, agent_tool_results=[came("a3", "3")]),
    )
    assert whats(found) == []
    tools = sorted(calls(trial), key=lambda c: c.step)
    assert [(c.call.actor, c.call.name, c.outcome.value, c.call.detail["tick"]) for c in tools] == [
        ("user", "toggle", "on", 0),
        ("agent", "find", "1", 0),
        ("agent", "find", "2", 0),
        ("agent", "slow", "3", 1),
        ("agent", "fast", "4", 2),
    ]
    slow, fast = tools[3:]
    assert slow.started < fast.started < fast.ended < slow.ended
    assert slow.duration == pytest.approx(0.4)
    asked = [r.name for c in calls(trial, "model") for r in c.reply.tool_calls]
    assert asked == ["toggle", "find", "find", "slow", "fast"]


def test_calls_and_results_without_each_other_are_told(tmp_path):
    found, trial = read(
        tmp_path,
        tick(0, agent_tool_results=[came("x", "too early")]),
        tick(1, agent_tool_calls=[call("x", "find"), call("y", "find")]),
        "no tick",
        tick(3, agent_tool_results=[came("x", "right")]),
    )
    assert [c.outcome.value for c in calls(trial)] == ["right"]
    assert whats(found) == [
        "tick 0: a result (id 'x') of no call before it; kept as a mark",
        "tick 1: a tool call without a result: find; kept in the reply",
        "tick 2: is no tick; left out",
    ]


def test_an_error_that_a_review_places_at_a_tick_stands_at_its_step(tmp_path):
    review = {"errors": [{"source": "agent", "severity": "critical", "tick_start": 2, "tick_end": 3, "reasoning": "r"}]}
    _, trial = read(
        tmp_path,
        tick(0, agent=chunk("assistant", "a")),
        tick(1, agent=chunk("assistant", None, speech=False)),
        tick(2, agent=chunk("assistant", "b")),
        review=review,
    )
    assert [label.step for label in trial.labels] == [1]


def test_sound_is_kept_by_reference_only(tmp_path):
    sound = "UklGR" * 2000
    _, trial = read(tmp_path, tick(0, agent=chunk("assistant", "hi", audio_content=sound)))
    (said,) = calls(trial, "model")
    reference = said.outcome.value["chunks"][0]["audio_content"]
    assert reference["base64_characters"] == len(sound)
    assert len(reference["digest"]) > 20
    assert sound not in repr(trial.events)
    spoken = without_audio({"is_audio": True, "content": sound, "audio_script_gold": "hello"})
    assert (spoken["content"], spoken["audio_content"]) == ("hello", reference)
    assert without_audio({"is_audio": True, "content": "a transcript with spaces in it " * 9})["content"].startswith(
        "a tr"
    )


def test_without_the_length_of_a_tick_its_time_is_taken(tmp_path):
    late = {k: v for k, v in tick(7, agent=chunk("assistant", "x")).items() if k != "tick_duration_seconds"}
    early = {k: v for k, v in tick(4).items() if k != "tick_duration_seconds"}
    _, trial = read(tmp_path, early, late)
    assert calls(trial, "model")[0].at == 3.0


identities = st.sampled_from(["a", "b", ""])
some_ticks = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "agent_tool_calls": st.lists(identities.map(lambda i: call(i, "t")), max_size=3),
            "agent_tool_results": st.lists(identities.map(lambda i: came(i, "r")), max_size=3),
            "user_tool_calls": st.lists(identities.map(lambda i: call(i, "t")), max_size=2),
            "user_tool_results": st.lists(identities.map(lambda i: came(i, "r")), max_size=2),
            "agent_chunk": st.booleans().map(lambda speech: chunk("assistant", "x", speech)),
        },
    ),
    max_size=6,
)


@given(some_ticks)
def test_steps_have_no_gap_and_every_result_is_kept(ticks):
    timeline = Timeline("tau2")
    found = read_ticks(ticks, timeline, agent=None, user=None)
    done = [e for e in timeline.events if isinstance(e, Interaction)]
    assert sorted(e.step for e in done) == list(range(len(done)))
    assert all(e.started < e.ended for e in done)
    assert len({moment for e in done for moment in (e.started, e.ended)}) == 2 * len(done)
    given_results = sum(len(t.get(f"{s}_tool_results", ())) for t in ticks for s in ("agent", "user"))
    stray = sum(not isinstance(e, Interaction) and e.data.get("role") == "tool" for e in timeline.events)
    assert sum(e.call.kind == "tool" for e in done) + stray == given_results
    asked = sum(len(t.get(f"{s}_tool_calls", ())) for t in ticks for s in ("agent", "user"))
    unanswered = sum("without a result" in remark for remark in found.remarks)
    assert sum(e.call.kind == "tool" for e in done) + unanswered == asked
