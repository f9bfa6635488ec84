from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from multiprocessing.pool import ThreadPool

import pytest

from adapters import tool
from adapters.threads import THREADS
from cassettes.recorder import current, listening
from tests.fakes import ListRecorder

ORIGINALS = {
    (owner, name): vars(owner).get(name)
    for owner, names in {
        threading.Thread: ("start", "run"),
        ThreadPoolExecutor: ("submit",),
        ThreadPool: (
            "__init__",
            "apply_async",
            "map",
            "map_async",
            "starmap",
            "starmap_async",
            "imap",
            "imap_unordered",
        ),
    }.items()
    for name in names
}


@pytest.fixture(autouse=True)
def installed():
    THREADS.install()
    THREADS.install()
    yield
    THREADS.uninstall()
    assert {key: vars(key[0]).get(key[1]) for key in ORIGINALS} == ORIGINALS
    assert THREADS.patched() == []


def who(*_):
    return current()


@pytest.fixture
def alice():
    return ListRecorder()


@pytest.fixture
def bob():
    return ListRecorder()


def test_what_is_patched():
    assert "concurrent.futures.ThreadPoolExecutor.submit" in THREADS.patched()
    assert "threading.Thread.start" in THREADS.patched()
    assert "multiprocessing.pool.ThreadPool.imap" in THREADS.patched()
    assert THREADS.name == "threads"
    assert list(THREADS.versions()) == ["python"]


def test_a_shared_executor_gives_each_trial_its_own_work(alice, bob):
    with listening(alice):
        pool = ThreadPoolExecutor(1)
        assert pool.submit(who).result() is alice
    with pool:
        with listening(bob):
            assert list(pool.map(who, range(3))) == [bob] * 3
        assert pool.submit(who).result() is None
        with listening(alice):
            assert pool.submit(who, 1).result() is alice
        assert list(pool.map(who, range(2))) == [None, None]


def test_a_shared_pool_gives_each_trial_its_own_work(alice, bob):
    def all_ways(pool):
        seen = [pool.apply(who), pool.apply_async(who, (1,)).get()]
        seen += pool.map(who, range(3)) + pool.map_async(who, iter(range(3))).get()
        seen += pool.starmap(who, [(1, 2)]) + pool.starmap_async(who, [(1, 2)]).get()
        seen += [*pool.imap(who, range(3)), *pool.imap_unordered(who, range(3)), *pool.imap(who, range(5), 2)]
        return set(seen)

    with listening(alice):
        pool = ThreadPool(2)
        assert all_ways(pool) == {alice}
    with listening(bob):
        assert all_ways(pool) == {bob}
    assert all_ways(pool) == {None}
    pool.close()
    pool.join()


def test_callbacks_and_iterables_of_a_pool_belong_to_the_submitter_too(alice):
    seen = []

    def drawn():
        seen.append(current())
        yield 1

    with ThreadPool(1) as pool, listening(alice):
        pool.apply_async(who, callback=lambda _: seen.append(current())).get()
        pool.apply_async(lambda: 1 / 0, error_callback=lambda _: seen.append(current())).wait()
        assert list(pool.imap(who, drawn())) == [alice]
        pool.close()
        pool.join()
    assert seen == [alice] * 3


def test_errors_of_work_items_come_out_as_ever(alice):
    with listening(alice), ThreadPoolExecutor(1) as pool, ThreadPool(1) as other:
        with pytest.raises(ZeroDivisionError):
            pool.submit(lambda: 1 / 0).result()
        with pytest.raises(ZeroDivisionError):
            other.map(lambda x: 1 / x, [0])
        other.close()
        other.join()
    with pytest.raises(RuntimeError, match="after shutdown"), listening(alice):
        pool.submit(who)


def test_a_thread_inherits_and_a_pool_thread_does_not(alice):
    seen = {}

    class Own(threading.Thread):
        def run(self):
            seen["own"] = current()

    initial = []
    with listening(alice):
        thread = threading.Thread(target=lambda: seen.update(plain=current()))
        own = Own()
        timer = threading.Timer(0, lambda: seen.update(timer=current()))
        for started in (thread, own, timer):
            started.start()
        for started in (thread, own, timer):
            started.join()
            assert "run" not in vars(started)
        with ThreadPoolExecutor(1, initializer=lambda: initial.append(current())) as pool:
            pool.submit(who).result()
        with ThreadPool(1, initializer=lambda: initial.append(current())) as other:
            other.apply(who)
            other.close()
            other.join()
    assert seen == {"plain": alice, "own": alice, "timer": alice}
    assert initial == [None, None]


def test_a_thread_started_twice_raises_as_ever(alice):
    thread = threading.Thread(target=who)
    with listening(alice):
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="once"):
            thread.start()


def test_a_thread_whose_run_was_replaced_runs_that(alice):
    seen = []
    thread = threading.Thread(target=who)
    thread.run = lambda: seen.append(current())
    with listening(alice):
        thread.start()
        thread.join()
    assert seen == [alice]


def test_with_nobody_listening_nothing_is_carried():
    variable = ContextVar("variable", default="unset")
    variable.set("submitter")
    seen = []
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(variable.get).result() == "unset"
    thread = threading.Thread(target=lambda: seen.append(variable.get()))
    thread.start()
    thread.join()
    assert seen == ["unset"]


def test_asyncio_goes_on_working(alice):
    async def main():
        loop = asyncio.get_running_loop()
        return [await asyncio.to_thread(who), await loop.run_in_executor(None, who)]

    with listening(alice):
        assert asyncio.run(main()) == [alice, alice]
    assert asyncio.run(main()) == [None, None]


def test_two_trials_at_once_with_tools_in_executors_then_replay():
    runs = []

    @tool
    def square(trial, x):
        runs.append((trial, x))
        return x * x

    start = threading.Barrier(2, timeout=20)

    def trial(name, recorder):
        with listening(recorder), ThreadPoolExecutor(4) as pool:
            start.wait()
            return list(pool.map(lambda x: square(name, x), range(8)))

    def two_at_once(recorders):
        with ThreadPoolExecutor(2) as trials:
            return list(trials.map(trial, recorders, recorders.values()))

    recorders = {"a": ListRecorder(), "b": ListRecorder()}
    assert two_at_once(recorders) == [[x * x for x in range(8)]] * 2
    for name, recorder in recorders.items():
        assert {(i.call.arguments["trial"], i.call.arguments["x"]) for i in recorder.interactions} == {
            (name, x) for x in range(8)
        }
    runs.clear()
    again = {name: ListRecorder(source=recorder.interactions) for name, recorder in recorders.items()}
    assert two_at_once(again) == [[x * x for x in range(8)]] * 2
    assert runs == []
