"""A reward made anew from kept scores and their components."""

from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import TrialId
from replay.analysis.outcomes import outcomes_of
from replay.analysis.run_stats import run_stats
from replay.runs import load_run
from replay.scores.recombining import components_of, named_rule, recombined
from replay.scores.scorefile import KeptScore, append_scores, read_scores
from replay.scores.side_by_side import side_by_side
from replay.scoring import Score, rule_of
from replay.store import Store
from tests.replay.recorded import needs_airline

TAU = "reward.r_actions? * reward.r_outputs?"


def kept(scorer, version, value, trial="r/t#0", digest="d", **components):
    evidence = {"components": components} if components else {}
    return KeptScore.of(TrialId.parse(trial), scorer, version, Score(value, evidence=evidence), digest)


def test_scores_versions_and_components_have_names():
    found = components_of([kept("s", "1", 0.5), kept("s", "2", 1.0, part=0.25, text=None), kept("u", "1", None)])
    assert found == {"s": 1.0, "s@1": 0.5, "s@2": 1.0, "s.part": 0.25, "s@2.part": 0.25, "u": None, "u@1": None}


def test_only_scores_of_the_latest_recording_count(home):
    home.run("r").mkdir(parents=True)
    append_scores(home, "r", [kept("a", "1", 1.0, digest="old"), kept("b", "1", 1.0, digest="new")])
    append_scores(home, "r", [kept("a", "1", 0.0, digest="new")])
    (score,) = recombined(home, "r", "both", rule_of("a*b"))
    assert (score.value, score.digest, json.loads(score.evidence)["components"]) == (0.0, "new", {"a": 0.0, "b": 1.0})


def test_a_component_that_no_trial_has_is_refused_with_those_there_are(home):
    home.run("r").mkdir(parents=True)
    append_scores(home, "r", [kept("a", "1", 1.0)])
    with pytest.raises(tt.BadInput, match=r"no score or component nothing \(known: a\)"):
        recombined(home, "r", "x", rule_of("a * nothing"))


@pytest.mark.parametrize("text", ["a*b", "=a", "two words=a", "x="])
def test_a_rule_needs_a_name(text):
    with pytest.raises(tt.BadInput, match="is no"):
        named_rule(text)


@needs_airline
def test_all_airline_rewards_come_out_of_their_stored_components(airline_home):
    recorded = list(read_scores(airline_home, "airline"))
    again = recombined(airline_home, "airline", "tau", rule_of(TAU))
    found = side_by_side(recorded, again, "reward@taubench", f"tau@{rule_of(TAU).version}")
    assert (found.trials, found.differ) == (200, ())
    assert found.unscored == 5  # capped: the benchmark stored no components, and 0 as their reward
    assert sum(score.value is not None for score in again) == 195


@needs_airline
def test_the_airline_recordings_have_the_published_distribution_and_endings(airline_home):
    with Store(airline_home) as store:
        store.refresh()
        outcomes = outcomes_of(store, load_run(airline_home, "airline")).trials
        stats = run_stats(store, "airline")
        endings = {
            (row["ending"], row["reason"]): row["n"]
            for row in store.rows("SELECT ending, reason, COUNT(*) AS n FROM trials GROUP BY ending, reason")
        }
    assert len(outcomes) == 200
    assert [stats.counted.successes.count(c) for c in range(5)] == [14, 12, 10, 4, 10]
    assert stats.summary.flipping == 26
    assert endings == {
        ("completed", "user_stop"): 147,
        ("completed", "transfer_to_human_agents"): 48,
        ("capped", "30 agent actions"): 5,
    }
