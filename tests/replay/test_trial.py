# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""One trial as a block: replays, endings, values, arguments."""

from __future__ import annotations

import asyncio
import enum
import math
import threading
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import attrs
import openai
import pydantic
import pytest

import trialtape as tt
from cassettes.canonical import canonical
from replay.patching import adapters

ran: list[str] = []


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclass
class Point:
    x: int
    tags: list[str] = field(default_factory=list)


@attrs.frozen
class Pair:
    left: int
    right: Decimal


class Model(pydantic.BaseModel):
    name: str
    when: datetime


class BadRequestError(Exception):
    def __init__(self, message, *, status, body):
        super().__init__(message)
        self.status = status
        self.body = body


VALUES = {
    "none": None,
    "true": True,
    "one": 1,
    "one_float": 1.0,
    "minus_zero": -0.0,
    "inf": math.inf,
    "big": 2**70,
    "text": "Grüße \0 ☃",
    "surrogate": "\ud800",
    "bytes": b"\0\xff",
    "datetime": datetime(2024, 5, 1, 12, 30, tzinfo=timezone(timedelta(hours=2))),
    "date": date(2024, 5, 1),
    "delta": timedelta(days=1, microseconds=3),
    "decimal": Decimal("54.040"),
    "uuid": UUID(int=7),
    "tuple": (1, (2, 3)),
    "set": {1, 2},
    "frozenset": frozenset({"a"}),
    "int_keys": {1: "a", "1": "b", 2.5: "c", False: "d"},
    "enum": Colour.RED,
    "int_enum": Level.HIGH,
    "dataclass": Point(1, ["a"]),
    "attrs": Pair(1, Decimal("0.1")),
    "pydantic": Model(name="n", when=datetime(2024, 1, 1, tzinfo=UTC)),
    "nested": [{"a": [Point(2), {Pair(1, Decimal(2))}]}],
}


@tt.tool(effect="read")
def give(name: str):
    ran.append(name)
    return VALUES[name]


@tt.tool(effect="read")
def echo(value):
    ran.append("echo")
    return value


@tt.tool(effect="read", ignore=("gate",))
async def gated(name: str, gate: asyncio.Event | None):
    ran.append(name)
    if gate is not None:
        await gate.wait()
    return name


@tt.tool(effect="read")
def fail(kind: str):
    ran.append("fail")
    if kind == "own":
        raise BadRequestError("no", status=400, body={"why": ["x"]})
    if kind == "interrupt":
        raise KeyboardInterrupt
    raise ValueError("bad", 3)


@tt.tool(effect="read")
def fill(into: list, extra: dict):
    ran.append("fill")
    into.append("new")
    extra["k"] = (1, 2)
    return len(into)


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


@pytest.fixture
def both(trial):
    """Run an agent recording and then replaying; gives both results."""

    def run(agent):
        with trial(run="r"):
            live = agent()
        before = len(ran)
        with trial(run="again", replay="r/t#0") as again:
            replayed = agent()
        assert len(ran) == before, "a real tool ran in replay"
        assert again.ending.status == "completed"
        return live, replayed

    return run


# -- replay ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_equal_and_of_the_same_type_after_replay(both, name):
    live, replayed = both(lambda: give(name))
    assert type(replayed) is type(live)
    assert canonical(replayed) == canonical(live)
    assert replayed == live


def test_not_a_number_is_still_none_after_replay(trial):
    with trial(run="r"):
        echo(math.nan)
    with trial(run="again", replay="r/t#0"):
        assert math.isnan(echo(math.nan))


def test_one_and_true_are_different_calls(trial):
    with trial(run="r"):
        echo(1)
    with pytest.raises(tt.Divergence), trial(run="again", replay="r/t#0"):
        echo(True)


def test_the_same_call_three_times_is_served_in_the_recorded_order(trial):
    box = []

    @tt.tool(effect="read")
    def count():
        box.append(None)
        return len(box)

    with trial(run="r"):
        live = [count() for _ in range(3)]
    with trial(run="again", replay="r/t#0"):
        assert [count() for _ in range(3)] == live == [1, 2, 3]


def test_exceptions_keep_class_arguments_and_fields(both):
    def agent():
        told = []
        for kind in ("own", "other"):
            try:
                fail(kind)
            except Exception as error:
                told.append((type(error), error.args, vars(error)))
        return told

    live, replayed = both(agent)
    assert replayed == live
    assert live[0] == (BadRequestError, ("no",), {"status": 400, "body": {"why": ["x"]}})


def test_a_keyboard_interrupt_ends_the_replay_at_that_step(tmp_path, trial):
    with pytest.raises(KeyboardInterrupt), trial(run="r"):
        give("one")
        fail("interrupt")
    assert tt.open("r/t#0", home=tmp_path).ending.status == "cancelled"
    with pytest.raises(KeyboardInterrupt), trial(run="again", replay="r/t#0"):
        give("one")
        fail("interrupt")
    assert ran == ["one", "fail"]


def test_arguments_changed_in_place_are_changed_again(both):
    def agent():
        into, extra = ["old"], {}
        return fill(into, extra), into, extra

    live, replayed = both(agent)
    assert replayed == live == (2, ["old", "new"], {"k": (1, 2)})


def test_a_request_is_kept_as_it_was_when_it_was_made(tmp_path, trial):
    value = {"history": [1]}
    with trial(run="r"):
        echo(value)
        value["history"].append(2)
    assert tt.open("r/t#0", home=tmp_path).steps[0].call.arguments == {"value": {"history": [1]}}


