"""Pages in a real browser: a Chromium that is installed on the machine, driven without a window.

``TRIALTAPE_CHROMIUM`` names it; else it is looked for on the PATH. Without one the tests are skipped.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Error, sync_playwright

from replay.home import Home
from replay.report.html.build import compared_for_page, make_report
from replay.report.html.facts import facts_of
from replay.store import Store
from tests.reports import ENDINGS, Runs, conversation, hostile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
]  # containers: no user namespaces, little memory
AIRLINE = Path(__file__).parents[2].parent / "shared" / "data" / "taubench" / "gpt-4o-airline.json"


def chromium():
    """The browser's program; None if there is none."""
    return os.environ.get("TRIALTAPE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def browser():
    """One browser for the tests of a module: while it runs, no other event loop can in this thread."""
    program = chromium()
    if program is None:
        pytest.skip("no Chromium: put one on the PATH, or name it by TRIALTAPE_CHROMIUM")
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        except Error as error:
            if "TRIALTAPE_CHROMIUM" in os.environ:
                raise
            pytest.skip(f"{program} cannot be started: {str(error).splitlines()[0]}")
        yield started
        started.close()


class Watched:
    """What a page said on the console, what it raised, and what it asked for."""

    def __init__(self, page):
        self.said = []
        self.asked = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"raised: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))


@pytest.fixture
def opened(browser):
    """Open a file; at the end nothing may have gone wrong in any page, and nothing may have been asked for."""
    contexts = []
    watched = []

    def open_page(path, fragment="", **options):
        options.setdefault("viewport", {"width": 1200, "height": 900})
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        watched.append((path, Watched(page)))
        page.goto(f"{path.as_uri()}{fragment}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    for path, seen in watched:
        assert seen.said == []
        assert [url for url in seen.asked if not url.startswith((path.as_uri(), "data:"))] == []


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Reports as files, by name."""
    folder = tmp_path_factory.mktemp("pages")
    runs = Runs(Home(folder / "home"))
    failing = ("failed", conversation(32.0))
    runs.make(
        "every", {"b": list(ENDINGS), "a": ["passed"] * 7, "c": ["passed", failing, "passed", failing] + ["passed"] * 3}
    )
    runs.make("old", {"a": ["passed"] * 7, "b": ["failed"] * 7, "c": ["passed"] * 7})
    runs.make(
        "hostile", {"<b>task</b>": [("failed", hostile()), ("passed", hostile())], "a\u202eb": ["passed", "failed"]}
    )
    runs.fork("every/c#1", 4, *["passed"] * 8)
    runs.fork("every/c#1", 5, *["failed"] * 8)
    with Store(runs.home) as store:
        store.refresh()
        for name, against in (("every", "old"), ("hostile", None)):
            facts = facts_of(store, name)
            other = None if against is None else compared_for_page(store, against, name)
            (folder / f"{name}.html").write_text(make_report(store, facts, None, other).html, encoding="utf-8")
    return folder


@pytest.fixture
def every(pages):
    """A run with every outcome, beside another."""
    return pages / "every.html"
