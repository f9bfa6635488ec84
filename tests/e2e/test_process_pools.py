# ruff: noqa: PT012, SIM117  # what leaves a trial's block of several calls is what is tested

"""Calls made in child processes belong to the trial that started them, and in replay nothing real runs there."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from pathlib import Path

import httplib2  # noqa: F401  # which is seen only if it was imported before the trial began
import pytest

import trialtape as tt
from cassettes.model import Cancelled
from replay.patching import adapters
from replay.strands import strand_of
from tests import workers
from tests.workers import which_ran

PATIENCE = 20.0  # seconds after which a test that waits for the other side has failed

# From Python 3.12 on, `fork` warns in a process with threads; that is what these tests do on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture(scope="module")
def file_of_the_module(tmp_path_factory):
    """One for all tests: the fork server keeps the environment in which it was started."""
    forkserver._forkserver._stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAN", str(tmp_path_factory.mktemp("ran") / "ran"))
        yield Path(os.environ["RAN"])
    forkserver._forkserver._stop()


@pytest.fixture(autouse=True)
def nothing_ran(file_of_the_module):
    file_of_the_module.unlink(missing_ok=True)


def executor(method, processes=2):
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context(method))


def pool(method, processes=2):
    return multiprocessing.get_context(method).Pool(processes)


def numbers(home, name):
    return sorted(step.call.arguments["number"] for step in tt.open(name, home=home).steps)


def with_executor(method):
    with executor(method) as made:
        return [*made.map(workers.work, range(3)), made.submit(workers.work, 3).result()]


def with_executor_in_chunks(method):
    with executor(method) as made:
        return list(made.map(workers.work, range(4), chunksize=2))


def with_async_code(method):
    async def main():
        loop = asyncio.get_running_loop()
        with executor(method) as made:
            return await asyncio.gather(*(loop.run_in_executor(made, workers.awork, number) for number in range(4)))

    return asyncio.run(main())


def with_pool(method):
    with pool(method) as made:
        got = [made.apply(workers.work, (0,)), made.apply_async(workers.work, (1,)).get(PATIENCE)]
        got += made.map(workers.work, [2, 3]) + made.map_async(workers.work, iter([4])).get(PATIENCE)
        got += made.starmap(workers.work_with, [(2, 3)]) + made.starmap_async(workers.work_with, [(3, 3)]).get(PATIENCE)
        return [*got, *made.imap(workers.work, [7]), *made.imap(workers.work, [8, 9], 2),
                *made.imap_unordered(workers.work, [10])]  # fmt: skip


def with_process(method):
    processes = [multiprocessing.get_context(method).Process(target=workers.work, args=(n,)) for n in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(PATIENCE)
    return [process.exitcode for process in processes]


def with_threads_in_children(method):
    with executor(method) as made:
        return list(made.map(workers.in_threads, [(0, 1, 2), (3, 4)]))


SCENES = [
    *((agent, method) for agent in (with_executor, with_pool, with_process) for method in ("fork", "spawn")),
    (with_executor, "forkserver"),
    *(pytest.param(agent, "forkserver", marks=pytest.mark.slow) for agent in (with_pool, with_process)),
    *((agent, "fork") for agent in (with_executor_in_chunks, with_async_code)),
    *((with_threads_in_children, method) for method in ("fork", "spawn")),
]


@pytest.mark.parametrize(("agent", "method"), SCENES)
def test_calls_in_children_are_recorded_once_and_replayed_with_nothing_real(home, trial, agent, method):
    with trial():
        got = agent(method)
    real = which_ran()
    view = tt.open("r/t#0", home=home)
    assert sorted(str(step.call.arguments["number"]) for step in view.steps) == sorted(real)
    assert (view.ending.status, view.unattributed) == ("completed", {})
    assert all(step.origin.verdict == "live" for step in view.steps)
    with trial(run="again", replay="r/t#0") as again:
        assert agent(method) == got
    assert which_ran() == real
    assert again.ending.status == "completed"
    assert again.verdicts == {"own": len(real)}
    assert not any(adapter.patched() for adapter in adapters())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_is_frozen_is_answered_in_the_child_and_the_rest_runs_there(home, trial, method):
    def agent():
        with executor(method, 1) as made:
            return [made.submit(workers.work, 1).result(), made.submit(workers.look_here, 2).result()]

    with trial():
        got = agent()
    with trial(run="frozen", freeze="external", source="r") as frozen:
        assert agent() == got
    assert which_ran() == ["1", "2", "2"]
    assert frozen.verdicts == {"own": 1}
    assert [step.origin.verdict for step in tt.open("frozen/t#0", home=home).steps] == ["own", "live"]


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", [executor, pool])
def test_items_of_a_pool_that_two_trials_share_belong_to_whoever_submits_them(home, trial, method, make):
    barrier = threading.Barrier(2)

    def submit(made, who):
        return list(made.map(workers.work, range(who, who + 4)))

    def one(made, who, options):
        with trial(task=f"t{who}", **options(who)):
            barrier.wait(PATIENCE)
            assert submit(made, who) == list(range(who, who + 4))
            barrier.wait(PATIENCE)

    def both(made, options):
        in_threads(functools.partial(one, made, options=options), (10, 20))

    with make(method) as made:
        submit(made, 0)  # its processes are there before any trial
        both(made, lambda _: {})
        submit(made, 30)
        assert len(which_ran()) == 16
        both(made, lambda who: {"run": "again", "replay": f"r/t{who}#0"})
    assert len(which_ran()) == 16
    for name in ("r", "again"):
        for who in (10, 20):
            assert numbers(home, f"{name}/t{who}#0") == list(range(who, who + 4))
            assert tt.open(f"{name}/t{who}#0", home=home).unattributed == {}


def in_threads(function, arguments):
    """Run it once for each argument, at the same time; what any of them raised is raised."""
    with ThreadPoolExecutor(len(arguments)) as threads:
        list(threads.map(function, arguments))


def test_four_trials_at_once_with_eight_model_calls_each_hold_their_own(home, trial, provider):
    def one(who):
        with trial(task=who), executor("fork") as made:
            asked = [made.submit(workers.chat, provider.base_url, f"{who}-{n}", stream=bool(n % 2)) for n in range(8)]
            assert all("tok0" in future.result() for future in asked)

    in_threads(one, "abcd")
    assert provider.count == 32
    for who in "abcd":
        steps = tt.open(f"r/{who}#0", home=home).steps
        assert sorted(step.call.arguments["messages"][0]["content"] for step in steps) == [
            f"{who}-{n}" for n in range(8)
        ]
    assert not any(adapter.patched() for adapter in adapters())


@pytest.mark.parametrize("make", [executor, pool])
def test_a_pool_made_in_a_trial_serves_the_next_one_and_then_nobody(home, trial, make):
    with contextlib.ExitStack() as stack:
        with trial(task="a"):
            made = stack.enter_context(make("fork", 1))
            assert list(made.map(workers.work, [1])) == [1]
        with trial(task="b"):
            assert list(made.map(workers.work, [2])) == [2]
        assert list(made.map(workers.work, [3])) == [3]
    assert (numbers(home, "r/a#0"), numbers(home, "r/b#0"), which_ran()) == ([1], [2], ["1", "2", "3"])


@pytest.mark.parametrize(
    ("agent", "method"), [(with_executor, "fork"), (with_pool, "fork"), (with_process, "fork"), (with_pool, "spawn")]
)
def test_a_divergence_in_a_child_is_what_leaves_the_trial(home, trial, agent, method):
    with trial():
        workers.work(99)
    with pytest.raises(tt.Divergence, match="diverges at step 0"):
        with trial(run="again", replay="r/t#0") as again:
            with contextlib.suppress(Exception):  # which an agent may well do
                agent(method)
    assert which_ran() == ["99"]
    assert again.ending.cause == "divergence"


@pytest.mark.parametrize("make", [executor, pool])
def test_a_stopped_trial_is_caught_neither_in_the_child_nor_in_the_parent(trial, make):
    with trial():
        workers.work(99)
    reached = []
    with make("fork") as made:
        with pytest.raises(tt.Unanswered, match="look has no answer"):
            with trial(run="frozen", freeze="external", source="r", on_miss="fail"):
                try:
                    reached.append(list(made.map(workers.swallow, [1])))
                except Exception as error:
                    reached.append(error)
        assert reached == []
        assert list(made.map(workers.pid, [1]))  # the pool still works


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_exception_keeps_its_class_and_its_fields(home, trial, method):
    def agent():
        with executor(method, 1) as made:
            got = made.submit(workers.caught, "lamp").result()
            with pytest.raises(workers.OutOfStock) as raised:
                made.submit(workers.fail, "desk").result()
            return got, raised.value.sku, raised.value.left

    with trial():
        got = agent()
    assert got == (("OutOfStock", "lamp", 3), "desk", 3)
    with trial(run="again", replay="r/t#0"):
        assert agent() == got
    assert which_ran() == ["lamp", "desk"]
    outcome = tt.open("r/t#0", home=home).steps[0].outcome.error
    assert (type(outcome), outcome.sku, outcome.left) == (workers.OutOfStock, "lamp", 3)


def test_an_exception_that_python_cannot_unpickle_does_to_a_pool_what_it_does_without_a_trial(home, trial):
    def agent():
        with executor("fork", 1) as made:
            with pytest.raises(BrokenProcessPool):
                made.submit(workers.fail_unpicklably, 1).result()

    agent()
    with trial():
        agent()
    with trial(run="again", replay="r/t#0"):
        agent()
    assert which_ran() == ["1", "1"]
    assert tt.open("r/t#0", home=home).steps[0].outcome.error.one == 1


@pytest.mark.parametrize(("method", "stream"), [("fork", False), ("fork", True), ("spawn", True)])
def test_model_calls_in_a_child_are_recorded_with_their_replies_and_replayed_without_a_server(
    home, trial, provider, method, stream
):
    def agent():
        with executor(method, 1) as made:
            return made.submit(workers.chat, provider.base_url, "hi", stream=stream).result()

    with trial():
        got = agent()
    step = tt.open("r/t#0", home=home).steps[0]
    assert (step.call.kind, step.reply.text) == ("model", "tok0 tok1 tok2 tok3 tok4 ")
    if stream:
        times = [chunk.at for chunk in step.outcome.chunks]
        assert times == sorted(times)
        assert len(times) >= 1
        assert times[0] > 0
    count = provider.count
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent() == got
    assert provider.count == count


@pytest.mark.parametrize(
    ("client", "method"),
    [
        *((client, "fork") for client in ("httpx2", "requests", "urllib3", "aiohttp", "httplib2", "openai")),
        *(pytest.param(client, "spawn", marks=pytest.mark.slow) for client in ("requests", "aiohttp", "openai")),
    ],
)
def test_every_client_is_seen_in_a_child(home, trial, provider, client, method):
    def agent():
        with executor(method, 1) as made:
            return made.submit(workers.fetch_with, client, f"{provider.url}/text").result()

    with trial():
        got = agent()
    (step,) = tt.open("r/t#0", home=home).steps
    assert step.call.kind == ("model" if client == "openai" else "http")
    count = provider.count
    provider.stop()
    with trial(run="again", replay="r/t#0"):
        assert agent() == got
    assert count == provider.count == 1


def test_a_call_that_is_given_up_in_a_child_is_given_up_in_the_replay(home, trial):
    def agent():
        with executor("fork", 1) as made:
            return made.submit(workers.given_up, None).result()

    with trial():
        assert agent() == "given up"
    assert tt.open("r/t#0", home=home).steps[0].outcome == Cancelled()
    with trial(run="again", replay="r/t#0"):
        assert agent() == "given up"
    assert which_ran() == ["never"]


def test_a_read_that_no_recording_answers_goes_live_in_the_child(home, trial):
    with trial():
        workers.work(1)
    with trial(run="frozen", freeze="external", source="r"):
        with executor("fork", 1) as made:
            assert list(made.map(workers.work, [1, 2])) == [1, 2]
    assert which_ran() == ["1", "2"]
    assert sorted(step.origin.verdict for step in tt.open("frozen/t#0", home=home).steps) == ["extended", "own"]


def test_a_consumer_in_a_child_that_stops_early_gets_as_much_in_the_replay(home, trial, provider):
    def agent():
        with executor("fork", 1) as made:
            return made.submit(workers.first_piece, provider.base_url).result()

    with trial():
        got = agent()
    assert not tt.open("r/t#0", home=home).steps[0].outcome.complete
    with trial(run="again", replay="r/t#0"):
        assert agent() == got


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_the_network_guard_holds_in_a_child(trial, provider, method):
    def agent():
        with executor(method, 1) as made:
            made.submit(workers.work, 1).result()
            return made.submit(workers.with_urllib, f"{provider.url}/text").result()

    with trial():
        agent()
    count = provider.count
    with pytest.raises(tt.Refused, match=r"a connection to 127\.0\.0\.1:\d+ was refused"):
        with trial(run="again", replay="r/t#0"):
            agent()
    assert provider.count == count


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_a_live_tool_does_in_another_process_is_part_of_it(home, trial, provider, method):
    url = f"{provider.url}/text"
    with trial():
        got = workers.in_a_pool_of_its_own(method, url)
    outer, inner = tt.open("r/t#0", home=home).steps
    assert (outer.call.kind, inner.call.kind, inner.interaction.parent) == ("tool", "http", outer.number)
    with trial(run="again", replay="r/t#0"):
        assert workers.in_a_pool_of_its_own(method, url) == got
    assert (which_ran(), provider.count) == (["outer"], 1)


def test_tools_in_processes_of_a_tool_make_it_a_span(home, trial):
    with trial():
        workers.delegate("fork", [1, 2])
    outer, *inner = tt.open("r/t#0", home=home).steps
    assert [step.interaction.parent for step in inner] == [outer.number] * 2
    with trial(run="again", replay="r/t#0"):
        assert workers.delegate("fork", [1, 2]) == [1, 2]
    assert sorted(which_ran()) == ["1", "2"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_actors_go_along(home, trial, method):
    with trial():
        with executor(method, 1) as made:
            with tt.acting_as("judge"):
                judged = made.submit(workers.work, 1)
            assert [judged.result(), made.submit(workers.as_user, 2).result(), made.submit(workers.work, 3).result()]
    assert [step.call.actor for step in tt.open("r/t#0", home=home).steps] == ["judge", "user", "agent"]


def test_each_item_and_each_thread_in_it_is_a_strand_of_its_own(home, trial):
    with trial():
        workers.work(0)
        with pool("fork") as made:
            made.map(workers.in_threads, [(1, 2), (3, 4)])
            made.map(workers.work, [5, 6])
        workers.work(7)
    steps = tt.open("r/t#0", home=home).steps
    strands = {step.call.arguments["number"]: strand_of(step.call) for step in steps}
    assert strands[0] == strands[7] == 0
    assert len(set(strands.values())) == 7


def test_a_replay_takes_the_items_in_any_order(home, trial):
    def agent(order):
        with executor("fork", 1) as made:
            return sum(made.map(workers.work, order))

    with trial():
        agent([1, 2, 3])
    with trial(run="again", replay="r/t#0"):
        agent([3, 1, 2])
    assert which_ran() == ["1", "2", "3"]


def test_a_pool_inside_a_worker_of_a_pool_belongs_to_the_trial_too(home, trial):
    with trial():
        with executor("spawn", 1) as made:
            assert made.submit(workers.in_thread_pools_of_both, [1, 2]).result() == [1, 2, 1, 2]
    assert numbers(home, "r/t#0") == [1, 1, 2, 2]


def test_a_child_that_is_killed_loses_the_call_that_it_was_in_and_that_is_told(home, trial):
    with trial():
        process = multiprocessing.get_context("fork").Process(target=workers.die, args=(1,))
        process.start()
        process.join(PATIENCE)
        workers.work(2)
    view = tt.open("r/t#0", home=home)
    assert (process.exitcode, view.ending.status, numbers(home, "r/t#0")) == (-9, "completed", [2])
    assert [mark.data for mark in view.marks if mark.kind == "problem"] == [
        "1 call(s) had not ended when the trial did, and are not recorded"
    ]


def test_a_plain_fork_is_a_child_like_any_other_and_leaves_the_trial_to_its_parent(home, trial):
    with trial():
        workers.work(1)
        child = os.fork()
        if not child:
            code = 1
            with contextlib.suppress(BaseException):
                workers.work(2)
                code = 0
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        workers.work(3)
    assert numbers(home, "r/t#0") == [1, 2, 3]
    assert tt.open("r/t#0", home=home).ending.status == "completed"


def test_a_forked_child_that_leaves_the_block_does_not_end_the_trial(home, trial):
    got = None
    block = trial()
    with contextlib.suppress(SystemExit):
        with block:
            workers.work(1)
            child = os.fork()
            if not child:
                raise SystemExit
            got = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            workers.work(2)
    if got is None:  # in the child
        os._exit(0 if block.ending is None else 1)
    assert (got, numbers(home, "r/t#0")) == (0, [1, 2])
    assert tt.open("r/t#0", home=home).ending.status == "completed"


@pytest.mark.parametrize(
    ("tool", "path"),
    [(workers.a_lock, r"result\.lock: "), (functools.partial(workers.given_a_lock, pool), "arguments")],
)
def test_what_cannot_be_kept_is_named_as_if_it_were_in_the_trials_own_process(trial, tool, path):
    with pytest.raises(tt.UnkeepableValue, match=path):
        with trial():
            process = multiprocessing.get_context("fork").Process(
                target=tool, args=(1,) if tool is workers.a_lock else ()
            )
            process.start()
            process.join(PATIENCE)
            assert process.exitcode == 0  # the child itself is not touched
    assert which_ran() == ["1"]


def test_an_answer_of_a_class_that_the_child_has_not_loaded_is_an_error_that_names_it(trial, tmp_path, monkeypatch):
    """The class is found in the parent only: a child that is forked before it is made does not have it."""
    with executor("fork", 1) as made:
        made.submit(workers.pid).result()
        monkeypatch.setattr(workers, "LateOrder", _late_order(), raising=False)
        monkeypatch.setattr(workers, "Order", workers.LateOrder)
        with trial():
            workers.order(1)
        with pytest.raises(tt.Unanswered, match="holds a LateOrder, whose class is not loaded"):
            with trial(run="again", replay="r/t#0"):
                made.submit(workers.order_number, 1).result()
    assert which_ran() == ["1"]


def _late_order():
    made = type("LateOrder", (workers.Order,), {"__module__": workers.__name__})
    made.__qualname__ = "LateOrder"
    return made


def test_a_child_that_outlives_its_trial_is_not_recorded_and_calls_nothing_frozen(home, trial):
    context = multiprocessing.get_context("fork")

    def outliving(block):
        told, go = context.Event(), context.Event()
        with block:
            workers.work(1)
            process = context.Process(target=workers.after, args=(2, told, go))
            process.start()
            assert told.wait(PATIENCE)
        go.set()
        process.join(PATIENCE)
        return process.exitcode

    assert outliving(trial()) == 0
    assert which_ran() == ["1", "2"]
    assert numbers(home, "r/t#0") == [1]
    assert outliving(trial(run="again", replay="r/t#0")) == 1
    assert which_ran() == ["1", "2"]


def test_in_a_session_the_host_and_its_processes_go_their_way(home):
    with tt.session(home=home) as session:
        workers.work(0)
        with executor("fork", 1) as made:
            assert made.submit(workers.work, 1).result() == 1
        assert session.recording
    assert [step.call.arguments["number"] for step in tt.open(str(session.id), home=home).steps] == [0]
