from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.pool import Pool, ThreadPool
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from adapters.processes import PROCESSES
from cassettes.errors import TrialStopped, UnkeepableValue
from cassettes.recorder import current, listening
from tests.fakes import ListRecorder
from tests.workers import METHODS, NamedInvitation, stop, tell_who, who

ITEMS = ("apply_async", "map", "map_async", "starmap", "starmap_async", "imap", "imap_unordered")
ORIGINALS = {
    (BaseProcess, "start"): BaseProcess.start,
    (ProcessPoolExecutor, "submit"): ProcessPoolExecutor.submit,
    **{(Pool, name): vars(Pool)[name] for name in ("__init__", *ITEMS)},
    (subprocess.Popen, "__init__"): subprocess.Popen.__init__,
}
SPAWN = multiprocessing.get_context("spawn")
FORK = multiprocessing.get_context("fork")

# From Python 3.12 on, `fork` warns in a process with threads; that is what these tests do on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture(autouse=True)
def installed():
    PROCESSES.install()
    PROCESSES.install()
    yield
    PROCESSES.uninstall()
    assert {(owner, name): vars(owner)[name] for owner, name in ORIGINALS} == ORIGINALS
    assert PROCESSES.patched() == []


class Inviting(ListRecorder):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def invitation(self):
        return NamedInvitation(self.name)


@pytest.fixture
def alice():
    return Inviting("alice")


@pytest.fixture
def bob():
    return Inviting("bob")


@pytest.fixture
def recorder():
    recorder = ListRecorder()
    with listening(recorder):
        yield recorder


def test_what_is_patched():
    assert PROCESSES.patched() == [
        "multiprocessing.process.BaseProcess.start",
        "concurrent.futures.ProcessPoolExecutor.submit",
        *(f"multiprocessing.pool.Pool.{name}" for name in ("__init__", *ITEMS)),
        "subprocess.Popen.__init__",
    ]


@pytest.mark.parametrize(
    ("command", "shell", "told"),
    [
        ([sys.executable, "-c", "pass", "sk-secret"], False, f"subprocess {Path(sys.executable).name}"),
        ([Path("/bin/true")], False, "subprocess true"),
        (b"/bin/true", False, "subprocess true"),
        ("TOKEN=secret true", True, "subprocess of the shell"),
    ],
)
def test_a_subprocess_is_told_without_its_arguments(recorder, command, shell, told):
    assert subprocess.run(command, shell=shell, check=False).returncode == 0
    assert recorder.escapes == [told]


def test_a_subprocess_that_cannot_start_is_not_told(recorder):
    with pytest.raises(FileNotFoundError):
        subprocess.run(["/no/such/program"], check=False)
    assert recorder.escapes == []


def test_what_the_platform_module_asks_is_not_told(recorder):
    subprocess.run(["uname", "-p"], check=False, capture_output=True)
    assert recorder.escapes == []


def test_a_process_is_told(recorder):
    process = SPAWN.Process(target=len, args=("abc",))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert recorder.escapes == ["process of multiprocessing"]


def test_an_item_of_a_process_pool_is_told_once_also_if_it_starts_a_process(recorder):
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert [pool.submit(len, "abc").result() for _ in range(2)] == [3, 3]
    assert recorder.escapes == ["item of a process pool"] * 2


def test_nothing_is_told_where_nobody_listens():
    assert subprocess.run([sys.executable, "-c", "pass"], check=False).returncode == 0
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert pool.submit(len, "abc").result() == 3


@pytest.mark.parametrize("method", METHODS)
def test_an_item_of_an_executor_carries_the_invitation_of_its_submitter(alice, bob, method):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        with listening(alice):
            assert pool.submit(who).result() == "alice"
        assert pool.submit(who).result() is None
        with listening(bob):
            assert list(pool.map(who, range(4), chunksize=2)) == ["bob"] * 4
    assert alice.escapes + bob.escapes == []


