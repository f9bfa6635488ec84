"""Exceptions lose what lives (pools, requests) when they are kept, and get that of the replay when they are raised."""

from __future__ import annotations

import urllib3
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import MaxRetryError, NewConnectionError

from adapters.exchange import bare, content_length
from adapters.failures import attached, detached
from cassettes.values import pack, unpack

LIVE = (HTTPConnectionPool, urllib3.connection.HTTPConnection)


def refused():
    """What urllib3 raises where nobody listens; it holds its pool, and an error that holds its connection."""
    pool = HTTPConnectionPool("127.0.0.1", 1)
    connection = urllib3.connection.HTTPConnection("127.0.0.1", 1)
    return MaxRetryError(pool, "/x", NewConnectionError(connection, "refused"))


def test_what_lives_is_none_also_in_errors_within():
    error = refused()
    kept = detached(error, LIVE)
    assert type(kept) is MaxRetryError
    assert (kept.pool, kept.url) == (None, "/x")
    assert kept.args[0] is None or not isinstance(kept.args[0], HTTPConnectionPool)
    assert type(kept.reason) is NewConnectionError
    assert not any(isinstance(value, LIVE) for value in (*kept.reason.args, *vars(kept.reason).values()))
    assert error.pool is not None


def test_a_detached_error_can_be_kept_and_given_the_pool_of_the_replay():
    again = unpack(pack(detached(refused(), LIVE)))
    pool = HTTPConnectionPool("127.0.0.1", 2)
    raised = attached(again, {"pool": pool}, pool)
    assert type(raised) is MaxRetryError
    assert raised.pool is pool
    assert again.pool is None


def test_a_bare_error_has_no_request_cause_or_traceback_and_no_constructor_is_called():
    class Picky(ConnectionError):
        def __init__(self, *, request):
            super().__init__("refused")
            self.request = request
            self.note = "kept"

    try:
        raise Picky(request=object()) from ValueError("inner")
    except Picky as error:
        copy = bare(error)
    assert (str(copy), copy.request, copy.note) == ("refused", None, "kept")
    assert (copy.__cause__, copy.__traceback__) == (None, None)


def test_a_length_is_one_only_if_it_is_a_number():
    assert content_length([("Content-Length", "12")]) == 12
    for text in ("-1", "1e3", "\u0663", ""):
        assert content_length([("content-length", text)]) is None
    assert content_length([]) is None
