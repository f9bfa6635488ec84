"""Recorded text that tries to act: on the terminal, as markup, on the screen's layout."""

from __future__ import annotations

from cassettes.model import Call, Interaction, Reply, Value
from tests.replay.debugger.driving import drive
from tests.replay.debugger.scene import model, said, tool
from tests.replay.recorded import keep

ESCAPES = "\x1b[2J\x1b[31mred\x1b]0;owned\x07\r\x08\x9b1m\u202etxt.exe\u2028\x00\ud800"
MARKUP = "[red]no[/red] [@click=app.quit]click[/] [link=https://evil.example]x[/link] [/"
TEXTS = (ESCAPES, MARKUP, "日本語🙂" * 50, "x" * 20_000, "\n" * 500, "")


def hostile():
    for text in TEXTS:
        yield lambda step, text=text: model(step, said(text), text, **{text[:20] or "x": {"a": text}})
        yield lambda step, text=text: tool(step, "look", {text[:30]: text, "deep": [[[text]]]}, key=text)
        yield lambda step, text=text: tool(step, text[:40] or "empty", text, "write")
        yield lambda step, text=text: tool(step, "raise", ValueError(text))
    yield lambda step: tool(step, "odd", {1: float("nan"), (2, 3): b"\x1b[0m", "set": {1, 2}})
    yield lambda step: Interaction(step, Call("model", "m", {"messages": "\x1b[1m"}, history="messages"),
                                   Value(None), 2 * step, 2 * step + 1, reply=Reply(error=ESCAPES))  # fmt: skip


def test_nothing_of_it_reaches_the_terminal_on_any_page_of_any_step(home):
    made = [make(step) for step, make in enumerate(hostile())]
    task = {"id": "t", "instruction": ESCAPES + MARKUP}
    view = keep(home, "r/t#0", made, passed=False, task_definition=task)
    keep(home, "r/t#1", made[1:7], passed=True, task_definition=task)

    async def scenario(driver):
        screens = []
        for _ in made:
            for tab in "12345":
                await driver.pilot.press(tab)
            await driver.settle()
            screens.append(driver.screen)
            await driver.press("1")
            screens.append(driver.screen)
            await driver.press("n")
        await driver.answer("slash", "owned")
        await driver.answer("b", "result ~ '[red]'")
        screens.append(driver.screen)
        return screens, driver.step is not None or driver.app.desk.row.right is not None

    screens, alive = drive(view, scenario)
    assert alive
    for screen in screens:
        assert not [letter for letter in screen if letter != "\n" and (ord(letter) < 32 or 127 <= ord(letter) < 160)]
        assert "\u202e" not in screen
        assert len(screen.splitlines()) == 40
    everything = "".join(screens)
    assert "␛[31mred" in everything
    assert "[red]no[/red]" in everything


def test_what_is_hostile_in_a_name_is_inert_in_every_line(home):
    view = keep(home, "r/t#0", [tool(0, "\x1b[2Jname", "x", "write")])
    other = keep(home, "r/t#1", [tool(0, "[bold]\x07", "x", "write")])

    async def scenario(driver):
        await driver.press("d")
        return driver.screen

    screen = drive(view, scenario, against=other)
    assert "␛[2Jname" in screen
    assert "[bold]␇" in screen
    assert "\x1b" not in screen
