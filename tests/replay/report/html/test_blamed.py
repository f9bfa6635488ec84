from __future__ import annotations

import pytest

from replay.report.html.blamed import blamed, blamed_data, forked
from replay.view import open_trial
from tests.replay.report.html.pages import Page
from tests.reports import conversation

P, F = "passed", "failed"


@pytest.fixture
def forks(runs):
    """A failed trial that was continued from two of its steps."""
    runs.make("base", {"a": [(F, conversation(32.0))]})
    runs.fork("base/a#0", 4, *[P] * 8)
    runs.fork("base/a#0", 5, *[F] * 8)
    return runs.home


def test_forked_trials_are_found(forks):
    assert forked(forks) == {"base/a#0"}


def test_a_trial_that_was_never_forked_has_no_bars(runs):
    runs.make("base", {"a": [P]})
    assert forked(runs.home) == frozenset()
    assert blamed(runs.home, open_trial("base/a#0", runs.home)) is None


def test_the_bars_say_how_often_it_passed_from_each_step(forks):
    found = blamed(forks, open_trial("base/a#0", forks))
    assert [(bar.step, bar.value) for bar in found.bars] == [(4, 1.0), (5, 0.0)]
    assert found.bars[0].label.startswith("8 of 8 from before step 4: ")
    assert 0 < found.bars[0].low < 1 == found.bars[0].high
    assert "step 4" in found.verdict


def test_what_is_told_is_data(forks):
    data = blamed_data(blamed(forks, open_trial("base/a#0", forks)))
    assert (data["frozen"], [bar["value"] for bar in data["bars"]]) == ("", [1.0, 0.0])


def test_the_report_has_them(forks, report):
    (trial,) = Page(report("base")[0].html).trials().values()
    assert [bar["step"] for bar in trial["blame"]["bars"]] == [4, 5]


def test_a_run_that_cannot_be_read_is_passed_over(forks):
    (forks.run("fork-4") / "run.json").write_text("{")
    assert forked(forks) == {"base/a#0"}
