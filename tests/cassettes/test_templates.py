"""Resources with places for arguments."""

from __future__ import annotations

import pytest

from cassettes.templates import Template


def filled(text, arguments, names=("order_id", "kind"), *, open_ended=False):
    return Template(text, names, open_ended=open_ended).fill(arguments)


@pytest.mark.parametrize(
    ("text", "arguments", "resource"),
    [
        ("order:{order_id}", {"order_id": "W1"}, "order:W1"),
        ("order:{order_id}", {"order_id": 7}, "order:7"),
        ("{kind}:{order_id}!", {"order_id": "W1", "kind": "gift"}, "gift:W1!"),
        ("orders", {}, "orders"),
        ("order:{order_id}", {"order_id": None}, "order:*"),
        ("order:{order_id}", {}, "order:*"),
        ("{{order}}", {}, "{order}"),
    ],
)
def test_a_resource_is_filled_and_what_is_not_told_is_any(text, arguments, resource):
    assert filled(text, arguments) == resource


@pytest.mark.parametrize("text", ["{order.id}", "{order_id!r}", "{order_id:>8}", "{}", "{0}"])
def test_only_plain_names_may_stand_there(text):
    with pytest.raises(ValueError, match="must be the plain name of a parameter"):
        filled(text, {})


def test_an_unknown_name_is_refused_with_those_that_there_are_unless_any_may_come():
    with pytest.raises(ValueError, match=r"names 'number', which is no parameter \(there are: order_id, kind\)"):
        filled("order:{number}", {})
    with pytest.raises(ValueError, match=r"there are: none"):
        filled("order:{number}", {}, ())
    assert filled("order:{number}", {"number": 3}, open_ended=True) == "order:3"
