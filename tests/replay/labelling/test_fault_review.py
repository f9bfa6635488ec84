"""People, judges and rules side by side: who goes before whom, where they differ, and how far they agree."""

from __future__ import annotations

import json

import pytest

from replay.analysis.run_stats import run_stats
from replay.labelling.fault_review import fault_review
from replay.labelling.faults import faults_of
from replay.labelling.labels import Label, append_label
from replay.report.fault_review_text import review_lines
from replay.report.faults_text import faults_lines, faults_table
from replay.store import Store
from tests.replay.recorded import keep, write


@pytest.fixture
def tell(home):
    """The review of a run: one trial passed, the others failed, of which it is said what ``said`` tells."""
    keep(home, "r/t#0", [write(n=0)], passed=True)

    def make(*said):
        for place, those in enumerate(said, 1):
            view = keep(home, f"r/t#{place}", [write(n=place)], passed=False)
            for author, fault in those.items():
                told = {"fault": fault}
                if author.startswith("judge"):
                    told = {"fault": fault, "source": "judge", "user_error": "critical" if fault == "user" else "none"}
                if fault == "?":
                    told = {"fault": None, "source": "judge", "unanswered": "I cannot say"}
                append_label(home, Label(trial=str(view.id), author=author, digest=view.cassette.digest, **told))
        with Store(home) as store:
            store.refresh()
            stats = run_stats(store, "r")
            return fault_review(store, stats), faults_of(store, stats)

    return make


def taken(review):
    return [(trial.fault, trial.by) for trial in review.trials]


def test_people_go_before_judges_and_judges_before_rules(tell):
    review, _ = tell({"ada": "task", "judge": "tool"}, {"judge": "tool"}, {})
    assert taken(review) == [("task", "people"), ("tool", "judge"), ("agent", "rules")]
    assert review.taken == {"task": {"people": 1}, "tool": {"judge": 1}, "agent": {"rules": 1}}


def test_where_sources_differ_it_is_told_with_what_each_says(tell):
    review, _ = tell({"ada": "task", "judge": "tool"}, {"judge": "agent"})
    assert [trial.differ for trial in review.trials] == [True, False]
    told = "\n".join(review_lines(review))
    assert "they differ on r/t#1:\n  task by ada\n  tool by judge judge\n  agent (wrong argument) by rules: " in told
    assert "r/t#2" not in told


def test_authors_of_one_source_who_differ_are_disputed_and_the_next_source_is_not_asked(tell):
    review, _ = tell({"ada": "task", "bo": "tool", "judge": "tool"})
    assert taken(review) == [("disputed", "people")]
    assert review.trials[0].differ


def test_an_unanswered_judge_names_nobody_and_what_it_said_is_there(tell):
    review, _ = tell({"judge": "?"})
    assert taken(review) == [("agent", "rules")]
    assert review.trials[0].said == {"judge": "unanswered", "rules": "agent"}
    assert "I cannot say" in json.dumps(review.to_dict())


def test_agreement_is_told_of_each_two_sources(tell):
    review, _ = tell(
        {"ada": "task", "judge": "tool"}, {"ada": "tool", "judge": "tool"}, {"ada": "task", "judge": "task"}
    )
    found = review.agreement["people", "judge"]
    assert (found.n, found.observed) == (3, pytest.approx(2 / 3))
    assert found.kappa == pytest.approx(0.4)  # by hand: p_e = 2/3 * 1/3 + 1/3 * 2/3 = 4/9
    assert found.low < 0.4 < found.high
    assert review.agreement["judge", "rules"].n == 3


def test_stats_by_fault_take_the_judges_word_where_people_are_silent_and_say_so(tell):
    _, faults = tell({"ada": "task", "judge": "agent"}, {"judge": "tool"}, {"judge": "agent"}, {})
    rows = {row.fault: (row.trials, row.by_judge) for row in faults.rows if row.trials}
    assert rows == {"task": (1, 0), "tool": (1, 1), "agent": (1, 1), "unlabelled": (1, 0)}
    assert "by a judge alone" in [column.header for column in faults_table(faults).columns]
    told = "\n".join(faults_lines(faults))
    assert "labelled as no fault of the agent (2, of which 1 by a judge alone)" in told
    assert "ada and judge both labelled 1 trial" in told
