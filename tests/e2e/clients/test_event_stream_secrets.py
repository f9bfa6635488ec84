"""Secrets in event streams of AWS: botocore reads the same of a replay, less the secrets, and none is on the disk."""

from __future__ import annotations

import base64
import json

import anthropic
import botocore.config
import botocore.session
import pytest
from click.testing import CliRunner

import trialtape as tt
from cassettes.values import pack
from replay.cli import main
from tests.protocols import AWS_EVENTS, aws_event
from tests.serving import Quiet, served

KEY = "sk-proj-Sp1itAAAABBBBCCCCDDDDEEEEFFFFGGGG"
PASSWORD = "hunter2-very-long-password"
TEXTS = ["Your house key is ", KEY[:9], KEY[9:], ", ü", " keep it."]
INPUTS = ['{"user": "ann", "pass', 'word": "hunter2-', 'very-long-password"}']


def converse():
    yield "messageStart", {"role": "assistant"}
    for words in TEXTS:
        yield "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": words}}
    yield "contentBlockStop", {"contentBlockIndex": 0}
    yield "contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "login"}}}
    for words in INPUTS:
        yield "contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": words}}}
    yield "contentBlockStop", {"contentBlockIndex": 1}
    yield "messageStop", {"stopReason": "tool_use"}
    yield "metadata", {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}, "metrics": {"latencyMs": 1}}


def invoke():
    usage = {"input_tokens": 7, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    events = [{"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None}}]
    events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    events += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}} for words in TEXTS
    ]
    events.append({"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 9}})
    events.append({"type": "message_stop"})
    for event in events:
        yield "chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abcdefghijklm"}


class _Handler(Quiet):
    def do_POST(self):  # noqa: N802  # the name that http.server calls
        self.rfile.read(int(self.headers["content-length"]))
        events = converse() if self.path.endswith("/converse-stream") else invoke()
        stream = b"".join(aws_event(kind, json.dumps(event).encode()) for kind, event in events)
        self.send_response(200)
        self.send_header("content-type", AWS_EVENTS)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        step = self.server.step
        for place in range(0, len(stream), step):
            piece = stream[place : place + step]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def bedrock():
    with served(_Handler, step=100) as server:
        yield server


def client(url):
    return botocore.session.get_session().create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
        aws_secret_access_key="no-real-secret",
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )


def by_converse(url):
    """The text, and the input of the tool."""
    model = client(url)
    messages = [{"role": "user", "content": [{"text": "hi"}]}]
    texts, inputs = [], []
    for event in model.converse_stream(modelId="m", messages=messages)["stream"]:
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        texts += [delta["text"]] if "text" in delta else []
        inputs += [delta["toolUse"]["input"]] if "toolUse" in delta else []
    model.close()
    return "".join(texts), "".join(inputs)


def by_invoke(url):
    model = client(url)
    body = {"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
    response = model.invoke_model_with_response_stream(modelId="m", body=json.dumps(body))
    events = [json.loads(event["chunk"]["bytes"]) for event in response["body"]]
    model.close()
    return "".join(event.get("delta", {}).get("text", "") for event in events), ""


def by_anthropic(url):
    options = {"aws_region": "us-east-1", "aws_access_key": "AKIAIOSFODNN7EXAMPLE", "aws_secret_key": "no-real-secret"}
    with anthropic.AnthropicBedrock(base_url=url, max_retries=0, **options) as model:
        messages = [{"role": "user", "content": "hi"}]
        with model.messages.create(model="m", max_tokens=9, messages=messages, stream=True) as events:
            texts = [getattr(event.delta, "text", "") for event in events if event.type == "content_block_delta"]
    return "".join(texts), ""


AGENTS = [by_converse, by_invoke, by_anthropic]


def everything_kept(home):
    for path in home.rglob("*"):
        if path.is_file():
            yield path.read_bytes()
        if path.suffix == ".cassette":
            cassette = tt.open(str(path)).cassette
            yield repr([cassette.header, *cassette, cassette.marks(), cassette.ending]).encode()
            for step in cassette:
                yield pack([dict(step.call.arguments), dict(step.call.detail)])
                # What a reader of the whole stream could see.
                pieces = b"".join(chunk.data for chunk in step.outcome.chunks)
                yield pieces
                yield b"".join(_base64_in(pieces))
                yield b"".join(part.partition(b'"')[0] for part in pieces.split(b'"text":"'))


def _base64_in(data):
    for part in data.split(b'"bytes":')[1:]:
        inner = json.loads(base64.b64decode(part.lstrip(b' "').partition(b'"')[0]))
        yield inner.get("delta", {}).get("text", "").encode()


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("step", [17, 100, 1 << 20], ids="chunks of {}".format)
def test_a_secret_over_two_frames_is_kept_nowhere_and_the_replay_reads_every_frame(agent, step, trial, bedrock, home):
    bedrock.step = step
    with trial():
        live = agent(bedrock.url)
    bedrock.stop()
    assert live[0] == "".join(TEXTS)  # what the agent reads is what was sent
    assert live[1] in {"", "".join(INPUTS)}
    with trial(run="again", replay="r/t#0") as again:
        text, inputs = agent(bedrock.url)
    assert again.ending.status == "completed"
    assert text.startswith("Your house key is {secret:openai:")
    assert text.endswith("}, ü keep it.")
    if live[1]:
        assert json.loads(inputs)["password"].startswith("{secret:field:")
    assert not any(secret.encode() in data for data in everything_kept(home) for secret in (KEY, PASSWORD, KEY[9:]))
    (kept,) = tt.open("r/t#0", home=home).steps
    assert kept.reply.text == text
    assert tt.open("r/t#0", home=home).cassette.redacted["openai"] >= 1


@pytest.mark.parametrize("agent", AGENTS)
def test_the_pieces_keep_their_number_and_times_where_they_were_cut(agent, trial, bedrock, home):
    bedrock.step = 50
    with trial():
        agent(bedrock.url)
    (kept,) = tt.open("r/t#0", home=home).steps
    chunks = kept.outcome.chunks
    sent = sum(len(chunk.data) for chunk in chunks)
    assert len(chunks) > sent / 50 / 2
    assert [chunk.at for chunk in chunks] == sorted(chunk.at for chunk in chunks)
    assert all(chunk.data for chunk in chunks)


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_later_redactor_finds_in_a_kept_stream_can_be_replayed_too(agent, trial, bedrock, home, monkeypatch):
    bedrock.step = 40
    with trial():
        agent(bedrock.url)
    bedrock.stop()
    monkeypatch.setenv("HOUSE_SECRET", "Your house key is")
    result = CliRunner().invoke(main, ["store", "redact", "--home", str(home)])
    assert result.exit_code == 0, result.output
    assert not any(b"Your house" in data for data in everything_kept(home))
    with trial(run="again", replay="r/t#0"):
        text, _ = agent(bedrock.url)
    assert text.startswith("{secret:environment:")
    assert text.endswith("}, ü keep it.")
