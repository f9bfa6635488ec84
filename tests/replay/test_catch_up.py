# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested
"""Frozen writes are carried out before a live call that would notice their absence."""

from __future__ import annotations

import asyncio
import functools
import gc
import threading
import weakref
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trialtape as tt
from cassettes.errors import BadInput, Refused, TrialHalted, Unanswered
from cassettes.model import Call, Value
from cassettes.recorder import current

ALL = ("tool:put", "tool:add", "tool:copy", "tool:wipe", "tool:aput", "tool:fail", "tool:grow")


class Outside:
    """The real thing; each trial of these tests begins with a new one."""

    def __init__(self):
        self.values = {"a": 0, "b": 0, "c": 0}
        self.done: Counter[str] = Counter()

    @tt.tool(effect="write", reads=(), writes="k:{key}")
    def put(self, key: str, value: int) -> str:
        self.done["put"] += 1
        self.values[key] = value
        return "ok"

    @tt.tool(effect="write", reads=(), writes="k:{key}")
    async def aput(self, key: str, value: int) -> str:
        await asyncio.sleep(0)
        self.done["aput"] += 1
        self.values[key] = value
        return "ok"

    @tt.tool(effect="write", reads="k:{key}", writes="k:{key}")
    def add(self, key: str, value: int) -> int:
        self.done["add"] += 1
        self.values[key] += value
        return self.values[key]

    @tt.tool(effect="write", reads="k:{source}", writes="k:{key}")
    def copy(self, source: str, key: str) -> str:
        self.done["copy"] += 1
        self.values[key] = self.values[source]
        return "copied"

    @tt.tool(effect="write")
    def wipe(self) -> int:
        self.done["wipe"] += 1
        total = sum(self.values.values())
        self.values = dict.fromkeys(self.values, 0)
        return total

    @tt.tool(effect="write")
    def fail(self, code: int) -> None:
        self.done["fail"] += 1
        raise LockedError(f"locked {code}")

    @tt.tool(effect="write")
    def grow(self, items: list) -> int:
        self.done["grow"] += 1
        self.values["a"] = len(items)
        items.append("grown")
        return len(items)

    @tt.tool(effect="read", reads="k:{key}")
    def get(self, key: str) -> int:
        return self.values[key]

    @tt.tool(effect="read", reads="k:{key}")
    async def aget(self, key: str) -> int:
        await asyncio.sleep(0)
        return self.values[key]

    @tt.tool(effect="read")
    def audit(self) -> dict:
        return dict(self.values)

    @tt.tool(effect="read")
    def inspect(self) -> dict:
        return dict(self.values)


class LockedError(Exception):
    pass


@pytest.fixture
def trial(tmp_path):
    return lambda run, task="t", **options: tt.trial(run=run, task=task, home=tmp_path, **options)


@pytest.fixture
def recorded(trial):
    """Record ``agent`` as ``base/t#0``, each time on a world of its own."""

    def record(agent):
        with trial("base"):
            agent(Outside())

    return record


@pytest.fixture
def frozen(trial):
    return functools.partial(trial, "f", freeze="external", source="base", world=0, catch_up=ALL)


def written(outside):
    outside.put("a", 3)
    outside.add("a", 4)


def opened(home, name="f/t#0"):
    return tt.open(name, home=home)


# -- what is carried out -----------------------------------------------------------------------------------------------


def test_a_read_that_would_notice_frozen_writes_waits_for_them(tmp_path, recorded, frozen):
    recorded(written)
    outside = Outside()
    with frozen() as trial:
        written(outside)
        assert outside.values["a"] == 0, "until something asks, nothing is carried out"
        assert outside.get("a") == 7
        assert outside.get("a") == 7
    assert outside.done == {"put": 1, "add": 1}
    assert trial.verdicts == {"own": 2, "extended": 1, "repeated": 1}
    assert opened(tmp_path).caught_up[0].items() >= {"step": 0, "before": 2, "name": "put", "other": None}.items()
    assert [done["step"] for done in opened(tmp_path).caught_up] == [0, 1]


def test_only_what_may_be_noticed_is_carried_out_and_what_that_may_have_noticed(recorded, frozen):
    def agent(outside):
        outside.put("a", 1)
        outside.put("b", 2)
        outside.copy("a", "c")

    recorded(agent)
    outside = Outside()
    with frozen():
        agent(outside)
        assert outside.get("c") == 1
        assert outside.values == {"a": 1, "b": 0, "c": 1}
    assert outside.done == {"put": 1, "copy": 1}


