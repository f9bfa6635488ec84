"""Make the pictures of the docs: record the example, write its report, and look at it with a browser.

Run it with `make pictures`. It needs a Chromium, on the PATH or named by TRIALTAPE_CHROMIUM. The example's stand-in for
a model samples from a seed, and its trials run one after the other here, so the numbers are the same every time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, FloatRect, Page, ViewportSize, sync_playwright

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
SUITE = "examples/support/suite.py"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SIZE: ViewportSize = {"width": 880, "height": 1000}


def main() -> int:
    """Make them all."""
    program = os.environ.get("TRIALTAPE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        print("pictures: no Chromium; put one on the PATH, or name it by TRIALTAPE_CHROMIUM", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        report = _report(Path(folder))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-lcd-text"])
            _picture(browser, report, "report-light.png", until="#numbers .scroll")
            _picture(
                browser, report, "report-dark.png", theme="dark", begin="#map", until="#trials tbody tr:nth-child(4)"
            )
            _picture(browser, report, "report-trial.png", opens=".cells a.f", until="#step-2")
            browser.close()
    return 0


def _report(folder: Path) -> Path:
    """The report of a run that is recorded now."""
    page = folder / "report.html"
    with _provider() as base_url:
        env = os.environ | {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-any-key-will-do"}
        _trialtape(folder, env, "run", SUITE, "--run", "baseline", "--trials", "8")
    _trialtape(folder, os.environ.copy(), "report", "baseline", "-o", str(page))
    return page


def _trialtape(folder: Path, env: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "replay", "--home", str(folder / "home"), *arguments]
    subprocess.run(command, check=True, cwd=ROOT, env=env)


@contextlib.contextmanager
def _provider() -> Iterator[str]:
    """The example's stand-in for a provider, as a process of its own."""
    command = [sys.executable, "-m", "examples.support.server", "--port", "0", "--seed", "11"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip().removeprefix("listening on ")
        finally:
            process.terminate()


def _picture(
    browser: Browser,
    report: Path,
    name: str,
    *,
    theme: Literal["light", "dark"] = "light",
    opens: str | None = None,
    begin: str = "body",
    until: str,
) -> None:
    """The report, or the first trial that ``opens`` selects, from the top of one element to that of another."""
    context = browser.new_context(color_scheme=theme, viewport=SIZE)
    page = context.new_page()
    page.goto(report.as_uri())
    if opens is not None:
        page.locator(opens).first.click()
    top, bottom = _top(page, begin), _top(page, until)
    clip: FloatRect = {"x": 0, "y": top, "width": SIZE["width"], "height": bottom - top}
    page.screenshot(path=FOLDER / name, full_page=True, clip=clip)
    print(f"{name}: {(FOLDER / name).stat().st_size / 1000:.0f} kB")
    context.close()


def _top(page: Page, selector: str) -> float:
    found = page.locator(selector).first
    found.wait_for()
    place = found.bounding_box()
    assert place is not None
    return place["y"]


if __name__ == "__main__":
    sys.exit(main())
