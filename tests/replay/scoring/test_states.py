"""The final state: by keys, by sets and items of lists, and as a whole."""

from __future__ import annotations

import pytest

from replay.scoring import as_set, by_key, exact_state, final_state, state_digest, state_is, unordered
from replay.scoring.states import normal, wrong


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (as_set(["a", "b"]), ["b", "a", "a"]),
        (as_set([25]), [25.0]),
        (as_set([]), []),
        (unordered([1, 2, 2]), [2, 1.0, 2]),
        (by_key("id", [{"id": 7, "paid": 1}]), [{"id": 5}, {"id": 7.0, "paid": 1.0, "more": 2}]),
        (by_key("id", [{"id": 7, "tags": as_set(["x", "y"])}]), [{"id": 7, "tags": ["y", "x"]}]),
    ],
)
def test_lists_are_compared_as_is_asked(expected, found):
    assert list(wrong({"list": expected}, {"list": found})) == []


@pytest.mark.parametrize(
    ("expected", "found", "told"),
    [
        (as_set(["a", "b"]), ["a", "c"], {"lacks": ["b"], "extra": ["c"]}),
        (unordered([25, 25]), [25], {"lacks": [25], "extra": []}),
        (unordered([1]), [True], {"lacks": [1], "extra": [True]}),
        (as_set(["a"]), "a", {"expected": ["a"], "found": "a"}),
    ],
)
def test_what_a_list_lacks_and_has_besides_is_told(expected, found, told):
    assert list(wrong({"list": expected}, {"list": found})) == [{"path": "list", **told}]


@pytest.mark.parametrize(
    ("found", "path"),
    [
        ([], "list[id=7]"),
        ([{"id": 7}], "list[id=7].paid"),
        ([{"id": 7, "paid": 2}], "list[id=7].paid"),
        ([{"id": 7, "paid": 1}, {"id": 7, "paid": 1}], "list[id=7]"),
        ({"id": 7}, "list"),
    ],
)
def test_an_item_that_is_found_by_its_key_must_be_there_once_with_its_values(found, path):
    (said,) = wrong({"list": by_key("id", [{"id": 7, "paid": 1}])}, {"list": found})
    assert said["path"] == path


def test_such_an_expectation_is_kept_in_the_cassette(stated):
    view = stated({"tags": ["gift", "fragile"]}, expected={"tags": as_set(["fragile", "gift"])})
    assert final_state(view).passed is True


def test_the_exact_state_has_nothing_besides(stated):
    assert exact_state(stated({"a": 25.0, "b": [1]}, expected={"b": [1.0], "a": 25})).passed is True
    score = exact_state(stated({"a": 25, "more": 1}, expected={"a": 25}))
    assert (score.passed, score.evidence["differ"]) == (False, [{"path": "more", "found": 1}])
    assert final_state(stated({"a": 25, "more": 1}, expected={"a": 25})).passed is True


def test_true_is_not_1_in_an_exact_state(stated):
    assert exact_state(stated({"a": True}, expected={"a": 1})).passed is False


def test_without_an_expectation_the_exact_state_is_unscored(stated, viewed):
    assert exact_state(stated({"a": 1})).passed is None
    assert exact_state(viewed(expected={"a": 1})).passed is None


def test_a_state_is_known_by_its_digest(stated):
    assert state_digest({"a": 25, "b": -0.0}) == state_digest({"b": 0, "a": 25.0})
    assert state_digest({"a": 25}) != state_digest({"a": "25"})
    assert state_is(state_digest({"a": 25}))(stated({"a": 25.0})).passed is True
    score = state_is(state_digest({"a": 25}))(stated({"a": 26}))
    assert (score.passed, score.evidence["digests"]["found"]) == (False, state_digest({"a": 26}))


def test_each_digest_is_a_scorer_of_its_own_version():
    assert state_is("x").name == state_is("y").name
    assert state_is("x").version != state_is("y").version


def test_one_form_of_numbers_changes_nothing_else():
    assert normal({"a": [1.0, 1.5, True, "1.0", (2.0,)]}) == {"a": [1, 1.5, True, "1.0", (2,)]}
    assert type(normal(1.0)) is int
    assert normal(True) is True
