"""A real run of 200 trials as one file."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from replay.cli import main
from tests.browser.conftest import AIRLINE

needs_airline = pytest.mark.skipif(
    not AIRLINE.exists(), reason=f"{AIRLINE} is not here: the tau-bench recordings are no part of the project"
)
pytestmark = needs_airline

MOST_BYTES = 600_000


@pytest.fixture(scope="module")
def airline(tmp_path_factory):
    folder = tmp_path_factory.mktemp("airline")
    page = folder / "airline.html"
    for arguments in (["import", "taubench", AIRLINE, "--run", "airline"], ["report", "airline", "-o", page]):
        done = CliRunner().invoke(main, ["--home", str(folder / "home"), *map(str, arguments)], catch_exceptions=False)
        assert done.exit_code == 0
    return page


def test_all_200_trials_are_in_less_than_600_kb(airline):
    assert airline.stat().st_size < MOST_BYTES


def test_every_trial_opens(opened, airline):
    page = opened(airline)
    assert page.locator(".cells a").count() == 200
    names = page.evaluate("JSON.parse(document.getElementById('index').textContent).map((entry) => entry[0])")
    for number, name in enumerate(names):
        page.evaluate("(number) => { location.hash = `#trial-${number}`; }", number)
        expect(page.locator("#trial h1")).to_have_text(name)
        assert page.locator("#trial .step").count() > 0
    assert len(names) == 200


def test_it_says_what_tau_bench_publishes(opened, airline):
    text = opened(airline).locator("#numbers").inner_text()
    for number in ("0.420", "0.273", "0.220", "0.200"):
        assert number in text
