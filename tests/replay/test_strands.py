# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""Threads and tasks are not scheduled twice alike, so a replay does not ask that of them."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import trialtape as tt
from replay.strands import Strands, elsewhere, strand_of

ran = []


@tt.tool(effect="read")
def look(name: str) -> str:
    ran.append(name)
    return name


@tt.tool(effect="read", ignore=("gate",))
async def alook(name: str, gate=None) -> str:
    ran.append(name)
    if gate is not None:
        await gate
    return name


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


@pytest.fixture
def replayed(tmp_path):
    """Record with one agent, replay with another; the strands of the recording, by step."""

    def run(agent, again):
        with tt.trial(run="r", task="t", home=tmp_path):
            agent()
        count = len(ran)
        with tt.trial(run="again", task="t", replay="r/t#0", home=tmp_path):
            again()
        assert len(ran) == count
        return [strand_of(step.call) for step in tt.open("r/t#0", home=tmp_path).steps]

    return run


def one_after_the_other(names, pool):
    for name in names:
        pool.submit(look, name).result()


@pytest.mark.parametrize("workers", [1, 3])
def test_items_of_a_pool_may_come_in_another_order(replayed, workers):
    with ThreadPoolExecutor(workers) as pool:
        strands = replayed(lambda: one_after_the_other("abc", pool), lambda: one_after_the_other("cab", pool))
    assert strands == [0, 1, 2]


def test_threads_may_come_in_another_order(replayed):
    def agent(names):
        for name in names:
            thread = threading.Thread(target=look, args=(name,))
            thread.start()
            thread.join()

    replayed(lambda: agent("abc"), lambda: agent("bca"))


def test_two_sub_agents_side_by_side_are_replayed_whatever_the_loop_does(replayed):
    """Live, b's first call ended before a's second began; in replay every answer is there at once."""

    async def steps(name, gates):
        for number, gate in enumerate(gates):
            await alook(f"{name}{number}", gate)

    async def live():
        loop = asyncio.get_running_loop()
        a, b = [loop.create_future(), loop.create_future()], [loop.create_future(), loop.create_future()]
        tasks = [asyncio.create_task(steps("a", a)), asyncio.create_task(steps("b", b))]
        for gate in (b[0], a[0], b[1], a[1]):
            for _ in range(3):
                await asyncio.sleep(0)
            gate.set_result(None)
        await asyncio.gather(*tasks)

    async def again():
        await asyncio.gather(steps("a", [None, None]), steps("b", [None, None]))

    strands = replayed(lambda: asyncio.run(live()), lambda: asyncio.run(again()))
    assert sorted(strands) == [0, 0, 1, 1]


def test_within_a_strand_the_order_stays(tmp_path):
    def agent(names):
        def inside():
            for name in names:
                look(name)

        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()

    with tt.trial(run="r", task="t", home=tmp_path):
        look("first")
        agent("ab")
    with pytest.raises(tt.Divergence, match="step 1"), tt.trial(run="x", task="t", replay="r/t#0", home=tmp_path):
        look("first")

        def inside():
            try:
                look("b")
            except BaseException:
                return

        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()


def test_strands_of_other_processes_are_numbered_among_those_of_this_one():
    strands = Strands()
    seen = [strands.number()]
    for name in ("a", "b", "a"):
        with elsewhere(name):
            seen.append(strands.number())
    assert [*seen, strands.number()] == [0, 1, 2, 1, 0]


def test_each_trial_counts_its_own_strands(tmp_path):
    for run in ("one", "two"):
        with tt.trial(run=run, task="t", home=tmp_path):
            look("a")
            look("b")
        assert [dict(step.call.detail) for step in tt.open(f"{run}/t#0", home=tmp_path).steps] == [{}, {}]
