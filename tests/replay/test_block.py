"""The arguments of `tt.trial`."""

from __future__ import annotations

import pytest

import trialtape as tt
from replay.patching import adapters


@tt.tool(effect="read")
def give(name: str):
    return 1


def test_the_index_is_the_first_that_is_free(trial):
    indexes = []
    for _ in range(3):
        with trial(run="r") as block:
            give("one")
        indexes.append(block.index)
    assert indexes == [0, 1, 2]


def test_a_trial_is_never_recorded_twice(tmp_path, trial):
    with trial(run="r", index=3):
        give("one")
    path = tmp_path / "cassettes/r/t/3.cassette"
    before = path.read_bytes()
    with pytest.raises(tt.BadInput, match="exists already"), trial(run="r", index=3):
        pytest.fail("the block ran")
    assert path.read_bytes() == before
    assert not any(adapter.patched() for adapter in adapters())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"freeze": "tool"}, "go together"),
        ({"source": "base"}, "go together"),
        ({"replay": "r/t#0", "freeze": "tool", "source": "r"}, "do not go with it"),
        ({"replay": "r/t#0", "world": 1}, "do not go with it"),
        ({"replay": "nothing"}, "is no trial id"),
        ({"replay": "r/t#7"}, "there is no trial r/t#7"),
        ({"replay": "gone.cassette"}, "does not exist"),
        ({"freeze": "tol", "source": "r"}, "is no selector"),
        ({"freeze": [], "source": "r"}, "nothing to freeze"),
        ({"freeze": "tool", "source": "nobody"}, "no finished trial"),
        ({"freeze": "tool", "source": "r", "on_miss": "guess"}, "on_miss is one of"),
        ({"index": -1}, "0 or more"),
        ({"run": "a/b"}, "no name for a run"),
        ({"run": ""}, "no name for a run"),
        ({"run": "x" * 300}, "too long"),
        ({"task": "y" * 300}, "too long"),
        ({"task": "#3"}, "no id for a task"),
    ],
)
def test_arguments_that_do_not_go_together_are_told(trial, options, told):
    with trial(run="r"):
        give("one")
    with pytest.raises(tt.BadInput, match=told):
        trial(**{"run": "other", **options})


def test_another_configuration_under_the_same_name_is_refused(trial):
    with trial(run="r"):
        give("one")
    with pytest.raises(tt.BadInput, match="another configuration"):
        trial(run="r", seed=1)
