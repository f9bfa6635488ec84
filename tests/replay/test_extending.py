"""Frozen runs that call what is missing once per world, and the worlds that trials share."""

from __future__ import annotations

import functools
import threading
from collections import Counter

import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.analysis.run_stats import run_stats
from replay.cli import main
from replay.home import Home
from replay.store import Store

called: Counter[str] = Counter()
lock = threading.Lock()
outside = {"count": 0}


@tt.tool(effect="read")
def quote(key: str) -> int:
    """Drifts: each real call answers something else."""
    with lock:
        called[key] += 1
        outside["count"] += 1
        return outside["count"]


@tt.tool(effect="write")
def pay(key: str) -> str:
    with lock:
        called[f"pay {key}"] += 1
    return "paid"


@tt.tool(effect="read", reads="stock:{key}")
def stock(key: str) -> int:
    return quote.__wrapped__(f"stock {key}")


@pytest.fixture(autouse=True)
def nothing_called():
    called.clear()
    outside["count"] = 0


@pytest.fixture
def frozen(tmp_path):
    return functools.partial(tt.trial, task="t", freeze="external", source="base", home=tmp_path)


def answers(tmp_path, run, task="t", count=1):
    views = [tt.open(f"{run}/{task}#{index}", home=tmp_path) for index in range(count)]
    return [[(step.origin.verdict, step.outcome.value) for step in view.steps] for view in views]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_12_a_read_that_is_missing_is_called_once_in_each_world_and_serves_its_later_trials(tmp_path, run, concurrency):
    run(lambda trial: quote("a"), "base")
    called.clear()

    def agent(trial):
        quote("a")
        quote("z")
        quote("z")

    run(agent, "f", trials=3, worlds=2, freeze="external", source="base", concurrency=concurrency)
    assert called == {"z": 4}  # two tasks, two worlds
    for task in "ab":
        seen = answers(tmp_path, "f", task, 6)
        assert [[verdict for verdict, _ in trial] for trial in seen] == [
            *[["own", "extended", "repeated"]] * 2,
            *[["own", "extended", "repeated"]] * 4,
        ]
        values = [trial[1][1] for trial in seen]
        assert values[0] == values[2] == values[4]
        assert values[1] == values[3] == values[5]
        assert values[0] != values[1]
        assert all(trial[1][1] == trial[2][1] for trial in seen)


def test_an_extended_answer_says_whose_it_is(tmp_path, run):
    run(lambda trial: quote("a"), "base", ids="a")
    run(lambda trial: quote("z"), "f", ids="a", trials=2, worlds=1, freeze="external", source="base")
    first, second = (tt.open(f"f/a#{i}", home=tmp_path).steps[0].origin for i in range(2))
    assert (first.verdict, first.trial, first.live) == ("extended", None, True)
    assert (second.verdict, second.trial, second.step, second.live) == ("extended", "f/a#0", 0, False)


def test_blocks_of_one_world_share_what_was_called_live_and_other_worlds_do_not(tmp_path, frozen):
    for _ in range(2):
        with tt.trial(run="base", task="t", home=tmp_path):
            quote("a")
    called.clear()
    got = {}
    for world in (0, 0, 1, 1):
        with frozen(run="f", world=world):
            got.setdefault(world, []).append(quote("z"))
    assert called == {"z": 2}
    assert got[0][0] == got[0][1] != got[1][0] == got[1][1]


def test_live_answers_serve_nobody_else(tmp_path, frozen):
    with tt.trial(run="base", task="t", home=tmp_path):
        quote("a")
    called.clear()
    for _ in range(2):
        with frozen(run="f", world=0, on_miss="live"):
            quote("z")
    assert called == {"z": 2}


def test_what_was_extended_after_a_write_serves_only_after_the_same_write(tmp_path, frozen):
    with tt.trial(run="base", task="t", home=tmp_path):
        pay("x")
        stock("x")
    called.clear()
    with frozen(run="f", world=0):
        stock("y")
    with pytest.raises(tt.Unanswered, match="never saw the frozen writes"), frozen(run="f", world=0):  # noqa: PT012
        pay("x")
        stock("y")  # asked before the payment, when it may have been another
    assert called == {"stock y": 1}


