"""Whatever fails in recording, at whatever call: the host gets what it would have got without it."""

from __future__ import annotations

import asyncio
import logging
import threading

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trialtape as tt
from cassettes.errors import CassetteError, RecordingFailed, TrialStopped
from cassettes.model import Call
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter
from replay import patching, production, retention
from replay.guard import Guard
from replay.home import Home
from replay.journal import Journal
from replay.session import Session
from replay.state import StateTracker
from replay.tickets import SessionTicket


class HostError(Exception):
    pass


@tt.tool(effect="read")
def look(number):
    return {"number": number}


@tt.tool(effect="write", external=False)
def put(db, key):
    db[key] = {"value": len(db)}
    return "put"


@tt.tool
def outer(number):
    return [look(number), look(number + 1)]


@tt.tool
def breaks(text):
    raise HostError(text)


@tt.tool
async def slow(number):
    await asyncio.sleep(0)
    return number


def answer(request):
    if request.url.path == "/stream":
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces())
    return httpx.Response(200, json={"path": request.url.path})


def pieces():
    yield b"data: 1\n\n"
    yield b"data: 2\n\n"


def host(session):
    """Everything that a host may do; returns all that it saw."""
    db = {"rows": {"a": {"value": 0}}}
    session.track(db)
    session.message("user", "hello")
    seen = [look(1), put(db["rows"], "b"), outer(3)]
    try:
        breaks("no")
    except HostError as error:
        seen.append(str(error))
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        seen.append(client.get("https://api.test/plain").json())
        with client.stream("GET", "https://api.test/stream") as response:
            seen.append(list(response.iter_bytes()))

    async def gathered():
        cancelled = asyncio.create_task(slow(9))
        await asyncio.sleep(0)
        cancelled.cancel()
        return await asyncio.gather(cancelled, slow(1), slow(2), return_exceptions=True)

    first, *others = asyncio.run(gathered())
    return [*seen, type(first), others, db]


class Nobody:
    def track(self, state):
        pass

    def message(self, role, content):
        pass


EXPECTED = host(Nobody())

FAILURES = [
    OSError(28, "No space left on device"),
    RecordingFailed("disk"),
    CassetteError("odd"),
    RuntimeError("a bug"),
    RecursionError(),
    MemoryError(),
    tt.UnkeepableValue("value", "no form"),
    TrialStopped(RecordingFailed("stopped")),
]

PLACES = [
    *(
        (CassetteWriter, name)
        for name in ("__init__", "append", "mark", "close", "abandon", "sync", "_write", "_steps")
    ),
    *((Session, name) for name in ("__init__", "begin", "finish_live", "_decide")),
    *((Journal, name) for name in ("arguments", "append", "mark", "change", "now", "place")),
    *((SessionTicket, name) for name in ("done", "failed", "cancelled", "chunk", "closed", "interaction")),
    *((Redactor, name) for name in ("__init__", "packed", "outcome", "suspects")),
    *((Home, name) for name in ("redaction_key", "keep_state", "task", "trials")),
    *((StateTracker, name) for name in ("__init__", "change")),
    (production, "open_run"),
    (production, "load_run"),
    (production, "sweep"),
    (production, "secrets_of"),
    (production, "packages"),
    (production, "patched"),
    (retention, "delete_expired"),
]


class Failing:
    """Wraps a function: its n-th call, and with ``for_ever`` all that follow, raise."""

    def __init__(self, function, nth, error, *, for_ever):
        self.function, self.nth, self.error, self.for_ever = function, nth, error, for_ever
        self.calls = 0

    def __get__(self, instance, owner):
        return lambda *args, **kwargs: self(instance, *args, **kwargs)

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.calls == self.nth or (self.for_ever and self.calls > self.nth):
            raise self.error
        return self.function(*args, **kwargs)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.sampled_from(PLACES),
    nth=st.integers(1, 12),
    error=st.sampled_from(FAILURES),
    for_ever=st.booleans(),
    raising=st.booleans(),
)
def test_a_host_gets_what_it_would_have_got(tmp_path_factory, place, nth, error, for_ever, raising):
    home = tmp_path_factory.mktemp("home")
    owner, name = place
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retention, "SWEEP_SECONDS", 0.0)
        patch.setattr(owner, name, Failing(getattr(owner, name), nth, error, for_ever=for_ever))
        if name == "abandon":  # which is called where closing fails
            patch.setattr(CassetteWriter, "close", Failing(CassetteWriter.close, 1, OSError(), for_ever=True))
        seen = []
        if raising:
            with pytest.raises(HostError, match="left"), tt.session(home=home) as session:  # noqa: PT012
                seen = host(session)
                raise HostError("left")
        else:
            with tt.session(home=home) as session:
                seen = host(session)
        assert not session.recording
    assert seen == EXPECTED
    assert not any(patching._holders.values())


