"""Single records: endings, rewards, tasks."""

from __future__ import annotations

import pytest

from tests.replay.importers.records import STOP, asks, read, record, result, says, user, whats


def unscored(*messages, **changes):
    made = record(*messages, reward=0.0, **changes)
    made["info"]["reward_info"] = None
    return made


def test_endings(tmp_path):
    transfer = [asks(("c", "transfer_to_human_agents", {})), result("c", "transfer_to_human_agents", "ok")]
    failed = {"error": "RateLimitError: slow down\nnow", "traceback": "..."}
    turns = [m for i in range(30) for m in (says(str(i)), user("go on"))]
    results = read(
        tmp_path,
        record(says("a"), STOP, trial=0),
        record(*transfer, trial=1),
        unscored(*turns, trial=2),
        {"task_id": 0, "trial": 3, "reward": 0.0, "info": failed, "traj": []},
        unscored(*turns[:8], trial=4),
        unscored(says("a"), STOP, trial=5),
        record(says("a"), trial=6),
        {**record(trial=7), "traj": []},
        record(says("a"), user("###STOP### is what I would say"), says("no"), user("bye"), trial=8),
    )
    assert [(t.ending.status, t.ending.reason, t.ending.cause) for t in results.trials] == [
        ("completed", "user_stop", None),
        ("completed", "transfer_to_human_agents", None),
        ("capped", "30 agent actions", None),
        ("error", "RateLimitError: slow down\nnow", "infrastructure"),
        ("capped", "4 agent actions", None),
        ("completed", "user_stop", None),
        ("completed", None, None),
        ("error", "empty trajectory", "infrastructure"),
        ("completed", None, None),
    ]
    assert [t.score.passed for t in results.trials] == [True, True, None, None, None, None, True, True, True]
    told = {remark.trial: remark.what for remark in results.remarks}
    assert {3, 4, 5, 6, 7, 8} == told.keys()
    assert told[3].endswith("RateLimitError: slow down")
    assert "4 agent actions (the cap is 30)" in told[4]
    assert "never scored" in told[5]


@pytest.mark.parametrize(
    ("reward", "value", "passed"),
    [
        (1.0, 1.0, True),
        (1, 1.0, True),
        (1 - 9e-7, 1 - 9e-7, True),
        (1 + 9e-7, 1 + 9e-7, True),
        (1 - 2e-6, 1 - 2e-6, False),
        (1.5, 1.5, False),
        (0.0, 0.0, False),
        (None, None, None),
        ("1", None, None),
        (True, None, None),
        (float("nan"), None, None),
        (10**400, None, None),
    ],
)
def test_rewards(tmp_path, reward, value, passed):
    results = read(tmp_path, record(says("a"), STOP, reward=reward))
    score = results.trials[0].score
    assert (score.value, score.passed) == (value, passed)
    assert bool(results.remarks) == (value is None)


def test_the_parts_of_a_reward_are_its_evidence(tmp_path):
    lost = record(says("a"), STOP)
    lost["info"]["reward_info"]["info"] = {"r_outputs": 0.0, "outputs": {"1": False}}
    other = record(says("a"), STOP, trial=1, reward=0.0)
    other["info"]["reward_info"]["reward"] = 1.0
    results = read(tmp_path, lost, other)
    assert results.trials[0].score.evidence["components"] == {"r_outputs": 0.0}
    assert results.trials[0].score.evidence["info"]["outputs"] == {"1": False}
    assert results.trials[1].score.evidence["components"] == {"r_actions": True}
    assert whats(results) == ["its reward is 0.0, but 1.0 in reward_info; the first is kept"]


def test_a_task_and_its_digests(tmp_path):
    a, b, c = record(STOP), record(STOP, task_id="x/1#2"), record(STOP, task_id=2)
    b["info"]["task"]["actions"] = []
    c["info"]["task"]["instruction"] = "Other."
    first, second, third = (trial.definition for trial in read(tmp_path, a, b, c).trials)
    assert (first["id"], first["instruction"], first["outputs"]) == ("0", "Do.", ["1"])
    assert first["actions"] == [{"name": "a", "kwargs": {}}]
    assert first["digests"]["state"] is None
    assert second["id"] == "x/1#2"
    assert first["digests"]["expected"] != second["digests"]["expected"]
    assert first["digests"]["instruction"] == second["digests"]["instruction"] != third["digests"]["instruction"]


def test_what_is_not_known_is_said(tmp_path):
    bare = {name: value for name, value in record(says("a"), STOP).items() if name != "info"}
    results = read(tmp_path, bare)
    assert results.trials[0].definition["digests"] == {"instruction": None, "expected": None, "state": None}
    assert (results.trials[0].ending.status, results.trials[0].score.passed) == ("completed", None)
    assert "no info" in whats(results)[0]
