# ruff: noqa: DTZ005, DTZ011, NPY002  # what reads the local clock and the shared generators is what is tested
"""The clock and randomness: recorded where asked for, and handed out again."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import random
import secrets
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from click.testing import CliRunner

import trialtape as tt
from adapters.clock import CLOCK
from adapters.entropy import ENTROPY
from replay.cli import main
from replay.generators import generator_state


@tt.tool(effect="read")
def tell(value: object) -> str:
    return "told"


@tt.tool(effect="read")
def noisy(value: object) -> float:
    """A tool that draws and reads for itself, as an SDK does under a live call only."""
    time.time()
    os.urandom(5)
    uuid.uuid4()
    np.random.rand()  # the shared generator is meant
    return random.random()


CLOCKS = {
    "time": time.time,
    "time_ns": time.time_ns,
    "now": lambda: str(dt.datetime.now()),
    "utcnow": lambda: str(dt.datetime.now(dt.UTC)),
    "today": lambda: str(dt.date.today()),
    "strftime": lambda: time.strftime("%Y-%m-%d %H:%M:%S"),
    "localtime": lambda: list(time.localtime()),
    "gmtime": lambda: list(time.gmtime()),
    "clock_gettime": lambda: time.clock_gettime(time.CLOCK_REALTIME),
}
CHANCES = {
    "random": random.random,
    "choice": lambda: random.choice(range(10**9)),
    "gauss": lambda: random.gauss(0, 1),
    "seeded by the system": lambda: (random.seed(), random.random())[1],
    "Random()": lambda: random.Random().random(),
    "SystemRandom": lambda: random.SystemRandom().random(),
    "urandom": lambda: os.urandom(20),
    "uuid4": lambda: str(uuid.uuid4()),
    "token": lambda: secrets.token_hex(12),
    "numpy, shared": lambda: float(np.random.rand()),
    "numpy, seeded by the system": lambda: (np.random.seed(), float(np.random.rand()))[1],
    "numpy, default_rng": lambda: float(np.random.default_rng().random()),
}


def asked(view) -> list[object]:
    return [step.call.arguments["value"] for step in view.steps]


@pytest.mark.parametrize("read", CLOCKS.values(), ids=CLOCKS)
def test_a_recorded_clock_is_read_again_as_it_was(trial, tmp_path, read):
    with trial(run="a", ambient="clock"):
        tell(read())
        tell(read())
    with trial(run="b", replay="a/t#0") as again:
        tell(read())
        tell(read())
    assert again.verdicts == {"own": 2}
    assert asked(tt.open("b/t#0", home=tmp_path)) == asked(tt.open("a/t#0", home=tmp_path))


@pytest.mark.parametrize("draw", CHANCES.values(), ids=CHANCES)
def test_recorded_randomness_is_drawn_again_as_it_was(trial, tmp_path, draw):
    drawn = []
    for run, options in (("a", {"ambient": "random"}), ("b", {"replay": "a/t#0"}), ("c", {"replay": "b/t#0"})):
        with trial(run=run, **options):
            tell(draw())
            noisy(draw())  # what it draws for itself is drawn in the recording only
            tell(draw())
        drawn.append(asked(tt.open(f"{run}/t#0", home=tmp_path)))
    assert drawn[0] == drawn[1] == drawn[2]
    with trial(run="d", ambient="random"):
        tell(draw())
    assert asked(tt.open("d/t#0", home=tmp_path))[0] != drawn[0][0]


def test_recording_changes_nothing_of_what_the_program_reads(trial):
    random.seed(7)
    np.random.seed(7)
    expected = [random.random(), float(np.random.rand())]
    random.seed(7)
    np.random.seed(7)
    before = time.time_ns()
    with trial(run="a", ambient="clock,random"):
        assert [random.random(), float(np.random.rand())] == expected
        now = time.time_ns()
        tell(1)
    assert before <= now <= time.time_ns()


def test_a_replay_gives_the_process_its_own_generators_back(trial):
    with trial(run="a", ambient="random"):
        tell(random.random())
    random.seed(3)
    state = generator_state()
    with trial(run="b", replay="a/t#0"):
        tell(random.random())
    assert generator_state() == state


def test_nothing_stays_patched(trial):
    originals = (os.urandom, random.seed, random.Random.seed, random._urandom, time.time)
    with trial(run="a", ambient="clock,random"):
        assert CLOCK.patched()
        assert ENTROPY.patched()
        tell(1)
    assert not CLOCK.patched()
    assert not ENTROPY.patched()
    assert (os.urandom, random.seed, random.Random.seed, random._urandom, time.time) == originals


def test_without_being_named_neither_is_patched_nor_written_down(trial, tmp_path):
    with trial(run="a"):
        assert not CLOCK.patched()
        assert not ENTROPY.patched()
        tell(1)
    assert not [mark for mark in tt.open("a/t#0", home=tmp_path).marks if mark.kind == "ambient"]


def test_code_that_reads_once_more_is_off_until_its_next_call_only(trial):
    with trial(run="a", ambient="clock,random"):
        first = time.time()
        tell(1)
        second, drawn = time.time(), uuid.uuid4()
        tell(2)
    with trial(run="b", replay="a/t#0"):
        assert time.time() == first
        assert time.time() > first  # beyond what was recorded the clock goes on
        extra = uuid.uuid4()
        tell(1)
        assert (time.time(), uuid.uuid4()) == (second, drawn)
        tell(2)
    with trial(run="c", replay="a/t#0"):
        assert time.time() == first
        time.time()
        assert uuid.uuid4() == extra  # made up, but the same in each replay
        tell(1)
        tell(2)


def test_other_threads_without_the_trial_keep_the_real_clock_and_real_bytes(trial):
    with trial(run="a", ambient="clock,random"):
        time.time()
        os.urandom(8)
        tell(1)
    seen = []
    outside = threading.Event()
    inside = threading.Event()

    def other():
        outside.wait(20)
        seen.extend((time.time_ns(), os.urandom(8), os.urandom(8)))
        inside.set()

    thread = threading.Thread(target=other)
    thread.start()
    before = time.time_ns()
    with trial(run="b", replay="a/t#0"):
        outside.set()
        inside.wait(20)
        recorded = time.time_ns()
        tell(1)
    thread.join()
    assert recorded < before <= seen[0]
    assert seen[1] != seen[2]


def test_tasks_and_threads_each_read_their_own(trial, tmp_path):
    async def one(name):
        tell(name)
        await asyncio.sleep(0)
        tell([name, str(uuid.uuid4()), time.time_ns()])

    async def many():
        await asyncio.gather(*(one(name) for name in "abc"))

    def agent():
        asyncio.run(many())
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: tell([str(uuid.uuid4()), time.time_ns()])).result()

    with trial(run="a", ambient="clock,random"):
        agent()
    with trial(run="b", replay="a/t#0") as again:
        agent()
    assert again.verdicts == {"own": 7}


def test_two_trials_with_a_clock_go_on_at_once(trial, tmp_path):
    def one(run, **options):
        with trial(run=run, **options):
            tell(time.time())
            barrier.wait(20)
            tell(time.time())

    for options in ({"ambient": "clock"}, {}):
        barrier = threading.Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            runs = [("a", "b")[i] if options else ("c", "d")[i] for i in range(2)]
            done = [pool.submit(one, run, **(options or {"replay": f"{'ab'[i]}/t#0"})) for i, run in enumerate(runs)]
            for future in done:
                future.result()
    for recorded, replayed in ("ac", "bd"):
        assert asked(tt.open(f"{recorded}/t#0", home=tmp_path)) == asked(tt.open(f"{replayed}/t#0", home=tmp_path))


@pytest.mark.parametrize("ambient", [("random", ()), ((), "random"), ("random", "random")])
def test_a_trial_that_follows_the_shared_generators_is_alone_in_its_process(trial, tmp_path, ambient):
    first, second = ambient
    with trial(run="a", ambient=first):
        tell(1)
        with pytest.raises(tt.BadInput, match="belong to the whole process"), trial(run="b", ambient=second):
            pytest.fail("both are in progress")
    assert not (tmp_path / "cassettes" / "b" / "t").exists()
    with trial(run="b", ambient=second):
        tell(1)


def test_freezing_the_clock_sets_it_to_that_of_the_world(trial):
    with trial(run="a", ambient="clock"):
        first = time.time()
        tell(1)
    with trial(run="b", freeze="clock", source="a") as frozen:
        assert time.time() == first
        tell("another call, which is live")
        assert first < time.time() < first + 60
    assert frozen.verdicts == {}


def test_what_was_not_recorded_cannot_be_frozen(trial, tmp_path):
    with trial(run="a"):
        tell(1)
    with pytest.raises(tt.BadInput, match=r"'clock' cannot be frozen.*--ambient clock"):
        trial(run="b", freeze=["external", "clock"], source="a").begin()
    assert not (tmp_path / "cassettes" / "b" / "t").exists()


def test_a_frozen_trial_can_be_replayed(trial):
    with trial(run="a", ambient="clock,random"):
        tell(random.random())
    with trial(run="b", freeze=["external", "clock", "random"], source="a"):
        tell(random.random())
        kept = (time.time(), random.random())
    with trial(run="c", replay="b/t#0"):
        tell(random.random())
        assert (time.time(), random.random()) == kept


def test_an_unknown_source_is_refused(trial):
    with pytest.raises(tt.BadInput, match="'weather' is no ambient source"):
        trial(run="a", ambient="weather")


def test_without_time_machine_the_extra_is_named(trial, monkeypatch):
    monkeypatch.setitem(sys.modules, "time_machine", None)
    monkeypatch.delitem(sys.modules, "adapters.clock")
    monkeypatch.setattr("replay.patching.ambient_adapters", sys.modules["replay.patching"].ambient_adapters.__wrapped__)
    with pytest.raises(tt.BadInput, match=r"pip install 'trialtape\[ambient\]'"):
        trial(run="a", ambient="clock").begin()


def test_the_state_of_the_generators_is_not_kept_for_each_call(trial, tmp_path):
    with trial(run="a", ambient="random"):
        for number in range(20):
            tell(number)
    marks = [mark for mark in tt.open("a/t#0", home=tmp_path).marks if mark.kind == "ambient"]
    assert len(marks) == 1


SUITE = """
import random, time, uuid
import trialtape as tt

