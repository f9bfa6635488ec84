"""Costs of a run: from the index the same as from the recordings."""

from __future__ import annotations

import sqlite3

import pytest

from cassettes.model import Chunk, Error, Origin, Reply, Stream, TrialId, Usage
from replay.analysis.costs import costs_of_trials
from replay.home import Home
from replay.prices import Price, PriceList
from replay.runs import RunFile, open_run
from replay.spending import priced, spent_by
from replay.store import Store
from replay.view import View
from tests import factories

PRICES = PriceList({"m": Price(2.0, 10.0, cached=1.0), "short": Price(1.0, 1.0, up_to=10)})
USED = Reply(usage=Usage(input=100, output=10, cached=40))


def asked(step, model="m", reply=USED, outcome=None, **options):
    call = factories.call("model", model, arguments={"messages": []})
    return factories.interaction(step, outcome, call=call, reply=reply, **options)


CUT = Stream({"status": 200}, (Chunk(0.0, b"x"),), complete=False, error=ConnectionError("gone"))
TRIALS = {
    "one": [asked(0), asked(1), factories.interaction(2)],
    "frozen": [asked(0, origin=Origin("own", "r/t#0", 0))],
    "refused": [asked(0), asked(1, reply=Reply(error="rate limit")), asked(2, None, None, Error(OSError("no")))],
    "untold": [asked(0), asked(1, reply=Reply()), asked(2, reply=Reply(usage=Usage(input=3)))],
    "cut": [asked(0), asked(1, reply=None, outcome=CUT)],
    "unknown": [asked(0), asked(1, "nobody's")],
    "long": [asked(0, "short")],
    "none": [factories.interaction(0)],
}


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    open_run(home, RunFile("r"))
    for task, calls in TRIALS.items():
        for index in range(2):
            path = home.cassette(TrialId("r", task, index))
            factories.write_cassette(path, calls, run="r", task=task, index=index)
    return home


def test_the_index_tells_the_costs_that_the_recordings_hold(home):
    with Store(home) as store:
        store.refresh()
        by_trial, whole = costs_of_trials(store, "r", PRICES)
    views = {str(trial): View(path) for trial, path in home.trials("r")}
    expected = {trial: priced(spent_by(view.cassette), PRICES) for trial, view in views.items()}
    assert by_trial == {trial: cost for trial, cost in expected.items() if cost.calls}
    assert whole == priced((part for view in views.values() for part in spent_by(view.cassette)), PRICES)
    once = (60 * 2 + 40 + 10 * 10) / 1e6
    assert by_trial["r/one#0"].amount == pytest.approx(2 * once)
    assert by_trial["r/refused#1"].amount == pytest.approx(once)
    assert [by_trial[f"r/{task}#0"].amount for task in ("untold", "cut", "unknown", "long")] == [None] * 4
    assert {*whole.unknown} == {"m", "nobody's", "short"}
    assert "r/frozen#0" not in by_trial


def test_an_index_from_before_costs_is_made_anew(home):
    with Store(home) as store:
        store.refresh()
        expected = costs_of_trials(store, "r", PRICES)
    with sqlite3.connect(home.index) as db:
        db.execute("ALTER TABLE interactions DROP COLUMN billed")
        db.execute("ALTER TABLE interactions DROP COLUMN cached_tokens")
        db.execute("ALTER TABLE interactions DROP COLUMN written_tokens")
        assert db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm003_costs'").rowcount == 1
    with Store(home) as store:
        assert not store.refresh()
        assert costs_of_trials(store, "r", PRICES) == expected
