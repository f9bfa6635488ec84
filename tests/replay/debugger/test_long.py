"""A trial of 10,000 steps opens at once: what is not on the screen is not read."""

from __future__ import annotations

from collections import Counter

import pytest

from cassettes.model import Interaction
from cassettes.reader import Cassette
from replay.home import Home
from tests.replay.debugger.driving import drive
from tests.replay.debugger.scene import model, said, tool
from tests.replay.recorded import keep

STEPS = 10_000


def _steps():
    for step in range(STEPS):
        if step % 100 == 0:
            yield model(step, said(f"turn {step}"), f"answer {step}")
        else:
            yield tool(step, "get", {"step": step}, "write" if step % 1000 == 999 else "read", number=step)


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("long"))
    steps: list[Interaction] = list(_steps())
    return keep(home, "r/t#0", steps, passed=False)


@pytest.fixture
def read(monkeypatch):
    """The steps that are read from the file, with how often."""
    counted: Counter[int] = Counter()
    original = Cassette.step

    def step(self, number):
        counted[number] += 1
        return original(self, number)

    monkeypatch.setattr(Cassette, "step", step)
    return counted


def test_opening_reads_what_is_on_the_screen(long, read):
    async def scenario(driver):
        return driver.screen

    screen = drive(long, scenario)
    assert "not compared yet: 10,000 steps; d compares" in screen
    assert "row 1 of 10,000" in screen
    assert len(read) <= 40
    assert max(read) < 40


def test_the_last_step_is_reached_without_reading_those_between(long, read):
    async def scenario(driver):
        await driver.press("end")
        at_end = driver.step, driver.page
        await driver.answer("g", "5000")
        return at_end, driver.step, driver.page, driver.screen

    (last, page), middle, other, screen = drive(long, scenario)
    assert (last, middle) == (9999, 5000)
    assert '"number": 9999' in page
    assert "answer 5000" in other
    assert " 5000 ● agent answer 5000" in screen
    assert len(read) <= 150
    assert not set(read) & set(range(1000, 4900))


def test_moving_reads_on_to_the_next_step_of_a_kind_alone(long, read):
    async def scenario(driver):
        visited = []
        for key in ("s", "s", "w", "w", "W"):
            await driver.press(key)
            visited.append(driver.step)
        return visited

    assert drive(long, scenario) == [100, 200, 999, 1999, 999]
    assert max(read) < 2100


def test_a_search_through_all_of_it_goes_on_in_the_background_and_finds(long):
    async def scenario(driver):
        await driver.answer("slash", "answer 9900")
        found = driver.step
        await driver.answer("b", "step == 9876")
        await driver.press("home", "c")
        return found, driver.step

    assert drive(long, scenario) == (9900, 9876)


def test_a_move_ends_a_search(long):
    async def scenario(driver):
        await driver.pilot.press("slash")
        await driver.type("zebra")
        await driver.pilot.press("enter")
        await driver.press("n")
        return driver.step, driver.status

    step, status = drive(long, scenario)
    assert step == 1
    assert "zebra" not in status


def test_d_compares_it_then(long):
    home = Home(long.path.parents[3])
    keep(home, "r/t#1", [tool(0, "get", {"step": 0}, "write", number=-1)], passed=True)

    async def scenario(driver):
        await driver.press("d")
        return driver.step, driver.screen

    step, screen = drive(long, scenario)
    assert step == 999
    assert "first divergent write" in screen
