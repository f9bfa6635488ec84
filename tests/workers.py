"""What runs in the child processes of tests: found there by name, and without what pytest needs.

Every tool that really runs says so in the file of the environment variable ``RAN``, whatever process it is in.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import urllib.request
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import httpx
from attrs import frozen

import trialtape as tt
from cassettes.errors import TrialStopped, UnkeepableValue

METHODS = ("fork", "spawn", "forkserver")


_invited: ContextVar[str | None] = ContextVar("invited", default=None)


@frozen
class NamedInvitation:
    """Says in the other process who invited it there."""

    name: str

    @contextmanager
    def joined(self):
        token = _invited.set(self.name)
        try:
            yield
        finally:
            _invited.reset(token)


def who(*_):
    """Who invited this work."""
    return _invited.get()


def tell_who(queue):
    queue.put(who())


def stop(*_):
    raise TrialStopped(UnkeepableValue("result.x", "was stopped"))


class OutOfStock(Exception):
    def __init__(self, sku, left):
        super().__init__(sku, left)
        self.sku = sku
        self.left = left


class NeedsTwo(Exception):
    """Cannot be unpickled: its arguments are not those that it was made from."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")
        self.one = one


@frozen
class Order:
    number: int


def ran(what):
    with Path(os.environ["RAN"]).open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")


def which_ran():
    path = Path(os.environ["RAN"])
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@tt.tool(effect="read")
def look(number):
    ran(number)
    return {"number": number}


@tt.tool(effect="read")
async def alook(number):
    ran(number)
    return {"number": number}


@tt.tool(effect="read", external=False)
def look_here(number):
    ran(number)
    return number


@tt.tool(effect="read")
def order(number):
    ran(number)
    return Order(number)


@tt.tool(effect="read")
def fail(sku):
    ran(sku)
    raise OutOfStock(sku, 3)


@tt.tool(effect="read")
def fail_unpicklably(number):
    ran(number)
    raise NeedsTwo(number, 2)


@tt.tool(effect="write")
def die(number):
    ran(number)
    os.kill(os.getpid(), signal.SIGKILL)


@tt.tool(effect="read", name="shut")
def a_lock(number):
    ran(number)
    return {"lock": threading.Lock()}


@tt.tool(effect="read")
def given_a_lock(what):
    ran(1)
    return 1


@tt.tool(effect="write")
def in_a_pool_of_its_own(method, url):
    """A live tool with a part in another process: what is fetched there is a part of the tool's call."""
    ran("outer")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        return pool.submit(fetch, url).result()


@tt.tool(effect="write")
def delegate(method, numbers):
    """A tool with other tools in other processes."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        return list(pool.map(work, numbers))


def fetch(url):
    with httpx.Client() as client:
        return client.get(url).text


def work(number):
    return look(number)["number"]


def work_with(number, other):
    return look(number + other)["number"]


def awork(number):
    return asyncio.run(alook(number))["number"]


def order_number(number):
    return order(number).number


def caught(sku):
    """The class and the fields of what `fail` raises here."""
    try:
        fail(sku)
    except OutOfStock as error:
        return type(error).__name__, error.sku, error.left


def in_threads(numbers):
    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(work, numbers))


def in_thread_pools_of_both(numbers):
    """A pool of its own inside a worker of a pool."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        return [*pool.map(work, numbers), *in_threads(numbers)]


def as_user(number):
    with tt.acting_as("user"):
        return look(number)["number"]


def swallow(number):
    """An agent that catches every exception does not catch that its trial was stopped."""
    try:
        return work(number)
    except Exception:
        return "caught"


async def _with_aiohttp(url):
    import aiohttp

    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.text()


def _with_openai(url):
    import openai

    with openai.OpenAI(base_url=f"{url.removesuffix('/text')}/v1", api_key="k", max_retries=0) as client:
        asked = [{"role": "user", "content": "hi"}]
        return client.chat.completions.create(model="m", messages=asked).choices[0].message.content


def fetch_with(client, url):
    """What a client gets, by the client's name."""
    import httplib2
    import httpx2
    import requests
    import urllib3

    match client:
        case "httpx2":
            with httpx2.Client() as made:
                return made.get(url).text
        case "requests":
            with requests.Session() as session:
                return session.get(url).text
        case "urllib3":
            with urllib3.PoolManager() as manager:
                return manager.request("GET", url).data.decode()
        case "aiohttp":
            return asyncio.run(_with_aiohttp(url))
        case "httplib2":
            made = httplib2.Http()
            try:
                return made.request(url)[1].decode()
            finally:
                made.close()
        case "openai":
            return _with_openai(url)
    raise ValueError(client)


@tt.tool(effect="read")
async def never():
    ran("never")
    await asyncio.get_running_loop().create_future()


def given_up(_):
    async def main():
        try:
            async with asyncio.timeout(0.02):
                await never()
        except TimeoutError:
            return "given up"

    return asyncio.run(main())


def chat(base_url, content, *, stream):
    """What a model answers, whole or piece by piece."""
    body = {"model": "m", "messages": [{"role": "user", "content": content}], "stream": stream}
    with httpx.Client() as client:
        if not stream:
            return client.post(f"{base_url}/chat/completions", json=body).text
        with client.stream("POST", f"{base_url}/chat/completions", json=body) as response:
            return "".join(response.iter_text())


def first_piece(base_url):
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
    with httpx.Client() as client, client.stream("POST", f"{base_url}/chat/completions", json=body) as response:
        return next(response.iter_text())


def with_urllib(url):
    with urllib.request.urlopen(url) as response:
        return response.read()


def after(number, told, go):
    """Say that this process runs, wait for leave, and call."""
    told.set()
    go.wait(20)
    return work(number)


def pid(_=None):
    return os.getpid()
