"""Trials side by side: each cassette holds exactly its own calls, and in replay nothing real runs."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import pytest

import trialtape as tt
from replay.patching import adapters

CALLS = 4
PATIENCE = 20.0  # seconds after which a test that waits for the other side has failed
ran: list[tuple[str, int]] = []
together: dict[str, threading.Barrier] = {}


@tt.tool(effect="read")
def look(who: str, number: int) -> str:
    if who in together:
        together[who].wait(PATIENCE)  # so that the recorded calls of one trial certainly overlap
    ran.append((who, number))
    return f"{who}-{number}"


@tt.tool(effect="read")
async def alook(who: str, number: int) -> str:
    await asyncio.sleep(0)
    ran.append((who, number))
    return f"{who}-{number}"


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()
    yield
    together.clear()


def expected(who):
    return [f"{who}-{number}" for number in range(CALLS)]


def recorded(home, identity):
    return sorted(tuple(step.call.arguments.values()) for step in tt.open(identity, home=home).steps)


def in_pool(who):
    with ThreadPoolExecutor(CALLS) as pool:
        return list(pool.map(lambda number: look(who, number), range(CALLS)))


def in_nested_threads(who):
    got = {}

    def outer(number):
        inner = threading.Thread(target=lambda: got.__setitem__(number, look(who, number)))
        inner.start()
        inner.join()

    threads = [threading.Thread(target=outer, args=(number,)) for number in range(CALLS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [got[number] for number in range(CALLS)]


async def in_to_thread(who):
    return await asyncio.gather(*(asyncio.to_thread(look, who, number) for number in range(CALLS)))


async def in_tasks(who):
    return await asyncio.gather(*(alook(who, number) for number in range(CALLS)))


async def in_async_pool(who):
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(CALLS) as pool:
        return await asyncio.gather(*(loop.run_in_executor(pool, look, who, number) for number in range(CALLS)))


def both_in_threads(agent, blocks):
    """Run the agent in two trials that are certainly open at the same time."""
    barrier, got = threading.Barrier(2), {}

    def one(who, block):
        with block:
            barrier.wait(PATIENCE)
            got[who] = agent(who)
            barrier.wait(PATIENCE)

    threads = [threading.Thread(target=one, args=(who, block)) for who, block in blocks.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def both_in_tasks(agent, blocks):
    async def one(who, block):
        async with block:
            return who, await agent(who)

    async def main():
        return dict(await asyncio.gather(*(one(who, block) for who, block in blocks.items())))

    return asyncio.run(main())


SCENES = [
    (both_in_threads, in_pool),
    (both_in_threads, in_nested_threads),
    (both_in_tasks, in_to_thread),
    (both_in_tasks, in_tasks),
    (both_in_tasks, in_async_pool),
]


@pytest.mark.parametrize(("both", "agent"), SCENES)
def test_parallel_trials_hold_exactly_their_own_calls_and_replay_runs_nothing(home, trial, both, agent):
    together.update({who: threading.Barrier(CALLS) for who in ("a", "b")})
    got = both(agent, {who: trial(task=who) for who in ("a", "b")})
    assert got == {"a": expected("a"), "b": expected("b")}
    assert len(ran) == 2 * CALLS
    for who in ("a", "b"):
        assert recorded(home, f"r/{who}#0") == [(who, number) for number in range(CALLS)]
    again = both(agent, {who: trial(run="again", task=who, replay=f"r/{who}#0") for who in ("a", "b")})
    assert again == got
    assert len(ran) == 2 * CALLS


@pytest.mark.parametrize(("both", "agent"), SCENES)
def test_no_patch_is_left_behind(trial, both, agent):
    both(agent, {who: trial(task=who) for who in ("a", "b")})
    assert [adapter.patched() for adapter in adapters()] == [[] for _ in adapters()]


def test_parallel_trials_of_one_task_get_different_indexes(home, trial):
    both_in_threads(in_pool, {who: trial() for who in ("a", "b")})
    own = {tuple({who for who, _ in recorded(home, f"r/t#{index}")}) for index in (0, 1)}
    assert own == {("a",), ("b",)}


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ThreadPool])
def test_work_in_a_shared_pool_belongs_to_whoever_submits_it(home, trial, make):
    def work(pool, who):
        if isinstance(pool, ThreadPool):
            return pool.map(lambda number: look(who, number), range(CALLS))
        return list(pool.map(lambda number: look(who, number), range(CALLS)))

    with contextlib.ExitStack() as stack:
        with trial(task="a"):
            pool = stack.enter_context(make(2))
            work(pool, "a")
        with trial(task="b"):
            work(pool, "b")
        work(pool, "nobody")
    for who in ("a", "b"):
        assert recorded(home, f"r/{who}#0") == [(who, number) for number in range(CALLS)]
    assert len(ran) == 3 * CALLS


def test_trials_that_end_in_another_order_than_they_began_leave_nothing_behind(home, trial):
    first, second = trial(task="a"), trial(task="b")
    opened, closed = threading.Event(), threading.Event()

    def run_first():
        with first:
            look("a", 0)
            opened.set()
            closed.wait(PATIENCE)
            look("a", 1)

    thread = threading.Thread(target=run_first)
    thread.start()
    opened.wait(PATIENCE)
    with second:
        look("b", 0)
        assert any(adapter.patched() for adapter in adapters())
    assert any(adapter.patched() for adapter in adapters())  # the other trial still needs them
    closed.set()
    thread.join()
    assert not any(adapter.patched() for adapter in adapters())
    assert recorded(home, "r/a#0") == [("a", 0), ("a", 1)]
    assert recorded(home, "r/b#0") == [("b", 0)]


def test_a_trial_inside_another_has_its_own_calls_and_the_outer_goes_on(home, trial):
    with trial(task="a"):
        look("a", 0)
        with trial(task="b"):
            look("b", 0)
        look("a", 1)
    assert recorded(home, "r/a#0") == [("a", 0), ("a", 1)]
    assert recorded(home, "r/b#0") == [("b", 0)]


FULL_DISK = """
import resource, sys
import trialtape as tt
from cassettes.errors import RecordingFailed

@tt.tool(effect="read")
def look(number):
    return "x" * 40 + str(hash(str(number) * 7))

home = sys.argv[1]
with tt.trial(run="r", task="first", home=home):
    look(0)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with tt.trial(run="r", task="full", home=home):
        for number in range(2000):
            look(number)
except RecordingFailed as error:
    print("failed", type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with tt.trial(run="r", task="after", home=home):
    look(1)
    look(2)
view = tt.open("r/full#0", home=home)
print(view.ending.status, len(view.steps) > 3, len(tt.open("r/after#0", home=home).steps))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the limit stands in for a full disk")
def test_a_save_that_fails_is_raised_and_the_next_trial_is_intercepted_as_usual(home):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(home)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["failed", "RecordingFailed", "incomplete", "True", "2"]
