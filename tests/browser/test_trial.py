"""One trial as a page of its own."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from replay.home import Home
from replay.report.html.build import make_trial_page
from replay.store import Store
from replay.view import open_trial
from tests.reports import Runs, conversation, hostile


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    runs = Runs(Home(folder / "home"))
    runs.make("r", {"a": ["passed", ("failed", conversation(32.0)), ("failed", hostile())]})
    with Store(runs.home) as store:
        store.refresh()
        for index in range(3):
            view = open_trial(f"r/a#{index}", runs.home)
            (folder / f"{index}.html").write_text(make_trial_page(store, view), encoding="utf-8")
    return folder


def test_it_opens_by_itself(opened, shared):
    page = opened(shared / "1.html")
    page.wait_for_selector("#trial .steps")
    assert page.locator("h1:visible").text_content() == "r/a#1"
    assert page.locator("#overview").is_hidden()
    text = page.locator("#trial").inner_text()
    assert "other arguments: step 4 issue_refund: amount is 32.0, not 16.0" in text
    assert "Beside r/a#0" in text


def test_it_is_gone_through_by_keyboard_and_escape_leads_nowhere(opened, shared):
    page = opened(shared / "1.html")
    page.wait_for_selector("#trial .steps")
    page.keyboard.press("j")
    page.keyboard.press("d")
    expect(page.locator("#step-4")).to_be_focused()
    page.keyboard.press("Escape")
    assert page.locator("#trial").is_visible()


def test_without_scripts_its_transcript_is_there(opened, shared):
    page = opened(shared / "1.html", java_script_enabled=False)
    text = " ".join(page.locator("body").inner_text().split())
    assert "My plate is broken." in text
    assert 'issue_refund {"order_id": "W1", "amount": 32.0} ← done' in text
    assert "I have refunded it." in text


@pytest.mark.parametrize("scripts", [True, False])
def test_hostile_text_is_inert(opened, shared, scripts):
    page = opened(shared / "2.html", java_script_enabled=scripts, viewport={"width": 390, "height": 844})
    assert page.evaluate("window.pwned") is None
    assert page.locator("main img, main script, main iframe, main u").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "<script>window.pwned = 1</script>" in page.locator("body").inner_text()
