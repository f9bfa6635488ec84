# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""Rows 19, 21, 28, 34 and 35: exceptions, values that cannot be kept, and values that Python calls equal."""

from __future__ import annotations

import asyncio
import enum
import sys
import threading
from collections import namedtuple

import httpx2
import pytest

import trialtape as tt
from cassettes.values import Opaque

ran = []


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


class Denied(Exception):
    def __init__(self, message, *, code, details):
        super().__init__(message)
        self.code = code
        self.details = details


RAISED = {
    "value": lambda: ValueError("bad", 3),
    "custom": lambda: Denied("no", code=403, details={"why": ["x", (1, 2)]}),
    "os": lambda: FileNotFoundError(2, "gone", "/x"),
    "timeout": lambda: TimeoutError("too late"),
    "cancelled": lambda: asyncio.CancelledError("by itself"),
}


@tt.tool(effect="read")
def fails(kind):
    ran.append(kind)
    error = RAISED[kind]()
    raise error


@tt.tool(effect="read")
async def fails_later(kind):
    ran.append(kind)
    await asyncio.sleep(0)
    error = RAISED[kind]()
    raise error


@pytest.mark.parametrize("kind", ["value", "custom", "os", "timeout"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_row_19_the_same_class_is_caught_with_the_same_fields(trial, kind, asynchronous):
    expected = RAISED[kind]()

    def agent():
        with pytest.raises(type(expected)) as caught:
            asyncio.run(fails_later(kind)) if asynchronous else fails(kind)
        error = caught.value
        return type(error), error.args, vars(error), str(error)

    with trial():
        live = agent()
    with trial(run="again", replay="r/t#0"):
        assert agent() == live
    assert live == (type(expected), expected.args, vars(expected), str(expected))
    assert ran == [kind]


def test_row_19_a_keyboard_interrupt_ends_the_replay_at_that_step(trial, home):
    @tt.tool(effect="read")
    def interrupted():
        ran.append("interrupted")
        raise KeyboardInterrupt

    def agent():
        with pytest.raises(ValueError, match="bad"):
            fails("value")
        interrupted()
        ran.append("after")

    for options in ({}, {"run": "again", "replay": "r/t#0"}):
        with pytest.raises(KeyboardInterrupt), trial(**options):
            agent()
    assert ran == ["value", "interrupted"]
    assert len(tt.open("again/t#0", home=home).steps) == 2
    assert tt.open("again/t#0", home=home).ending.status == "cancelled"


def test_row_19_a_cancelled_call_waits_for_the_caller_to_cancel_so_that_a_timeout_is_one_again(trial):
    @tt.tool(effect="read")
    async def endless(number):
        ran.append(number)
        await asyncio.get_running_loop().create_future()

    async def agent():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await endless(1)
        task = asyncio.create_task(endless(2))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return "went on"

    with trial():
        assert asyncio.run(agent()) == "went on"
    with trial(run="again", replay="r/t#0"):
        assert asyncio.run(agent()) == "went on"
    assert ran == [1, 2]


def test_row_19_a_call_cancelled_by_nobody_again_is_no_hang_of_the_replay_for_a_caller_with_a_timeout(trial):
    """A tool that raises CancelledError by itself is kept as cancelled: only its caller can end it again."""

    async def agent():
        with pytest.raises((asyncio.CancelledError, TimeoutError)):
            async with asyncio.timeout(0.05):
                await fails_later("cancelled")

    with trial():
        asyncio.run(agent())
    with trial(run="again", replay="r/t#0"):
        asyncio.run(agent())
    assert ran == ["cancelled"]


def handles():
    yield 1


UNKEPT = {
    "file": (lambda tmp: (tmp / "f").open("w"), "handle"),
    "lock": (lambda _: threading.Lock(), "lock"),
    "generator": (lambda _: handles(), "lines"),
}


@pytest.mark.parametrize("what", UNKEPT)
def test_row_21_a_value_that_cannot_be_kept_is_named_by_its_path_and_still_reaches_the_agent(
    trial, home, tmp_path, what
):
    make, field = UNKEPT[what]

    @tt.tool(effect="read")
    def give():
        return {"items": [1, 2, 3, {field: made}]}

    made = make(tmp_path)
    got = []
    with pytest.raises(tt.UnkeepableValue, match=rf"result\.items\[3\]\.{field}"), trial():
        got.append(give())
        got.append("and the agent went on")
    assert got == [{"items": [1, 2, 3, {field: made}]}, "and the agent went on"]
    assert got[0]["items"][3][field] is made
    problems = [mark.data for mark in tt.open("r/t#0", home=home).cassette.marks() if mark.kind == "problem"]
    assert any(f"result.items[3].{field}" in problem for problem in problems)
    made.close() if hasattr(made, "close") else None


def test_row_28_a_history_value_that_goes_from_1_to_true_to_1_0_makes_three_requests(trial, home, provider):
    def agent(values):
        message, got = {"role": "user", "content": "hi", "flag": None}, []
        with httpx2.Client() as client:
            for value in values:
                message["flag"] = value  # edited in place
                body = {"model": "m", "messages": [message]}
                got.append(client.post(f"{provider.base_url}/chat/completions", json=body).json()["id"])
        return got

    values = [1, True, 1.0]
    with trial():
        live = agent(values)
    assert len(set(live)) == 3
    kept = [step.call.arguments["messages"][0]["flag"] for step in tt.open("r/t#0", home=home).steps]
    assert list(map(repr, kept)) == ["1", "True", "1.0"]
    url_seen = provider.count
    with trial(run="again", replay="r/t#0"):
        assert agent(values) == live
    for place, other in enumerate([True, 1.0, 1]):
        changed = [*values]
        changed[place] = other
        with pytest.raises(tt.Divergence, match=rf"step {place}"), trial(run=f"other{place}", replay="r/t#0"):
            agent(changed)
    assert provider.count == url_seen == 3


class Level(enum.IntEnum):
    LOW = 1


class Name(str):
    __slots__ = ()


class Count(int):
    pass


Place = namedtuple("Place", "x y")


@pytest.mark.parametrize("value", [Level.LOW, Place(1, "b"), 2**70, "\ud800"], ids=repr)
def test_row_34_an_int_enum_a_namedtuple_a_large_number_and_a_lone_surrogate_keep_their_types(trial, value):
    @tt.tool(effect="read")
    def give(same):
        ran.append(1)
        return [same, {"inside": same}]

    def agent():
        return give(value)

    with trial():
        live = agent()
    with trial(run="again", replay="r/t#0"):
        replayed = agent()
    assert replayed == live
    assert [type(replayed[0]), type(replayed[1]["inside"])] == [type(value)] * 2
    assert ran == [1]


@pytest.mark.parametrize("value", [Name("Ada"), Count(7)], ids=["str subclass", "int subclass"])
def test_row_34_a_subclass_of_a_plain_type_keeps_its_type_or_is_a_clear_error(trial, value):
    @tt.tool(effect="read")
    def give():
        return {"found": [value]}

    with pytest.raises(tt.UnkeepableValue, match=rf"result\.found\[0\].*{type(value).__name__}"), trial():
        assert type(give()["found"][0]) is type(value)


MODULE = """
import pathlib

pathlib.Path(__file__).with_suffix(".imported").touch()

class Elsewhere(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code
"""


def test_row_35_an_exception_class_whose_module_is_not_loaded_is_opaque_and_never_imported(
    trial, home, tmp_path, monkeypatch
):
    (tmp_path / "errors_of_elsewhere.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__("errors_of_elsewhere")
    mark = tmp_path / "errors_of_elsewhere.imported"

    @tt.tool(effect="read")
    def fail():
        raise module.Elsewhere(7)

    with trial(), pytest.raises(module.Elsewhere):
        fail()
    monkeypatch.delitem(sys.modules, "errors_of_elsewhere")
    mark.unlink()
    outcome = tt.open("r/t#0", home=home).steps[0].outcome
    assert type(outcome.error) is Opaque
    assert outcome.error.name == "errors_of_elsewhere.Elsewhere" or "Elsewhere" in outcome.error.name
    with pytest.raises(tt.Unanswered, match="import errors_of_elsewhere"), trial(run="again", replay="r/t#0"):
        fail()
    assert not mark.exists()
    assert "errors_of_elsewhere" not in sys.modules
