"""Calls that belong to no trial are counted and told, and never lost in silence."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import Context

import aiohttp
import httplib2
import httpx
import httpx2
import pytest
import requests
import urllib3

import trialtape as tt
from cassettes.recorder import watched


@tt.tool(effect="read")
def look(number):
    return number


@tt.tool(effect="read")
async def alook(number):
    return number


@tt.tool(effect="write")
def shell():
    return subprocess.run([sys.executable, "-c", "print(1)"], check=True, capture_output=True).returncode


def outside(function, *arguments):
    """Call it in a context that belongs to no trial, as a thread does that was there before."""
    return Context().run(function, *arguments)


def told(home, name="r/t#0"):
    return tt.open(name, home=home).unattributed


def with_aiohttp(url):
    async def get():
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            await response.read()

    asyncio.run(get())


def with_httplib2(url):
    client = httplib2.Http()
    client.request(url.replace("user:pass-word@", ""))
    client.close()


def with_httpx_async(url):
    async def get():
        async with httpx.AsyncClient() as client:
            await client.get(url)

    asyncio.run(get())


CLIENTS = {
    "httpx": httpx.get,
    "httpx2": httpx2.get,
    "httplib2": with_httplib2,
    "httpx async": with_httpx_async,
    "requests": requests.get,
    "urllib3": lambda url: urllib3.PoolManager().request("GET", url),
    "aiohttp": with_aiohttp,
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_request_of_no_trial_is_told_without_query_and_password(trial, home, provider, client):
    host = provider.url.removeprefix("http://")
    with trial(run="r", task="t"):
        look(1)
        outside(CLIENTS[client], f"http://user:pass-word@{host}/echo?token=abc")
    assert told(home) == {f"GET {host}/echo": 1}
    assert len(tt.open("r/t#0", home=home).steps) == 1


def test_a_tool_called_by_a_thread_of_no_trial_is_told(trial, home):
    go, gone = threading.Event(), threading.Event()

    def wait():
        go.wait(20)
        look(2)
        asyncio.run(alook(3))
        gone.set()

    thread = threading.Thread(target=wait)
    thread.start()
    with trial(run="r", task="t"):
        look(1)
        go.set()
        assert gone.wait(20)
    thread.join()
    assert told(home) == {"tool look": 1, "tool alook": 1}


def test_what_happens_before_and_after_a_trial_is_not_told(trial, home):
    look(0)
    with trial(run="r", task="t"):
        look(1)
    look(2)
    assert told(home) == {}
    assert not watched()


def test_a_secret_in_a_path_is_not_told(trial, home, provider):
    with trial(run="r", task="t"):
        look(1)
        outside(httpx.get, f"{provider.url}/echo/sk-proj-abcdefghij0123456789")
    (name,) = told(home)
    assert "sk-proj" not in name
    assert "{secret:openai" in name


def test_processes_are_told_and_say_if_they_are_part_of_a_tool(trial, home):
    with trial(run="r", task="t"):
        shell()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    python = sys.executable.rpartition("/")[2]
    assert told(home) == {f"subprocess {python} (in tool shell)": 1, f"subprocess {python}": 1}


def test_a_trial_that_raised_tells_it_too(trial, home):
    with pytest.raises(ValueError, match="invalid literal"), trial(run="r", task="t"):
        outside(look, 1) and int("no")
    assert told(home) == {"tool look": 1}


def test_a_run_counts_each_once_however_many_trials_are_active(home):
    both = threading.Barrier(2, timeout=20)

    def agent(trial):
        look(trial.index)
        both.wait()
        if trial.index == 0:
            outside(look, 7)
            subprocess.run([sys.executable, "-c", "pass"], check=True)
        both.wait()

    def scorer(view):
        return look(1) == 1  # on purpose outside a trial

    result = tt.Suite([tt.Task("t")], agent, [tt.scorer(scorer)]).run("r", trials=2, concurrency=2, home=home)
    python = sys.executable.rpartition("/")[2]
    assert result.unattributed == {"tool look": 1, f"subprocess {python}": 1}
