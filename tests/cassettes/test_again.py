"""Carrying out what comes first, in sync and in async code."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager

import pytest
from attrs import define, field

from cassettes.again import acarry_out, carry_out


@define
class Fake:
    what: object = None
    elsewhere: int = 0  # so many looks until it is over there
    told: list = field(factory=list)
    looks: int = 0

    def begins(self, *, may_await):
        self.told.append(("begins", may_await))
        return not self.elsewhere

    @contextmanager
    def inside(self):
        self.told.append("in")
        try:
            yield
        finally:
            self.told.append("out")

    def live(self):
        if isinstance(self.what, BaseException):
            raise self.what
        return self.what

    def returned(self, value):
        self.told.append(("returned", value))

    def raised(self, error):
        self.told.append(("raised", error))

    def given_up(self):
        self.told.append("given up")

    def over(self, seconds):
        self.looks += 1
        return self.looks >= self.elsewhere


async def later(value):
    await asyncio.sleep(0)
    if isinstance(value, BaseException):
        raise value
    return value


def both(*plan):
    carry_out(plan)


def in_a_loop(*plan):
    asyncio.run(acarry_out(plan))


@pytest.mark.parametrize(("carried", "may_await"), [(both, False), (in_a_loop, True)])
def test_each_is_carried_out_in_turn_and_told_how_it_ended(carried, may_await):
    error = ValueError("x")
    first, second = Fake(3), Fake(error)
    carried(first, second)
    assert first.told == [("begins", may_await), "in", "out", ("returned", 3)]
    assert second.told == [("begins", may_await), "in", "out", ("raised", error)]


@pytest.mark.parametrize("carried", [both, in_a_loop])
def test_what_is_carried_out_elsewhere_is_waited_for(carried):
    fake = Fake(elsewhere=3)
    carried(fake)
    assert fake.looks == 3
    assert len(fake.told) == 1


@pytest.mark.parametrize("carried", [both, in_a_loop])
def test_an_interrupt_gives_it_up_and_goes_on(carried):
    fake, never = Fake(KeyboardInterrupt()), Fake(1)
    with pytest.raises(KeyboardInterrupt):
        carried(fake, never)
    assert fake.told[-1] == "given up"
    assert never.told == []


def test_async_tools_are_awaited():
    error = ValueError("x")
    first, second = Fake(later(3)), Fake(later(error))
    in_a_loop(first, second)
    assert [first.told[-1], second.told[-1]] == [("returned", 3), ("raised", error)]