def test_an_earlier_write_to_the_same_place_never_comes_after_a_later_one(recorded, frozen):
    def agent(outside):
        outside.put("a", 1)
        outside.add("b", 1)
        outside.wipe()
        outside.put("a", 5)

    recorded(agent)
    outside = Outside()
    with frozen():
        agent(outside)
        assert outside.get("a") == 5
    assert outside.values == {"a": 5, "b": 0, "c": 0}


def test_a_live_write_waits_for_frozen_ones_to_the_same_place_though_it_notices_nothing(recorded, frozen):
    recorded(lambda outside: outside.put("a", 1))
    outside = Outside()
    with frozen(on_miss="tool:put=live"):
        outside.put("a", 1)
        outside.put("a", 2)
        assert outside.get("a") == 2
    assert outside.done == {"put": 2}


def test_what_a_live_write_has_overtaken_is_never_carried_out(recorded, frozen):
    def agent(outside):
        outside.put("a", 1)
        outside.copy("a", "c")

    recorded(agent)
    outside = Outside()
    with (
        pytest.raises(
            Unanswered, match=r"put \(step 0\) cannot be carried out: the write of step 2 went live before it"
        ),
        frozen(on_miss="tool:put=live", catch_up="tool:put"),
    ):
        agent(outside)
        outside.put("a", 2)  # before it the copy would have to be made, which is not permitted
        outside.get("a")
    assert outside.values == {"a": 2, "b": 0, "c": 0}


def test_errors_are_outcomes_and_changed_arguments_are_changed_once(recorded, frozen):
    def agent(outside):
        items = ["x"]
        with pytest.raises(LockedError):
            outside.fail(7)
        size = outside.grow(items)
        items += ["later"]
        return size, items

    recorded(agent)
    outside = Outside()
    with frozen():
        assert agent(outside) == (2, ["x", "grown", "later"])
        assert outside.audit() == {"a": 1, "b": 0, "c": 0}, "it was called with what the list held then"
    assert outside.done == {"fail": 1, "grow": 1}


def test_nothing_that_is_carried_out_is_a_step(tmp_path, recorded, frozen):
    recorded(written)
    outside = Outside()
    with frozen():
        written(outside)
        outside.get("a")
    view = opened(tmp_path)
    assert [(step.call.name, step.origin.verdict) for step in view.steps] == [
        ("put", "own"),
        ("add", "own"),
        ("get", "extended"),
    ]
    assert view.coverage == {"own": 2, "extended": 1}


def test_such_a_trial_replays_forks_and_serves_as_a_source(trial, recorded, frozen):
    recorded(written)

    def agent(outside):
        written(outside)
        return outside.get("a")

    with frozen():
        agent(Outside())
    with trial("again", replay="f/t#0"):
        assert agent(Outside()) == 7
    with trial("fork", fork="f/t#0", at=2, catch_up=ALL):
        assert agent(Outside()) == 7
    outside = Outside()
    with trial("second", freeze="external", source="f", world=0) as second:
        assert agent(outside) == 7
    assert second.verdicts == {"own": 3}
    assert not outside.done


@pytest.mark.parametrize(("permitted", "left"), [((), 0), (ALL, 1)])
def test_what_a_frozen_write_was_called_with_is_held_only_if_it_may_be_carried_out(recorded, frozen, permitted, left):
    recorded(lambda outside: outside.put("a", 1))
    with frozen(catch_up=permitted):
        outside = Outside()
        seen = weakref.ref(outside)
        outside.put("a", 1)
        del outside
        gc.collect()
        assert (seen() is not None) == bool(left)


# -- forks -------------------------------------------------------------------------------------------------------------


def test_a_fork_carries_out_what_came_before_it(tmp_path, trial, recorded):
    def agent(outside):
        written(outside)
        return outside.get("a")

    recorded(agent)
    outside = Outside()
    with trial("f", fork="base/t#0", at=2, catch_up=["tool:put", "tool:add"]) as forked:
        assert agent(outside) == 7
    assert outside.done == {"put": 1, "add": 1}
    assert forked.session.catch_up.counts == {"put": 1, "add": 1}
    assert [done["before"] for done in opened(tmp_path).caught_up] == [2, 2]


