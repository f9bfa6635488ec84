"""Rows 12, 17, 31 and 33: what is called, how, and what is kept of it."""

from __future__ import annotations

import asyncio
import functools
import json

import httpx2
import openai
import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main

ran = []


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


@pytest.fixture
def both(trial):
    """What an agent gets while recording and in the replay, in which nothing may run."""

    def run(agent):
        with trial():
            live = agent()
        before = len(ran)
        assert before
        with trial(run="again", replay="r/t#0") as again:
            replayed = agent()
        assert len(ran) == before, "a real tool ran in replay"
        assert again.ending.status == "completed"
        return live, replayed

    return run


def kept(home):
    return [dict(step.call.arguments) for step in tt.open("r/t#0", home=home).steps]


# -- row 12


def test_row_12_every_replacement_has_a_line_in_what_show_tells(trial, home):
    @tt.tool(effect="read")
    def login(user, password):
        return {"api_key": "ghp_R3s0ultAAAABBBBCCCCDDDDEEEEFFFFGGGG"}

    with trial():
        assert login("ada", "hunter2-long")["api_key"].startswith("ghp_")
    shown = CliRunner().invoke(main, ["--home", str(home), "show", "r/t#0"]).output
    told = [line for line in shown.splitlines() if line.startswith("redacted before it was written")]
    assert told == ["redacted before it was written (a replay gets placeholders): 2 field"]
    document = json.loads(CliRunner().invoke(main, ["--home", str(home), "show", "r/t#0", "--json"]).output)
    assert document["redacted"] == {"field": 2}


# -- row 17


def test_row_17_the_same_tool_and_the_same_request_three_times_are_served_in_recorded_order(both, provider, home):
    url, answers = provider.base_url, iter("abc")

    @tt.tool(effect="read")
    def draw(same):
        ran.append(same)
        return next(answers)

    def agent():
        got = []
        with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
            for _ in range(3):
                got.append(draw("x"))
                asked = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
                got.append(asked.id)
        return got

    live, replayed = both(agent)
    assert live[::2] == ["a", "b", "c"]
    assert len(set(live[1::2])) == 3
    assert replayed == live
    assert provider.count == 3


# -- row 31


class Desk:
    name = "desk"

    def __init__(self):
        self.log = []

    @tt.tool(effect="read")
    def method(self, a, b=2, *rest, c, d=4, **more):
        ran.append("method")
        self.log.append(a)
        return [a, b, rest, c, d, more]

    @classmethod
    @tt.tool(effect="read")
    def of_class(cls, a, b=2):
        ran.append("of_class")
        return f"{cls.name} {a} {b}"

    @tt.tool(effect="read")
    @staticmethod
    def static(a, /, b=2):
        ran.append("static")
        return a + b

    @tt.tool(effect="read")
    async def later(self, a, *, b=2):
        ran.append("later")
        await asyncio.sleep(0)
        return a + b


def add(a, b, c=3):
    ran.append("add")
    return a + b + c


part = tt.tool(effect="read")(functools.partial(add, 1, c=5))

WAYS = {
    "method": (
        [
            lambda: Desk().method(1, c=3),
            lambda: Desk().method(a=1, c=3),
            lambda: Desk().method(1, 2, c=3, d=4),
            lambda: Desk().method(c=3, b=2, a=1),
        ],
        {"a": 1, "b": 2, "rest": [], "c": 3, "d": 4},
    ),
    "method with more": (
        [lambda: Desk().method(1, 2, 5, 6, c=3, e=7), lambda: Desk().method(1, 2, 5, 6, e=7, d=4, c=3)],
        {"a": 1, "b": 2, "rest": [5, 6], "c": 3, "d": 4, "e": 7},
    ),
    "classmethod": (
        [lambda: Desk.of_class(1), lambda: Desk().of_class(1, 2), lambda: Desk.of_class(b=2, a=1)],
        {"a": 1, "b": 2},
    ),
    "staticmethod": ([lambda: Desk.static(1), lambda: Desk().static(1, b=2)], {"a": 1, "b": 2}),
    "partial": ([lambda: part(2), lambda: part(b=2), lambda: part(2, c=5)], {"a": 1, "b": 2, "c": 5}),
    "async method": (
        [lambda: asyncio.run(Desk().later(1)), lambda: asyncio.run(Desk().later(b=2, a=1))],
        {"a": 1, "b": 2},
    ),
}


