from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest
from attrs import define, field

from cassettes.errors import CassetteError
from cassettes.model import Call, Cancelled, Error, Outcome, Stream, Value
from cassettes.recorder import (
    Unseen,
    aperform,
    current,
    enclosing,
    entered,
    hand_out,
    listening,
    passed_by,
    perform,
    unattributed,
    unwatched,
    watched,
    watching,
)
from tests.factories import call


@define
class FakeTicket:
    step: int
    answer: Outcome | None = None
    delay: float = 0.0
    told: list = field(factory=list)
    parent: object = None
    instead: object = None
    plan: tuple = ()

    def repeatable(self, again, *, is_async):
        self.told.append(("repeatable", is_async, again))

    def done(self, value, reply=None):
        self.told.append(("done", value, enclosing()))
        return self.instead_of(value)

    def instead_of(self, value):
        return value

    def failed(self, error):
        self.told.append(("failed", error, enclosing()))

    def cancelled(self):
        self.told.append(("cancelled", None, enclosing()))


@define(eq=False)
class FakeRecorder:
    """Hands out tickets that hold the answers given, then live ones."""

    answers: list = field(factory=list)
    delay: float = 0.0
    calls: list[Call] = field(factory=list)
    tickets: list[FakeTicket] = field(factory=list)

    def begin(self, call):
        answer = self.answers.pop(0) if self.answers else None
        ticket = FakeTicket(len(self.tickets), answer, self.delay, parent=enclosing())
        self.calls.append(call)
        self.tickets.append(ticket)
        return ticket

    @property
    def told(self):
        return [(what, value) for ticket in self.tickets for what, value, _ in ticket.told]


def refusing():
    raise AssertionError("the live call was made")


async def arefusing():
    refusing()


# -- who listens ------------------------------------------------------------------------------------------------------


def test_nobody_listens_outside_a_trial():
    assert current() is None
    assert enclosing() is None
    assert unattributed()


def test_the_innermost_recorder_listens_and_the_outer_one_comes_back():
    outer, inner = FakeRecorder(), FakeRecorder()
    ticket = FakeTicket(0)
    with listening(outer), entered(ticket):
        assert (current(), enclosing()) == (outer, ticket)
        with listening(inner):
            assert (current(), enclosing(), unattributed()) == (inner, None, False)
            with listening(None):
                assert (current(), unattributed()) == (None, True)
        assert (current(), enclosing()) == (outer, ticket)
    assert (current(), enclosing()) == (None, None)


def test_a_call_that_passes_by_costs_no_name_while_nothing_watches():
    passed_by(refusing)
    with watching(Unseen()), unwatched():
        assert not watched()
        passed_by(refusing)


def test_what_passes_by_is_counted_by_all_that_watch():
    first, second = Unseen(), Unseen()
    with watching(first):
        passed_by(lambda: "a")
        with watching(second):
            assert watched()
            passed_by(lambda: "b")
    passed_by(lambda: "c")
    assert (first.counts, second.counts) == ({"a": 1, "b": 1}, {"b": 1})


def test_names_without_number_are_counted_together():
    unseen = Unseen()
    for number in range(60):
        unseen.note(f"GET host/{number}")
    unseen.note("GET host/0")
    assert unseen.counts["GET host/0"] == 2
    assert unseen.counts[Unseen.OTHERS] == 10
    assert len(unseen.counts) == Unseen.MOST_NAMES + 1


def test_a_block_that_raises_stops_listening():
    with pytest.raises(ValueError, match="x"), listening(FakeRecorder()), entered(FakeTicket(0)):
        raise ValueError("x")
    assert (current(), enclosing()) == (None, None)


def test_a_thread_listens_in_a_copied_context_and_not_in_an_empty_one():
    recorder, seen = FakeRecorder(), []

    def look(context):
        thread = threading.Thread(target=context.run, args=(lambda: seen.append(current()),))
        thread.start()
        thread.join()

    with listening(recorder):
        look(contextvars.copy_context())
        look(contextvars.Context())
    assert seen == [recorder, None]


# -- plain functions --------------------------------------------------------------------------------------------------


def test_a_live_call_returns_its_value_and_tells_the_ticket():
    recorder, made = FakeRecorder(), call()
    assert perform(recorder, made, lambda: [1]) == [1]
    assert recorder.calls == [made]
    assert recorder.told == [("done", [1])]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), asyncio.CancelledError(), SystemExit(2)])
def test_a_live_call_that_raises_tells_the_ticket_and_raises_the_same(error):
    def live():
        raise error

    recorder = FakeRecorder()
    with pytest.raises(type(error)) as caught:
        perform(recorder, call(), live)
    assert caught.value is error
    assert recorder.told == [("failed", error)]


def test_a_frozen_answer_is_returned_without_the_live_call():
    recorder = FakeRecorder([Value("frozen"), Value(None)])
    assert perform(recorder, call(), refusing) == "frozen"
    assert perform(recorder, call(), refusing) is None
    assert recorder.told == []


