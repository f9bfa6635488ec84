"""Calling the agent, which may be sync or async, and may take too long."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any

from .trial import Trial

__all__ = ["is_running", "run_agent"]


def run_agent(agent: Callable[[Any], Any], trial: Trial, timeout: float | None) -> BaseException | None:
    """Call the agent in this context, with a time limit if wanted; returns what it raised."""
    if timeout is None:
        return _call(agent, trial, None)
    if _is_async(agent):
        return _call(agent, trial, timeout)
    raised: list[BaseException | None] = []
    context = copy_context()
    worker = threading.Thread(
        target=lambda: raised.append(context.run(_call, agent, trial, None)), name=_name(trial), daemon=True
    )
    worker.start()
    worker.join(timeout)
    if worker.is_alive():
        trial.capped(f"timeout of {timeout:g} s")
        return None
    return raised[0]


def is_running(trial: Trial) -> bool:
    """True if the agent was given up by `run_agent`, and goes on."""
    return any(thread.name == _name(trial) and thread.is_alive() for thread in threading.enumerate())


def _name(trial: Trial) -> str:
    return f"trial {trial.id}"


def _call(agent: Callable[[Any], Any], trial: Trial, timeout: float | None) -> BaseException | None:
    try:
        awaited = agent(trial)
        if inspect.isawaitable(awaited):
            asyncio.run(_within(awaited, trial, timeout))
    except BaseException as error:  # noqa: BLE001  # whatever it is, it becomes the trial's ending
        return error
    return None


def _is_async(agent: Callable[[Any], Any]) -> bool:
    return any(inspect.iscoroutinefunction(part) for part in (agent, getattr(agent, "__call__", None)))  # noqa: B004


async def _within(agent: Awaitable[Any], trial: Trial, seconds: float | None) -> None:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await agent
    except TimeoutError:
        if not limit.expired():
            raise
    if limit.expired():  # also if the agent went on in spite of it
        trial.capped(f"timeout of {seconds:g} s")
