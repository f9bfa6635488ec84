"""Sessions: what is recorded of live traffic, what is not, and where it lies."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import trialtape as tt
from replay import production
from replay.patching import adapters
from replay.store import Store
from tests.factories import write_cassette


@tt.tool(effect="read")
def look(text):
    return {"found": text}


@tt.tool(effect="write", external=False, ignore=["db"])
def put(db, key, value):
    db[key] = value
    return "put"


@tt.tool
def outer(text):
    return look(text)


@pytest.fixture
def session(tmp_path):
    """Make a session below this home."""

    def made(**options):
        return tt.session(**{"home": tmp_path, **options})

    return made


def view_of(session, home):
    return tt.open(str(session.id), home=home)


def files_of(home):
    return sorted(p.relative_to(home / "cassettes").as_posix() for p in home.rglob("*.cassette"))


def test_each_session_gets_a_cassette_of_its_own(session, tmp_path):
    for name in (None, None, "support/eu"):
        with session(name=name) as one:
            look("x")
        assert one.ending.status == "completed"
    assert files_of(tmp_path) == ["prod/session/0.cassette", "prod/session/1.cassette", "prod/support%2Feu/0.cassette"]
    view = tt.open("prod/session#1", home=tmp_path)
    assert (view.cassette.header.config["mode"], len(view.steps), view.cassette.header.task_definition) == (
        "session",
        1,
        None,
    )


def test_calls_keep_their_parents_and_actors(session, tmp_path):
    with session() as one:
        outer("x")
        with tt.acting_as("user"):
            look("y")
    steps = list(view_of(one, tmp_path).steps)
    assert [(s.call.name, s.call.actor, s.interaction.parent) for s in steps] == [
        ("outer", "agent", None),
        ("look", "agent", 0),
        ("look", "user", None),
    ]


def test_async_sessions_in_one_loop_do_not_mix(session, tmp_path):
    async def traffic(number):
        async with session() as one:
            look(number)
            await asyncio.sleep(0)
            look(number)
        return one

    async def all_of_them():
        return await asyncio.gather(*map(traffic, range(5)))

    for number, one in enumerate(asyncio.run(all_of_them())):
        assert [s.call.arguments["text"] for s in view_of(one, tmp_path).steps] == [number, number]


def test_sessions_in_threads_get_different_cassettes(session, tmp_path):
    def traffic(number):
        with session() as one:
            look(number)
        return one

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(traffic, range(40)))
    assert len({one.id for one in made}) == len(files_of(tmp_path)) == 40


def test_one_object_may_be_used_again_and_within_itself(session, tmp_path):
    one = session()
    with one:
        with one:
            look("inside")
        look("after")
    first = one.id
    with one:
        look("again")
    assert (one.id.index, one.ending.status) == (1, "completed")
    assert [s.call.arguments["text"] for s in tt.open(str(first), home=tmp_path).steps] == ["inside", "after"]
    assert not any(adapter.patched() for adapter in adapters())


def test_a_limit_that_is_reached_in_many_threads_stops_all_of_them_once(session, tmp_path, caplog):
    caplog.set_level("INFO", "trialtape")

    def traffic(number):
        return [look(f"{number} {os.urandom(200).hex()}")["found"].split()[0] for _ in range(40)]

    with session(max_bytes=30_000) as one, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(traffic, range(16))) == [[str(number)] * 40 for number in range(16)]
    assert one.ending.status == "capped"
    assert len(caplog.records) == 1
    view = view_of(one, tmp_path)
    view.cassette.check()
    assert 10 < len(view.steps) < 400


def test_an_index_that_another_process_took_is_passed_over(session, tmp_path):
    with session() as one:
        look("x")
    for index in (1, 2, 7):
        write_cassette(tmp_path / f"cassettes/prod/session/{index}.cassette")
    with session() as two:
        look("x")
    assert (one.id.index, two.id.index, two.ending.status) == (0, 8, "completed")


def test_a_session_in_which_nothing_was_seen_is_no_error(session, caplog):
    with session() as one:
        pass
    assert (one.ending.status, one.reason, caplog.records) == ("completed", None, [])


def test_state_and_messages_are_kept(session, tmp_path):
    db = {"orders": {"W1": {"status": "open"}}}
    with session() as one:
        one.track(db)
        one.message("user", "cancel W1")
        put(db["orders"], "W1", {"status": "cancelled"})
    view = view_of(one, tmp_path)
    assert view.state(-1) == {"orders": {"W1": {"status": "open"}}}
    assert view.state() == db
    assert [m.data["content"] for m in view.marks if m.kind == "message"] == ["cancel W1"]


def test_a_state_that_cannot_be_tracked_ends_the_recording_alone(session):
    with session() as one:
        one.track({"lock": threading.Lock()})
        assert look("x") == {"found": "x"}
    assert "lock" in one.reason
    with session() as one:
        one.track({})
        one.track({})
    assert "tracks a state already" in one.reason


def test_what_the_host_raises_comes_out_and_is_the_ending(session):
    error = LookupError("mine")
    with pytest.raises(LookupError) as raised, session() as one:  # noqa: PT012
        look("x")
        raise error
    assert raised.value is error
    assert (one.ending.status, one.ending.cause) == ("error", "agent")


# -- sampling ----------------------------------------------------------------------------------------------------------


def test_an_unsampled_session_holds_nothing_and_writes_nothing(session, tmp_path):
    with session(sample=0) as one:
        assert look("x") == {"found": "x"}
        assert not any(adapter.patched() for adapter in adapters())
    assert (one.sampled, one.recording, one.reason, one.id) == (False, False, "not sampled", None)
    assert not list(tmp_path.iterdir())


def test_the_sampling_rate_can_be_seeded(session):
    def drawn():
        rng = random.Random(7)
        found = []
        for _ in range(50):
            with session(sample=0.3, rng=rng) as one:
                pass
            found.append(one.sampled)
        return found

    first = drawn()
    assert first == drawn()
    assert 5 <= sum(first) <= 25


def test_the_hosts_random_numbers_stay_as_they_were(session):
    random.seed(1)
    expected = random.random()
    random.seed(1)
    with session(sample=0.5):
        assert random.random() == expected


# -- limits ------------------------------------------------------------------------------------------------------------


def test_a_limit_of_size_ends_the_recording_and_not_the_host(session, tmp_path, caplog):
    with session(max_bytes=20_000) as one:
        for _ in range(50):
            text = os.urandom(1000).hex()
            assert look(text) == {"found": text}
        assert not one.recording
    view = view_of(one, tmp_path)
    assert (view.ending.status, view.ending.reason) == ("capped", "max_bytes=20000 reached")
    assert 5 < len(view.steps) < 50
    assert one.path.stat().st_size < 25_000
    assert one.reason == "max_bytes=20000 reached"
    assert [r for r in caplog.records if r.levelname == "WARNING"] == []


def test_an_endless_stream_is_not_held_in_memory(session, tmp_path):
    def endless(_):
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=lines())

    def lines():
        for _ in range(1000):
            yield b"data: " + b"x" * 100 + b"\n\n"

    with session(max_bytes=10_000) as one, httpx.Client(transport=httpx.MockTransport(endless)) as client:
        with client.stream("GET", "https://api.test/events") as response:
            assert sum(map(len, response.iter_bytes())) == 108_000
        assert look("x") == {"found": "x"}
    assert one.ending.status == "capped"
    assert len(view_of(one, tmp_path).steps) == 0


def test_a_limit_of_time_ends_the_recording_and_not_the_host(session, monkeypatch):
    now = 0.0
    monkeypatch.setattr("replay.guard.time.monotonic", lambda: now)
    with session(max_seconds=10) as one:
        look("x")
        now = 11.0
        assert look("y") == {"found": "y"}
    assert (one.ending.status, one.ending.reason) == ("capped", "max_seconds=10 reached")


# -- what cannot be recorded -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sample": 2}, "sample is a share"),
        ({"sample": "many"}, "TypeError"),
        ({"keep": "a month"}, "is no age"),
        ({"run": ""}, "no name for a run"),
        ({"name": "x" * 500}, "too long"),
        ({"max_seconds": "long"}, "TypeError"),
    ],
)
def test_options_that_cannot_be_used_are_told_and_not_raised(session, options, reason):
    with session(**options) as one:
        assert look("x") == {"found": "x"}
    assert reason in one.reason
    assert not one.recording


def test_a_home_that_cannot_be_written_is_told_and_not_raised(session, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below", "/proc/nowhere"):
        with session(home=home) as one:
            assert look("x") == {"found": "x"}
        assert one.reason
    assert len(caplog.records) == 3


def test_a_run_of_trials_takes_no_sessions(session, tmp_path):
    with tt.trial(run="base", task="t", home=tmp_path):
        look("x")
    with session(run="base") as one:
        assert look("x") == {"found": "x"}
    assert "is one of trials" in one.reason
    assert files_of(tmp_path) == ["base/t/0.cassette"]


def test_inside_a_trial_the_trial_records(session, tmp_path):
    with tt.trial(run="base", task="t", home=tmp_path) as trial, session() as one:
        look("x")
    assert one.reason == "another trial or session records here already"
    assert trial.session.steps == 1
    with tt.trial(run="again", task="t", home=tmp_path, replay="base/t#0"), session():
        assert look("x") == {"found": "x"}


def test_a_value_without_a_lossless_form_ends_the_recording(session):
    with session() as one:
        assert look(print) == {"found": print}
        assert look("x") == {"found": "x"}
    assert "arguments.text" in one.reason


def test_a_forked_child_goes_on_unrecorded(session, tmp_path):
    with session() as one:
        look("parent")
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(BaseException):
                code = 0 if look("child") == {"found": "child"} and not one.recording else 2
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        look("parent")
    assert [s.call.arguments["text"] for s in view_of(one, tmp_path).steps] == ["parent", "parent"]


def test_a_block_may_be_left_in_another_context(session):
    one = session()

    async def entered():
        one.__enter__()

    asyncio.run(entered())
    look("x")
    one.__exit__(None, None, None)
    one.__exit__(None, None, None)
    assert one.ending.status == "completed"
    assert not any(adapter.patched() for adapter in adapters())


def test_a_call_that_ends_after_its_session_is_not_recorded(session):
    started, go_on, seen = threading.Event(), threading.Event(), []

    @tt.tool
    def waits():
        started.set()
        go_on.wait(10)
        return "done"

    with session() as one:
        thread = threading.Thread(target=lambda: seen.append((waits(), look("late"))))
        thread.start()
        started.wait(10)
    go_on.set()
    thread.join()
    assert seen == [("done", {"found": "late"})]
    assert one.ending.status == "completed"


# -- personal data -----------------------------------------------------------------------------------------------------

PERSON = "mia@example.org +49 30 1234567 4111 1111 1111 1111 DE89370400440532013000 123-45-6789"


def test_personal_data_is_not_on_the_disk(session, tmp_path):
    db = {"users": {"u": {"mail": PERSON}}}
    with session() as one:
        one.track(db)
        one.message("user", PERSON)
        assert look(PERSON) == {"found": PERSON}
        put(db["users"], "v", {"mail": PERSON})
    view = view_of(one, tmp_path)
    told = repr([view.state(), view.marks, [(s.call.arguments, s.outcome) for s in view.steps]])
    for part in ("mia@", "1234567", "4111", "DE89", "6789"):
        assert part not in told
    assert view.cassette.redacted.keys() == {"email", "phone", "card", "iban", "ssn"}
    assert db["users"]["u"]["mail"] == PERSON


def test_personal_data_can_be_kept(session, tmp_path):
    with session(personal_data=False) as one:
        look(PERSON)
    assert view_of(one, tmp_path).steps[0].call.arguments == {"text": PERSON}


def test_what_else_is_removed_can_be_said(session, tmp_path):
    db = {"orders": {"W1": "for Mia"}}
    with session(redact={"customer": "Mia"}) as one:
        one.track(db)
        one.message("user", "Mia is my name")
        look("Mia mia@example.org")
    view = view_of(one, tmp_path)
    assert "Mia" not in repr([view.state(), view.marks, view.steps[0].call.arguments, view.steps[0].outcome])
    assert view.cassette.redacted.keys() == {"customer", "email"}


def test_a_rule_that_raises_ends_the_recording(session, tmp_path):
    def rule(text):
        raise ValueError(text)

    with session(redact=rule) as one:
        assert look("x") == {"found": "x"}
    assert "ValueError" in one.reason
    assert "redaction rule" in one.reason


def test_secrets_are_never_kept(session, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "swordfish-swordfish")
    with session(personal_data=False) as one:
        look("swordfish-swordfish sk-abcdefghijklmnopqrst")
    assert "swordfish" not in str(view_of(one, tmp_path).steps[0].call.arguments)


def test_the_index_knows_sessions(session, tmp_path):
    with session():
        look("x")
    home = production.Home(tmp_path)
    with Store(home) as store:
        store.refresh()
        assert [(r["run"], r["ending"]) for r in store.rows("SELECT run, ending FROM trials")] == [
            ("prod", "completed")
        ]
