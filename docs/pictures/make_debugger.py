"""Draw docs/pictures/debugger.svg: the debugger on a trial of the example that failed, beside one that passed.

Run it from the root of the repository: ``python -m docs.pictures.make_debugger``. Nothing but 127.0.0.1 is asked.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import trialtape as tt
from examples.support.suite import dialogue
from examples.support.tasks import TASKS
from replay.debugger.app import Debugger
from replay.debugger.desk import Desk
from replay.home import Home
from replay.references import references
from replay.scores.scorefile import read_scores
from replay.view import View, open_trial
from replay.writes import first_divergent_write

ROOT = Path(__file__).parents[2]
PICTURE = Path(__file__).with_name("debugger.svg")
TASK = "price-match"
SIZE = (124, 32)
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # they would be loaded from elsewhere


def main() -> None:
    """Record, choose, draw."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        record(home)
        PICTURE.write_text(asyncio.run(draw(chosen(home))), encoding="utf-8")
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes\n")


def record(home: Home) -> None:
    """Eight trials of one task, with the stand-in for a provider as a process of its own."""
    command = [sys.executable, "-m", "examples.support.server", "--port", "0", "--seed", "11"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip().removeprefix("listening on ")
            os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "any"}
            suite = tt.Suite(tasks=[task for task in TASKS if task.id == TASK], agent=dialogue)
            suite.run("baseline", trials=8, home=home.root)
        finally:
            server.terminate()


def chosen(home: Home) -> View:
    """A trial that failed by a write of its own, and has one that passed to compare with."""
    failed = sorted(score.trial for score in read_scores(home, "baseline") if score.passed is False)
    for trial in failed:
        view = open_trial(trial, home)
        others = references(home, view)
        write = first_divergent_write(view, others[0]) if others else None
        if write is not None and write.left is not None:
            return view
    raise SystemExit("no trial of this recording shows a divergent write: take another seed")


async def draw(view: View) -> str:
    """The screen at the first divergent write."""
    app = Debugger(Desk(view))
    async with app.run_test(size=SIZE) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("d")
        await pilot.pause()
        return _FONTS.sub("", app.export_screenshot())


if __name__ == "__main__":
    main()
