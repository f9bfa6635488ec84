from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http import ask, is_stream, response_head, text_or_bytes
from cassettes.canonical import key_of

JSON = [("Content-Type", "application/json")]
CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()


def test_a_plain_request():
    call = ask("get", "https://api.example.com:8443/a/b?q=1#part", [], b"").call
    assert (call.kind, call.name, call.effect) == ("http", "GET api.example.com:8443/a/b", "read")
    assert call.arguments == {"url": "https://api.example.com:8443/a/b?q=1", "body": None}
    assert call.detail == {
        "method": "GET",
        "url": "https://api.example.com:8443/a/b?q=1",
        "headers": {},
        "host": "api.example.com:8443",
    }


@pytest.mark.parametrize(
    ("method", "effect"),
    [("GET", "read"), ("HEAD", "read"), ("OPTIONS", "read"), ("POST", "write"), ("PUT", "write"), ("DELETE", "write")],
)
def test_the_method_gives_the_effect(method, effect):
    assert ask(method, "http://h/", [], b"").call.effect == effect


def test_the_name_has_a_path_even_if_the_url_has_none():
    assert ask("GET", "http://h", [], b"").call.name == "GET h/"


def test_a_model_call():
    asked = ask("POST", "http://h:1/v1/chat/completions?api-version=2", JSON, CHAT)
    call = asked.call
    assert (call.kind, call.name, call.endpoint) == ("model", "m", "openai-chat /v1/chat/completions")
    assert (call.history, call.effect, call.external) == ("messages", "unknown", True)
    assert call.arguments == json.loads(CHAT)
    assert not asked.wants_stream


def test_the_host_is_no_part_of_a_model_call():
    one, other = (ask("POST", f"http://{host}/v1/chat/completions", JSON, CHAT).call for host in ("a", "b"))
    assert key_of(one) == key_of(other)


def test_key_order_and_escapes_do_not_make_another_request():
    bodies = [b'{"model": "m", "messages": ["\\u00fc"]}', '{"messages":["ü"],"model":"m"}'.encode()]
    one, other = (ask("POST", "http://h/v1/chat/completions", JSON, body).call for body in bodies)
    assert key_of(one) == key_of(other)


def test_one_and_true_and_one_point_zero_stay_apart():
    keys = {
        key_of(ask("POST", "http://h/v1/chat/completions", JSON, b'{"messages": [%s]}' % x).call)
        for x in (b"1", b"1.0", b"true")
    }
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"a": [1]}', {"a": [1]}),
        (b"[1]", [1]),
        (b"{broken", "{broken"),
        (b"a=1&b=2", "a=1&b=2"),
        (b"null", "null"),
        (b"\xff\x00", b"\xff\x00"),
        (b"", None),
        (b"[" * 100_000, "[" * 100_000),
    ],
)
def test_bodies(body, expected):
    assert ask("POST", "http://h/", [], body).call.arguments["body"] == expected


def test_a_compressed_request_body_is_compared_decoded():
    headers = [*JSON, ("Content-Encoding", "gzip")]
    one, other = (ask("POST", "http://h/", headers, gzip.compress(CHAT, mtime=t)).call for t in (1, 2))
    assert one.arguments["body"] == json.loads(CHAT)
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize("quoted", ["{}", '"{}"'])
def test_the_random_boundary_of_a_form_does_not_count(quoted):
    calls = []
    for boundary in ("aaaa1111", "bbbb2222"):
        form = f'--{boundary}\r\nContent-Disposition: form-data; name="f"\r\n\r\nhello\r\n--{boundary}--\r\n'
        headers = [("Content-Type", f"multipart/form-data; boundary={quoted.format(boundary)}")]
        calls.append(ask("POST", "http://h/upload", headers, form.encode()).call)
    assert key_of(calls[0]) == key_of(calls[1])
    assert calls[0].detail == calls[1].detail
    assert "hello" in calls[0].arguments["body"]


def test_secrets_in_headers_and_urls_are_not_kept():
    headers = [("Authorization", "Bearer secret"), ("Cookie", "secret"), ("x-api-key", "secret"), *JSON]
    headers += [("OpenAI-Organization", "secret"), ("x-stainless-retry-count", "1")]
    call = ask("POST", "http://user:secret@h/a", headers, b"{}").call
    assert "secret" not in repr(call)
    assert call.detail["headers"] == {"content-type": "application/json", "x-stainless-retry-count": "1"}


def test_the_head_of_a_response():
    headers = [
        ("Content-Type", "application/json"),
        ("Set-Cookie", "secret"),
        ("X-RateLimit-Remaining-Requests", "3"),
        ("Retry-After", "2"),
        ("openai-organization", "secret"),
        ("Content-Encoding", "gzip"),
        ("Content-Length", "10"),
        ("x-request-id", "r"),
    ]
    assert response_head(200, headers, "HTTP/2") == {
        "status": 200,
        "headers": [
            ["content-type", "application/json"],
            ["x-ratelimit-remaining-requests", "3"],
            ["retry-after", "2"],
            ["x-request-id", "r"],
        ],
        "encoding": "gzip",
        "http_version": "HTTP/2",
    }


@pytest.mark.parametrize(
    ("asked", "content_type", "status", "expected"),
    [
        (b"{}", "text/event-stream; charset=utf-8", 200, True),
        (b"{}", "application/json", 200, False),
        (b'{"stream": true}', "application/json", 200, True),
        (b'{"stream": true}', "application/json", 429, False),
        (b'{"stream": false}', "application/json", 200, False),
        (b"{}", "application/x-ndjson", 200, True),
    ],
)
def test_what_is_a_stream(asked, content_type, status, expected):
    head = response_head(status, [("content-type", content_type)])
    assert is_stream(ask("POST", "http://h/", JSON, asked), head) is expected


@given(st.binary())
def test_a_body_comes_back_byte_by_byte(body):
    text = text_or_bytes(body)
    assert (text.encode() if isinstance(text, str) else text) == body
