from __future__ import annotations

import pytest

from cassettes.errors import Refused, TrialStopped
from cassettes.model import Cancelled, Error, Stream, Value
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter
from replay.journal import Journal
from replay.tickets import SessionTicket
from tests.factories import call, header


@pytest.fixture
def ticket(tmp_path):
    """A ticket in place 0, and how it says that it ended."""
    journal = Journal(CassetteWriter(tmp_path / "0.cassette", header(), Redactor()))
    told = []
    ended = lambda _, outcome, reply: told.append((outcome, reply))
    return SessionTicket(journal, ended, call(), 0, journal.place(), journal.now(), None), told


def test_a_call_ends_with_what_came_of_it(ticket):
    made, told = ticket
    error = ValueError("x")
    made.done(1)
    made.failed(error)
    made.cancelled()
    assert told == [(Value(1), None), (Error(error), None), (Cancelled(), None)]
    assert told[1][0].error is error


def test_a_call_that_ran_elsewhere_ends_with_the_outcome_that_is_told(ticket):
    made, told = ticket
    made.ended_with(Value(1), None)
    assert told == [(Value(1), None)]


def test_a_call_that_the_stop_of_its_trial_ended_has_no_outcome(ticket):
    made, told = ticket
    made.failed(TrialStopped(Refused("no")))
    assert told == []


def test_pieces_of_a_stream_have_their_times_and_end_together(ticket):
    made, told = ticket
    made.chunk("a")
    made.chunk("b")
    made.closed({"status": 200}, complete=False, decode=lambda pieces: pieces)
    ((outcome, reply),) = told
    assert isinstance(outcome, Stream)
    assert [chunk.data for chunk in outcome.chunks] == ["a", "b"]
    assert 0 <= outcome.chunks[0].at <= outcome.chunks[1].at
    assert (outcome.complete, reply) == (False, ("a", "b"))


def test_an_interaction_has_its_place_in_the_order_of_starts_and_ends(ticket):
    made, _ = ticket
    kept = made.interaction(Value(1), None, None)
    assert (kept.step, kept.started, kept.ended, kept.parent) == (0, 1, 2, None)
    assert kept.duration >= 0