def test_what_a_fork_may_not_carry_out_is_named(trial, recorded):
    def agent(outside):
        written(outside)
        return outside.get("a")

    recorded(agent)
    with (
        pytest.raises(Refused, match=r"add \(step 1\) may not be carried out: permit it with --catch-up tool:add"),
        trial("f", fork="base/t#0", at=2, catch_up="tool:put"),
    ):
        agent(Outside())
    with pytest.raises(Refused, match="--catch-up tool:put carries out"), trial("g", fork="base/t#0", at=2):
        agent(Outside())


def test_an_edited_write_was_never_made(trial, recorded):
    recorded(written)
    with (
        pytest.raises(Refused, match="its outcome was made up"),
        trial("f", fork="base/t#0", at=2, edit=70, catch_up=ALL),
    ):
        outside = Outside()
        written(outside)
        outside.get("a")


def test_frozen_writes_after_the_fork_count_as_those_before_it(trial, recorded):
    def agent(outside):
        outside.put("a", 1)
        outside.add("a", 1)

    recorded(agent)
    outside = Outside()
    with trial("f", fork="base/t#0", at=1, freeze="tool:add", catch_up=ALL):
        agent(outside)
        assert outside.get("a") == 2
    with (
        pytest.raises(Refused, match="never saw the write of step 0"),
        trial("g", fork="base/t#0", at=1, freeze="tool:add"),
    ):
        agent(Outside())
        Outside().get("a")


@pytest.mark.parametrize(
    "options", [{"fork": "base/t#0", "at": 2}, {"freeze": "external", "source": "base", "world": 0}]
)
def test_writes_that_overlapped_are_not_carried_out_as_nobody_knows_which_came_first(trial, options):
    begun, done = threading.Event(), threading.Event()

    @tt.tool(effect="write")
    def slow() -> str:
        begun.set()
        assert done.wait(10)
        return "slow"

    @tt.tool(effect="write")
    def quick() -> str:
        return "quick"

    @tt.tool(effect="read")
    def look() -> int:
        return 1

    with trial("base"):
        thread = threading.Thread(target=slow)
        thread.start()
        assert begun.wait(10)
        quick()
        done.set()
        thread.join()
    with pytest.raises(TrialHalted, match="it overlapped with other writes"), trial("f", catch_up="tool:*", **options):
        slow()
        quick()
        look()


# -- live by policy ----------------------------------------------------------------------------------------------------


def test_a_tool_that_is_not_frozen_does_not_ask_a_world_that_lacks_a_frozen_write(tmp_path, trial, recorded):
    recorded(written)
    with (
        pytest.raises(Refused, match=r"never saw the write of step 0 \(put\)") as raised,
        trial("f", freeze="tool:put", source="base", world=0),
    ):
        outside = Outside()
        outside.put("a", 3)
        outside.get("a")
    assert 'live = ["tool:get"] in a --policy lets this one through' in str(raised.value)
    assert opened(tmp_path).ending.cause == "refused"
    outside = Outside()
    with trial("h", freeze="tool:put", source="base", world=0, catch_up="tool:put"):
        outside.put("a", 3)
        assert (outside.add("a", 4), outside.get("a")) == (7, 7)
    named = tt.Policy(freeze="tool:put", live="tool:get")
    with trial("g", policy=named, source="base", world=0):
        outside = Outside()
        outside.put("a", 3)
        assert outside.get("a") == 0, "its name is in live, so what it lacks is the user's choice"


# -- what stops the trial ----------------------------------------------------------------------------------------------


def test_another_outcome_stops_the_trial_and_both_values_are_told(tmp_path, recorded, frozen):
    recorded(written)
    outside = Outside()
    with pytest.raises(Unanswered) as raised, frozen():
        written(outside)
        outside.values = Doubling(outside.values)
        outside.get("a")
    assert str(raised.value) == (
        "step 2: get cannot go live, as a frozen write that it may notice cannot be carried out first:\n"
        "  add (step 1) came out otherwise than the agent was told: the result was 7, and is 20 now.\n"
        "  carried out in this trial so far: 1 x put, 1 x add"
    )
    assert raised.value.report.items() >= {"path": "", "recorded": "7", "now": "20"}.items()
    view = opened(tmp_path)
    assert view.ending.status == "unanswered"
    assert view.steps[-1].origin.verdict == "refused"
    assert [mark.data["outcome"] for mark in view.marks if mark.kind == "caught_up"] == [None, [0, 20]]


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2 * value)


