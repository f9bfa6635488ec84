"""Trials that are not independent are caught, each leak by its kind."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import openai
import pytest
from click.testing import CliRunner

import trialtape as tt
from replay.cli import main
from replay.home import Home
from replay.independence import leaks_between, traces_of
from replay.leakfile import check_independence, known_independence
from replay.view import View
from tests.replay.recorded import AIRLINE

ORDERS: dict[str, str] = {}


@tt.tool(effect="read")
def get_order(order: str) -> dict:
    return {"id": order, "status": ORDERS[order]}


@tt.tool(effect="write")
def cancel(order: str) -> dict:
    ORDERS[order] = "cancelled by hand"
    return {"id": order, "status": "cancelled by hand"}


@pytest.fixture(autouse=True)
def fresh_orders():
    ORDERS.update({"W17": "pending"})


def found(tmp_path, run="r"):
    return check_independence(Home(tmp_path), run).leaks


def kinds(leaks):
    return [(leak.kind, leak.trial, leak.other) for leak in leaks]


def test_independent_trials_show_nothing_of_each_other(run):
    def agent(trial):
        ORDERS["W17"] = "pending"  # the world is reset for each trial
        get_order("W17")
        cancel("W17")
        get_order("W17")

    assert run(agent).leaks == []


def test_a_write_of_another_trial_that_a_read_shows_is_named(run):
    def agent(trial):
        get_order("W17")
        cancel("W17")

    leaks = run(agent, ids="a", trials=3).leaks
    assert kinds(leaks) == [("visible write", "r/a#1", "r/a#0"), ("visible write", "r/a#2", "r/a#0")]
    assert leaks[0].step == 0
    assert "get_order at step 0 answers what r/a#0 wrote" in leaks[0].what


def test_a_world_that_drifts_by_itself_is_no_leak(run):
    price = itertools.count(5)

    @tt.tool(effect="read")
    def quote(what: str) -> dict:
        return {"price": next(price)}

    @tt.tool(effect="write")
    def pay(amount: int) -> dict:
        return {"paid": amount}

    def agent(trial):
        pay(quote("x")["price"])

    assert run(agent, ids="a", trials=4).leaks == []


def test_a_small_number_that_a_write_holds_too_is_no_evidence(run):
    stock = itertools.count(9, -1)

    @tt.tool(effect="read")
    def in_stock(what: str) -> dict:
        return {"left": next(stock)}

    @tt.tool(effect="write")
    def reserve(number: int) -> str:
        return f"reserved {number}"

    def agent(trial):
        in_stock("lamp")
        reserve(8 - trial.index)

    assert run(agent, ids="a", trials=4).leaks == []


def test_a_text_that_only_looks_like_json_is_a_text(run):
    @tt.tool(effect="write")
    def note(text: str) -> str:
        return "{secret:openai}"

    assert run(lambda trial: note("[not json"), ids="a").leaks == []


def test_a_state_that_was_not_made_anew_is_named(tmp_path, trial):
    basket = {"items": []}
    for _ in range(2):
        with trial(run="r") as now:
            now.track(basket)
            add(basket)
    assert [leak.kind for leak in found(tmp_path)] == ["initial state"]


@tt.tool(effect="write", external=False, ignore=["basket"])
def add(basket):
    basket["items"].append("lamp")


def ask(provider, *messages, **more):
    with openai.OpenAI(api_key="k", base_url=provider.base_url, max_retries=0) as client:
        return client.chat.completions.create(model="m", messages=list(messages), **more)


def test_an_answer_that_came_from_a_cache_is_named(run, provider, monkeypatch):
    monkeypatch.setattr(type(provider), "new_id", lambda _: "chatcmpl-cached")

    def agent(trial):
        ask(provider, {"role": "user", "content": "hello"})

    leaks = run(agent, ids="a", trials=2).leaks
    assert kinds(leaks) == [("reused response", "r/a#1", "r/a#0")]
    assert "a cache answered" in leaks[0].what


def test_a_memory_that_was_carried_over_is_named(run, provider):
    memory: list[str] = []

    def agent(trial):
        history = "\n".join(["You help people with their orders.", *memory])
        said = ask(
            provider, {"role": "system", "content": history}, {"role": "user", "content": f"trial {trial.index}"},
            extra_headers={"x-chunks": str(7 + trial.index)},
        ).choices[0].message.content  # fmt: skip
        memory.append(said)

    leaks = run(agent, ids="a", trials=3).leaks
    assert kinds(leaks) == [("carried over", "r/a#1", "r/a#0"), ("carried over", "r/a#2", "r/a#0")]
    assert "tok0 tok1 tok2 tok3 tok4 tok5 tok6" in leaks[0].what


def test_a_conversation_that_goes_on_from_another_trial_is_named(run, provider):
    last: list[str] = []

    def agent(trial):
        more = {"extra_body": {"previous_response_id": last[-1]}} if last else {}
        last.append(ask(provider, {"role": "user", "content": "hi"}, **more).id)

    leaks = run(agent, ids="a", trials=2).leaks
    assert kinds(leaks) == [("shared conversation", "r/a#1", "r/a#0")]


def test_stats_says_so_beside_every_number(tmp_path, run):
    def agent(trial):
        get_order("W17")
        cancel("W17")

    run(agent, ids="a", trials=2, suite={"scorers": [lambda view: True]})
    told = CliRunner().invoke(main, ["--home", str(tmp_path), "stats", "r"])
    assert "NOT INDEPENDENT: 1 trial show something of another (visible write 1)" in told.stdout
    document = json.loads(CliRunner().invoke(main, ["--home", str(tmp_path), "stats", "r", "--json"]).stdout)
    assert [leak["trial"] for leak in document["leaks"]] == ["r/a#1"]


def test_the_command_tells_every_leak_and_ends_with_1(tmp_path, run):
    def agent(trial):
        get_order("W17")
        cancel("W17")

    run(agent, ids="a", trials=2)
    (tmp_path / "cassettes/r/independence.json").unlink()
    assert known_independence(Home(tmp_path), "r") is None
    done = CliRunner().invoke(main, ["--home", str(tmp_path), "lab", "independence", "r"])
    assert done.exit_code == 1
    assert "r/a#1 is not independent (visible write)" in done.stdout
    assert known_independence(Home(tmp_path), "r").broken == ["r/a#1"]
    document = json.loads(
        CliRunner().invoke(main, ["--home", str(tmp_path), "lab", "independence", "r", "--json"]).stdout
    )
    assert document["trials"] == 2


def test_trials_that_came_since_the_check_are_told(tmp_path, run):
    scored = {"suite": {"scorers": [lambda view: True]}, "ids": "a"}
    run(lambda trial: get_order("W17"), trials=1, **scored)
    check_independence(Home(tmp_path), "r")
    kept = (tmp_path / "cassettes/r/independence.json").read_text()
    run(lambda trial: get_order("W17"), trials=3, **scored)
    (tmp_path / "cassettes/r/independence.json").write_text(kept)
    told = CliRunner().invoke(main, ["--home", str(tmp_path), "stats", "r"])
    assert "2 trials came or changed since independence was checked" in told.stdout


@pytest.mark.skipif(
    not AIRLINE.exists(), reason=f"{AIRLINE} is not here: the tau-bench recordings are no part of the project"
)
def test_the_airline_recordings_are_independent(airline_home):
    traces = [traces_of(View(path, airline_home)) for _, path in airline_home.trials("airline")]
    assert len(traces) == 200
    assert leaks_between(traces) == []


def test_a_damaged_file_of_findings_counts_as_never_checked(tmp_path, trial):
    with trial(run="r"):
        get_order("W17")
    Path(tmp_path / "cassettes/r/independence.json").write_text('{"trials": ')
    assert known_independence(Home(tmp_path), "r") is None
