from __future__ import annotations

import asyncio
import functools

import pytest
from attrs import define

from adapters import tool
from adapters.functions import ToolSpec
from cassettes.errors import CassetteError, TrialStopped
from cassettes.model import Cancelled, Error, Value
from cassettes.recorder import listening
from tests.fakes import ListRecorder


def record(function, *args, **kwargs):
    """The one interaction that a call makes."""
    recorder = ListRecorder()
    with listening(recorder):
        function(*args, **kwargs)
    (interaction,) = recorder.interactions
    return interaction


class Account(Exception):
    def __init__(self, number, *, limit):
        super().__init__(f"account {number}")
        self.number = number
        self.limit = limit


@tool
def plain(a, b=2):
    return a + b


@tool(effect="read", name="find", reads="order:{order_id}", writes=("log", "user:{user}"), external=False)
def lookup(order_id, user=None):
    """Look it up."""
    return {"id": order_id}


# -- what is declared


def test_the_declaration_is_on_the_function():
    assert plain.__trialtape__ == ToolSpec("plain")
    assert lookup.__trialtape__ == ToolSpec("find", "read", False, ("order:{order_id}",), ("log", "user:{user}"))
    assert (lookup.__name__, lookup.__doc__, lookup.__wrapped__.__name__) == ("lookup", "Look it up.", "lookup")


def test_the_call_says_what_it_touches():
    call = record(lookup, 17).call
    assert (call.kind, call.name, call.effect, call.external) == ("tool", "find", "read", False)
    assert (call.reads, call.writes) == (("order:17",), ("log", "user:*"))
    assert record(plain, 1).call.reads is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effect": "reads"}, "none of read, write, pure, unknown"),
        ({"reads": "order:{id}"}, "no parameter"),
        ({"writes": ("a", "order:{order_id.x}")}, "plain name"),
        ({"reads": "order:{order_id!r}"}, "plain name"),
        ({"reads": "order:{}"}, "plain name"),
        ({"reads": "order:{"}, "Single '{'"),
        ({"ignore": ["db"]}, "no parameter"),
    ],
)
def test_a_wrong_declaration_is_refused_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        tool(**options)(lambda order_id: order_id)


def test_generators_are_refused():
    def numbers():
        yield 1

    async def later():
        yield 1

    class Numbers:
        def __call__(self):
            yield 1

    for function in (numbers, later, Numbers(), functools.partial(numbers)):
        with pytest.raises(TypeError, match="generator, which is not supported yet"):
            tool(function)
    for thing in (3, int):
        with pytest.raises(TypeError, match="is no function"):
            tool(thing)


# -- one canonical form of the arguments


@tool
def every(a, b=2, *rest, c, d=4, **more):
    return (a, b, rest, c, d, more)


@tool
def positional(a, /, b, **more):
    return a


class Shop:
    def __init__(self):
        self.orders = 0

    @tool
    def order(self, item, count=1):
        self.orders += count
        return f"{count} {item}"

    @classmethod
    @tool
    def named(cls, name):
        return cls.__name__ + name

    @staticmethod
    @tool
    def free(x):
        return x

    @tool
    @classmethod
    def swapped(cls, x):
        return cls.__name__ + x


class Plain:
    def order(self, item, count=1):
        return item


class Adder:
    def __call__(self, x, y=1):
        return x + y


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "expected"),
    [
        (plain, (1,), {}, {"a": 1, "b": 2}),
        (plain, (1, 2), {}, {"a": 1, "b": 2}),
        (plain, (), {"b": 2, "a": 1}, {"a": 1, "b": 2}),
        (every, (1,), {"c": 3}, {"a": 1, "b": 2, "rest": [], "c": 3, "d": 4}),
        (every, (1, 2, 5, 6), {"c": 3, "e": 7}, {"a": 1, "b": 2, "rest": [5, 6], "c": 3, "d": 4, "e": 7}),
        (positional, (1, 2), {}, {"a": 1, "b": 2}),
        (positional, (1,), {"b": 2, "a": 3}, {"a": 1, "b": 2, "more": {"a": 3}}),
        (Shop().order, ("tea",), {}, {"item": "tea", "count": 1}),
        (Shop.named, ("x",), {}, {"name": "x"}),
        (Shop().named, (), {"name": "x"}, {"name": "x"}),
        (Shop.free, (1,), {}, {"x": 1}),
        (Shop.swapped, ("a",), {}, {"x": "a"}),
        (tool(Plain().order), ("tea",), {}, {"item": "tea", "count": 1}),
        (tool(functools.partial(lambda a, b, c=3: a, 1, c=5)), (2,), {}, {"a": 1, "b": 2, "c": 5}),
        (tool(functools.partial(functools.partial(lambda a, b: a, 1), b=2)), (), {"b": 3}, {"a": 1, "b": 3}),
        (tool(Adder()), (1,), {}, {"x": 1, "y": 1}),
    ],
)
def test_arguments_by_name(function, args, kwargs, expected):
    assert record(function, *args, **kwargs).call.arguments == expected


def test_names_of_what_has_no_name():
    assert tool(functools.partial(plain, 1)).__trialtape__.name == "plain"
    assert tool(Adder()).__trialtape__.name == "Adder"


