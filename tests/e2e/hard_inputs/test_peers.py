# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""What broke other recorders, each row with the right value; the rest of the rows is in the table of test_rows.py."""

from __future__ import annotations

import asyncio
import enum
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import openai
import pydantic
import pytest

import trialtape as tt

ran = []


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


class World:
    def __init__(self):
        self.value = 0

    @tt.tool(effect="read")
    def read(self):
        ran.append("read")
        return self.value

    @tt.tool(effect="write")
    def write(self, value):
        ran.append("write")
        self.value = value
        return "ok"


@pytest.mark.parametrize(
    ("calls", "served"),
    [
        (["read", "write", "read"], [0, "ok", 1]),
        (["write"], ["ok"]),
        (["read", "read"], [0, 0]),
    ],
)
def test_peers_a_read_after_the_same_history_of_writes_is_served(trial, calls, served):
    def agent(names):
        world = World()
        return [world.write(1) if name == "write" else world.read() for name in names]

    with trial():
        assert agent(["read", "write", "read"]) == [0, "ok", 1]
    ran.clear()
    with trial(run="frozen", freeze="external", source="r"):
        assert agent(calls) == served
    assert ran == []


@pytest.mark.parametrize(("options", "verdict"), [({"on_miss": "fail"}, "stale"), ({}, None)], ids=["fail", "default"])
def test_peers_a_read_after_another_history_of_writes_is_stale_and_never_the_old_answer(trial, options, verdict):
    with trial():
        world = World()
        assert [world.read(), world.write(1)] == [0, "ok"]
    ran.clear()
    got = []
    frozen = trial(run="frozen", freeze="external", source="r", **options)
    with pytest.raises(tt.Unanswered) as caught, frozen as block:
        world = World()
        got.append(world.write(1))  # the live model skips the first read
        got.append(world.read())
    assert got == ["ok"]
    assert block.ending.status == "unanswered"
    if verdict is not None:
        assert caught.value.to_dict()["verdict"] == verdict
        assert block.verdicts == {"own": 1, verdict: 1}
    assert ran == []  # nor is the real world, which lacks the frozen write, asked


def test_peers_a_skipped_read_before_a_write_leaves_the_one_after_it_exact(trial):
    with trial():
        world = World()
        assert [world.read(), world.write(1), world.read()] == [0, "ok", 1]
    ran.clear()
    with trial(run="frozen", freeze="external", source="r") as block:
        world = World()
        assert [world.write(1), world.read()] == ["ok", 1]
    assert block.verdicts == {"own": 2}
    assert ran == []


@pytest.mark.parametrize("jitter", [[0, 5, 1, 9, 2, 7, 3, 0], [9, 8, 7, 6, 5, 4, 3, 2], [0, 0, 3, 3, 0, 0, 3, 3]])
@pytest.mark.parametrize("freeze", [False, True])
def test_peers_gathered_calls_with_jitter_before_each_are_served_by_key(trial, jitter, freeze):
    @tt.tool(effect="read")
    async def fetch(number):
        ran.append(number)
        await asyncio.sleep(0)
        return f"n{number}"

    async def agent(turns):
        async def one(number):
            for _ in range(turns[number]):
                await asyncio.sleep(0)
            return await fetch(number)

        return await asyncio.gather(*(one(number) for number in range(8)))

    with trial():
        live = asyncio.run(agent([0] * 8))
    ran.clear()
    options = {"freeze": "external", "source": "r"} if freeze else {"replay": "r/t#0"}
    with trial(run="again", **options):
        assert asyncio.run(agent(jitter)) == live == [f"n{number}" for number in range(8)]
    assert ran == []


class Custom(Exception):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def test_peers_a_value_error_and_an_own_exception_with_a_code_are_caught_as_they_were(trial):
    @tt.tool(effect="read")
    def fail(kind):
        ran.append(kind)
        raise ValueError("bad input", 42) if kind == "value" else Custom("denied", 403)

    def agent():
        told = []
        for kind in ("value", "custom"):
            try:
                fail(kind)
            except ValueError as error:
                told.append(("value", error.args))
            except Custom as error:
                told.append(("custom", error.args, error.code, type(error)))
        return told

    with trial():
        live = agent()
    assert live == [("value", ("bad input", 42)), ("custom", ("denied",), 403, Custom)]
    with trial(run="again", replay="r/t#0"):
        assert agent() == live
    assert ran == ["value", "custom"]