@pytest.mark.parametrize("what", WAYS)
def test_row_31_however_it_is_called_a_call_has_one_canonical_form_with_defaults_applied(trial, home, what):
    ways, expected = WAYS[what]
    with trial():
        live = [way() for way in ways]
    assert kept(home) == [expected] * len(ways)
    assert all(got == live[0] for got in live)
    before = len(ran)
    with trial(run="again", replay="r/t#0"):  # each in the place of another
        assert [way() for way in (*ways[1:], ways[0])] == live
    assert len(ran) == before == len(ways)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_row_31_what_a_tool_changes_in_its_argument_is_changed_in_the_replay_too(both, asynchronous):
    @tt.tool(effect="read")
    def fill(into, extra):
        ran.append(1)
        into.append({"new": (1, 2)})
        extra.update(k={3})
        return len(into)

    @tt.tool(effect="read")
    async def fill_later(into, extra):
        ran.append(1)
        into.append({"new": (1, 2)})
        extra.update(k={3})
        return len(into)

    def agent():
        into, extra = ["old"], {}
        told = asyncio.run(fill_later(into, extra)) if asynchronous else fill(into, extra)
        return told, into, extra

    live, replayed = both(agent)
    assert replayed == live == (2, ["old", {"new": (1, 2)}], {"k": {3}})


def test_row_31_a_change_that_cannot_be_made_again_is_refused_with_a_clear_error(trial):
    @tt.tool(effect="read")
    def change(pair):
        ran.append(1)
        pair[0].append("new")

    with trial():
        change(([],))
    with pytest.raises(tt.CassetteError, match=r"argument 'pair'.*tuple in place"), trial(run="b", replay="r/t#0"):
        change(([],))
    assert ran == [1]


def lines(path):
    yield path


async def lines_later(path):
    yield path


class Reader:
    def lines(self, path):
        yield path

    async def __call__(self, path):
        yield path


@pytest.mark.parametrize(
    "function", [lines, lines_later, Reader.lines, Reader(), functools.partial(lines, "a"), classmethod(lines)]
)
def test_row_31_a_generator_is_refused_with_a_clear_error_where_it_is_declared(function):
    with pytest.raises(TypeError, match=r"is a generator, .* return a list instead"):
        tt.tool(effect="read")(function)


# -- row 33


@pytest.mark.parametrize("cut", [1, 3, 8, 12, 20])
def test_row_33_a_key_split_over_two_stream_chunks_is_redacted(trial, home, cut):
    key = "sk-proj-Sp1itAAAABBBBCCCCDDDDEEEE"
    words = ["it is ", key[:cut], key[cut:], " ok"]
    events = [{"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"} for _ in words]
    for event, word in zip(events, words, strict=True):
        event["choices"] = [{"index": 0, "delta": {"content": word}, "finish_reason": None}]
    pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]

    class Split(httpx2.SyncByteStream):
        def __iter__(self):
            for piece in pieces:  # and each event over two chunks
                yield piece[:70]
                yield piece[70:]

    def answer(request):
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Split())

    def agent():
        http = openai.DefaultHttpxClient(transport=httpx2.MockTransport(answer))
        with openai.OpenAI(api_key="k", base_url="http://nowhere.test/v1", http_client=http) as client:
            asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
            return "".join(chunk.choices[0].delta.content for chunk in client.chat.completions.create(**asked))

    with trial():
        assert agent() == f"it is {key} ok"
    with trial(run="again", replay="r/t#0"):
        replayed = agent()
    assert replayed.startswith("it is {secret:openai:")
    assert replayed.endswith("} ok")
    (step,) = tt.open("r/t#0", home=home).steps
    assert step.reply.text == replayed
    joined = b"".join(chunk.data for chunk in step.outcome.chunks)
    assert key[cut:].encode() not in joined
    assert key.encode() not in joined


def test_row_33_a_short_value_of_the_environment_leaves_texts_unharmed(trial, home, monkeypatch):
    monkeypatch.setenv("DB_PASSWORD", "postgres")
    text = "postgres is a database; psql connects to postgres as postgres"

    @tt.tool(effect="read")
    def read(path):
        ran.append(path)
        return text

    with trial():
        read("/etc/postgres")
    (step,) = tt.open("r/t#0", home=home).steps
    assert step.outcome.value == text
    assert step.call.arguments["path"] == "/etc/postgres"
    assert not tt.open("r/t#0", home=home).cassette.redacted
    with trial(run="again", replay="r/t#0"):
        assert read("/etc/postgres") == text


def test_row_33_a_right_and_a_wrong_password_are_two_keys(trial, home):
    @tt.tool(effect="read")
    def login(user, password):
        ran.append(password)
        return password == "right"

    def agent():
        return login("u", "right"), login("u", "wrong")

    with trial():
        assert agent() == (True, False)
    first, second = (step.call.arguments["password"] for step in tt.open("r/t#0", home=home).steps)
    assert first != second
    assert {first[:14], second[:14]} == {"{secret:field:"}
    with trial(run="again", replay="r/t#0"):
        assert agent() == (True, False)
    with pytest.raises(tt.Divergence), trial(run="swapped", replay="r/t#0"):
        login("u", "wrong")
    assert ran == ["right", "wrong"]