def test_a_frozen_error_is_raised_without_the_live_call():
    error = KeyError("k")
    with pytest.raises(KeyError) as caught:
        perform(FakeRecorder([Error(error)]), call(), refusing)
    assert caught.value is error


class Playing(FakeRecorder):
    """Its tickets are answered by something else than the real thing."""

    def begin(self, call):
        ticket = super().begin(call)
        outcome, ticket.answer = ticket.answer, None
        ticket.instead = lambda: outcome
        return ticket


def test_what_stands_in_for_the_real_thing_is_asked_instead_of_it():
    async def later():
        return refusing()

    assert perform(Playing([Value(3)]), call(), refusing) == 3
    assert asyncio.run(aperform(Playing([Value(3)]), call(), later)) == 3
    with pytest.raises(KeyError):
        perform(Playing([Error(KeyError("k"))]), call(), refusing)
    with pytest.raises(KeyError):
        asyncio.run(aperform(Playing([Error(KeyError("k"))]), call(), later))


@pytest.mark.parametrize("answer", [Cancelled(), Stream(None, ())])
def test_what_a_plain_function_cannot_repeat_is_a_clear_error(answer):
    with pytest.raises(CassetteError):
        perform(FakeRecorder([answer]), call(), refusing)
    with pytest.raises(CassetteError):
        hand_out(answer)


def test_calls_inside_a_live_call_know_it():
    recorder = FakeRecorder()

    def outer():
        perform(recorder, call(name="inner"), lambda: 1)
        return perform(recorder, call(name="inner 2"), lambda: perform(recorder, call(name="innermost"), lambda: 2))

    assert perform(recorder, call(name="outer"), outer) == 2
    assert perform(recorder, call(name="after"), lambda: 3) == 3
    first, inner, second, innermost, after = recorder.tickets
    assert [ticket.parent for ticket in (first, inner, second, innermost, after)] == [None, first, first, second, None]
    assert [ticket.told[0][2] for ticket in (first, inner, second)] == [None, first, first]


def test_the_time_to_wait_is_waited_before_going_live(monkeypatch):
    waited = []
    monkeypatch.setattr("cassettes.recorder.time.sleep", waited.append)
    assert perform(FakeRecorder(delay=2.5), call(), lambda: list(waited)) == [2.5]
    assert perform(FakeRecorder([Value(1)], delay=2.5), call(), refusing) == 1
    assert waited == [2.5]


# -- async functions --------------------------------------------------------------------------------------------------


def test_an_async_call_returns_its_value_and_tells_the_ticket():
    recorder = FakeRecorder()

    async def live():
        return enclosing()

    assert asyncio.run(aperform(recorder, call(), live)) is recorder.tickets[0]
    assert recorder.told == [("done", recorder.tickets[0])]


def test_an_async_call_that_raises_tells_the_ticket_and_raises_the_same():
    error, recorder = ValueError("x"), FakeRecorder()

    async def live():
        raise error

    with pytest.raises(ValueError, match="x") as caught:
        asyncio.run(aperform(recorder, call(), live))
    assert caught.value is error
    assert recorder.told == [("failed", error)]


def test_an_async_call_that_its_caller_cancels_is_told_as_cancelled():
    recorder = FakeRecorder()

    async def main():
        async with asyncio.timeout(0):
            await aperform(recorder, call(), asyncio.Event().wait)

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert recorder.told == [("cancelled", None)]


def test_frozen_answers_of_async_calls_are_handed_out():
    error = KeyError("k")
    recorder = FakeRecorder([Value(1), Error(error), Stream(None, ())])
    assert asyncio.run(aperform(recorder, call(), arefusing)) == 1
    with pytest.raises(KeyError) as caught:
        asyncio.run(aperform(recorder, call(), arefusing))
    assert caught.value is error
    with pytest.raises(CassetteError):
        asyncio.run(aperform(recorder, call(), arefusing))
    assert recorder.told == []


def test_a_frozen_cancellation_waits_for_the_caller_to_cancel():
    async def main():
        async with asyncio.timeout(0):
            await aperform(FakeRecorder([Cancelled()]), call(), arefusing)

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_tasks_that_run_at_once_do_not_disturb_each_others_nesting():
    recorder = FakeRecorder()

    async def inner():
        await asyncio.sleep(0)
        return enclosing()

    async def tool():
        await asyncio.sleep(0)
        mine = enclosing()
        return await aperform(recorder, call(name="inner"), inner) is not mine and enclosing() is mine

    async def main():
        return await asyncio.gather(*(aperform(recorder, call(name=f"tool {n}"), tool) for n in range(5)))

    assert asyncio.run(main()) == [True] * 5
    assert [ticket.parent for ticket in recorder.tickets[5:]] == recorder.tickets[:5]


def test_the_time_to_wait_is_waited_before_an_async_call_goes_live(monkeypatch):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    async def live():
        return list(waited)

    monkeypatch.setattr("cassettes.recorder.asyncio.sleep", sleep)
    assert asyncio.run(aperform(FakeRecorder(delay=2.5), call(), live)) == [2.5]