def test_gathered_calls_may_come_in_another_order(trial):
    async def live():
        gate = asyncio.Event()
        tasks = [asyncio.create_task(gated(name, gate)) for name in "abc"]
        await asyncio.sleep(0)
        gate.set()
        return await asyncio.gather(*tasks)

    async def again():
        return await asyncio.gather(*(gated(name, None) for name in "cab"))

    with trial(run="r"):
        asyncio.run(live())
    with trial(run="again", replay="r/t#0"):
        assert asyncio.run(again()) == ["c", "a", "b"]


def test_a_call_that_came_after_another_may_not_come_before_it(trial):
    with trial(run="r"):
        give("one")
        give("true")
    with pytest.raises(tt.Divergence, match="step 0"), trial(run="again", replay="r/t#0"):
        give("true")


def test_a_cancelled_call_waits_until_its_caller_cancels_it_again(both):
    class Never:
        async def wait(self):
            await asyncio.get_running_loop().create_future()

    async def agent():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await gated("ever", Never())
        return await gated("x", None)

    assert both(lambda: asyncio.run(agent())) == ("x", "x")


def test_one_changed_message_of_forty_turns_is_named_with_both_values(trial, provider):
    """Turn 21 sends 21 messages; the fifth of them is changed."""

    def agent(url, changed_in=None):
        history = []
        with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
            for turn in range(40):
                history.append({"role": "user", "content": f"message {turn} " + "and so on " * 40})
                sent = [dict(message) for message in history]
                if turn == changed_in:
                    sent[5]["content"] = sent[5]["content"].replace("message 5", "message five")
                client.chat.completions.create(model="m", messages=sent)

    with trial(run="r"):
        agent(provider.base_url)
    seen = provider.count
    with pytest.raises(tt.Divergence) as caught, trial(run="again", replay="r/t#0") as again:
        agent(provider.base_url, changed_in=21)
    text, report = str(caught.value), caught.value.to_dict()
    assert "step 21" in text
    assert "messages[5].content" in text
    assert "message 5 and" in text
    assert "message five and" in text
    assert len(text.splitlines()) < 20
    assert (report["error"], report["step"], report["path"]) == ("Divergence", 21, "messages[5].content")
    assert provider.count == seen == 40
    assert (again.ending.status, again.ending.cause) == ("error", "divergence")


def test_calls_that_a_replay_leaves_over_are_a_divergence(trial):
    with trial(run="r"):
        give("one")
        give("true")
    with (
        pytest.raises(tt.Divergence, match="1 recorded call was not asked for, the first at step 1"),
        trial(run="again", replay="r/t#0"),
    ):
        give("one")


def test_more_calls_than_were_recorded_are_a_divergence(trial):
    with trial(run="r"):
        give("one")
    with pytest.raises(tt.Divergence, match="the recording has ended"), trial(run="again", replay="r/t#0"):
        give("one")
        give("one")


def test_a_trial_can_be_replayed_from_its_path(tmp_path, trial):
    with trial(run="r"):
        give("one")
    with trial(run="again", replay=str(tmp_path / "cassettes/r/t/0.cassette")):
        assert give("one") == 1


# -- what cannot be kept -----------------------------------------------------------------------------------------------


def test_a_state_that_cannot_be_tracked_leaves_no_patch_and_no_listener_behind(tmp_path, trial):
    with pytest.raises(tt.UnkeepableValue, match="cannot be tracked"):
        trial(run="r", task=tt.Task(id="t", state=lambda: (1, 2))).begin()
    assert not any(adapter.patched() for adapter in adapters())
    assert give("one") == 1  # nobody listens
    assert len(tt.open("r/t#0", home=tmp_path).steps) == 0


# -- arguments ---------------------------------------------------------------------------------------------------------


def test_the_block_may_be_async(tmp_path, trial):
    async def main():
        async with trial(run="r") as block:
            assert await gated("a", None) == "a"
        return block

    assert asyncio.run(main()).ending.status == "completed"
    assert len(tt.open("r/t#0", home=tmp_path).steps) == 1


def test_a_trial_tracks_one_state(trial):
    with trial(run="r") as block:
        give("one")
        block.track({})
        with pytest.raises(tt.BadInput, match="tracks a state already"):
            block.track({})


def test_a_call_that_outlives_a_recorded_trial_goes_on_unrecorded(tmp_path, trial):
    with trial(run="r"):
        give("one")
        go = threading.Event()
        late = []
        thread = threading.Thread(target=lambda: (go.wait(20), late.append(give("true"))))
        thread.start()
    go.set()
    thread.join()
    assert late == [True]
    assert len(tt.open("r/t#0", home=tmp_path).steps) == 1


def test_steps_that_never_ended_leave_a_gap_that_readers_pass_over(tmp_path, trial):
    started, go = threading.Event(), threading.Event()

    @tt.tool(effect="read")
    def slow():
        started.set()
        go.wait(20)
        return 1

    with trial(run="r"):
        thread = threading.Thread(target=slow)
        thread.start()
        started.wait(20)
        give("one")
    go.set()
    thread.join()
    view = tt.open("r/t#0", home=tmp_path)
    assert [step.number for step in view.steps] == [1]
    assert view.steps[0].call.name == "give"


def test_what_went_wrong_stands_with_the_trial(tmp_path, trial):
    started, go = threading.Event(), threading.Event()

    @tt.tool(effect="read")
    def slow():
        started.set()
        go.wait(20)

    with trial(run="r") as block:
        state = {"n": 1}
        block.track(state)
        give("one")
        state["n"] = 2
        thread = threading.Thread(target=slow)
        thread.start()
        assert started.wait(20)
    go.set()
    thread.join()
    assert tt.open("r/t#0", home=tmp_path).problems == [
        "1 change(s) of the tracked state that no write explains",
        "1 call(s) had not ended when the trial did, and are not recorded",
    ]
