"""Arguments by name: one form for a call, however it was written."""

from __future__ import annotations

import functools
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.binding import Binder


def plain(a, b=2, *, c=3):
    pass


def positional(a, /, b=2):
    pass


def starred(a, *rest, c=3, **more):
    pass


def clashing(a, /, **more):
    pass


class Desk:
    def order(self, number, rush=False):
        pass

    @classmethod
    def open(cls, name):
        pass


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((1,), {}), ((), {"a": 1}), ((1, 2), {}), ((1,), {"b": 2}), ((), {"c": 3, "b": 2, "a": 1})],
)
def test_the_same_call_has_one_form_however_it_was_passed(args, kwargs):
    bound = Binder(plain).bind(args, kwargs)
    assert bound == {"a": 1, "b": 2, "c": 3}
    assert list(bound) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (plain, (), {}),
        (plain, (1, 2, 3), {}),
        (plain, (1,), {"a": 1}),
        (plain, (1,), {"d": 4}),
        (positional, (), {"a": 1}),
    ],
)
def test_a_call_that_python_would_refuse_is_none(function, args, kwargs):
    assert Binder(function).bind(args, kwargs) is None


def test_what_is_left_over_is_a_list_and_named_ones_stand_beside_the_others():
    binder = Binder(starred)
    assert binder.bind((1, 2, 3), {"d": 4}) == {"a": 1, "rest": [2, 3], "c": 3, "d": 4}
    assert binder.open


def test_a_keyword_that_is_called_like_a_positional_only_parameter_is_kept_apart():
    assert Binder(clashing).bind((1,), {"a": 2, "b": 3}) == {"a": 1, "more": {"a": 2, "b": 3}}


def test_the_object_of_a_method_is_no_argument():
    assert Binder(Desk.order).bind((Desk(), 7), {}) == {"number": 7, "rush": False}
    assert Binder(Desk.open.__func__).bind((Desk, "x"), {}) == {"name": "x"}
    assert Binder(Desk.order).names == ("number", "rush")


def test_what_a_partial_was_given_counts_and_may_be_given_anew():
    inner = functools.partial(plain, 1, c=9)
    assert Binder(inner).bind((5,), {}) == {"a": 1, "b": 5, "c": 9}
    assert Binder(functools.partial(inner, c=8)).bind((), {"b": 4}) == {"a": 1, "b": 4, "c": 8}
    assert Binder(inner).bind((), {"c": 7}) == {"a": 1, "b": 2, "c": 7}


values = st.integers(0, 9)


@given(st.lists(values, max_size=4), st.dictionaries(st.sampled_from("abcd"), values, max_size=4))
@pytest.mark.parametrize("function", [plain, positional, starred])
def test_it_is_what_the_signature_says(function, args, kwargs):
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        assert Binder(function).bind(tuple(args), kwargs) is None
        return
    bound.apply_defaults()
    expected = dict(bound.arguments)
    more = expected.pop("more", {})
    if "rest" in expected:
        expected["rest"] = list(expected["rest"])
    assert Binder(function).bind(tuple(args), kwargs) == {**expected, **more}