@tt.tool(effect="read")
def tell(value: object) -> str:
    return "told"

def agent(trial):
    tell(random.random())
    tell(str(uuid.uuid4()))
    tell(time.time())
    if trial.task.id == "bad":
        raise ValueError("the agent's own")

suite = tt.Suite([tt.Task(id="good"), tt.Task(id="bad")], agent, [lambda view: view.ending.status == "completed"])
"""


@pytest.fixture
def cli(tmp_path):
    def command(*arguments):
        return CliRunner().invoke(main, ["--home", str(tmp_path / "home"), *arguments])

    return command


@pytest.fixture
def suite_file(tmp_path):
    file = tmp_path / "ambient_suite.py"
    file.write_text(SUITE)
    return str(file)


def test_a_run_gives_each_trial_a_process_and_verifies(cli, suite_file, tmp_path):
    ambient = ["--ambient", "clock", "--ambient", "random"]
    done = cli("run", suite_file, "--run", "r", "-n", "2", "-j", "2", *ambient, "--json")
    assert done.exit_code == 0, done.output
    values = [asked(view)[0] for view in (tt.open(f"r/good#{i}", home=tmp_path / "home") for i in range(2))]
    assert values[0] != values[1]
    endings = {str(i): tt.open(f"r/bad#{i}", home=tmp_path / "home").ending.cause for i in range(2)}
    assert endings == {"0": "agent", "1": "agent"}
    verified = cli("verify", "r", "--json")
    assert verified.exit_code == 0, verified.output
    other = cli("run", suite_file, "--run", "r", "-n", "2")
    assert other.exit_code == 2
    assert "another configuration" in other.output or "ambient" in other.output


def test_verify_tells_which_unrecorded_source_explains_a_difference(cli, suite_file):
    assert cli("run", suite_file, "--run", "r", "-n", "1").exit_code == 0
    verified = cli("verify", "r")
    assert verified.exit_code == 1
    assert "it looks like random numbers, which this recording does not hold" in verified.output
    assert "what the 2 differences look like: random numbers 2" in verified.output


def test_a_suite_without_a_file_runs_one_trial_at_a_time(run):
    def agent(trial):
        tell(random.random())

    assert run(agent, ambient="random").endings == {"completed": 4}
    with pytest.raises(tt.BadInput, match="a process of their own"):
        run(agent, "s", ambient="random", concurrency=2)
