"""Work carried out elsewhere sees the context of whoever submitted it, and leaves it as it was."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context

from adapters.contexts import carrying, drawn

WHO = ContextVar("who", default="nobody")


def submitted(name):
    """The context of somebody."""
    context = copy_context()
    context.run(WHO.set, name)
    return context


def test_a_function_runs_in_the_submitters_context_in_any_thread():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(carrying(WHO.get, submitted("ada"))).result() == "ada"
        assert pool.submit(WHO.get).result() == "nobody"


def test_what_a_call_sets_does_not_reach_the_next_one():
    def take():
        before = WHO.get()
        WHO.set("changed")
        return before

    carried = carrying(take, submitted("ada"))
    assert [carried(), carried()] == ["ada", "ada"]


def test_one_context_serves_several_calls_at_once():
    together = threading.Barrier(3, timeout=20)

    def meet(number):
        together.wait()
        return WHO.get(), number

    carried = carrying(meet, submitted("ada"))
    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(carried, range(3))) == [("ada", n) for n in range(3)]


def test_items_are_drawn_in_the_context_one_by_one():
    drawn_so_far = []

    def items():
        for number in range(3):
            drawn_so_far.append(number)
            yield WHO.get(), number

    given = drawn(items(), submitted("ada"))
    assert drawn_so_far == []
    assert next(given) == ("ada", 0)
    assert drawn_so_far == [0]
    assert list(given) == [("ada", 1), ("ada", 2)]