@pytest.mark.parametrize(
    "place", [p for p in PLACES if p[1] != "sync"], ids=lambda place: f"{place[0].__name__}.{place[1]}"
)
def test_every_one_of_these_places_is_reached_and_told(tmp_path, monkeypatch, place):
    owner, name = place
    failing = Failing(getattr(owner, name), 1, RuntimeError("a bug"), for_ever=True)
    monkeypatch.setattr(retention, "SWEEP_SECONDS", 0.0)
    if name == "abandon":
        monkeypatch.setattr(CassetteWriter, "close", Failing(CassetteWriter.close, 1, OSError("full"), for_ever=True))
    if name == "load_run":
        with tt.session(home=tmp_path):
            pass
    monkeypatch.setattr(owner, name, failing)
    with tt.session(home=tmp_path) as session:
        assert host(session) == EXPECTED
        for thread in [t for t in threading.enumerate() if t.name == "trialtape-retention"]:
            thread.join()
    assert failing.calls
    assert session.reason is not None or name == "delete_expired"


def test_an_adapter_that_cannot_be_loaded_does_not_reach_the_host(tmp_path, monkeypatch):
    def broken():
        raise tt.BadInput("the adapter x cannot be loaded")

    monkeypatch.setattr(patching, "adapters", broken)
    with tt.session(home=tmp_path) as session:
        assert look(1) == {"number": 1}
    assert "cannot be loaded" in session.reason


def test_a_failure_is_logged_once_with_its_reason(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(CassetteWriter, "append", Failing(CassetteWriter.append, 2, OSError(28, "full"), for_ever=True))
    with tt.session(home=tmp_path) as session:
        assert [look(n)["number"] for n in range(5)] == [0, 1, 2, 3, 4]
    (record,) = [r for r in caplog.records if r.name == "trialtape"]
    assert record.levelno == logging.WARNING
    assert "full" in record.message
    assert "full" in session.reason
    view = tt.open(str(session.id), home=tmp_path)
    assert (view.ending.status, view.ending.cause, len(view.steps)) == ("error", "recording", 1)


def test_a_logging_handler_that_raises_does_not_reach_the_host(tmp_path):
    class Raising(logging.Filter):
        def filter(self, record):
            raise RuntimeError("a filter")

    logger, raising = logging.getLogger("trialtape"), Raising()
    logger.addFilter(raising)
    try:
        with tt.session(home=tmp_path, sample=7):
            assert look(1) == {"number": 1}
    finally:
        logger.removeFilter(raising)


def test_an_interrupt_is_the_hosts(tmp_path, monkeypatch):
    monkeypatch.setattr(
        CassetteWriter, "append", Failing(CassetteWriter.append, 1, KeyboardInterrupt(), for_ever=False)
    )
    with pytest.raises(KeyboardInterrupt), tt.session(home=tmp_path) as session:
        look(1)
    assert session.ending is None or session.ending.status == "cancelled"


def test_nothing_is_recorded_before_it_is_started():
    guard = Guard("x")
    ticket = guard.begin(Call("tool", "t", {}))
    assert (ticket.answer, ticket.step, ticket.delay) == (None, -1, 0.0)
    ticket.done(1)
    ticket.failed(ValueError())
    ticket.cancelled()
    ticket.chunk(b"")
    ticket.closed({}, complete=True)
    guard.connecting(("127.0.0.1", 1))
    guard.escaped("a process")
    guard.finish(None)
    assert guard.ending is None
    assert not guard.over
