"""Drives the debugger through textual's Pilot, and compares its screen with text that was kept."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from textual.worker import WorkerCancelled

from replay.debugger.app import Debugger
from replay.debugger.desk import Desk
from replay.debugger.text_pane import TextPane

UPDATE = "TRIALTAPE_UPDATE_CAPTURES"
_MOST_LOOKS = 50
_CAPTURES = Path(__file__).parent / "captures"


class Driver:
    """A running debugger."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    async def press(self, *keys):
        """Press keys, and wait until everything that they began has ended."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text):
        """Type letters."""
        await self.pilot.press(*(_NAMES.get(letter, letter) for letter in text))
        await self.pilot.pause()

    async def answer(self, key, text):
        """Press the key of a question, type the answer, and confirm it."""
        await self.press(key)
        await self.type(text)
        await self.press("enter")

    async def settle(self):
        """Wait for the workers, the messages they sent, and what these draw: until two looks see the same screen."""
        before = None
        for _ in range(_MOST_LOOKS):
            with contextlib.suppress(WorkerCancelled):  # a move ends a search: then there is nothing to wait for
                await self.app.workers.wait_for_complete()
            await self.pilot.pause()
            if self.screen == before:
                return
            before = self.screen
        raise AssertionError("the screen does not come to rest")

    @property
    def screen(self):
        """What stands on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"

    @property
    def page(self):
        """The whole text of the page."""
        return self.app.query_one("#page", TextPane).text

    @property
    def status(self):
        """The bottom line."""
        return self.app.query_one("#status").render().plain

    @property
    def step(self):
        """The number of the step with the cursor; None if it is missing in the trial."""
        return self.app.desk.step_number


_NAMES = {" ": "space", "*": "asterisk", ":": "colon", "_": "underscore", "$": "dollar_sign", "-": "minus"} | {
    "=": "equals_sign", "~": "tilde", ">": "greater_than_sign", ".": "full_stop", "'": "apostrophe",
}  # fmt: skip


def drive(view, scenario, *, size=(120, 40), **options):
    """Run a scenario (an async function of a `Driver`) in the debugger."""

    async def run():
        app = Debugger(Desk(view, **options))
        async with app.run_test(size=size) as pilot:
            driver = Driver(app, pilot)
            await driver.settle()
            return await scenario(driver)

    return asyncio.run(run())


def same_as_kept(name, screen):
    """Compare with ``captures/<name>.txt``; with the environment variable set, keep it instead."""
    path = _CAPTURES / f"{name}.txt"
    if os.environ.get(UPDATE):
        path.write_text(screen, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing; {UPDATE}=1 makes it"
    assert screen == path.read_text(encoding="utf-8"), f"the screen is another; look at it, then {UPDATE}=1 keeps it"
