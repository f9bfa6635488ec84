"""Whether writes changed something, as the answers of a trial show it."""

from __future__ import annotations

import json
from itertools import count

import pytest

from cassettes.model import Interaction, Value
from replay.shown_change import shown_change
from tests.replay.recorded import keep, read, undeclared, write


@pytest.fixture
def changed(home):
    """What these calls, each with its answer, show to have been changed by the writes in these places."""

    numbers = count()

    def make(pairs, writes):
        made = [
            Interaction(step=n, call=call, outcome=Value(answer), started=2 * n, ended=2 * n + 1)
            for n, (call, answer) in enumerate(pairs)
        ]
        found = shown_change(keep(home, f"r/t#{next(numbers)}", made), writes)
        return None if found is None else (found.thing, found.before, found.after)

    return make


def order(status, name="W1"):
    return {"order": name, "status": status}


BEFORE = (read(order="W1"), order("open"))
CANCEL = (write("cancel", order="W1"), order("cancelled"))


def test_a_thing_that_looked_otherwise_before_was_changed(changed):
    assert changed([BEFORE, CANCEL], {1}) == (("order", "W1"), 0, 1)


def test_answers_may_be_json_texts(changed):
    pairs = [(call, json.dumps(answer)) for call, answer in (BEFORE, CANCEL)]
    assert changed(pairs, {1}) == (("order", "W1"), 0, 1)


@pytest.mark.parametrize(
    "pairs",
    [
        [BEFORE, (write("cancel", order="W1"), order("open"))],  # it looks the same
        [CANCEL, CANCEL],  # nothing showed it before the first
        [BEFORE, (write("cancel", order="W1"), "done")],  # the write's answer does not show it
        [BEFORE, (write("cancel", order="W1"), "Error: no")],
        [(read(order="W1"), "{broken"), CANCEL],
        [(read(order="W2"), order("open", "W2")), CANCEL],
        [(read(number="W1"), order("open")), CANCEL],  # it was not asked for by that name
    ],
)
def test_where_the_answers_do_not_show_a_change_none_is_claimed(changed, pairs):
    assert changed(pairs, {len(pairs) - 1} if pairs[0] is not CANCEL else {0, 1}) is None


def test_several_dropped_writes_count_together(changed):
    back = (write("reopen", order="W1"), order("open"))
    assert changed([BEFORE, CANCEL, back], {1, 2}) is None  # as it was
    assert changed([BEFORE, CANCEL, back], {2}) == (("order", "W1"), 1, 2)


def test_a_write_that_stays_and_may_have_changed_it_unseen_spoils_the_evidence(changed):
    unseen = (write("touch", order="W1"), "done")
    assert changed([BEFORE, unseen, CANCEL], {2}) is None
    assert changed([BEFORE, (undeclared("do"), "done"), CANCEL], {2}) is None
    assert changed([BEFORE, (write("touch", order="W2"), "done"), CANCEL], {2}) == (("order", "W1"), 0, 2)


def test_a_write_that_stays_and_comes_after_spoils_it_too(changed):
    assert changed([BEFORE, CANCEL, (write("touch", order="W1"), "done")], {1}) is None