def test_11_a_write_that_is_missing_is_refused_unless_named(tmp_path, frozen):
    with tt.trial(run="base", task="t", home=tmp_path):
        quote("a")
    with pytest.raises(tt.Unanswered, match=r"--on-miss tool:pay=live"), frozen(run="f", on_miss="live"):
        pay("x")
    with pytest.raises(tt.Unanswered), frozen(run="g"):
        pay("x")
    assert called["pay x"] == 0
    with frozen(run="h", on_miss=["fail", "tool:pay=live"]) as trial:
        assert pay("x") == "paid"
    assert called["pay x"] == 1
    assert trial.verdicts == {"live": 1}


def test_21_a_read_from_a_world_that_lacks_a_frozen_write_is_refused_and_the_write_named(tmp_path, frozen):
    with tt.trial(run="base", task="t", home=tmp_path):
        pay("x")
    called.clear()
    told = r"(?s)never saw the frozen writes .*\(pay\).*written to: --catch-up tool:pay"
    with pytest.raises(tt.Unanswered, match=told), frozen(run="f"):  # noqa: PT012
        pay("x")
        quote("y")
    assert not called
    assert tt.open("f/t#0", home=tmp_path).steps[1].origin.verdict == "refused"


def test_a_write_that_went_live_by_name_does_not_keep_reads_from_going_live(tmp_path, frozen):
    with tt.trial(run="base", task="t", home=tmp_path):
        quote("a")
    with frozen(run="f", on_miss="tool:pay=live"):
        pay("x")
        quote("y")
    assert called["pay x"] == called["y"] == 1


def test_offline_calls_nothing(tmp_path, frozen):
    with tt.trial(run="base", task="t", home=tmp_path):
        quote("a")
    called.clear()
    with pytest.raises(tt.Unanswered), frozen(run="f", offline=True):
        quote("z")
    assert not called


def test_more_trials_than_worlds_need_worlds_named(tmp_path, run):
    run(lambda trial: quote("a"), "base")
    with pytest.raises(tt.BadInput, match="--worlds R"):
        run(lambda trial: quote("a"), "f", trials=3, freeze="external", source="base")
    with pytest.raises(tt.BadInput, match="3 worlds are asked for"):
        run(lambda trial: quote("a"), "f", trials=1, worlds=3, freeze="external", source="base")
    with pytest.raises(tt.BadInput, match="belong to a frozen run"):
        run(lambda trial: quote("a"), "f", worlds=2)


def test_a_run_over_worlds_goes_on_where_it_stopped(tmp_path, run):
    run(lambda trial: quote("a"), "base")
    options = {"worlds": 2, "freeze": "external", "source": "base"}
    run(lambda trial: quote("z"), "f", trials=1, **options)
    called.clear()
    result = run(lambda trial: quote("z"), "f", trials=2, **options)
    assert (result.trials, result.resumed) == (8, 4)
    assert not called
    with pytest.raises(tt.BadInput, match="worlds"):
        run(lambda trial: quote("z"), "f", trials=2, worlds=1, freeze="external", source="base")


@pytest.mark.parametrize("unanswered", [False, True])
def test_trials_that_share_worlds_are_never_pooled(tmp_path, run, unanswered):
    run(lambda trial: quote("a"), "base")

    def agent(trial):
        quote("a")
        if unanswered and trial.index == 3:
            pay("never recorded")

    scored = {"scorers": [lambda view: view.id.index % 2 == 0]}  # world 0 passes, world 1 never
    options = {"trials": 6, "worlds": 2, "freeze": "external", "source": "base", "suite": scored}
    run(agent, "f", **options)
    with Store(Home(tmp_path)) as store:
        store.refresh()
        stats = run_stats(store, "f")
    assert stats.summary is None
    assert [(row.k, row.across, row.within) for row in stats.shared.rows][:2] == [(1, 0.5, 0.5), (2, 0.0, 0.5)]
    assert stats.shared.worlds == (2, 2)
    assert bool(stats.bounds) is unanswered
    told = CliRunner().invoke(main, ["--home", str(tmp_path), "stats", "f"])
    assert told.exit_code == 0, told.output
    assert "pass^2 across worlds 0.000" in told.stdout
    assert "within one world 0.500" in told.stdout
    assert "if you rerun this suite" not in told.stdout