def test_an_outcome_that_is_new_each_time_is_told_as_such(trial):
    numbers = iter(range(10**9, 10**9 + 10))

    @tt.tool(effect="write", name="book")
    def book() -> dict:
        return {"id": f"r-{next(numbers):x}"}

    @tt.tool(effect="read")
    def look() -> int:
        return 1

    with trial("base"):
        book()
    with (
        pytest.raises(
            Unanswered, match=r"told: id was 'r-3b9aca00', and is 'r-3b9aca01' now, which looks like a random id"
        ),
        trial("f", freeze="external", source="base", world=0, catch_up="tool:book"),
    ):
        book()
        look()


def test_a_field_that_does_not_count_may_be_another(tmp_path, trial):
    numbers = iter(range(10))

    @tt.tool(effect="write")
    def pay(seen: list) -> dict:
        number = next(numbers)
        if number in {3, 5}:
            seen.append(number)
        return {"at": number, "paid": number != 2}

    @tt.tool(effect="read")
    def look() -> int:
        return 1

    with trial("base"):
        pay([])
    frozen = functools.partial(
        trial, freeze="external", source="base", world=0, catch_up="tool:pay", ignore_fields="tool:pay:at"
    )

    def agent():
        pay([])
        look()

    with frozen("same"):
        agent()
    with pytest.raises(Unanswered, match="told: paid was True, and is False now"), frozen("other"):
        agent()
    with pytest.raises(Unanswered, match="told: it changed its arguments otherwise"), frozen("changed"):
        agent()
    with pytest.raises(Unanswered, match="told: at was 0, and is 4 now"), frozen("b", ignore_fields="tool:other:at"):
        agent()
    with pytest.raises(BadInput, match="there is none: name catch_up"):
        trial("c", ignore_fields="tool:pay:at")


def test_a_secret_that_was_removed_cannot_be_given_again(trial):
    class Safe:
        opened = 0

        @tt.tool(effect="write", reads=())
        def login(self) -> str:
            return "sk-proj-" + "a1B2" * 12

        @tt.tool(effect="write", reads=())
        def unlock(self, token: str) -> str:
            self.opened += 1
            return "open"

        @tt.tool(effect="read")
        def look(self) -> int:
            return self.opened

    with trial("base"):
        safe = Safe()
        safe.unlock(safe.login())
    safe = Safe()
    with (
        pytest.raises(Unanswered, match=r"unlock .*a secret in its arguments was removed"),
        trial("f", freeze="external", source="base", world=0, catch_up=["tool:unlock", "tool:login"]),
    ):
        safe.unlock(safe.login())
        safe.look()
    assert safe.opened == 0


def test_a_change_of_the_tracked_state_is_never_made_twice(trial):
    @tt.tool(effect="write", ignore=["db"])
    def pay(db: dict, amount: int) -> str:
        db["paid"] += amount
        return "paid"

    @tt.tool(effect="read", ignore=["db"])
    def look(db: dict) -> int:
        return db["paid"]

    task = tt.Task(id="t", state=lambda: {"paid": 0})
    with trial("base", task=task) as base:
        pay(base.state, 5)
    with (
        pytest.raises(Unanswered, match="its change of the tracked state has been made already"),
        trial("f", task=task, freeze="external", source="base", world=0, catch_up="tool:pay") as t,
    ):
        pay(t.state, 5)
        look(t.state)
    assert t.state == {"paid": 5}


def test_a_change_of_the_tracked_state_that_was_not_recorded_stops_the_trial(trial):
    again = []

    @tt.tool(effect="write", ignore=["db"])
    def pay(db: dict) -> str:
        if again:
            db["paid"] = 1
        return "paid"

    @tt.tool(effect="read")
    def look() -> int:
        return 1

    task = tt.Task(id="t", state=lambda: {"paid": 0})
    with trial("base", task=task) as base:
        pay(base.state)
    again.append(1)
    with (
        pytest.raises(Unanswered, match="it changed the tracked state at"),
        trial("f", task=task, freeze="external", source="base", world=0, catch_up="tool:pay") as t,
    ):
        pay(t.state)
        look()


