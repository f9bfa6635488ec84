from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard

from adapters.encodings import Undecodable, decode, decoder

TEXT = "Grüße ".encode() * 400


def raw_deflate(data):
    flate = zlib.compressobj(wbits=-15)
    return flate.compress(data) + flate.flush()


ENCODED = {
    "gzip": gzip.compress(TEXT, mtime=0),
    "x-gzip": gzip.compress(TEXT, mtime=0),
    "deflate": zlib.compress(TEXT),
    "br": brotli.compress(TEXT),
    "zstd": zstandard.compress(TEXT),
    "identity": TEXT,
    "gzip, br": brotli.compress(gzip.compress(TEXT, mtime=0)),
}


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_body_is_decoded_however_it_is_cut(encoding, size):
    undo = decoder(encoding)
    body = ENCODED[encoding]
    assert b"".join(undo.feed(body[i : i + size]) for i in range(0, len(body), size)) == TEXT


@pytest.mark.parametrize("size", [1, 2, 100_000])
def test_deflate_without_its_zlib_header(size):
    body = raw_deflate(TEXT)
    undo = decoder("deflate")
    assert b"".join(undo.feed(body[i : i + size]) for i in range(0, len(body), size)) == TEXT


@pytest.mark.parametrize(
    "body",
    [gzip.compress(TEXT[:90], mtime=0) + gzip.compress(TEXT[90:], mtime=0), gzip.compress(TEXT, mtime=0) + b"\0" * 10],
)
@pytest.mark.parametrize("size", [1, 100_000])
def test_gzip_members_follow_each_other_and_padding_is_left_out(body, size):
    undo = decoder("gzip")
    assert b"".join(undo.feed(body[i : i + size]) for i in range(0, len(body), size)) == TEXT


def test_zstd_frames_follow_each_other():
    assert decode(zstandard.compress(TEXT) + zstandard.compress(b"more"), "zstd") == TEXT + b"more"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_damaged_body_is_told_apart(encoding):
    with pytest.raises(Undecodable):
        decoder(encoding).feed(b"this is plain text, not compressed")
    assert decode(b"this is plain text, not compressed", encoding) == b"this is plain text, not compressed"


def test_a_body_cut_short_gives_what_can_be_read():
    assert TEXT.startswith(decode(ENCODED["gzip"][:-12], "gzip"))


def test_encodings_that_nobody_undoes_are_kept_raw():
    assert decoder("compress") is None
    assert decoder("gzip, compress") is None
    assert decoder("zstd", supported={"gzip"}) is None
    assert decode(b"abc", "compress") == b"abc"
    assert decoder(None).feed(b"abc") == b"abc"
    assert decoder("").feed(b"abc") == b"abc"
