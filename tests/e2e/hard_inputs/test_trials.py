"""Rows 5, 9, 11, 15, 18 and 23: trials side by side, killed, on a full disk, in replay without a recording, long."""

from __future__ import annotations

import asyncio
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import openai
import pytest

import trialtape as tt
from replay.patching import adapters

PATIENCE = 20.0  # seconds after which a test that waits for the other side has failed
TRIALS, CALLS, STAGGER = 4, 8, 0.01


def ask(client, who, number):
    """One model call over a connection of its own."""
    return client.chat.completions.create(model=who, messages=[{"role": "user", "content": f"{who} {number}"}])


def in_threads(url, trial):
    start = threading.Barrier(TRIALS)

    def one(place):
        who = f"t{place}"
        start.wait(PATIENCE)
        time.sleep(place * STAGGER)
        with trial(task=who):
            for number in range(CALLS):
                with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
                    ask(client, who, number)
                time.sleep(STAGGER)

    threads = [threading.Thread(target=one, args=(place,)) for place in range(TRIALS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_tasks(url, trial):
    async def one(place):
        who = f"t{place}"
        await asyncio.sleep(place * STAGGER)
        async with trial(task=who):
            for number in range(CALLS):
                async with openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0) as client:
                    await ask(client, who, number)
                await asyncio.sleep(STAGGER)

    async def main():
        await asyncio.gather(*(one(place) for place in range(TRIALS)))

    asyncio.run(main())


@pytest.mark.parametrize("way", [in_threads, in_tasks])
def test_row_05_of_4_trials_at_once_each_cassette_holds_exactly_its_8_calls(trial, provider, home, way):
    way(provider.base_url, trial)
    for place in range(TRIALS):
        steps = tt.open(f"r/t{place}#0", home=home).steps
        told = [step.call.arguments["messages"][0]["content"] for step in steps]
        assert told == [f"t{place} {number}" for number in range(CALLS)]
    assert provider.count == TRIALS * CALLS
    assert [adapter.patched() for adapter in adapters()] == [[] for _ in adapters()]


DYING = """
import os, sys
import trialtape as tt

@tt.tool(effect="read")
def look(number):
    return {"number": number}

with tt.trial(run="r", task="t", home=sys.argv[1]):
    for number in range(5):
        look(number)
    if sys.argv[2] == "exit":
        os._exit(9)
    print("five", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("way", ["exit", "kill"])
def test_row_09_of_a_process_that_dies_after_5_calls_5_are_readable(home, way):
    process = subprocess.Popen(
        [sys.executable, "-c", DYING, str(home), way], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        if way == "kill":
            assert process.stdout.readline() == "five\n"
            process.send_signal(signal.SIGKILL)
    assert process.returncode == (9 if way == "exit" else -signal.SIGKILL)
    view = tt.open("r/t#0", home=home)
    assert view.ending.status == "incomplete"
    assert [step.outcome.value for step in view.steps] == [{"number": number} for number in range(5)]


FULL = """
import resource, signal, sys
import trialtape as tt
from cassettes.errors import RecordingFailed

ran = []

@tt.tool(effect="read")
def look(number):
    ran.append(number)
    return number

home = sys.argv[1]
with tt.trial(run="r", task="before", home=home):
    look(0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
try:
    with tt.trial(run="r", task="full", home=home):
        for number in range(2000):
            look(number)
except RecordingFailed as error:
    print("raised")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ran.clear()
with tt.trial(run="again", task="before", replay="r/before#0", home=home):
    look(0)
print("ran", len(ran))
try:
    with tt.trial(run="other", task="before", replay="r/before#0", home=home):
        look(1)
except tt.Divergence:
    print("refused", len(ran))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the limit stands in for a full disk")
def test_row_11_after_a_save_that_failed_the_next_trial_is_intercepted_in_replay_too(home):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(home)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split("\n") == ["raised", "ran 0", "refused 0", ""], done.stderr


@pytest.mark.parametrize("asynchronous", [False, True])
def test_row_15_with_no_recording_of_it_not_one_of_40_calls_reaches_the_server(trial, provider, home, asynchronous):
    @tt.tool(effect="read")
    def look():
        return 1

    def agent(url):
        with openai.OpenAI(api_key="k", base_url=url, max_retries=2) as client:
            for number in range(40):
                try:
                    ask(client, "m", number)
                except Exception:
                    pytest.fail("an agent that catches everything does not catch it")

    async def async_agent(url):
        async with openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=2) as client:
            for number in range(40):
                try:
                    await ask(client, "m", number)
                except Exception:
                    pytest.fail("an agent that catches everything does not catch it")

    with trial():
        look()
    with pytest.raises(tt.Divergence), trial(run="again", replay="r/t#0"):
        asyncio.run(async_agent(provider.base_url)) if asynchronous else agent(provider.base_url)
    assert provider.count == 0
    assert tt.open("again/t#0", home=home).ending.status == "error"


def test_row_18_gathered_tools_whose_calls_start_in_another_order_are_served_by_key(trial):
    ran = []

    @tt.tool(effect="read")
    async def fetch(number):
        ran.append(number)
        await asyncio.sleep(0)
        return number * 10

    async def agent(seed):
        jitter = random.Random(seed)

        async def later(number, turns):
            for _ in range(turns):  # other tasks come first
                await asyncio.sleep(0)
            return await fetch(number)

        turns = [jitter.randrange(20) for _ in range(8)]
        started = asyncio.gather(*(later(number, turns[number]) for number in range(8)))
        return await started

    async def all_at_once():
        return await asyncio.gather(*(fetch(number) for number in range(8)))

    with trial():
        live = asyncio.run(all_at_once())
    assert ran == list(range(8))
    for seed in range(10):
        with trial(run="again", index=seed, replay="r/t#0"):
            assert asyncio.run(agent(seed)) == live
    assert ran == list(range(8))


def calls_made(action):
    """How many Python functions of ours ``action`` calls: its effort, whatever else the machine does."""
    count = Counter()
    root = f"{Path(tt.__file__).parent}/"

    def profile(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(root):
            count["calls"] += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count["calls"]


def test_row_23_replaying_1600_small_interactions_takes_effort_in_proportion(trial):
    ran = []

    @tt.tool(effect="read")
    def small(number):
        ran.append(number)
        return number

    def agent(count):
        assert [small(number) for number in range(count)] == list(range(count))

    effort = {}
    for count in (200, 1600):
        with trial(task=f"t{count}"):
            agent(count)
        ran.clear()
        with trial(run="again", task=f"t{count}", replay=f"r/t{count}#0"):
            effort[count] = calls_made(lambda count=count: agent(count))
        assert ran == []
    assert 0 < effort[1600] < 9 * effort[200]
