"""Agents are sync or async, and may take too long."""

from __future__ import annotations

import asyncio
import functools
import threading

import pytest

import trialtape as tt

PATIENCE = 20.0
ran: list[str] = []


@tt.tool(effect="read")
def look(name: str) -> str:
    ran.append(name)
    return name


def steady(trial):
    look(f"{trial.task.id}#{trial.index}")


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


def test_a_sync_agent_that_takes_too_long_is_capped_and_may_call_nothing_more(run):
    go, gone = threading.Event(), threading.Event()

    def agent(trial):
        look("before")
        go.wait(PATIENCE)
        try:
            look("after")
        finally:
            gone.set()

    result = run(agent, ids="a", trials=1, timeout=1.0)
    assert result.lingering == ["r/a#0"]
    assert dict(result.endings) == {"capped": 1}
    go.set()
    assert gone.wait(PATIENCE)
    assert ran == ["before"]


def test_a_sync_agent_that_is_quick_enough_completes(run):
    assert dict(run(steady, ids="a", trials=1, timeout=PATIENCE).endings) == {"completed": 1}


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_async_agent_that_takes_too_long_is_capped(tmp_path, run, stubborn):
    async def agent(trial):
        look("before")
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if not stubborn:
                raise

    result = run(agent, ids="a", trials=1, timeout=0.05)
    assert dict(result.endings) == {"capped": 1}
    assert tt.open("r/a#0", home=tmp_path).ending.reason == "timeout of 0.05 s"


def test_a_timeout_of_the_agents_own_is_its_own_error(run):
    async def agent(trial):
        look("x")
        raise TimeoutError("mine")

    assert dict(run(agent, ids="a", trials=1, timeout=PATIENCE).endings) == {"error": 1}


class AsyncAgent:
    async def __call__(self, trial):
        look("x")


async def coroutine(trial):
    look("x")


@pytest.mark.parametrize("agent", [coroutine, AsyncAgent(), functools.partial(coroutine)])
@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_anything_that_gives_a_coroutine_is_an_async_agent(run, agent, timeout):
    assert dict(run(agent, ids="a", trials=1, timeout=timeout).endings) == {"completed": 1}
    assert ran == ["x"]
