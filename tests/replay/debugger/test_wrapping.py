"""No letter of a page is hidden, with a scroll bar and without one, at any width."""

from __future__ import annotations

import pytest

from tests.replay.debugger.driving import drive
from tests.replay.debugger.scene import tool
from tests.replay.recorded import keep

SHORT, LONG = "0123456789" * 9, "abcdefghij" * 400


@pytest.mark.parametrize("size", [(80, 24), (110, 30), (151, 33)])
def test_every_letter_is_on_the_screen(home, size):
    view = keep(home, "r/t#0", [tool(0, "get", SHORT), tool(1, "get", LONG), tool(2, "get", SHORT)])

    async def scenario(driver):
        texts = []
        for _ in range(3):
            shown = []
            pane = driver.app.query_one("#page")
            for row in range(pane.virtual_size.height):
                pane.scroll_to(y=row, animate=False, force=True, immediate=True)
                await driver.pilot.pause()
                line = row - pane.scroll_offset.y
                region = pane.region
                whole = driver.screen.splitlines()[region.y + line]
                shown.append(whole.ljust(size[0])[region.x : region.right - 1].strip())
            texts.append("".join(shown))
            await driver.press("n")
        return texts

    first, second, third = drive(view, scenario, size=size)
    assert SHORT in first
    assert LONG in second
    assert SHORT in third
