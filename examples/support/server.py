"""A stand-in for a model provider, which speaks the OpenAI chat completions protocol on 127.0.0.1.

It plays both the agent's model and the simulated customer from a script, so that the example runs without a
network, a key or a bill. Nothing else in the example knows that it is a stand-in: set OPENAI_BASE_URL and
OPENAI_API_KEY to those of a real provider (and SHOP_MODEL and SHOP_USER_MODEL to two of its models), and it
is replaced.
"""

import argparse
import contextlib
import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Protocol

from examples.support.provider import Answer, Provider


class Answers(Protocol):
    """What answers requests for some models."""

    models: ClassVar[tuple[str, ...]]

    def answer(self, body: dict[str, Any]) -> Answer:
        """Answer a chat completion request for one of its models."""


class ProviderServer(ThreadingHTTPServer):
    """The HTTP server around what answers, on the loopback address only."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, provider: Answers, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), ChatHandler)
        self.provider = provider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors, but not that a client hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def base_url(self) -> str:
        """What OPENAI_BASE_URL must be."""
        return f"http://127.0.0.1:{self.server_port}/v1"


class ChatHandler(BaseHTTPRequestHandler):
    """One connection; it is kept alive between requests."""

    protocol_version = "HTTP/1.1"
    server: ProviderServer
    wbufsize: ClassVar[int] = -1  # headers and body leave in one packet
    disable_nagle_algorithm: ClassVar[bool] = True

    def do_GET(self) -> None:
        """List the models."""
        if self.path != "/v1/models":
            self._fail(404, f"Unknown request URL: GET {self.path}", "unknown_url")
        elif self._authorised():
            models = [
                {"id": name, "object": "model", "created": 0, "owned_by": "examples"}
                for name in self.server.provider.models
            ]
            self._send(200, {"object": "list", "data": models})

    def do_POST(self) -> None:
        """Answer a chat completion request."""
        packed = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/chat/completions":
            self._fail(404, f"Unknown request URL: POST {self.path}", "unknown_url")
            return
        if not self._authorised():
            return
        try:
            body = json.loads(packed)
            model, messages = body["model"], body["messages"]
        except (ValueError, KeyError, TypeError):
            self._fail(400, "The body must be JSON with 'model' and 'messages'.", None)
            return
        if model not in self.server.provider.models:
            self._fail(404, f"The model '{model}' does not exist.", "model_not_found", param="model")
        elif not messages:
            self._fail(400, "[] is too short - 'messages'", None, param="messages")
        elif body.get("stream"):
            self._stream(body, self.server.provider.answer(body))
        else:
            self._send(200, _completion(body, self.server.provider.answer(body)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Say nothing: one line per request would drown the demo."""

    def _authorised(self) -> bool:
        if self.headers.get("Authorization", "").removeprefix("Bearer ").strip():
            return True
        self._fail(401, "You didn't provide an API key.", "invalid_api_key")
        return False

    def _fail(self, status: int, message: str, code: str | None, *, param: str | None = None) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
        self._send(status, {"error": error})

    def _send(self, status: int, value: dict[str, Any]) -> None:
        packed = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(packed)))
        self.end_headers()
        self.wfile.write(packed)

    def _stream(self, body: dict[str, Any], answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for chunk in _chunks(body, answer):
                self._event(json.dumps(chunk))
            self._event("[DONE]", last=True)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has heard enough

    def _event(self, data: str, *, last: bool = False) -> None:
        packed = f"data: {data}\n\n".encode()
        end = b"0\r\n\r\n" if last else b""  # together: clients close the stream once they read [DONE]
        self.wfile.write(b"%x\r\n%s\r\n%s" % (len(packed), packed, end))
        self.wfile.flush()


def _completion(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [_tool_call(i, answer) for i in range(len(answer.calls))]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    return _envelope(body, "chat.completion") | {"choices": [choice], "usage": _usage(body, answer)}


def _chunks(body: dict[str, Any], answer: Answer) -> Iterator[dict[str, Any]]:
    envelope = _envelope(body, "chat.completion.chunk")
    with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    extra: dict[str, Any] = {"usage": None} if with_usage else {}
    for delta in _deltas(answer):
        yield envelope | extra | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield envelope | extra | {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]}
    if with_usage:
        yield envelope | {"choices": [], "usage": _usage(body, answer)}


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "" if answer.text else None, "refusal": None}
    words = answer.text.split(" ") if answer.text else []
    for place, word in enumerate(words):
        yield {"content": f" {word}" if place else word}
    for i in range(len(answer.calls)):
        whole = _tool_call(i, answer)
        arguments = whole["function"]["arguments"]
        opening = whole | {"index": i, "function": {"name": whole["function"]["name"], "arguments": ""}}
        yield {"tool_calls": [opening]}
        for start in range(0, len(arguments), 12):
            yield {"tool_calls": [{"index": i, "function": {"arguments": arguments[start : start + 12]}}]}


def _tool_call(i: int, answer: Answer) -> dict[str, Any]:
    call_id, call = answer.calls[i]
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
    }


def _envelope(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": kind,
        "created": int(time.time()),
        "model": body["model"],
        "system_fingerprint": "fp_stand_in",
    }


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(body: dict[str, Any], answer: Answer) -> dict[str, int]:
    """Count tokens roughly: four characters each."""
    prompt = len(json.dumps([body["messages"], body.get("tools", [])])) // 4
    said = len(answer.text) + sum(len(call.name) + len(json.dumps(call.arguments)) + 8 for _, call in answer.calls)
    completion = said // 4 + 1
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


@contextlib.contextmanager
def serving(seed: int = 0, *, drift: float = 1.0, provider: Answers | None = None) -> Iterator[ProviderServer]:
    """Serve in a thread of this process, on a free port; by default the shop's model and customer."""
    with ProviderServer(provider or Provider(seed, drift)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.support.server", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=0, help="of the sampling noise")
    parser.add_argument("--drift", type=float, default=1.0, help="make the model's slips this much likelier")
    options = parser.parse_args()
    with ProviderServer(Provider(options.seed, options.drift), options.port) as server:
        print(f"listening on {server.base_url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
