"""Arguments by name, and back into a call."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.binding import Binder


def every(a, b=2, *rest, c, d=4, **more):
    return (a, b, rest, c, d, more)


def positional(a, /, b, **more):
    return (a, b, more)


def plain(a, b=2):
    return (a, b)


class Shop:
    def order(self, item, count=1):
        return (self, item, count)


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (every, (1, 2, 3, 4), {"c": 5, "x": 6}),
        (every, (1,), {"c": 5}),
        (positional, (1, 2), {"a": 3, "z": 4}),
        (plain, (1,), {"b": [3]}),
        (functools.partial(plain, 7), (), {"b": 8}),
        (functools.partial(every, 1, c=9), (2, 3), {"q": 1}),
    ],
)
def test_a_call_with_its_own_arguments_is_the_same_call(function, args, kwargs):
    binder = Binder(function)
    arguments = binder.bind(args, kwargs)
    places, names = binder.exchanged(args, kwargs, arguments)
    assert binder.function(*places, **names) == function(*args, **kwargs)


@given(st.integers(), st.lists(st.integers(), max_size=3), st.dictionaries(st.sampled_from("xyz"), st.integers()))
def test_other_arguments_come_in_their_place(value, rest, more):
    binder = Binder(every)
    now = binder.bind((value, value, *rest), {"c": value, **more})
    places, names = binder.exchanged((0, 0, *([0] * len(rest))), {"c": 0, **dict.fromkeys(more, 0)}, now)
    assert binder.function(*places, **names) == (value, value, tuple(rest), value, 4, more)


def test_what_does_not_belong_to_the_call_stays():
    shop = Shop()
    binder = Binder(Shop.order)
    places, names = binder.exchanged((shop, "tea"), {"count": 2}, {"item": "pot"})
    assert binder.function(*places, **names) == (shop, "pot", 2)