def test_a_tool_that_calls_tools_now_and_did_not_then_stops_the_trial(trial):
    inner = []

    @tt.tool(effect="read")
    def look() -> int:
        return 1

    @tt.tool(effect="write")
    def pay() -> str:
        if inner:
            look()
        return "paid"

    with trial("base"):
        pay()
    inner.append(1)
    with (
        pytest.raises(Unanswered, match="pay, carried out again, calls tool look"),
        trial("f", freeze="external", source="base", world=0, catch_up="tool:pay"),
    ):
        pay()
        look()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"catch_up": "tool"}, "names no tool: what is carried out again is named"),
        ({"catch_up": "model:x"}, "names no tool"),
        ({"catch_up": "tool:x"}, "goes with freeze or fork"),
        ({"catch_up": "tool:x", "freeze": "external", "source": "base", "offline": True}, "nothing to say"),
    ],
)
def test_options_that_do_not_go_together(trial, options, told):
    with pytest.raises(BadInput, match=told):
        trial("f", **options)


# -- HTTP inside, and outside of tools ---------------------------------------------------------------------------------


def test_http_inside_of_what_is_carried_out_is_a_part_of_that_write(tmp_path, trial, provider):
    import httpx

    @tt.tool(effect="write")
    def order() -> int:
        with httpx.Client(trust_env=False) as client:
            return client.post(f"{provider.url}/text", json={}).status_code

    @tt.tool(effect="read")
    def look() -> int:
        return 1

    with trial("base"):
        order()
    before = len(provider.requests)
    with trial("f", freeze="external", source="base", world=0, catch_up="tool:order"):
        order()
        look()
    assert len(provider.requests) == before + 1
    view = opened(tmp_path)
    assert [(s.call.kind, s.interaction.parent) for s in view.steps] == [("tool", None), ("tool", None), ("http", 0)]


def test_a_request_that_is_no_tool_does_not_wait(trial, provider):
    import httpx

    def fetch():
        with httpx.Client(trust_env=False) as client:
            return client.get(f"{provider.url}/text").status_code

    @tt.tool(effect="write")
    def order() -> int:
        return 1

    with trial("base"):
        order()
    with (
        pytest.raises(Unanswered, match="only a tool can wait until they are carried out"),
        trial("f", freeze="external", source="base", world=0, catch_up="tool:order"),
    ):
        order()
        fetch()


# -- async, threads, processes -----------------------------------------------------------------------------------------


async def awritten(outside):
    await outside.aput("a", 3)
    outside.add("a", 4)


def test_async_tools_are_awaited_and_sync_ones_called_before_an_async_read(recorded, frozen):
    recorded(lambda outside: asyncio.run(awritten(outside)))
    outside = Outside()

    async def agent():
        await awritten(outside)
        return await asyncio.gather(outside.aget("a"), outside.aget("b"), outside.aget("a"))

    with frozen():
        assert asyncio.run(agent()) == [7, 0, 7]
    assert outside.done == {"aput": 1, "add": 1}


def test_a_sync_read_cannot_wait_for_an_async_write(recorded, frozen):
    recorded(lambda outside: asyncio.run(awritten(outside)))
    outside = Outside()

    async def agent():
        await awritten(outside)
        outside.get("a")

    with (
        pytest.raises(Unanswered, match=r"aput \(step 0\) is an async tool, and get, which would have to wait"),
        frozen(),
    ):
        asyncio.run(agent())
    assert not outside.done


def test_a_sync_read_does_not_wait_for_a_task_of_its_own_loop(recorded, frozen):
    recorded(lambda outside: asyncio.run(awritten(outside)))
    outside = Outside()

    async def agent():
        await awritten(outside)
        task = asyncio.create_task(outside.aget("a"))
        await asyncio.sleep(0)  # the task has begun to carry aput out, which waits for its turn
        try:
            outside.get("a")
        finally:
            await asyncio.gather(task, return_exceptions=True)

    told = r"aput \(step 0\) is being carried out by a task that waits for this very call"
    with pytest.raises(Unanswered, match=told), frozen():
        asyncio.run(agent())


def test_a_catch_up_that_its_caller_cancels_is_not_trusted_afterwards(trial):
    class Slow:
        @tt.tool(effect="write")
        async def pay(self) -> str:
            if current().catch_up.counts is not None and self.waits:
                await asyncio.get_running_loop().create_future()
            return "paid"

        @tt.tool(effect="read")
        async def look(self) -> int:
            return 1

        waits = False

    with trial("base"):
        asyncio.run(Slow().pay())
    slow = Slow()

    async def agent():
        await slow.pay()
        slow.waits = True
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.look(), 0.05)
        await slow.look()

    with (
        pytest.raises(Unanswered, match=r"pay \(step 0\) cannot be carried out: it failed before"),
        trial("f", freeze="external", source="base", world=0, catch_up="tool:pay"),
    ):
        asyncio.run(agent())


