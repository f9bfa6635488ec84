"""A recorded HTTP outcome as what a client can be given."""

from __future__ import annotations

import pytest

from adapters.played import body_less, played
from adapters.urllib3_wire import parsed
from cassettes.errors import CassetteError
from cassettes.model import Chunk, Error, Stream, Value


def whole(body, status=200, headers=(), **more):
    return Value({"status": status, "headers": list(headers), "body": body, **more})


def stream(*pieces, complete=True, error=None, headers=(), status=200):
    chunks = tuple(Chunk(0.0, piece) for piece in pieces)
    return Stream({"status": status, "headers": list(headers)}, chunks, complete, error)


def test_a_whole_body_is_one_piece_and_headers_that_frame_it_are_left_out():
    told = played(whole("hi", headers=[("Content-Length", "99"), ("X-Id", "7"), ("Transfer-Encoding", "chunked")]))
    assert (told.pieces, told.headers, told.whole) == ((b"hi",), (("X-Id", "7"),), True)


def test_a_stream_keeps_its_pieces_and_what_broke_it_off():
    error = ConnectionResetError("gone")
    told = played(stream(b"a", "b", b"", complete=False, error=error))
    assert (told.pieces, told.error, told.whole) == ((b"a", b"b"), error, False)
    assert played(stream(b"a", error=error)).error is None  # complete: whatever came later is not the consumer's


def test_a_header_never_becomes_two():
    assert played(whole("", headers=[("X", "a\r\nEvil: 1")])).headers == (("X", "a Evil: 1"),)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Value("text"), "is no HTTP response"),
        (Value({"status": "200", "body": ""}), "is no HTTP response"),
        (Error(ValueError("x")), "is no HTTP response"),
        (None, "is no HTTP response"),
        (whole("", status=101), "a websocket was opened here"),
    ],
)
def test_what_no_http_client_can_have_is_refused(answer, told):
    with pytest.raises(CassetteError, match=told):
        played(answer)


@pytest.mark.parametrize(
    ("method", "status", "none"), [("HEAD", 200, True), ("GET", 204, True), ("GET", 304, True), ("GET", 200, False)]
)
def test_some_answers_have_no_body(method, status, none):
    assert body_less(method, status) is none


# -- the same as bytes of a server, through the standard library's parser ----------------------------------------------


def test_the_standard_library_reads_a_whole_body_with_its_length():
    response = parsed(played(whole("héllo", headers=[("X-Id", "7")])), "GET", None)
    assert (response.status, response.reason, response.getheader("X-Id")) == (200, "OK", "7")
    assert response.getheader("content-length") == str(len("héllo".encode()))
    assert response.read().decode() == "héllo"


def test_the_pieces_of_a_stream_are_chunks_of_the_wire():
    response = parsed(played(stream(b"one", b"two")), "GET", None)
    assert response.getheader("transfer-encoding") == "chunked"
    assert [response.read1(), response.read1(), response.read1()] == [b"one", b"two", b""]


def test_a_stream_that_broke_off_ends_in_its_error_after_what_came():
    error = ConnectionResetError("gone")
    response = parsed(played(stream(b"one", complete=False, error=error)), "GET", error)
    assert response.read1() == b"one"
    with pytest.raises(ConnectionResetError, match="gone"):
        response.read1()


def test_a_body_that_was_shorter_than_promised_has_its_promise():
    told = played(stream(b"one", headers=[("content-length", "9")]))
    assert told.promised == 9
    assert parsed(told, "GET", None).getheader("content-length") == "9"


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204)])
def test_no_byte_follows_a_head_without_a_body(method, status):
    assert parsed(played(whole("ignored", status=status)), method, None).read() == b""


def test_another_protocols_version_is_told_as_one_that_the_parser_knows():
    response = parsed(played(whole("x", http_version="HTTP/2")), "GET", None)
    assert (response.version, response.read()) == (11, b"x")
