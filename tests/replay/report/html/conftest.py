"""Runs below a home of their own."""

from __future__ import annotations

import pytest

from replay.home import Home
from replay.report.html.build import compared_for_page, make_report
from replay.report.html.facts import facts_of
from replay.store import Store
from tests.reports import Runs


@pytest.fixture
def runs(tmp_path):
    return Runs(Home(tmp_path / "home"))


@pytest.fixture
def report(runs):
    """The report of a run, with the facts that it was made of."""

    def make(run, wanted=None, against=None, **options):
        with Store(runs.home) as store:
            store.refresh()
            facts = facts_of(store, run, **options)
            other = None if against is None else compared_for_page(store, against, run, **options)
            return make_report(store, facts, wanted, other), facts

    return make


@pytest.fixture
def facts(runs):
    def tell(run, **options):
        with Store(runs.home) as store:
            store.refresh()
            return facts_of(store, run, **options)

    return tell