def test_ignored_arguments_do_not_belong_to_the_call_but_name_resources():
    @tool(ignore=("db",), reads="db:{db}")
    def query(db, text):
        return text

    call = record(query, "main", "x").call
    assert (call.arguments, call.reads) == ({"text": "x"}, ("db:main",))


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((1, 2, 3), {}), ((1,), {"a": 2}), ((1,), {"z": 2})])
def test_arguments_that_do_not_fit_raise_as_ever_and_are_no_call(args, kwargs):
    recorder = ListRecorder()
    with listening(recorder), pytest.raises(TypeError, match="plain"):
        plain(*args, **kwargs)
    assert not recorder.calls


# -- outcomes


def replay(interactions):
    return listening(ListRecorder(source=interactions))


def test_no_trial_no_recorder():
    assert plain(1) == 3
    assert asyncio.run(slow(1)) == 1


@tool
async def slow(x):
    await asyncio.sleep(0)
    return x


def test_async_functions():
    recorder = ListRecorder()

    async def both():
        return await asyncio.gather(slow(1), slow(2))

    with listening(recorder):
        assert asyncio.run(both()) == [1, 2]
    assert [i.outcome for i in recorder.interactions] == [Value(1), Value(2)]
    assert asyncio.iscoroutinefunction(slow)


def test_gathered_tools_are_served_by_key_in_any_order():
    runs = []

    @tool
    async def fetch(x):
        runs.append(x)
        await asyncio.sleep(0)
        return x * 10

    async def agent(order):
        return dict(zip(order, await asyncio.gather(*(fetch(x) for x in order)), strict=True))

    recorder = ListRecorder()
    with listening(recorder):
        recorded = asyncio.run(agent([1, 2, 3]))
    with replay(recorder.interactions):
        assert asyncio.run(agent([3, 1, 2])) == recorded
    assert runs == [1, 2, 3]


def test_a_call_that_was_not_recorded_stops_the_trial():
    with replay([record(plain, 1)]):
        assert plain(1) == 3
        with pytest.raises(TrialStopped):
            plain(1)


@pytest.mark.parametrize(
    "error", [ValueError("no", 3), Account(7, limit=10), KeyboardInterrupt(), OSError(2, "gone", "/x"), TimeoutError()]
)
def test_the_same_exception_with_the_same_fields(error):
    @tool
    def fails():
        raise error

    @tool
    async def fails_later():
        raise error

    recorder = ListRecorder()
    with listening(recorder), pytest.raises(type(error)):
        fails()
    with listening(recorder), pytest.raises(type(error)):
        asyncio.run(fails_later())
    assert all(isinstance(i.outcome, Error) for i in recorder.interactions)
    with replay(recorder.interactions), pytest.raises(type(error)) as raised:
        fails()
    assert (raised.value.args, vars(raised.value)) == (error.args, vars(error))
    with replay(recorder.interactions), pytest.raises(type(error)):
        asyncio.run(fails_later())


def test_a_cancelled_call_waits_for_the_caller_to_cancel_it_again():
    entered = []

    @tool
    async def endless(x):
        entered.append(x)
        await asyncio.get_running_loop().create_future()

    async def agent():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await endless(1)

    recorder = ListRecorder()
    with listening(recorder):
        asyncio.run(agent())
    assert [i.outcome for i in recorder.interactions] == [Cancelled()]
    with replay(recorder.interactions):
        asyncio.run(agent())
    assert entered == [1]


def test_a_tool_inside_a_tool_is_its_child():
    @tool
    def outer(x):
        return plain(x) + plain(x)

    recorder = ListRecorder()
    with listening(recorder):
        outer(1)
    assert [(i.call.name, i.parent) for i in recorder.interactions] == [("outer", None), ("plain", 0), ("plain", 0)]


# -- arguments changed in place


@define
class Basket:
    items: list


class Frozen:
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "change", "expected"),
    [
        ([1], lambda v: v.append(2), [1, 2]),
        ({"a": {"b": 1}}, lambda v: v["a"].update(b=2), {"a": {"b": 2}}),
        ({1}, lambda v: v.clear(), set()),
        (bytearray(b"a"), lambda v: v.extend(b"b"), bytearray(b"ab")),
        (Account(1, limit=2), lambda v: setattr(v, "limit", 3), None),
    ],
)
def test_a_change_of_an_argument_is_seen_again_in_replay(value, change, expected):
    @tool
    def changes(v):
        change(v)
        return "done"

    @tool
    async def changes_later(v):
        change(v)
        return "done"

    def fresh():
        return Account(1, limit=2) if isinstance(value, Account) else type(value)(value)

    for call in (changes, lambda v: asyncio.run(changes_later(v))):
        recorder = ListRecorder()
        live = type(value)(unshared(value)) if not isinstance(value, Account) else fresh()
        again = type(value)(unshared(value)) if not isinstance(value, Account) else fresh()
        with listening(recorder):
            assert call(live) == "done"
        with replay(recorder.interactions):
            assert call(again) == "done"
        if expected is None:
            assert again.limit == live.limit == 3
        else:
            assert again == live == expected


def unshared(value):
    return {k: dict(v) for k, v in value.items()} if isinstance(value, dict) else value


def test_a_change_that_cannot_be_done_again_is_refused():
    @tool
    def changes(v):
        v[0].append(1)

    recorder = ListRecorder()
    with listening(recorder):
        changes(([],))
    with replay(recorder.interactions), pytest.raises(CassetteError, match=r"argument 'v'.*tuple in place"):
        changes(([],))


def test_an_unchanged_argument_leaves_the_plain_result():
    @tool
    def total(values, names=("a",)):
        return sum(values)

    assert record(total, [1, 2]).outcome == Value(3)
