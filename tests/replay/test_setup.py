from __future__ import annotations

from cassettes.model import TrialId
from replay.home import Home
from replay.orchestration.tasks import Task
from replay.policy import RECORD
from replay.setup import Setup


def setup(tmp_path, seed=0, config=(), **options):
    identity = TrialId("r", "t", 0)
    made = {"id": identity, "path": tmp_path / "0.cassette", "home": Home(tmp_path), "policy": RECORD}
    return Setup(**made, task=Task(id="t"), source=None, config={"seed": seed, **dict(config)}, environ={}, **options)


def test_seeds_differ_by_run_seed_task_and_index_and_not_by_run(tmp_path):
    places = [TrialId("r", "t", 0), TrialId("r", "t", 1), TrialId("r", "u", 0)]
    seeds = {setup(tmp_path, seed).seed_for(place) for seed in (0, 1) for place in places}
    assert len(seeds) == 6
    made = setup(tmp_path)
    assert made.seed_for(TrialId("other", "t", 0)) == made.seed_for(TrialId("r", "t", 0))


def test_a_replay_has_the_seed_of_its_recording(tmp_path):
    made = setup(tmp_path, seed_of=TrialId("r", "t", 7))
    assert made.seed_for(TrialId("again", "t", 0)) == setup(tmp_path).seed_for(TrialId("r", "t", 7))


def test_a_user_has_the_trials_seed_unless_trials_share_one(tmp_path):
    trial = TrialId("r", "t", 3)
    assert setup(tmp_path).user_seed_for(trial) == setup(tmp_path).seed_for(trial)
    shared = setup(tmp_path, config={"user_seed": 7})
    assert (shared.user_seed_for(trial), shared.seed_for(trial)) == (7, setup(tmp_path).seed_for(trial))
