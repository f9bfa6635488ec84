from __future__ import annotations

import json

import pytest

import trialtape as tt
from cassettes.model import Ending, TrialId
from cassettes.reader import Cassette
from replay.analysis.noise import noise_of
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.stats import components_nested, components_nested3
from replay.store import Store
from tests import factories
from tests.replay.verdicts import make_run, passes

TASKS = [[[1, 1], [1, 0]], [[0, 0], [0, 1]], [[1, 1], [1, 1]], [[1, 0], [0, 0]]]


@pytest.fixture
def noise(home):
    def told(tasks=TASKS, users=0, unanswered=0):
        open_run(home, RunFile("r", {"freeze": ["external"], "source": "base"}, primary="s@1"))
        kept = []
        for task, worlds in enumerate(tasks):
            verdicts = [(world, passed) for world, of_world in enumerate(worlds) for passed in of_world]
            for index, (world, passed) in enumerate(verdicts):
                trial = TrialId("r", f"t{task}", index)
                ending = Ending("completed") if len(kept) >= unanswered else Ending("unanswered", "no recording")
                factories.write_cassette(
                    home.cassette(trial),
                    [factories.interaction(0)],
                    ending,
                    run="r",
                    task=f"t{task}",
                    index=index,
                    config={
                        "world": world,
                        "worlds": len(worlds),
                        "freeze": ["external"],
                        "source": "base",
                        **({"user_seed": 10 * world + index % users} if users else {}),
                    },
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


def test_few_unanswered_trials_are_left_out(noise):
    assert noise(unanswered=1).trials == 15


def test_with_many_unanswered_trials_no_share_is_told(noise):
    with pytest.raises(tt.BadInput, match="2 of 16 trials ended unanswered"):
        noise(unanswered=2)


def test_where_trials_share_users_the_outside_is_told_from_pairs_with_different_users(noise):
    tasks = [[[1, 1, 1, 0], [0, 0, 0, 1]], [[1, 0, 1, 0], [1, 1, 1, 1]], [[0, 0, 0, 0], [0, 1, 0, 1]]]
    found = noise(tasks, users=2)
    by_user = [[[(w[0] + w[2], 2), (w[1] + w[3], 2)] for w in worlds] for worlds in tasks]
    wanted = components_nested3(by_user)

    assert (found.components.outside, found.components.rest) == (wanted.outside, wanted.user + wanted.rest)
    assert wanted.outside != components_nested([[(sum(w), len(w)) for w in worlds] for worlds in tasks]).outside
    assert (found.user.kind, found.apart) == (None, None)  # nobody is seen who could be one


def test_one_trial_in_each_world_cannot_tell(noise):
    with pytest.raises(tt.BadInput, match="no task has 2 trials in one world; the noise is split from several worlds"):
        noise([[[1], [0]], [[1], [1]]])


def test_a_live_run_is_refused(home):
    make_run(home, "live", {"a": passes(1, 2)})
    with Store(home) as store:
        store.refresh()
        with pytest.raises(tt.BadInput, match="live/a#0 is not frozen in a recorded world"):
            noise_of(store, "live")
