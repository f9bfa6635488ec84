from __future__ import annotations

import copy
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue
from cassettes.model import Patch
from cassettes.redact import Redactor
from cassettes.values import pack
from replay.state import Misfit, StateTracker, apply_patch, patched, paths_of

leaves = st.none() | st.booleans() | st.integers(0, 3) | st.floats(0, 1, width=16) | st.text("ab", max_size=2)
leaves |= st.tuples(leaves) | st.sets(st.integers(0, 3), max_size=2) | st.binary(max_size=2)
rows = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3),
    max_leaves=6,
)
tables = st.lists(rows, max_size=4) | st.dictionaries(st.sampled_from("pqr") | st.integers(5, 8), rows, max_size=4)
dicts = st.dictionaries(st.sampled_from("abc") | st.integers(5, 7), tables | leaves, max_size=3)
lists = st.lists(tables | leaves, max_size=4)
attributes = st.dictionaries(st.sampled_from("abc"), tables | leaves, max_size=3)


class Shop:
    """A state with attributes; ``a`` and ``b`` also have defaults of the class."""

    a = ()
    b = 1

    def __init__(self, fields):
        vars(self).update(fields)


def content(root):
    return canonical(vars(root) if isinstance(root, Shop) else root)


def become(root, new):
    """Change ``root`` in place into ``new``, keeping parts that are equal."""
    fields = copy.deepcopy(new)
    if isinstance(root, list):
        root[:] = fields
    else:
        held = vars(root) if isinstance(root, Shop) else root
        held.clear()
        held.update(fields)


states = st.one_of(
    st.tuples(*[dicts] * 3),
    st.tuples(*[lists] * 3),
    st.tuples(*[attributes.map(dict)] * 3).map(lambda three: (Shop(three[0]), three[1], three[2])),
)


def old_of(state):
    return copy.deepcopy(state)


@given(states)
def test_a_patch_turns_the_old_state_into_the_new(three):
    root, new, _ = three
    before = old_of(root)
    tracker = StateTracker(root, Redactor(b"key"))
    become(root, new)
    patch = tracker.change()
    if patch is None:
        assert content(root) == content(before)
        return
    assert tracker.change() is None
    assert apply_patch(before, patch)
    assert content(before) == content(root)


@given(states)
def test_a_patch_applies_whole_or_not_at_all(three):
    root, new, other = three
    tracker = StateTracker(root, Redactor(b"key"))
    become(root, new)
    patch = tracker.change()
    if patch is None:
        return
    elsewhere = Shop(other) if isinstance(root, Shop) else copy.deepcopy(other)
    before, after_all = content(elsewhere), StateTracker(elsewhere, Redactor(b"key"))
    try:
        fits = after_all.apply([patch]) is patch
    except Misfit:
        fits = False
    if not fits:
        assert content(elsewhere) == before
        assert after_all.change() is None
    else:
        assert after_all.change() is None  # what a patch did is no change that a write must explain
        held = vars(elsewhere) if isinstance(elsewhere, Shop) else elsewhere
        for path, _, packed in patch.changes:
            assert find(held, path) == packed


@given(states)
def test_patches_that_follow_each_other_are_told_as_one(three):
    root, new, other = three
    if isinstance(root, Shop):
        return
    before, tracker, patches = old_of(root), StateTracker(root, Redactor(b"key")), []
    for state in (new, other):
        become(root, state)
        patches += [patch for patch in [tracker.change()] if patch is not None]
    if len(patches) < 2:
        return
    repeated, once = old_of(before), old_of(before)
    whole = StateTracker(repeated, Redactor(b"key")).apply(patches)
    assert content(repeated) == content(root)
    assert apply_patch(once, whole)
    assert content(once) == content(root)


def find(value, path):
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError):
            return None
    return pack(value)


@given(states)
def test_patches_make_the_history_again(three):
    root, second, third = three
    start, tracker, patches = old_of(root), StateTracker(root, Redactor(b"key")), []
    for new in (second, third):
        become(root, new)
        patches.append(tracker.change() or Patch(()))
    assert content(patched(start, patches)) == content(root)


def test_only_the_row_that_changed_is_kept():
    root = {"orders": {f"W{i}": {"status": "new", "items": [1, 2]} for i in range(50)}, "log": [1]}
    tracker = StateTracker(root, Redactor(b"key"))
    root["orders"]["W7"]["items"].append(3)
    root["log"].append(2)
    patch = tracker.change()
    assert list(paths_of(patch)) == ["['orders']['W7']", "['log'][1]"]
    assert sum(len(side or b"") for _, *sides in patch.changes for side in sides) < 100


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": [0]}, {"a": (0,)}),
        ({"a": {"x": 1}}, {"a": [1]}),
        ({"a": {}}, {"a": []}),
        ({"a": {}}, {"a": None}),
        ({"a": {"x": 1}}, {"a": {}}),
        ({}, {"a": {}}),
        ({"a": None}, {}),
        ([1, 2, 3], []),
        ([[1], [2]], [[2]]),
    ],
)
def test_changes_that_equality_does_not_see(old, new):
    root, before = copy.deepcopy(old), copy.deepcopy(old)
    tracker = StateTracker(root, Redactor(b"key"))
    become(root, new)
    patch = tracker.change()
    assert patch is not None
    assert apply_patch(before, patch)
    assert canonical(before) == canonical(new)
    assert not apply_patch(before, patch)


def test_a_patch_that_does_not_fit_names_nothing_and_changes_nothing():
    root = {"x": {"v": 1}, "y": {"v": 1}}
    tracker = StateTracker(root, Redactor(b"key"))
    root["x"]["v"] = root["y"]["v"] = 2
    patch = tracker.change()
    for other in ({"x": {"v": 1}, "y": {"v": 0}}, {"x": {"v": 1}}, {"x": {"v": 1}, "y": {}}, {"x": {"v": 1}, "y": 1}):
        before = copy.deepcopy(other)
        assert not apply_patch(other, patch)
        assert other == before
    with pytest.raises(UnkeepableValue, match="does not fit"):
        patched({}, [patch])


def test_what_cannot_be_tracked():
    with pytest.raises(UnkeepableValue, match="cannot be tracked"):
        StateTracker(3, Redactor(b"key"))
    with pytest.raises(UnkeepableValue, match=r"state\['orders'\]\['W1'\]\.handle: .*"):
        StateTracker({"orders": {"W1": {"handle": object()}}}, Redactor(b"key"))


def test_a_secret_in_the_state_is_in_no_patch_and_the_patch_still_fits_the_same_state():
    redactor = Redactor(b"key")
    secrets = ("hunter2-hunter2", "sk-0123456789abcdef0123456789", "correct horse")

    def fresh():
        return {"config": {"password": secrets[0], "n": 1}, "notes": [f"use {secrets[1]}"]}

    recorded = fresh()
    tracker = StateTracker(recorded, redactor)
    recorded["config"]["password"] = secrets[2]
    recorded["notes"][0] += "!"
    patch = tracker.change()
    assert patch is not None
    assert not [s for s in secrets for _, old, new in patch.changes if s.encode() in (old or b"") + (new or b"")]

    replayed = fresh()
    assert StateTracker(replayed, redactor).apply([patch]) is patch
    assert replayed["notes"] == ["use " + redactor.text(secrets[1], Counter()) + "!"]
    assert replayed["config"]["n"] == 1
