# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""Going on from step N of a recorded trial."""

from __future__ import annotations

import asyncio
import random
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trialtape as tt
from cassettes.errors import Refused
from cassettes.model import Ending, TrialId, Value
from replay.branching.editing import Edit
from replay.branching.forking import Wish, fork_name, fork_of, length_of
from replay.given_policy import GivenPolicy
from replay.home import Home
from replay.setup import seeded_by
from tests.factories import call, interaction, write_cassette

ran: list[str] = []


@tt.tool(effect="read")
def look(number: int) -> int:
    ran.append(f"look {number}")
    return number * 10


@tt.tool(effect="read", external=False, ignore=["db"])
def count(db: dict) -> int:
    ran.append("count")
    return len(db)


@tt.tool(effect="write", external=False, ignore=["db"])
def put(db: dict, key: str) -> str:
    ran.append(f"put {key}")
    db[key] = len(db)
    return f"put {key}"


@tt.tool(effect="write", reads="pay:{to}", writes="pay:{to}")
def pay(to: str) -> str:
    ran.append(f"pay {to}")
    return "paid"


@tt.tool(effect="read", reads="pay:{of}")
def balance(of: str) -> int:
    ran.append(f"balance {of}")
    return 7


@tt.tool(effect="read")
def everything() -> int:
    ran.append("everything")
    return 0


@tt.tool(effect="read")
async def alook(number: int) -> int:
    ran.append(f"alook {number}")
    await asyncio.sleep(0)
    return number * 10


TASK = tt.Task(id="t", state=lambda: {"a": 0})


def agent(trial):
    db = trial.state
    first = look(1)
    put(db, f"k{first}")
    put(db, f"n{count(db)}")
    return look(first + 1)


@pytest.fixture(autouse=True)
def _nothing_ran():
    ran.clear()


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def trial(home):
    def make(run, task=TASK, **options):
        return tt.trial(run=run, task=task, home=home.root, **options)

    return make


@pytest.fixture
def base(trial):
    with trial("base") as recorded:
        agent(recorded)
    ran.clear()
    return "base/t#0"


def opened(home, name):
    return tt.open(name, home=home.root)


def trajectory(view):
    return [(s.call.name, dict(s.call.arguments), s.outcome) for s in view.steps], view.state(), view.ending


# -- where a fork goes live --------------------------------------------------------------------------------------------

ALL = ["look 1", "put k10", "count", "put n2", "look 11"]


@pytest.mark.parametrize("at", range(6))
def test_steps_before_the_fork_do_not_run_and_the_others_do(trial, home, base, at):
    with trial("fork", fork=base, at=at) as forked:
        agent(forked)
    assert ran == ALL[at:]
    assert forked.state == {"a": 0, "k10": 1, "n2": 2}, "frozen writes changed the state as recorded"
    view = opened(home, "fork/t#0")
    assert trajectory(view) == trajectory(opened(home, base))
    assert [s.origin.verdict for s in view.steps] == ["own"] * at + ["live"] * (5 - at)
    assert [(s.origin.trial, s.origin.step) for s in view.steps[:at]] == [(base, step) for step in range(at)]


def test_the_cassette_names_its_parent(trial, home, base):
    with trial("fork", fork=base, at=3) as forked:
        agent(forked)
    config = opened(home, "fork/t#0").cassette.header.config
    assert config["mode"] == "fork"
    assert config["fork"] == {
        "parent": base,
        "digest": opened(home, base).cassette.digest,
        "at": 3,
        "edited": None,
    }


@pytest.mark.parametrize("at", [-1, 6, 100])
def test_a_step_that_is_not_there(trial, base, at):
    with pytest.raises(tt.BadInput, match="0 is before its first call, 5 after its last"):
        trial("fork", fork=base, at=at)


def test_an_agent_that_does_otherwise_before_the_fork_diverges(trial, home, base):
    with pytest.raises(tt.Divergence, match="diverges at step 1"), trial("fork", fork=base, at=3) as forked:
        look(1)
        put(forked.state, "other")
    assert ran == []
    assert opened(home, "fork/t#0").ending.cause == "divergence"


