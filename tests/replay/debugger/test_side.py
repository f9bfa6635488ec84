from __future__ import annotations

import pytest

from cassettes.errors import CorruptCassette
from cassettes.model import Cancelled, Chunk, Error, Reply, Stream, Usage, Value
from cassettes.values import Opaque, pack
from replay.debugger.glances import glance_at, verdict_word
from replay.debugger.side import Side
from replay.view import View
from tests.factories import interaction, model_call
from tests.replay.debugger.driving import drive
from tests.replay.debugger.scene import failing, passing, scene, tool
from tests.replay.recorded import keep


def test_steps_are_counted_by_place_where_a_killed_trial_lacks_a_number(home):
    steps = [tool(0, "a", 1), tool(2, "b", 2), tool(5, "c", 3)]
    side = Side(keep(home, "r/t#0", steps, ending=None))
    assert [side.glance(place).number for place in range(len(side))] == [0, 2, 5]
    assert [side.place_of(number) for number in (0, 1, 2, 5, 6)] == [0, None, 1, 2, None]
    assert side.step(2).call.name == "c"


def test_what_happened_inside_of_a_step(home):
    side = Side(scene(home))
    assert side.inside(1) == [2]
    assert side.inside(0) == []


def damaged(home, trial="r/t#0", ending=None):
    """A trial whose last frames are there, and one in the middle is not what it was."""
    view = keep(home, trial, failing())
    data = bytearray(view.path.read_bytes())
    middle = view.cassette._table.offsets[3] + 20
    data[middle] ^= 0xFF
    view.path.write_bytes(bytes(data))
    return View(view.path, home)


def test_a_step_that_the_file_no_longer_tells_is_told_as_such(home):
    side = Side(damaged(home))
    assert [glance.kind for glance in side.glances()][3:] == ["unreadable"] * 4
    assert "is damaged at byte" in side.glance(3).came
    with pytest.raises(CorruptCassette):
        side.step(3)


def test_a_damaged_trial_can_be_walked_and_searched_and_says_that_it_cannot_be_compared(home):
    view = damaged(home)
    keep(home, "r/t#1", passing(), passed=True)

    async def scenario(driver):
        await driver.press("end")
        page, screen = driver.page, driver.screen
        await driver.answer("slash", "no such customer")
        missed = driver.status
        await driver.answer("b", "result ~ x")
        await driver.press("home", "c", "d", *"2345")
        return page, screen, missed

    page, screen, missed = drive(view, scenario)
    assert "is damaged at byte" in page
    assert "✗ ????? unreadable" in screen
    assert "cannot be compared" in screen
    assert "no step holds" in missed


# -- at a glance -------------------------------------------------------------------------------------------------------


def test_a_stream_that_was_cut_short_is_told_with_what_the_model_said_until_then():
    cut = Stream({"status": 200}, (Chunk(0.1, b"data"),), complete=False)
    glance = glance_at(interaction(0, cut, call=model_call([]), reply=Reply(text="Hel", usage=Usage(5, None))))
    assert glance.asked == "Hel"
    assert glance.came == "stream of 1 chunks, cut short by the consumer"
    assert glance.tokens == 5


def test_a_cancelled_call_failed():
    assert glance_at(interaction(0, Cancelled())).failed


def test_an_error_of_the_model_is_one():
    glance = glance_at(interaction(0, Value(None), call=model_call([]), reply=Reply(error="overloaded")))
    assert glance.failed
    assert "error: overloaded" in glance.asked


def test_models_are_compared_by_what_they_say_not_by_what_they_saw():
    one = glance_at(interaction(0, call=model_call(["a"]), reply=Reply(text="x")))
    other = glance_at(interaction(0, call=model_call(["b", "c"]), reply=Reply(text="x")))
    assert one.call == other.call


def test_verdicts_on_the_screen_are_few():
    words = [verdict_word(verdict) for verdict in ("live", "own", "borrowed", "repeated", "missed", "stale", "raced")]
    assert words == ["", "exact", "exact", "exact", "missed", "stale", "raced"]


def test_an_exception_of_a_class_that_is_not_loaded_is_told_by_its_name_and_text():
    unknown = Opaque("httpx9:ConnectError", 17, pack([("no route", 7), {"_request": None}]))
    assert glance_at(interaction(0, Error(unknown))).came == "ConnectError: no route, 7"
    other = Opaque("lib:Odd", 17, pack({"a": 1}))
    assert glance_at(interaction(0, Error(other))).came == 'Odd: {"a": 1}'
