"""The arguments of `tt.trial`."""

from __future__ import annotations

import json

import httpx
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
        ({"freeze": "tool", "source": "r", "on_miss": "guess"}, "is none of extend"),
        ({"index": -1}, "0 or more"),
        ({"pace": True}, "pace goes with replay"),
        ({"ignore": ""}, "cannot be ignored"),
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


@pytest.mark.parametrize("ignore", ["name", ["tool:give:name"]])
def test_what_is_ignored_belongs_to_the_configuration_of_a_run(tmp_path, trial, ignore):
    with trial(run="r"):
        give("one")
    with trial(run="again", replay="r/t#0", ignore=ignore) as again:
        give("two")
    with trial(run="frozen", freeze="tool", source="r", ignore=ignore) as frozen:
        give("three")
    assert again.verdicts == frozen.verdicts == {"own": 1}
    with pytest.raises(tt.Divergence), trial(run="not", replay="r/t#0"):
        give("two")
    rules = [ignore] if isinstance(ignore, str) else ignore
    for run in ("again", "frozen"):
        assert json.loads((tmp_path / f"cassettes/{run}/run.json").read_text())["config"]["ignore"] == rules
    with pytest.raises(tt.BadInput, match="another configuration"):
        trial(run="again", replay="r/t#0")


@pytest.mark.parametrize("pace", [False, True])
def test_a_replay_is_paced_if_that_is_asked_for(trial, monkeypatch, pace):
    asked = []
    monkeypatch.setattr("replay.session.paced", lambda outcome: asked.append(outcome) or outcome)

    def answer(_):
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter([b"data: 1\n\n"]))

    def agent():
        with (
            httpx.Client(transport=httpx.MockTransport(answer)) as client,
            client.stream("GET", "https://api.test/events") as response,
        ):
            return b"".join(response.iter_bytes())

    with trial(run="r"):
        first = agent()
    with trial(run="again", replay="r/t#0", pace=pace):
        assert agent() == first
    assert len(asked) == pace
