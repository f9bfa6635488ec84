from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from cassettes.errors import BadInput
from cassettes.model import Origin
from replay.debugger.breakpoints import parse
from replay.debugger.glances import glance_at
from tests.replay.debugger.scene import failing, http, inside, tool


class Moment:
    def __init__(self, interaction, *, differs=False):
        self.whole = interaction
        self.glance = glance_at(interaction)
        self.differs = differs


STEPS = [Moment(step, differs=step.step == 5) for step in failing()]


def met(text):
    return [seen.glance.number for seen in STEPS if parse(text).meets(seen)]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("model", [0, 4, 6]),
        ("tool", [1, 3, 5]),
        ("tool:get_*", [1, 3]),
        ("tool:cancel_order", [5]),
        ("http", [2]),
        ("http:GET*warehouse*", [2]),
        ("clock", []),
        ("error", [3]),
        ("write", [5]),
        ("read", [1, 2, 3]),
        ("differs", [5]),
        ("live", [0, 1, 2, 3, 4, 5, 6]),
        ("frozen", []),
        ("exact", []),
        ("missed", []),
        ("kind == tool", [1, 3, 5]),
        ("kind != tool", [0, 2, 4, 6]),
        ("actor == agent", [0, 1, 2, 3, 4, 5, 6]),
        ("effect == write", [5]),
        ("verdict == live and step < 2", [0, 1]),
        ("name ~ ORDER", [1, 2, 5]),
        ("step >= 5", [5, 6]),
        ("step == 3", [3]),
        ("seconds > 0.2", [1]),
        ("at <= 0.1", [0, 1]),
        ("tokens > 107", [4, 6]),
        ("text ~ cancelled", [6]),
        ("result ~ 'no such'", [3]),
        ("arg.order_id == W2", [5]),
        ("arg.order_id ~ w", [1, 5]),
        ("arg.messages.1.role == user", [0, 4, 6]),
        ("arg.temperature == 0.50", [0, 4, 6]),
        ("arg.nothing.0.x == none", [0, 1, 2, 3, 4, 5, 6]),
        ("not tool", [0, 2, 4, 6]),
        ("not (tool or model)", [2]),
        ("error or write", [3, 5]),
        ("error or tool and write", [3, 5]),
        ("(error or tool) and write", [5]),
        ("not not error", [3]),
        ('arg.reason == "asked"', [5]),
    ],
)
def test_a_condition_meets_these_steps(text, steps):
    assert met(text) == steps


def test_verdicts_are_told_apart():
    exact, missed, extended = (
        Moment(evolve(tool(0, "get", 1), origin=Origin(verdict))) for verdict in ("borrowed", "stale", "extended")
    )
    assert parse("exact and frozen").meets(exact)
    assert parse("missed and frozen and not exact").meets(missed)
    assert parse("live and not frozen").meets(extended)


def test_http_inside_of_a_tool_is_no_write_of_its_own():
    post = evolve(http(3), call=evolve(http(3).call, effect="write"))
    assert parse("write").meets(Moment(post))
    assert not parse("write").meets(Moment(inside(1, post)))


def test_true_and_false_are_words():
    seen = Moment(tool(0, "get", 1, dry=True))
    assert parse("arg.dry == true").meets(seen)
    assert not parse("arg.dry == 1").meets(seen)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a condition is empty"),
        ("cancel_order", "a tool is meant by tool:cancel_order"),
        ("tool:", "a name behind tool: was expected"),
        ("error and", "a test was expected instead of the end"),
        ("(error", "a closing parenthesis was expected"),
        ("error error", "the end was expected instead of 'error'"),
        ("step", "was expected instead of the end"),
        ("step > many", "step is compared with a number"),
        ("name > 3x", "> compares numbers"),
        ("colour == red", "'colour' is nothing to compare"),
        ("step ==", "a value was expected"),
        ("'open", "cannot be read"),
        ("a = b", "cannot be read"),
        (")", "a test was expected"),
        ("not " * 60 + "error", "nested too deeply"),
        ("(" * 60 + "error" + ")" * 60, "nested too deeply"),
    ],
)
def test_what_is_no_condition_is_told_with_its_place(text, said):
    with pytest.raises(BadInput) as raised:
        parse(text)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_code_is_run():
    for text in ("__import__('os')", "step.__class__ == int", "name == __import__"):
        try:
            assert not any(parse(text).meets(seen) for seen in STEPS)
        except BadInput:
            continue


@given(st.text(alphabet="toler:*()andornt <>=~'\".19_", max_size=40))
def test_any_text_is_a_condition_or_bad_input(text):
    try:
        point = parse(text)
    except BadInput:
        return
    assert all(point.meets(seen) in {True, False} for seen in STEPS)
