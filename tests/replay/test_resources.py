from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.model import Call
from replay.resources import clash, meet, touches

LETTERS = "ab:"
patterns = st.text("ab*", max_size=5)


def fits(pattern, text):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def texts(longest):
    found = [""]
    for text in found:
        yield text
        if len(text) < longest:
            found += [text + letter for letter in "ab"]


@given(patterns, patterns)
def test_two_patterns_meet_if_some_text_fits_both(left, right):
    # If any text fits both, one as long as their letters together does.
    longest = len(left.replace("*", "")) + len(right.replace("*", ""))
    brute = any(fits(left, text) and fits(right, text) for text in texts(min(longest, 10)))
    assert meet(left, right) == brute == meet(right, left)


@given(st.text(LETTERS, max_size=8), st.text(LETTERS, max_size=8))
def test_plain_resources_meet_if_they_are_equal(left, right):
    assert meet(left, right) == (left == right)
    assert meet(left, "*")


def test_many_stars_are_no_trap():
    assert not meet("*a" * 12 + "b", "*c" * 12 + "d")
    assert meet("*a" * 12, "*" + "a" * 30)


def tool(effect="write", reads=None, writes=None, *, external=True, kind="tool"):
    return Call(kind, "t", {}, effect=effect, reads=reads, writes=writes, external=external)


@pytest.mark.parametrize(
    ("write", "call", "noticed"),
    [
        (tool(), tool("read"), True),
        (tool("unknown"), tool("read"), True),
        (tool("read"), tool("read"), False),
        (tool("pure"), tool("read"), False),
        (tool(), tool("pure"), False),
        (tool(kind="http"), tool("read"), True),
        (tool(kind="model"), tool("read"), False),
        (tool(kind="clock"), tool("read"), False),
        # a tool that declares no reads reads everything on its side, and only there
        (tool(writes=("a",)), tool("read"), True),
        (tool(), tool("read", reads=("a",)), True),
        (tool(external=False), tool("read"), False),
        (tool(), tool("read", external=False), False),
        (tool(writes=("a",), external=False), tool("read"), False),
        (tool(external=False), tool("read", external=False), True),
        # declared resources meet across the sides
        (tool(writes=("a",), external=False), tool("read", reads=("a",)), True),
        (tool(writes=("a", "b")), tool("read", reads=("c", "b")), True),
        (tool(writes=("a",)), tool("read", reads=("b",)), False),
        (tool(writes=("order:*",)), tool("read", reads=("order:17",)), True),
        (tool(writes=()), tool("read", reads=("*",)), False),
        (tool(writes=("a",)), tool("read", reads=()), False),
    ],
)
def test_which_writes_a_call_can_notice(write, call, noticed):
    assert touches(write, call) is noticed


@pytest.mark.parametrize(
    ("one", "other", "clashing"),
    [
        (tool(), tool(), True),
        (tool(), tool(external=False), False),
        (tool(reads=("a",), writes=("a",)), tool(reads=("b",), writes=("b",)), False),
        (tool(reads=("b",), writes=("a",)), tool(reads=(), writes=("b",)), True),
        (tool(reads=(), writes=("a",)), tool(reads=(), writes=("a",)), True),
        (tool(reads=(), writes=("a",)), tool(reads=()), True),
        (tool(reads=(), writes=("a",)), tool(reads=(), external=False), False),
    ],
)
def test_which_writes_need_an_order(one, other, clashing):
    assert clash(one, other) is clash(other, one) is clashing
