from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import Ending, TrialId
from cassettes.reader import Cassette
from replay.noise import noise_of
from replay.runs import RunFile, open_run
from replay.scorefile import KeptScore, append_scores
from replay.stats import components_nested
from replay.store import Store
from tests import factories
from tests.replay.verdicts import make_run, passes

TASKS = [[[1, 1], [1, 0]], [[0, 0], [0, 1]], [[1, 1], [1, 1]], [[1, 0], [0, 0]]]


@pytest.fixture
def noise(home):
    def told(tasks=TASKS):
        open_run(home, RunFile("r", {"freeze": ["external"], "source": "base"}, primary="s@1"))
        kept = []
        for task, worlds in enumerate(tasks):
            verdicts = [(world, passed) for world, of_world in enumerate(worlds) for passed in of_world]
            for index, (world, passed) in enumerate(verdicts):
                trial = TrialId("r", f"t{task}", index)
                factories.write_cassette(
                    home.cassette(trial),
                    [factories.interaction(0)],
                    Ending("completed"),
                    run="r",
                    task=f"t{task}",
                    index=index,
                    config={"world": world, "worlds": len(worlds), "freeze": ["external"], "source": "base"},
                )
                score = tt.Score(float(passed))
                kept.append(KeptScore.of(trial, "s", "1", score, Cassette(home.cassette(trial)).digest))
        append_scores(home, "r", kept)
        with Store(home) as store:
            store.refresh()
            return noise_of(store, "r")

    return told


def test_trials_are_nested_in_the_worlds_of_their_cassettes(noise):
    found = noise()

    assert (found.tasks, found.worlds, found.trials) == (4, 8, 16)
    assert found.components == components_nested([[(sum(w), len(w)) for w in worlds] for worlds in TASKS])
    assert found.half_width_frozen == found.half_width  # the outside's share is 0 here
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_outside_is_found_where_worlds_decide(noise):
    found = noise([[[1, 1], [0, 0]], [[0, 0], [1, 1]], [[1, 1], [1, 1]], [[0, 0], [0, 1]]])
    assert found.share.estimate > 0.5
    assert found.half_width_frozen < found.half_width


def test_one_trial_in_each_world_cannot_tell(noise):
    with pytest.raises(tt.BadInput, match="no task has 2 trials in one world; the noise is split from several worlds"):
        noise([[[1], [0]], [[1], [1]]])


def test_a_live_run_is_refused(home):
    make_run(home, "live", {"a": passes(1, 2)})
    with Store(home) as store:
        store.refresh()
        with pytest.raises(tt.BadInput, match="live/a#0 is not frozen in a recorded world"):
            noise_of(store, "live")
