from __future__ import annotations

import pytest

from cassettes.model import TrialId
from replay.report.html.build import compared_for_page, make_report, make_trial_page
from replay.report.html.facts import facts_of
from replay.store import Store
from replay.view import View, open_trial
from tests.replay.report.html.pages import Page
from tests.reports import conversation

P, F = "passed", "failed"


@pytest.fixture
def store(runs):
    with Store(runs.home) as opened:
        yield opened


def test_progress_is_told_trial_by_trial(runs, store):
    runs.make("r", {"a": [P, F], "b": [P]})
    store.refresh()
    told = []
    made = make_report(store, facts_of(store, "r"), "none", None, lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert (made.listed, made.opened) == (3, 0)


def test_a_reference_that_cannot_be_read_costs_only_the_comparison(runs, store, monkeypatch):
    runs.make("r", {"a": [P, (F, conversation(32.0))]})
    store.refresh()
    facts = facts_of(store, "r")
    passed = runs.home.cassette(TrialId("r", "a", 0))
    passed.write_bytes(passed.read_bytes()[:200])
    found = Page(make_report(store, facts).html).trials()
    assert found[1]["id"] == "r/a#1"
    assert len(found[1]["steps"]) == 6


def test_what_differs_between_runs_is_told_and_nothing_refused(runs, store):
    runs.make("old", {"a": [P, F]}, config={"freeze": ["tool"]})
    runs.make("new", {"a": [P, P]})
    store.refresh()
    found = compared_for_page(store, "old", "new")
    assert "freezing" in {change.name for change in found.settings}
    assert found.not_changed == ()


def test_a_trial_alone_has_its_scores_and_its_comparison(runs, store):
    runs.make("r", {"a": [P, (F, conversation(32.0))]})
    store.refresh()
    trial = Page(make_trial_page(store, open_trial("r/a#1", runs.home))).trials()[0]
    assert trial["beside"]["against"] == "r/a#0"
    assert "number" not in trial["beside"]
    assert trial["scores"][0]["verdict"] == "failed"


def test_a_file_from_elsewhere_is_a_page_too(runs, store, tmp_path):
    runs.make("r", {"a": [P]})
    sent = tmp_path / "sent.cassette"
    sent.write_bytes(runs.home.cassette(TrialId("r", "a", 0)).read_bytes())
    (runs.home.run("r") / "run.json").unlink()
    trial = Page(make_trial_page(store, View(sent))).trials()[0]
    assert (trial["id"], trial["sign"]) == ("r/a#0", "unscored")
