"""The two ends of the line between a child process and its trial; here both are in one process, which needs no fork."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings

from cassettes.canonical import canonical
from cassettes.errors import Divergence, Interrupted, RecordingFailed, Refused, TrialStopped
from cassettes.model import Cancelled, Error, Reply, Stream, Usage, Value
from cassettes.reader import Cassette
from cassettes.recorder import entered, listening
from cassettes.redact import Redactor
from cassettes.values import pack, unpack
from cassettes.writer import CassetteWriter
from replay.actors import acting_as
from replay.policy import RECORD, REPLAY
from replay.processes.line import Line
from replay.processes.proxy import ProxyRecorder, ProxyTicket, TrialInvitation
from replay.recording import digest_of
from replay.session import Session
from tests import strategies
from tests.factories import call, header

PATIENCE = 20.0  # seconds after which a test that waits for the other side has failed


def threads_of_ours():
    return [thread for thread in threading.enumerate() if thread.name.startswith("trialtape-child")]


def wait_until(true, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert true()


@pytest.fixture
def make(tmp_path):
    made = []

    def session(policy=RECORD):
        writer = CassetteWriter(tmp_path / f"{len(made)}.cassette", header(), Redactor())
        made.append((Session(writer, policy, Redactor()), writer))
        return made[-1][0]

    yield session
    for one, writer in made:
        one.close()
        writer.abandon()
    wait_until(lambda: not threads_of_ours())


@pytest.fixture
def session(make):
    return make()


@pytest.fixture
def proxy(session):
    return ProxyRecorder(session.invitation())


def recorded(tmp_path, name="0"):
    return list(Cassette(tmp_path / f"{name}.cassette"))


def test_nothing_is_opened_before_somebody_is_invited(session):
    assert not threads_of_ours()
    invitation = session.invitation()
    assert len(threads_of_ours()) == 1
    assert session.invitation() == invitation
    assert len(threads_of_ours()) == 1


def test_only_this_user_may_reach_the_socket_and_nothing_of_it_is_left(session):
    path = Path(session.invitation().address)
    assert stat.S_ISSOCK(path.stat().st_mode)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    session.close()
    assert not path.parent.exists()
    wait_until(lambda: not threads_of_ours())


def test_a_long_path_of_the_temporary_folder_does_not_matter(session, tmp_path, monkeypatch):
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    proxy = ProxyRecorder(session.invitation())
    proxy.begin(call()).done(1)
    assert list(deep.iterdir()) == []
    assert session.steps == 1


def test_a_socket_that_cannot_be_opened_is_told(session, monkeypatch):
    monkeypatch.setattr("replay.processes.children._folder", lambda: Path("/no/such/folder"))
    with pytest.raises(RecordingFailed, match="no socket for the trial's child processes can be opened"):
        session.invitation()


def test_who_does_not_know_the_token_gets_no_answer(session):
    stranger = evolve(session.invitation(), token="guessed")
    with pytest.raises(TrialStopped):
        ProxyRecorder(evolve(stranger, recording=False)).begin(call())
    assert (session.steps, session.halt) == (0, None)


@pytest.mark.parametrize("said", [b"\xc1", pack(["dance"]), pack([]), pack(["end", 7, None, None, None]), pack(3)])
def test_what_is_not_understood_stops_the_trial_and_is_answered(session, said):
    invitation = session.invitation()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(invitation.address)
        connection = Connection(client.detach())
    with connection:
        connection.send_bytes(invitation.token.encode())
        connection.send_bytes(said)
        answer = unpack(connection.recv_bytes())
    assert answer[0] == "stopped"
    assert isinstance(session.halt, RecordingFailed)
    assert "a call of a child process could not be taken" in str(session.halt)


def facts(interaction):
    outcome = interaction.outcome
    return [
        evolve(interaction.call, arguments={}),
        canonical(dict(interaction.call.arguments)),
        digest_of(outcome),
        [chunk.data for chunk in outcome.chunks] if isinstance(outcome, Stream) else None,
        interaction.reply,
        interaction.parent,
        interaction.origin,
    ]


@settings(max_examples=30, deadline=None)
@given(strategies.interactions())
def test_what_is_told_through_the_line_is_recorded_as_if_it_were_told_at_once(tmp_path_factory, interaction):
    folder = tmp_path_factory.mktemp("both")
    told = []
    for name in ("direct", "proxied"):
        writer = CassetteWriter(folder / f"{name}.cassette", header(), Redactor())
        session = Session(writer, RECORD, Redactor())
        recorder = session if name == "direct" else ProxyRecorder(session.invitation())
        with acting_as(interaction.call.actor):
            ticket = recorder.begin(interaction.call)
        tell(ticket, interaction)
        session.close()
        writer.abandon()
        told.append([facts(kept) for kept in recorded(folder, name)])
    assert told[0] == told[1]
    assert len(told[0]) == 1


def tell(ticket, interaction):
    match interaction.outcome:
        case Value(value):
            ticket.done(value, interaction.reply)
        case Error(error):
            ticket.failed(error)
        case Cancelled():
            ticket.cancelled()
        case Stream(head, chunks, complete, error):
            for chunk in chunks:
                ticket.chunk(chunk.data)
            ticket.closed(head, complete=complete, error=error, decode=lambda _: interaction.reply)


def test_a_stream_keeps_its_pieces_their_times_and_its_reply(tmp_path, session, proxy):
    ticket = proxy.begin(call("model", "gpt-x", arguments={"messages": []}))
    for piece in (b"a", b"b"):
        ticket.chunk(piece)
        time.sleep(0.002)
    reply = Reply("ab", usage=Usage(1, 2))
    ticket.closed(
        {"status": 200},
        complete=False,
        error=OSError(104, "reset"),
        decode=lambda pieces: reply if pieces == (b"a", b"b") else None,
    )
    (kept,) = recorded(tmp_path)
    assert [chunk.data for chunk in kept.outcome.chunks] == [b"a", b"b"]
    first, second = (chunk.at for chunk in kept.outcome.chunks)
    assert 0 < first < second <= kept.duration
    assert (kept.outcome.complete, kept.outcome.error.errno, kept.reply) == (False, 104, reply)


def test_calls_inside_a_call_are_its_children_there_and_here(tmp_path, session, proxy):
    outer = session.begin(call(name="outer"))
    with entered(outer):
        invited = ProxyRecorder(session.invitation())
    with listening(invited), entered(ProxyTicket(invited, session.invitation().outer)):
        lone = invited.begin(call("http", "GET h/", arguments={"url": "u"}))
    assert lone.step == 1
    inner = invited.begin(call(name="inner"))
    with entered(inner):
        invited.begin(call("http", "GET h/", arguments={"url": "u"})).done(1)
    inner.done(2)
    lone.done(3)
    outer.done(4)
    assert {kept.step: kept.parent for kept in recorded(tmp_path)} == {0: None, 1: None, 2: None, 3: 2}


def test_an_invitation_says_on_whose_behalf_and_inside_which_call(session):
    with acting_as("user"), entered(session.begin(call())):
        first, second = session.invitation(), session.invitation()
    assert (first.actor, first.outer) == ("user", 0)
    assert second == first
    assert (session.invitation().actor, session.invitation().outer) == ("agent", None)


def test_a_child_invites_its_own_children_to_the_same_trial(session, proxy):
    with listening(proxy):
        ticket = proxy.begin(call())
        with acting_as("judge"), entered(ticket):
            invitation = proxy.invitation()
    assert invitation == evolve(session.invitation(), actor="judge", outer=ticket.number)


def test_a_stopped_trial_stops_its_children_with_the_same_reason(session, proxy):
    ticket = proxy.begin(call())
    session.stop(Interrupted("by hand"))
    with pytest.raises(TrialStopped) as raised:
        proxy.begin(call())
    assert (type(raised.value.halt), str(raised.value.halt)) == (Interrupted, "by hand")
    ticket.failed(raised.value)  # which is no outcome of the call
    assert session.unfinished == 1


def test_a_divergence_keeps_its_report(session, proxy):
    session.stop(Divergence("here", {"step": 3, "odd": {1: (2,)}}))
    with pytest.raises(TrialStopped) as raised:
        proxy.begin(call())
    assert raised.value.halt.report == {"step": 3, "odd": {1: (2,)}}


def test_a_reason_that_cannot_be_packed_is_told_as_text(session, proxy):
    session.stop(Divergence("here", {"lock": threading.Lock()}))
    with pytest.raises(TrialStopped, match="here"):
        proxy.begin(call())


def test_what_has_no_lossless_form_is_named_as_in_the_trials_own_process(tmp_path, session, proxy):
    lock = threading.Lock()
    with pytest.MonkeyPatch.context():
        for recorder in (session, proxy):
            recorder.begin(call(arguments={"a": [lock]})).done({"b": lock})
    paths = [(problem.path, problem.reason.replace("step 1", "step 0")) for problem in session.journal.problems]
    assert paths[:2] == paths[2:]
    assert [path for path, _ in paths[:2]] == ["arguments.a[0]", "result.b"]
    direct, proxied = recorded(tmp_path)
    assert str(direct.outcome.value).replace("step 0", "") == str(proxied.outcome.value).replace("step 1", "")


def test_an_argument_that_cannot_be_kept_cannot_be_looked_up(make):
    recorder = ProxyRecorder(make(evolve(REPLAY, default="live")).invitation())
    assert recorder.begin(call(arguments={"a": threading.Lock()})).answer is None


def test_connections_are_asked_for_where_calls_are_frozen_and_outside_of_live_calls_only(make):
    session = make(REPLAY)
    with acting_as("agent"):
        invited = ProxyRecorder(session.invitation())
    with entered(ProxyTicket(invited, 7)):
        invited.connecting(("127.0.0.1", 80))
    assert session.halt is None
    with pytest.raises(TrialStopped, match=r"a connection to 127\.0\.0\.1:80 was refused"):
        invited.connecting(("127.0.0.1", 80))
    assert isinstance(session.halt, Refused)


def test_while_recording_every_connection_is_allowed_even_when_the_trial_is_gone(session, proxy):
    session.close()
    proxy.connecting(("127.0.0.1", 80))


def test_what_a_child_starts_unseen_is_told_to_the_trial(session, proxy):
    proxy.escaped("subprocess true")
    ticket = proxy.begin(call(name="shell"))
    with entered(ticket):
        proxy.escaped("subprocess false")
    assert session.escaped_work.counts == {"subprocess true": 1, "subprocess false (in tool shell)": 1}


def test_after_its_trial_a_recorded_child_passes_by_and_says_so(session, proxy, caplog):
    late = proxy.begin(call())
    session.close()
    assert session.invitation() is None
    late.done(1)
    ticket = proxy.begin(call())
    assert (ticket.answer, ticket.step) == (None, -1)
    ticket.done(1)
    proxy.escaped("subprocess true")
    assert "get_order was called by process" in caplog.text
    assert session.steps == 1


def test_after_its_trial_a_child_whose_calls_were_frozen_may_call_nothing(make):
    session = make(REPLAY)
    proxy = ProxyRecorder(session.invitation())
    session.close()
    with pytest.raises(TrialStopped, match="get_order was called after its trial had ended"):
        proxy.begin(call())
    with pytest.raises(TrialStopped, match="was opened after its trial had ended"):
        proxy.connecting(("127.0.0.1", 80))


def test_many_threads_at_once_each_get_their_own_answers(tmp_path, session, proxy):
    def one(number):
        for place in range(20):
            ticket = proxy.begin(call(arguments={"number": number, "place": place}))
            ticket.done([number, place, "x" * 20_000])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(8)))
    kept = recorded(tmp_path)
    assert len(kept) == 160
    assert all(list(one.call.arguments.values()) == one.outcome.value[:2] for one in kept)


def test_two_threads_of_a_child_are_two_strands(session, proxy, tmp_path):
    def one():
        proxy.begin(call()).done(1)

    one()
    thread = threading.Thread(target=one)
    thread.start()
    thread.join()
    one()
    ProxyRecorder(session.invitation()).begin(call()).done(1)
    assert [kept.call.detail.get("strand", 0) for kept in recorded(tmp_path)] == [0, 1, 0, 2]


def test_a_thread_that_ends_hangs_up(session, proxy):
    thread = threading.Thread(target=lambda: proxy.begin(call()).done(1))
    thread.start()
    thread.join()
    wait_until(lambda: len(threads_of_ours()) == 1)


def test_a_signal_handler_that_calls_in_the_middle_of_a_call_gets_its_own_answer(session, proxy, monkeypatch):
    got = []
    monkeypatch.setattr(Session, "begin", slowly(Session.begin))
    before = signal.signal(signal.SIGALRM, lambda *_: got.append(proxy.begin(call(name="inner")).step))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        outer = proxy.begin(call(name="outer"))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert sorted([outer.step, *got]) == [0, 1]
    proxy.begin(call())
    assert session.steps == 3


def slowly(begin):
    def slow(session, asked):
        time.sleep(0.2 if asked.name == "outer" else 0)
        return begin(session, asked)

    return slow


def test_an_interrupt_in_the_middle_of_a_call_does_not_mix_up_answers(session, proxy, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "begin", slowly(Session.begin))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            proxy.begin(call(name="outer"))
    finally:
        signal.signal(signal.SIGALRM, before)
    wait_until(lambda: session.steps == 1)
    assert proxy.begin(call()).step == 1
    assert session.unfinished == 2


def test_a_trial_that_cannot_be_reached_for_another_reason_is_an_error_in_the_child(session, monkeypatch):
    def refuse(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    invitation = session.invitation()
    with pytest.raises(RecordingFailed, match=f"cannot be reached from process {os.getpid()}: .*Too many open files"):
        ProxyRecorder(evolve(invitation, token="new")).begin(call())


def test_a_trial_that_can_take_no_more_connections_is_stopped_and_nobody_waits_for_ever(session, proxy, monkeypatch):
    proxy.begin(call()).done(1)

    def refuse(_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(socket.socket, "accept", refuse)

    def one():
        with contextlib.suppress(TrialStopped):
            proxy.begin(call())

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:  # the first of them is still accepted
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert isinstance(session.halt, RecordingFailed)
    assert "can no longer reach it: [Errno 24] Too many open files" in str(session.halt)


def test_a_forked_child_asks_over_a_connection_of_its_own(session):
    line = Line(session.invitation().address, session.invitation().token)
    assert line.ask(["escaped", "parent", None, None]) == ["ok"]
    child = os.fork()
    if not child:
        code = 1
        try:
            code = int(line.ask(["escaped", "child", None, None]) != ["ok"])
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert line.ask(["escaped", "parent", None, None]) == ["ok"]
    assert session.escaped_work.counts == {"parent": 2, "child": 1}


def test_a_forked_child_that_lives_on_does_not_keep_the_socket_open(session, tmp_path):
    go, leave = os.pipe()
    address = session.invitation().address
    child = os.fork()
    if not child:
        os.close(leave)
        os.read(go, 1)  # until the other end is closed
        os._exit(0)
    try:
        os.link(address, tmp_path / "s")  # by which the socket can be asked for after its own path is gone
        session.close()
        with socket.socket(socket.AF_UNIX) as client, pytest.raises(ConnectionRefusedError):
            client.connect(str(tmp_path / "s"))
    finally:
        os.close(leave)
        os.waitpid(child, 0)
        os.close(go)


def test_an_invitation_can_stand_in_the_environment(session):
    invitation = evolve(session.invitation(), actor="user", outer=3)
    assert TrialInvitation.from_environ(invitation.to_environ()) == invitation
    assert TrialInvitation.from_environ({}) is None
