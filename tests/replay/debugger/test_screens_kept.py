"""What the screen looks like, against texts that were kept; TRIALTAPE_UPDATE_CAPTURES=1 keeps new ones."""

from __future__ import annotations

import pytest

from cassettes.model import Ending
from replay.view import View
from tests.factories import write_cassette
from tests.replay.debugger.driving import drive, same_as_kept
from tests.replay.debugger.scene import failing, frozen, scene
from tests.replay.recorded import keep

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])


def capture(view, name, size, *keys, **options):
    async def scenario(driver):
        await driver.press(*keys)
        return driver.screen

    same_as_kept(f"{name}-{size[0]}x{size[1]}", drive(view, scenario, size=size, **options))


BESIDE = {
    "opened": [],
    "divergent-write": ["d"],
    "missing-write": ["w", "w"],
    "error": ["n", "n", "n"],
    "messages": ["s", "2"],
    "raw-http": ["3"],
    "http-inside-a-tool": ["n", "3"],
    "state": ["d", "4"],
    "scores": ["5"],
    "model-said-something-else": ["end"],
    "help": ["question_mark"],
    "label": ["escape", "l"],
    "question": ["escape", "b"],
}


@SIZES
def test_a_trial_beside_one_that_passed(home, size):
    async def scenario(driver):
        screens = {}
        for name, keys in BESIDE.items():
            await driver.press("home", "1", *keys)
            screens[name] = driver.screen
        return screens

    for name, screen in drive(scene(home), scenario, size=size).items():
        same_as_kept(f"{name}-{size[0]}x{size[1]}", screen)


@SIZES
def test_equal_stretches_folded(home, size):
    view = keep(home, "r/t#0", failing(), passed=False)
    other = keep(home, "r/t#1", failing()[:6], passed=True)
    capture(view, "folded", size, "z", against=other)


@SIZES
def test_a_frozen_trial_says_what_was_exact_and_why_a_call_missed(home, size):
    capture(frozen(home), "frozen", size, "n")


@SIZES
def test_a_killed_trial_opens_and_says_so(home, size):
    view = keep(home, "r/t#0", failing(), ending=None)
    data = view.path.read_bytes()
    view.path.write_bytes(data[:-3])
    capture(View(view.path, home), "killed", size)


@SIZES
def test_a_capped_trial_says_why(home, size):
    capture(keep(home, "r/t#0", failing(), ending=Ending("capped", "30 turns")), "capped", size)


@SIZES
def test_a_trial_without_steps(home, size):
    view = keep(home, "r/t#0", [], ending=Ending("error", "ValueError: no key", "agent"))
    capture(view, "empty", size, *"nNstwdD2345b")


def test_a_file_that_lies_in_no_home(tmp_path):
    view = View(write_cassette(tmp_path / "alone.cassette", failing()))
    capture(view, "no-home", (120, 40), "5")
