from __future__ import annotations

import pytest
from attrs import evolve

from cassettes.model import Origin
from replay.independence import Leak
from replay.report.html.words import (
    assumptions,
    blind_spots,
    coverage_rows,
    endings,
    facts_told,
    finding,
    noise,
    warnings,
)
from replay.report.stats_text import notes
from tests.reports import conversation

P, F = "passed", "failed"


def told(facts):
    return {fact.name: fact.lines for fact in facts_told(facts)}


def test_the_finding_has_the_numbers_of_the_statistics(runs, facts):
    found = facts(runs.make("r", {"a": [P, P], "b": [P, F], "c": [F, F]})).stats
    assert finding(found) == (
        "A single trial passes 50.0% of the time, 2 trials of a task all pass 33.3% of the time; "
        "1 of 3 tasks sometimes passes and sometimes fails."
    )
    last = found.summary.rows[-1]
    assert f"{last.fixed.low:.1%} to {last.fixed.high:.1%} if you rerun this suite" in noise(found)
    assert f"{last.population.low:.1%} to {last.population.high:.1%} on other tasks like these" in noise(found)


def test_tasks_that_always_end_alike_are_told_so(runs, facts):
    assert "each of 2 tasks always ends the same way" in finding(
        facts(runs.make("r", {"a": [P, P], "b": [F, F]})).stats
    )


def test_one_trial_per_task_says_nothing_of_more(runs, facts):
    assert "of k > 1 nothing is known, as some task has one trial." in finding(
        facts(runs.make("r", {"a": [P], "b": [F]})).stats
    )


def test_with_many_unanswered_trials_only_bounds_are_told(runs, facts):
    stats = facts(runs.make("r", {"a": [P, "unanswered"], "b": [F, P]})).stats
    assert finding(stats) == (
        "Only bounds can be told, as 1 of 4 trials ended unanswered: pass^1 lies between 0.500 and 0.750."
    )
    assert noise(stats) is None


def test_trials_that_share_worlds_are_not_pooled(runs, facts):
    runs.make("r", {"a": [P, P, P, F], "b": [P, F, P, F]}, config={"source": "base", "worlds": 2})
    stats = facts("r").stats
    once, twice = stats.shared.rows[:2]
    assert finding(stats) == (
        f"Across recorded worlds pass^1 is {once.across:.1%} and pass^2 is {twice.across:.1%}; "
        "trials that share a world are not pooled."
    )
    assert noise(stats) is None


def test_trials_that_show_something_of_each_other_are_a_warning(runs, facts):
    runs.make("r", {"a": [P, F]})
    leak = Leak("reused response", "r/a#1", "r/a#0", 3, "the same id")
    stats = evolve(facts("r").stats, leaks=(leak,), unchecked=1)
    (warning,) = warnings(stats)
    assert warning.startswith("NOT INDEPENDENT: 1 trial show something of another (reused response 1)")
    conventions = told(evolve(facts("r"), stats=stats))["Conventions"]
    assert conventions == ("2 of 2 trials counted", "1 trial came or changed since independence was checked")


def test_the_head_names_models_time_suite_score_and_size(runs, facts):
    found = told(
        facts(runs.make("r", {"a": [P, P], "b": [F, F]}, about={"git": {"commit": "abc" * 9, "changed": True}}))
    )
    assert found["Models"] == ("gpt-x (agent)",)
    assert found["When"] == ("2023-11-14 22:13 UTC",)
    assert found["Suite"] == ("suite.py", "commit abcabcabcabc, with changes")
    assert found["Score"] == ("s@1",)
    assert found["Size"] == ("2 tasks × 2 trials",)
    assert found["Conventions"] == ("4 of 4 trials counted",)


def test_where_the_suite_lies_is_not_sent_along(runs, facts):
    found = told(facts(runs.make("r", {"a": [P]}, about={"suite": "private/secret-project/suite.py"})))
    assert found["Suite"] == ("suite.py",)


def test_the_conventions_are_told_as_stats_tells_them(runs, facts):
    found = told(facts(runs.make("r", {"a": [P, "capped", "error"], "b": [P, F, "unscored"]})))
    assert found["Conventions"] == (
        "5 of 6 trials counted",
        "1 capped trial counted as failed",
        "1 trial in which the agent itself raised counted as failed",
        "left out: 1 unscored   (--errors fail counts them as failed)".replace("   ", " "),
    )
    assert found["Size"] == ("2 tasks × 3 trials",)


def test_unequal_tasks_are_told(runs, facts):
    assert told(facts(runs.make("r", {"a": [P], "b": [P, F]})))["Size"] == ("2 tasks, 1 to 2 trials each, 3 in all",)


def test_endings_are_counted_with_their_causes(runs, facts):
    assert endings(facts(runs.make("r", {"a": [P, F, "error", "capped"]}))) == [
        ("completed", 2),
        ("capped", 1),
        ("error (agent)", 1),
    ]


def test_coverage_is_told_of_frozen_runs_alone(runs, facts):
    runs.make("live", {"a": [P]})
    runs.make("frozen", {"a": [(P, conversation(origin=Origin("own", "live/a#0", 1)))]})
    assert coverage_rows(facts("live").stats) == []
    assert dict(coverage_rows(facts("frozen").stats)) == {
        "frozen calls": "1",
        "exact": "1 of 1",
        "trials answered whole": "1 of 1",
        "of those that write": "1 of 1",
    }


def test_the_notes_of_the_statistics_are_all_there(runs, facts):
    stats = facts(runs.make("r", {"a": [P, P], "b": [P, F]})).stats
    lines = assumptions(stats)
    for note in notes(stats):
        assert any(note[1:] in line for line in lines)
    assert all(line.endswith(".") for line in [*lines, *blind_spots(stats)])


@pytest.mark.parametrize(("errors", "word"), [("exclude", "left out, by name"), ("fail", "count as failed, too")])
def test_the_convention_that_was_used_is_told(runs, facts, errors, word):
    runs.make("r", {"a": [P, "unscored"]})
    assert word in " ".join(assumptions(facts("r", errors=errors).stats))


def test_frozen_worlds_are_told(runs, facts):
    runs.make("r", {"a": [P]}, config={"source": "base\u202e"})
    told = " ".join(assumptions(facts("r").stats))
    assert "given these recorded worlds" in told
    assert "\u202e" not in told


def test_what_makes_numbers_comparable_stands_in_the_head(runs, facts):
    config = {
        "mode": "import",
        "domain": "airline",
        "domain_commit": "a2c0247",
        "ablation": "no-user",
        "caps": {"max_steps": 200, "max_errors": 10},
        "user_guidelines": "a digest",
    }
    found = told(facts(runs.make("r", {"a": [P, F]}, config=config)))
    assert found["Benchmark"] == (
        "domain: airline",
        "domain commit: a2c0247",
        "ablation: no-user",
        "user guidelines: a digest",
    )
    assert found["Caps"] == ("caps: max_errors 10, max_steps 200",)
    assert found["Size"] == ("1 task × 2 trials",)