def test_an_item_of_a_pool_carries_the_invitation_of_its_submitter(alice, bob):
    def all_ways(pool):
        seen = [pool.apply(who), pool.apply_async(who, (1,)).get()]
        seen += pool.map(who, range(3)) + pool.map_async(who, iter(range(3))).get()
        seen += pool.starmap(who, [(1, 2)]) + pool.starmap_async(who, [(1, 2)]).get()
        seen += [*pool.imap(who, range(3)), *pool.imap_unordered(who, range(3)), *pool.imap(who, range(5), 2)]
        return set(seen)

    with listening(alice):
        pool = FORK.Pool(2)
        assert all_ways(pool) == {"alice"}
    with pool:
        with listening(bob):
            assert all_ways(pool) == {"bob"}
        assert all_ways(pool) == {None}
    assert alice.escapes + bob.escapes == []


@pytest.mark.parametrize("method", METHODS)
def test_any_other_process_carries_the_invitation_of_the_code_that_starts_it(alice, method):
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    with listening(alice):
        process = context.Process(target=tell_who, args=(queue,))
        process.start()
    assert queue.get() == "alice"
    process.join()
    assert "run" not in vars(process)
    assert alice.escapes == []


class OwnRun:
    def __init__(self, queue):
        super().__init__()
        self.queue = queue

    def run(self):
        self.queue.put(("own", who()))


class SpawnedOwnRun(OwnRun, SPAWN.Process):
    pass


class ForkedOwnRun(OwnRun, FORK.Process):
    pass


@pytest.mark.parametrize(("context", "made"), [(SPAWN, SpawnedOwnRun), (FORK, ForkedOwnRun)])
def test_a_process_with_a_run_of_its_own_does_too(alice, context, made):
    queue = context.SimpleQueue()
    with listening(alice):
        process = made(queue)
        process.start()
    assert queue.get() == ("own", "alice")
    process.join()


def test_a_run_that_was_put_on_one_process_runs_and_stays_there(alice):
    queue = FORK.SimpleQueue()
    process = FORK.Process()
    process.run = own = lambda: queue.put(("own", who()))
    with listening(alice):
        process.start()
    assert queue.get() == ("own", "alice")
    process.join()
    assert process.run is own


def test_a_process_that_cannot_start_is_left_as_it_was(alice):
    process = SPAWN.Process(target=lambda: None)
    with listening(alice), pytest.raises((AttributeError, pickle.PicklingError)):
        process.start()
    assert "run" not in vars(process)


def test_the_processes_of_a_pool_start_with_nobody_listening(alice):
    with listening(alice):
        with FORK.Pool(1) as pool:
            assert (
                pool.apply(current) is None
            )  # a fork would have inherited who listens; the invitation changes nothing
        with ProcessPoolExecutor(1, mp_context=FORK) as executor:
            assert executor.submit(current).result() is None


def test_callbacks_and_iterables_of_a_pool_belong_to_the_submitter(alice):
    seen = []

    def drawn():
        seen.append(current())
        yield 1

    with FORK.Pool(1) as pool, listening(alice):
        pool.apply_async(who, callback=lambda _: seen.append(current())).get()
        pool.apply_async(divmod, (1, 0), error_callback=lambda _: seen.append(current())).wait()
        assert list(pool.imap(who, drawn())) == ["alice"]
        pool.close()
        pool.join()
    assert seen == [alice] * 3


def test_items_of_a_pool_of_threads_are_no_matter_of_processes(alice):
    with listening(alice), ThreadPool(1) as pool:
        assert pool.map(who, [1]) == [None]
        assert list(pool.imap(who, [1])) == [None]
    assert alice.escapes == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_stopped_trial_crosses_a_pool_as_what_it_is_and_the_pool_goes_on(alice, method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as executor, context.Pool(1) as pool, listening(alice):
        for work in (lambda: executor.submit(stop).result(), lambda: pool.apply(stop), lambda: pool.map(stop, [1])):
            with pytest.raises(TrialStopped) as raised:
                work()
            assert type(raised.value.halt) is UnkeepableValue
            assert (raised.value.halt.path, raised.value.halt.reason) == ("result.x", "was stopped")
        assert (executor.submit(who).result(), pool.apply(who)) == ("alice", "alice")


def test_items_of_a_pool_are_told_where_nobody_is_invited(recorder):
    with FORK.Pool(1) as pool:
        assert pool.map(len, ["abc"]) == [3]
        assert list(pool.imap(len, ["abc"])) == [3]
    assert recorder.escapes == ["item of a process pool"] * 2