def test_an_agent_that_ends_before_the_fork_diverges(trial, base):
    with pytest.raises(tt.Divergence, match="3 recorded calls were not asked for"), trial("fork", fork=base, at=4):
        look(1)


def test_an_agent_may_do_otherwise_after_the_fork(trial, home, base):
    with trial("fork", fork=base, at=1):
        look(1)
        look(5)
    assert [s.call.arguments for s in opened(home, "fork/t#0").steps] == [{"number": 1}, {"number": 5}]


def test_the_agent_gets_the_seed_that_it_had(trial, home, base):
    with trial("fork", index=5, fork=base, at=2) as forked:
        agent(forked)
    with trial("again", index=7, fork="fork/t#5", at=1) as second:
        agent(second)
    with trial("replayed", index=9, replay="again/t#7") as replayed:
        agent(replayed)
    recorded = tt.trial(run="base", task="t", index=0, home=home.root).seed
    assert forked.seed == second.seed == replayed.seed == recorded
    assert seeded_by(opened(home, "replayed/t#9").cassette.header) == TrialId("base", "t", 0)


def test_a_fork_can_be_forked(trial, home, base):
    with trial("one", fork=base, at=1, edit=20) as one:
        agent(one)
    ran.clear()
    with trial("two", fork="one/t#0", at=3) as two:
        agent(two)
    assert ran == ["put n2", "look 21"]
    assert two.state == {"a": 0, "k20": 1, "n2": 2}
    assert trajectory(opened(home, "two/t#0")) == trajectory(opened(home, "one/t#0"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(
        st.one_of(
            st.tuples(st.just("look"), st.integers(0, 3)),
            st.tuples(st.just("put"), st.sampled_from("xyz")),
            st.tuples(st.just("count"), st.just(0)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_forking_a_deterministic_agent_anywhere_gives_the_same_trajectory(tmp_path_factory, acts):
    root = tmp_path_factory.mktemp("any")

    def act(trial):
        seen = 0
        for name, what in acts:
            match name:
                case "look":
                    seen += look(what + seen)
                case "put":
                    put(trial.state, f"{what}{seen % 3}")
                case _:
                    seen += count(trial.state)

    with tt.trial(run="base", task=TASK, home=root) as recorded:
        act(recorded)
    expected = trajectory(tt.open("base/t#0", home=root))
    for at in range(len(acts) + 1):
        with tt.trial(run=f"at{at}", task=TASK, home=root, fork="base/t#0", at=at) as forked:
            act(forked)
        assert trajectory(tt.open(f"at{at}/t#0", home=root)) == expected
        assert forked.verdicts["own"] == at


# -- calls at the same time --------------------------------------------------------------------------------------------


def pooled(trial):
    """Two threads, each with two calls one after the other, in lockstep."""
    look(0)
    barrier = threading.Barrier(2)

    def work(base):
        for turn in range(2):
            look(base + turn)
            barrier.wait()

    threads = [threading.Thread(target=work, args=(base,)) for base in (10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    look(1)


@pytest.mark.parametrize("at", range(7))
def test_threads_across_the_fork(trial, home, at):
    with trial("base") as recorded:
        pooled(recorded)
    early = [f"look {s.call.arguments['number']}" for s in opened(home, "base/t#0").steps[:at]]
    everything = [*ran]
    for _ in range(5):
        ran.clear()
        with trial("fork", fork="base/t#0", at=at) as forked:
            pooled(forked)
        assert sorted(ran) == sorted(set(everything) - set(early))
        assert forked.verdicts["own"] == at


@pytest.mark.parametrize("at", range(5))
def test_async_calls_across_the_fork(trial, home, at):
    async def together():
        await alook(0)
        await asyncio.gather(alook(1), alook(2))
        await alook(3)

    with trial("base"):
        asyncio.run(together())
    ran.clear()
    with trial("fork", fork="base/t#0", at=at) as forked:
        asyncio.run(together())
    assert len(ran) == 4 - at
    assert forked.verdicts["own"] == at


# -- tools that make calls of their own --------------------------------------------------------------------------------


@tt.tool
def research(topic: int) -> int:
    ran.append(f"research {topic}")
    return look(topic) + look(topic + 1)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (0, ["research 1", "look 1", "look 2", "look 3"]),
        (1, ["research 1", "look 1", "look 2", "look 3"]),
        (2, ["research 1", "look 2", "look 3"]),
        (3, ["research 1", "look 3"]),
        (4, ["research 1"]),
    ],
)
def test_a_fork_inside_of_a_tool_that_makes_calls(trial, home, at, expected):
    def act():
        research(1)
        look(3)

    with trial("base"):
        act()
    ran.clear()
    with trial("fork", fork="base/t#0", at=at):
        act()
    assert ran == expected
    assert trajectory(opened(home, "fork/t#0"))[0] == trajectory(opened(home, "base/t#0"))[0]


# -- the world after the fork ------------------------------------------------------------------------------------------


def buyer(trial):
    balance("ada")
    pay("ada")
    balance("bob")
    return balance("ada")


@pytest.fixture
def bought(trial):
    with trial("base") as recorded:
        buyer(recorded)
    ran.clear()
    return "base/t#0"


def test_no_live_call_into_a_world_that_lacks_a_frozen_write(trial, home, bought):
    with pytest.raises(Refused, match="never saw the write of step 1") as raised, trial("f", fork=bought, at=2) as t:
        buyer(t)
    assert "--allow-live tool:balance" in str(raised.value)
    assert ran == ["balance bob"], "bob's account was not touched"
    assert opened(home, "f/t#0").ending.cause == "refused"
    assert opened(home, "f/t#0").steps[-1].origin.verdict == "refused"


def test_a_fork_before_the_write_is_free(trial, bought):
    with trial("f", fork=bought, at=1) as forked:
        buyer(forked)
    assert ran == ["pay ada", "balance bob", "balance ada"]


def test_what_is_allowed_reaches_the_real_thing(trial, bought):
    with trial("f", fork=bought, at=2, allow_live="tool:balance") as forked:
        buyer(forked)
    assert ran == ["balance bob", "balance ada"]


def test_the_outside_may_be_frozen_after_the_fork(trial, home, bought):
    with trial("f", fork=bought, at=2, freeze="external") as forked:
        buyer(forked)
    assert ran == []
    assert forked.verdicts == {"own": 4}
    assert trajectory(opened(home, "f/t#0"))[0] == trajectory(opened(home, bought))[0]


def test_a_read_asked_again_gets_the_answer_of_its_own_turn(trial, home):
    answers = iter([1, 2, 3])

    @tt.tool(effect="read")
    def drifting() -> int:
        return next(answers)

    with trial("base"):
        told = [drifting() for _ in range(3)]
    assert told == [1, 2, 3]
    with trial("f", fork="base/t#0", at=1, freeze="external"):
        assert [drifting() for _ in range(3)] == [1, 2, 3]


def test_a_policy_is_a_value_too(trial, home, bought):
    with trial("f", fork=bought, at=2, policy=tt.Policy(freeze="external", name="shop")) as forked:
        buyer(forked)
    assert ran == []
    assert opened(home, "f/t#0").cassette.header.config["policy"]["name"] == "shop"
    refusing = tt.Policy(refuse="tool:balance")
    with (
        pytest.raises(Refused, match=r"the policy refuses tool balance \(step 2\)"),
        trial("g", fork=bought, at=2, policy=refusing) as forked,
    ):
        buyer(forked)


def test_offline_a_frozen_call_that_the_trial_did_not_make_is_unanswered(trial, bought):
    with pytest.raises(tt.Unanswered), trial("f", fork=bought, at=1, freeze="external", offline=True):
        balance("ada")
        balance("eve")
    assert ran == []


def test_a_read_that_the_trial_did_not_make_goes_live_if_no_frozen_write_lies_before_it(trial, bought):
    with trial("f", fork=bought, at=2, freeze="external") as forked:
        balance("ada")
        pay("ada")
        balance("eve")
    assert ran == ["balance eve"]
    assert forked.verdicts == {"own": 2, "extended": 1}


def test_a_miss_may_not_go_live_behind_a_frozen_write(trial, bought):
    with pytest.raises(tt.Unanswered, match="may not be called live"), trial("f", fork=bought, at=2, freeze="external"):
        balance("ada")
        pay("ada")
        balance("ada")
        balance("ada")
        everything()


# -- edits -------------------------------------------------------------------------------------------------------------


def test_an_edit_changes_what_the_agent_is_told(trial, home, base):
    with trial("fork", fork=base, at=1, edit=20) as forked:
        agent(forked)
    assert ran == ["put k20", "count", "put n2", "look 21"]
    view = opened(home, "fork/t#0")
    assert view.steps[0].outcome == Value(20)
    assert view.steps[0].origin.verdict == "emulated"
    assert view.cassette.header.config["fork"]["edited"] is not None
    assert forked.verdicts == {"emulated": 1}


def test_an_edited_write_still_changes_the_state_as_recorded(trial, base):
    with trial("fork", fork=base, at=2, edit="failed") as forked:
        look(1)
        assert put(forked.state, "k10") == "failed"
        assert forked.state == {"a": 0, "k10": 1}
        look(2)


def test_none_is_an_edit(trial, base):
    with trial("fork", fork=base, at=1, edit=None):
        assert look(1) is None
        look(2)


def test_after_an_edited_write_the_recorded_world_is_stale(trial, bought):
    with pytest.raises(tt.Unanswered, match="stale"), trial("f", fork=bought, at=2, edit="no", freeze="external"):
        balance("ada")
        assert pay("ada") == "no"
        balance("ada")


def test_after_an_edited_read_the_world_repeats_the_edit(trial, bought):
    with trial("f", fork=bought, at=1, edit=99, freeze="external"):
        assert [balance("ada"), balance("ada")] == [99, 99]


def test_nothing_stands_before_step_0_to_be_edited(trial, base):
    with pytest.raises(tt.BadInput, match="nothing to edit before step 0"):
        trial("fork", fork=base, at=0, edit=1)


def test_a_part_of_another_step_cannot_be_edited(home):
    span = interaction(0, call=call(name="outer", effect="unknown"), started=0, ended=5)
    inner = interaction(1, call=call(name="inner"), started=1, ended=2, parent=0)
    path = write_cassette(home.root / "x.cassette", [span, inner, interaction(2, started=6, ended=7)])
    with pytest.raises(tt.BadInput, match=r"step 0 .* made calls of its own"):
        fork_of(tt.open(path), 1, Wish(edit=1))
    assert fork_of(tt.open(path), 2, Wish(edit=1)).edit.step == 1


# -- trials that are not whole -----------------------------------------------------------------------------------------


def test_an_incomplete_trial_can_be_forked_where_its_steps_are_known(home):
    path = write_cassette(home.root / "x.cassette", [interaction(0), interaction(2)], ending=None)
    view = tt.open(path)
    assert length_of(view) == 3
    assert fork_of(view, 1).at == 1
    with pytest.raises(tt.BadInput, match=r"step 1 .* had not ended .* fork at step 1 or before"):
        fork_of(view, 2)


def test_a_trial_that_ended_unanswered_can_be_forked_before_the_call_without_an_answer(trial, home, bought):
    with pytest.raises(tt.Unanswered), trial("f", freeze="external", source="base", offline=True):
        balance("ada")
        balance("eve")
    view = opened(home, "f/t#0")
    assert fork_of(view, 1).at == 1
    with pytest.raises(tt.BadInput, match=r"step 1 .* got no answer \(Unanswered\)"):
        fork_of(view, 2)


def test_a_capped_trial_and_one_whose_agent_raised_can_be_forked(home):
    for ending in (Ending("capped", "30 steps"), Ending("error", "ValueError", "agent")):
        path = write_cassette(home.root / f"{ending.status}.cassette", [interaction(0)], ending)
        assert fork_of(tt.open(path), 1).at == 1


# -- the clock and random numbers --------------------------------------------------------------------------------------


@tt.tool(effect="read")
def show(number: int, drawn: float) -> int:
    ran.append(f"show {number}")
    return number


def draws(home, name):
    return [step.call.arguments["drawn"] for step in opened(home, name).steps]


def drawing():
    for number in range(4):
        show(number, random.random())


@pytest.mark.parametrize("at", range(5))
def test_random_numbers_are_those_of_the_recording_until_the_fork_and_new_after_it(trial, home, at):
    with trial("base", ambient="random"):
        drawing()
    before = random.getstate()
    for _ in range(2):
        with trial("fork", fork="base/t#0", at=at):
            drawing()
    assert random.getstate() == before, "the process has its own generators back"
    recorded, first, second = (draws(home, name) for name in ("base/t#0", "fork/t#0", "fork/t#1"))
    served = min(at + 1, 4)  # what is drawn for the call at the fork is drawn before it
    assert first[:served] == second[:served] == recorded[:served]
    assert not {*first[served:]} & {*second[served:], *recorded[served:]}
    with trial("again", replay="fork/t#1"):
        drawing()
    assert draws(home, "again/t#0") == second


def test_random_numbers_may_stay_frozen(trial, home):
    with trial("base", ambient="random"):
        drawing()
    with trial("fork", fork="base/t#0", at=1, freeze=["random", "external"]):
        drawing()
    assert draws(home, "fork/t#0") == draws(home, "base/t#0")


def test_the_clock_runs_on_from_where_it_was(trial, home):
    @tt.tool(effect="read")
    def at_time(number: int, now: float) -> int:
        return number

    def act():
        for number in range(3):
            at_time(number, time.time())

    with trial("base", ambient="clock"):
        act()
    with trial("fork", fork="base/t#0", at=2):
        act()
    recorded, forked = ([s.call.arguments["now"] for s in opened(home, f"{run}/t#0").steps] for run in ("base", "fork"))
    assert forked == recorded, "the last one is read before the call at the fork"
    with trial("later", fork="base/t#0", at=0):
        act()
    later = [s.call.arguments["now"] for s in opened(home, "later/t#0").steps]
    assert later[0] == recorded[0] < later[1] < later[2] < recorded[0] + 60


# -- what does not go together -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fork": "base/t#0"}, "fork and at go together"),
        ({"at": 1}, "fork and at go together"),
        ({"fork": "base/t#0", "at": 1, "replay": "base/t#0"}, "do not go with it"),
        ({"fork": "base/t#0", "at": 1, "source": "base"}, "do not go with it"),
        ({"fork": "base/t#7", "at": 1}, "there is no trial"),
        ({"fork": "base/t#0", "at": 1, "allow_live": "nonsense"}, "is no selector"),
        ({"edit": 1}, "edit and allow_live go with fork"),
        ({"allow_live": "tool:x"}, "edit and allow_live go with fork"),
    ],
)
def test_options_that_do_not_go_together(trial, base, options, told):
    with pytest.raises(tt.BadInput, match=told):
        trial("fork", **options)


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "wish", "expected"),
    [
        ("exchange-1", Wish(), "base.fork-exchange-1-0-at3"),
        ("a/b c", Wish(), "base.fork-a-b-c-0-at3"),
        ("t", Wish(GivenPolicy(freeze="external")), "base.fork-t-0-at3-freeze-external"),
        ("t", Wish(GivenPolicy(freeze=["tool:a*", "user/model"])), "base.fork-t-0-at3-freeze-tool=a=+user=model"),
        ("t", Wish(allow_live=("tool:pay",)), "base.fork-t-0-at3-live-tool=pay"),
        ("t", Wish(GivenPolicy(catch_up="tool:pay")), "base.fork-t-0-at3-catch-up-tool=pay"),
        (
            "t",
            Wish(GivenPolicy(freeze="external"), policy_told={"name": "x.toml", "digest": "abcdef012345"}),
            "base.fork-t-0-at3-policy-abcdef",
        ),
    ],
)
def test_a_run_is_named_after_trial_and_step(home, task, wish, expected):
    name = fork_name(TrialId("base", task, 0), 3, wish, None)
    assert name == expected
    assert home.run(name).name == expected.replace("%", "%25"), "it needs no encoding"


def test_an_edited_fork_has_a_name_of_its_own():
    edit = Edit(interaction(2), "abcdef012345")
    assert fork_name(TrialId("base", "t", 0), 3, Wish(), edit) == "base.fork-t-0-at3-edit-abcdef"


def test_a_long_task_still_makes_a_name_that_fits(home):
    names = {fork_name(TrialId("base", f"{'x' * 400}{end}", 0), 3, Wish(), None) for end in "ab"}
    assert len(names) == 2
    assert all(len(home.run(name).name) < 200 for name in names)
