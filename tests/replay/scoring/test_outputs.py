"""What had to be told, by whom, and by which rule."""

from __future__ import annotations

import pytest

import trialtape as tt
from replay.scoring import outputs, tau_outputs
from tests.replay.recorded import read


@pytest.mark.parametrize(
    ("required", "said", "passed"),
    [
        ("1234.50", "You get 1,234.50 EUR", True),
        ("1,234.50", "You get 1234.50 EUR", True),
        ("1234.50", "You get 1 234.50", True),
        ("1234", "1.234", False),  # a point is no thousands separator here
        ("54,04", "54,04", True),
        ("54.04", "54,04", False),
        ("5404", "54,04", False),
        ("YOUR order", "your   Order", True),
        ("5", "15", True),
    ],
)
def test_numbers_count_with_and_without_thousands_separators(viewed, required, said, passed):
    assert outputs(required)(viewed([read()], said=[("assistant", said, 1)])).passed is passed


@pytest.mark.parametrize(
    ("required", "said", "passed"),
    [
        ("5", "15", False),
        ("5", "5.20", False),
        ("5", "it is 5.", True),
        ("5", "(5)", True),
        ("54.04", "1,54.04", False),
        ("1234", "costs 1,234!", True),
        ("order", "reorder", False),
    ],
)
def test_a_whole_text_does_not_stand_inside_another(viewed, required, said, passed):
    assert outputs(required, whole=True)(viewed([read()], said=[("assistant", said, 1)])).passed is passed


def test_only_the_agent_counts_unless_another_scope_is_asked_for(viewed):
    view = viewed([read()], said=[("user", "It is 54.04", 0), ("assistant", "and 41.64", 1)])
    assert outputs("54.04")(view).evidence == {"missing": ["54.04"], "scope": "agent"}
    assert outputs("54.04", scope="user")(view).passed is True
    assert outputs("41.64", scope="user")(view).passed is False
    assert outputs("54.04", "41.64", scope="anyone")(view).passed is True


def test_without_texts_those_of_the_task_are_required(viewed):
    view = viewed([read()], said=[("assistant", "54.04", 1)], outputs=["54.04", "41.64"])
    assert outputs()(view).evidence["missing"] == ["41.64"]
    assert outputs()(viewed([read()])).passed is None


def test_an_unknown_scope_is_refused():
    with pytest.raises(tt.BadInput, match="scope is 'all'"):
        outputs("x", scope="all")


@pytest.mark.parametrize(
    ("required", "said", "passed"),
    [
        ("1234.50", "It is 1,234.50", True),
        ("1,234.50", "It is 1,234.50", False),  # the commas of the message alone are deleted
        ("abc", "ABC", True),
    ],
)
def test_tau_benchs_own_rule_deletes_commas_from_the_message_only(viewed, required, said, passed):
    view = viewed([read()], said=[("assistant", said, 1)], outputs=[required])
    assert tau_outputs(view).passed is passed


def test_a_task_without_outputs_is_worth_1_to_tau_bench(viewed):
    assert tau_outputs(viewed([read()])).value == 1.0