def test_peers_a_stream_cut_after_3_of_10_chunks_gives_3_and_drains_nothing(trial, provider, home):
    def agent(url):
        asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
        headers = {"x-chunks": "10", "x-gate": "1"}
        with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
            stream = client.chat.completions.create(**asked, extra_headers=headers)
            got = [next(stream).choices[0].delta.content for _ in range(3)]
            stream.close()
        return got

    provider.release(3)
    with trial():
        assert agent(provider.base_url) == ["tok0 ", "tok1 ", "tok2 "]
    (step,) = tt.open("r/t#0", home=home).steps
    assert len(step.outcome.chunks) == 3
    assert not step.outcome.complete
    url = provider.base_url
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent(url) == ["tok0 ", "tok1 ", "tok2 "]


class Colour(enum.Enum):
    RED = "r"


@dataclass
class Point:
    x: int
    y: float


class Order(pydantic.BaseModel):
    id: str
    when: datetime


ODD = [
    datetime(2024, 5, 1, 12, tzinfo=UTC),
    Decimal("54.040"),
    b"\0\xff",
    UUID(int=7),
    {1, 2},
    (1, (2, 3)),
    {1: "a", "1": "b"},
    Point(1, 2.5),
    Order(id="W1", when=datetime(2024, 1, 1, tzinfo=UTC)),
    Colour.RED,
    "a\0b",
    2**70,
    math.nan,
]


def test_peers_13_odd_values_in_one_answer_come_back_equal_and_of_the_same_type(trial):
    @tt.tool(effect="read")
    def give():
        ran.append(1)
        return ODD

    assert len(ODD) == 13
    with trial():
        give()
    with trial(run="again", replay="r/t#0"):
        got = give()
    assert ran == [1]
    assert [type(value) for value in got] == [type(value) for value in ODD]
    assert got[:-1] == ODD[:-1]
    assert math.isnan(got[-1])
    assert [type(key) for key in got[6]] == [int, str]


CARD = "4111 1111 1111 1111"


def test_peers_a_card_number_in_a_prompt_is_kept_unless_a_rule_takes_it_away(trial, provider, home):
    def agent(url):
        messages = [{"role": "user", "content": f"my card is {CARD}"}]
        with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
            return client.chat.completions.create(model="m", messages=messages).id

    url = provider.base_url
    with trial():
        agent(url)
    rules = {"card": re.compile(r"\b(?:\d{4} ){3}\d{4}\b")}
    with trial(run="clean", redact=rules):
        live = agent(url)
    assert tt.open("r/t#0", home=home).messages(step=0)[0]["content"] == f"my card is {CARD}"
    assert tt.open("clean/t#0", home=home).messages(step=0)[0]["content"].startswith("my card is {secret:card:")
    provider.stop()
    with trial(run="again", replay="clean/t#0", redact=rules):
        assert agent(url) == live


@pytest.mark.parametrize("options", [{"replay": "r/t#0"}, {"freeze": "model", "source": "r"}], ids=["replay", "freeze"])
def test_peers_an_unrecorded_model_request_is_refused_and_explained(trial, provider, options):
    def agent(text):
        with openai.OpenAI(api_key="k", base_url=provider.base_url, max_retries=2) as client:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])

    with trial():
        agent("recorded")
    with pytest.raises((tt.Divergence, tt.Unanswered)) as caught, trial(run="again", **options):
        try:
            agent("not recorded")
        except Exception:
            pytest.fail("neither the SDK nor the agent may swallow it")
    assert provider.count == 1
    assert "content" in str(caught.value)
    assert "'recorded'" in str(caught.value)
    assert "'not recorded'" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"replay": "r/t#0"}, {"freeze": "external", "source": "r", "on_miss": "fail"}],
    ids=["replay", "freeze"],
)
def test_peers_unrecorded_arguments_of_a_tool_are_refused_and_explained(trial, options):
    @tt.tool(effect="read")
    def look(key):
        ran.append(key)
        return key.upper()

    with trial():
        look("a")
    got = []
    with pytest.raises((tt.Divergence, tt.Unanswered)) as caught, trial(run="again", **options):
        try:
            got.append(look("b"))
        except Exception:
            pytest.fail("the agent may not swallow it")
    assert (got, ran) == ([], ["a"])
    assert "look" in str(caught.value)
    assert "'a'" in str(caught.value)
    assert "'b'" in str(caught.value)