def test_threads_that_ask_at_the_same_time_wait_for_one_catch_up(recorded, frozen):
    recorded(written)
    outside = Outside()
    going = threading.Event()
    inner = outside.values

    class Waiting(dict):
        def __setitem__(self, key, value):
            going.set()
            super().__setitem__(key, value)

    with frozen(), ThreadPoolExecutor(4) as pool:
        written(outside)
        outside.values = Waiting(inner)
        assert list(pool.map(outside.get, "aaaa")) == [7, 7, 7, 7]
    assert going.is_set()
    assert outside.done == {"put": 1, "add": 1}


def _in_child(key):
    return OUTSIDE.get(key)


OUTSIDE = Outside()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_process_is_refused_with_the_reason(trial):
    with trial("base"):
        written(OUTSIDE)
    with (
        pytest.raises(Unanswered, match="get is called in another process"),
        trial("f", freeze="external", source="base", world=0, catch_up=ALL),
        ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool,
    ):
        written(OUTSIDE)
        pool.submit(_in_child, "a").result()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_what_a_child_process_wrote_cannot_be_carried_out_by_its_parent(trial):
    def agent():
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            pool.submit(written, OUTSIDE).result()
        OUTSIDE.get("a")

    with trial("base"), ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        pool.submit(written, OUTSIDE).result()
    with (
        pytest.raises(Unanswered, match=r"put \(step 0\) cannot be carried out: it was not called in this process"),
        trial("f", freeze="external", source="base", world=0, catch_up=ALL),
    ):
        agent()


def test_an_adapter_that_does_not_catch_up_stops_the_trial(recorded, frozen):
    recorded(written)
    outside = Outside()
    with pytest.raises(Refused, match="look went live too early: its adapter does not catch up"), frozen():
        written(outside)
        ticket = current().begin(Call("tool", "look", {}, effect="read"))
        ticket.done(Value(1))


# -- as live -----------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from("abc")
ACTS = st.one_of(
    st.tuples(st.just("put"), KEYS, st.integers(0, 3)),
    st.tuples(st.just("add"), KEYS, st.integers(1, 3)),
    st.tuples(st.just("copy"), KEYS, KEYS),
    st.tuples(st.just("wipe")),
    st.tuples(st.just("get"), KEYS),
    st.tuples(st.just("audit")),
)


def carried(outside, acts):
    return [getattr(outside, name)(*arguments) for name, *arguments in acts]


@settings(deadline=None, max_examples=150)
@given(
    program=st.lists(st.tuples(ACTS, st.booleans()), min_size=1, max_size=10),
    freeze=st.sampled_from(["external", "tool:put", "tool:add", "tool:[cw]*"]),
    permitted=st.one_of(st.just(ALL), st.lists(st.sampled_from(ALL), unique=True)),
)
def test_every_answer_and_the_world_at_the_end_are_those_of_a_live_trial(tmp_path_factory, program, freeze, permitted):
    home = tmp_path_factory.mktemp("any")
    acts = [*(act for act, _ in program), ("inspect",)]  # which is not recorded, and notices everything
    live = Outside()
    expected = carried(live, acts)
    with tt.trial(run="base", task="t", home=home):
        carried(Outside(), [("get", "a"), *(act for act, is_recorded in program if is_recorded)])
    outside, answers = Outside(), []
    try:
        with tt.trial(
            run="f", task="t", home=home, freeze=freeze, source="base", on_miss="tool:*=live", catch_up=permitted
        ):
            for act in acts:
                answers += carried(outside, [act])
    except TrialHalted:
        assert set(permitted) != set(ALL)
        assert answers == expected[: len(answers)]
        return
    assert answers == expected
    assert outside.values == live.values
    assert outside.done == live.done


@settings(deadline=None, max_examples=60)
@given(acts=st.lists(ACTS, min_size=1, max_size=8), data=st.data())
def test_a_fork_with_catch_up_is_as_a_live_trial(tmp_path_factory, acts, data):
    home = tmp_path_factory.mktemp("any")
    acts = [*acts, ("audit",)]
    live = Outside()
    with tt.trial(run="base", task="t", home=home):
        expected = carried(live, acts)
    at = data.draw(st.integers(0, len(acts) - 1))
    outside = Outside()
    with tt.trial(run="f", task="t", home=home, fork="base/t#0", at=at, catch_up=ALL):
        assert carried(outside, acts) == expected
    assert outside.values == live.values
    assert outside.done == live.done
