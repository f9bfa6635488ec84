"""A provider on 127.0.0.1 that speaks OpenAI chat completions, and does what the request's headers say.

Other protocols (Anthropic, Google, Bedrock) are spoken at their own paths: see tests/protocols.py.

==============  ==============================================================================================
header          effect
==============  ==============================================================================================
``x-chunks``    number of text pieces in an answer (default 5)
``x-delay``     seconds before each chunk of a stream
``x-drop``      the connection is dropped after that many chunks (or that many bytes of a plain body)
``x-enc``       content encoding of the answer: gzip, deflate, br, zstd
``x-status``    status of the answer; from 400 on, the body is an error of the protocol
``x-gate``      each chunk waits until the test lets it pass: `Provider.release`
==============  ==============================================================================================

Paths: POST ``.../chat/completions``; any method ``/echo``; GET ``/binary``, ``/text``, ``/forever``,
``/redirect``, ``/silent`` (no answer until a chunk is released).
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import socket
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import brotli
import zstandard
from attrs import define, field

from tests import protocols

PATIENCE = 20.0  # seconds after which a test that waits for the other side has failed
BINARY = bytes(range(256)) * 4


@define
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@define
class Provider:
    """The running server; ``requests`` are those that arrived; with ``says`` chat completions say that."""

    url: str = ""
    requests: list[Seen] = field(factory=list)
    says: str | None = None
    left: threading.Event = field(factory=threading.Event)
    _gate: threading.Semaphore = field(factory=lambda: threading.Semaphore(0))
    _ids: Any = field(factory=itertools.count)
    _server: Any = None
    _thread: Any = None

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def count(self) -> int:
        return len(self.requests)

    def release(self, chunks: int = 1) -> None:
        """Let that many gated chunks pass."""
        self._gate.release(chunks)

    def passed(self) -> bool:
        """Wait at the gate."""
        return self._gate.acquire(timeout=PATIENCE)

    def new_id(self) -> str:
        return f"chatcmpl-{next(self._ids)}"

    def start(self) -> Provider:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close the listener and every connection; a second call does nothing."""
        if self._server is not None:
            self._server.shutdown()
            self._gate.release(1000)  # whoever still waits there finds the connection gone
            self._server.hang_up()
            self._server.server_close()
            self._thread.join()
            self._server = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    provider: Provider

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is part of many tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def _serve(self) -> None:
        body = self._body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        provider = self.server.provider
        provider.requests.append(Seen(self.command, self.path, headers, body))
        path = self.path.partition("?")[0]
        if path.endswith("/chat/completions"):
            self._chat(json.loads(body))
        elif (error := protocols.problem(path, int(self.headers.get("x-status") or 200))) is not None:
            self._spoken(path, json.loads(body), error)
        elif path == "/forever":
            self._stream(f"data: tick {i}\n\n".encode() for i in itertools.count())
        elif path == "/silent":
            self.server.provider.passed()
            self._hang_up()
        elif path == "/redirect":
            self._plain(b"", "text/plain", status=302, extra={"Location": "/echo"})
        elif path == "/binary":
            self._plain(BINARY, "application/octet-stream")
        elif path == "/text":
            self._plain("Grüße \0 ☃".encode(), "text/plain; charset=utf-8")
        else:
            answer = {"method": self.command, "path": self.path, "body": body.decode("utf-8", "replace")}
            self._plain(json.dumps(answer).encode(), "application/json")

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _serve  # noqa: N815 - http.server's names

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    # -- what is answered

    def _chat(self, asked: dict[str, Any]) -> None:
        status = int(self.headers.get("x-status") or 200)
        if status >= 400:
            error = {"error": {"message": f"told to answer {status}", "type": "test", "code": None}}
            self._plain(json.dumps(error).encode(), "application/json", status=status)
            return
        provider = self.server.provider
        answer = _answer(asked, provider.new_id(), int(self.headers.get("x-chunks") or 5))
        if provider.says is not None:
            answer["choices"][0]["message"]["content"] = provider.says
        if asked.get("stream"):
            self._stream(_as_events(answer, asked))
        else:
            self._plain(json.dumps(answer).encode(), "application/json")

    def _spoken(self, path: str, asked: Any, error: dict[str, Any]) -> None:
        status, pieces = int(self.headers.get("x-status") or 200), int(self.headers.get("x-chunks") or 5)
        content_type, content = protocols.answer(path, asked, self.server.provider.new_id(), pieces) or ("", {})
        if status >= 400:
            named = {"x-amzn-errortype": "ThrottlingException"} if "/converse" in path else None
            self._plain(json.dumps(error).encode(), "application/json", status, named)
        elif isinstance(content, list):
            self._stream(content, content_type)
        else:
            self._plain(json.dumps(content).encode(), content_type)

    def _plain(
        self, body: bytes, content_type: str, status: int | None = None, extra: dict[str, str] | None = None
    ) -> None:
        encoding = self.headers.get("x-enc")
        compress, finish = _compressor(encoding)
        body = compress(body) + finish()
        self.send_response(status or int(self.headers.get("x-status") or 200))
        self._common(content_type, encoding, extra)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        drop = self.headers.get("x-drop")
        if self.command != "HEAD":
            self.wfile.write(body if drop is None else body[: int(drop)])
        if drop is not None:
            self._hang_up()

    def _stream(self, chunks: Any, content_type: str = protocols.EVENTS) -> None:
        encoding = self.headers.get("x-enc")
        compress, finish = _compressor(encoding)
        self.send_response(int(self.headers.get("x-status") or 200))
        self._common(content_type, encoding, None)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        drop, delay, gated = self.headers.get("x-drop"), self.headers.get("x-delay"), self.headers.get("x-gate")
        try:
            for place, chunk in enumerate(chunks):
                if gated and not self.server.provider.passed():
                    return
                if drop is not None and place == int(drop):
                    self._hang_up()
                    return
                if delay:
                    time.sleep(float(delay))
                self._chunk(compress(chunk))
            self._chunk(finish())
            self.wfile.write(b"0\r\n\r\n")
        except ConnectionError:
            self.server.provider.left.set()
            self.close_connection = True

    def _common(self, content_type: str, encoding: str | None, extra: dict[str, str] | None) -> None:
        self.send_header("Content-Type", content_type)
        self.send_header("x-request-id", self.server.provider.new_id())
        self.send_header("Set-Cookie", "session=secret-cookie")
        self.send_header("openai-organization", "secret-organisation")
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        if encoding:
            self.send_header("Content-Encoding", encoding)

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _answer(asked: dict[str, Any], identity: str, pieces: int) -> dict[str, Any]:
    """A whole answer: a tool call if tools are offered and none was used yet, else ``tok0 tok1 ...``."""
    messages = asked["messages"]
    if asked.get("tools") and messages[-1]["role"] != "tool":
        function = {"name": asked["tools"][0]["function"]["name"], "arguments": '{"zip_code": "94105"}'}
        message = {"role": "assistant", "content": None, "tool_calls": [_tool_call(function)]}
        finish = "tool_calls"
    else:
        message = {"role": "assistant", "content": "".join(f"tok{i} " for i in range(pieces))}
        finish = "stop"
    usage = {
        "prompt_tokens": 7 * len(messages),
        "completion_tokens": pieces,
        "total_tokens": 7 * len(messages) + pieces,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    choice = {"index": 0, "message": message, "finish_reason": finish}
    common = {"id": identity, "object": "chat.completion", "created": 1700000000, "model": asked["model"]}
    return common | {"choices": [choice], "usage": usage}


def _tool_call(function: dict[str, str]) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": function}


def _as_events(answer: dict[str, Any], asked: dict[str, Any]) -> Any:
    """The same answer as events: one per piece of text, the tool call's arguments in two halves."""
    common = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    message, finish = answer["choices"][0]["message"], answer["choices"][0]["finish_reason"]
    deltas: list[dict[str, Any]] = []
    if message["content"] is None:
        call = message["tool_calls"][0]
        arguments = call["function"]["arguments"]
        head = {"index": 0, "id": call["id"], "type": "function", "function": call["function"] | {"arguments": ""}}
        deltas.append({"role": "assistant", "tool_calls": [head]})
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": part}}]} for part in (arguments[:8], arguments[8:])
        ]
    else:
        deltas += [{"role": "assistant", "content": f"{piece} "} for piece in message["content"].split()]
    events = [common | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events[-1]["choices"][0]["finish_reason"] = finish
    if (asked.get("stream_options") or {}).get("include_usage"):
        events.append(common | {"choices": [], "usage": answer["usage"]})
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]


def _compressor(encoding: str | None) -> tuple[Any, Any]:
    """(compress a chunk so that it can be read at once, finish)."""
    if encoding is None:
        return bytes, bytes
    if encoding in {"gzip", "deflate"}:
        flate = zlib.compressobj(wbits=31 if encoding == "gzip" else 15)
        return lambda data: flate.compress(data) + flate.flush(zlib.Z_SYNC_FLUSH), flate.flush
    if encoding == "br":
        inner = brotli.Compressor()
        return lambda data: inner.process(data) + inner.flush(), inner.finish
    if encoding == "zstd":
        frame = zstandard.ZstdCompressor().compressobj()
        block = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        return lambda data: frame.compress(data) + frame.flush(block), frame.flush
    return gzip.compress, bytes  # an encoding that nobody knows
