from __future__ import annotations

import gzip
import json

import httpx
import pytest
import vcr
import yaml
from vcr.serialize import deserialize
from vcr.serializers import jsonserializer, yamlserializer

from adapters.vcr import VCR_FORMAT
from cassettes.errors import BadInput
from cassettes.model import Call, Cancelled, Chunk, Error, Interaction, Stream, Value
from tests.provider import BINARY

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Grüße"}]}
SERIALIZERS = {".yaml": yamlserializer, ".json": jsonserializer}


def recorded(path, provider, *, binary):
    """Let vcrpy itself record a file."""
    serializer = "json" if path.suffix == ".json" else "yaml"
    with vcr.VCR(serializer=serializer).use_cassette(str(path)), httpx.Client() as client:
        client.get(f"{provider.url}/text?q=1")
        client.post(f"{provider.base_url}/chat/completions", json=CHAT)
        client.post(f"{provider.base_url}/chat/completions", json=CHAT | {"stream": True})
        client.put(f"{provider.url}/echo", content="plain words")
        if binary:
            client.get(f"{provider.url}/binary")
            client.get(f"{provider.url}/text", headers={"x-enc": "gzip"})
            client.post(f"{provider.url}/echo", content=b"\xff\x00")
    return path


def as_interactions(entries):
    return [
        Interaction(step, call, outcome, 2 * step, 2 * step + 1, reply=reply)
        for step, (call, outcome, reply) in enumerate(entries)
    ]


def loaded(path):
    return deserialize(path.read_text("utf-8"), SERIALIZERS[path.suffix])


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_file_of_vcrpy_there_and_back(provider, tmp_path, suffix):
    binary = suffix == ".yaml"  # JSON cannot hold it, in vcrpy neither
    path = recorded(tmp_path / f"a{suffix}", provider, binary=binary)
    entries = VCR_FORMAT.read(path)
    copy = tmp_path / "new" / f"b{suffix}"
    assert VCR_FORMAT.write(copy, as_interactions(entries)) == (len(entries), 0)
    (requests, responses), (again, answers) = loaded(path), loaded(copy)
    assert [(r.method, r.uri, r.body or None) for r in again] == [(r.method, r.uri, r.body or None) for r in requests]
    assert [a["status"] for a in answers] == [a["status"] for a in responses]
    for old, new in zip(responses, answers, strict=True):
        was_gzip = "content-encoding" in old["headers"]
        body = old["body"]["string"]
        assert new["body"]["string"] == (gzip.decompress(body) if was_gzip else body)
        for name in ("content-type", "x-request-id"):
            assert new["headers"][name] == old["headers"][name]
        assert not {"set-cookie", "openai-organization", "content-encoding"} & set(new["headers"])
    for old, new in zip(requests, again, strict=True):
        assert new.headers.get("content-type") == old.headers.get("content-type")
        assert "authorization" not in new.headers
    assert VCR_FORMAT.read(copy)[1][2] == entries[1][2]


def test_what_is_read(provider, tmp_path):
    text, chat, stream, put, binary, zipped, odd = VCR_FORMAT.read(recorded(tmp_path / "a.yaml", provider, binary=True))
    assert (text[0].kind, text[0].effect, text[1].value["body"]) == ("http", "read", "Grüße \0 ☃")
    assert (chat[0].kind, chat[0].arguments, chat[2].text) == ("model", CHAT, "tok0 tok1 tok2 tok3 tok4 ")
    assert isinstance(stream[1], Stream)
    assert (len(stream[1].chunks), stream[2].finish) == (1, "stop")
    assert (put[0].arguments["body"], put[2]) == ("plain words", None)
    assert binary[1].value["body"] == BINARY
    assert (zipped[1].value["body"], zipped[1].value["encoding"]) == ("Grüße \0 ☃", "gzip")
    assert odd[0].arguments["body"] == b"\xff\x00"


def test_the_written_file_is_played_by_vcrpy(provider, tmp_path):
    copy = tmp_path / "b.yaml"
    VCR_FORMAT.write(copy, as_interactions(VCR_FORMAT.read(recorded(tmp_path / "a.yaml", provider, binary=True))))
    count = provider.count
    with vcr.use_cassette(str(copy), record_mode="none"), httpx.Client() as client:
        assert client.get(f"{provider.url}/binary").content == BINARY
        assert client.get(f"{provider.url}/text", headers={"x-enc": "gzip"}).text == "Grüße \0 ☃"
    assert provider.count == count


def test_only_whole_answers_over_http_are_written(tmp_path):
    head = {"status": 299, "headers": [["content-type", "a/b"]], "encoding": None, "http_version": "HTTP/1.1"}
    detail = {"method": "GET", "url": "http://h/", "headers": {}, "host": "h"}
    http = Call("http", "GET h/", {"url": "http://h/", "body": None}, detail=detail)
    chunks = (Chunk(0.0, b"a"), Chunk(0.1, b"b"))
    outcomes = [
        Value({**head, "body": "x"}),
        Stream(head, chunks),
        Stream(head, chunks, complete=False),
        Error(ValueError()),
        Cancelled(),
        Value("no response"),
    ]
    interactions = [Interaction(i, http, outcome, i, i) for i, outcome in enumerate(outcomes)]
    interactions.append(Interaction(9, Call("tool", "t", {}), Value(1), 9, 9))
    interactions.append(Interaction(10, Call("model", "by hand", {"messages": []}), Value(1), 9, 9))
    path = tmp_path / "a.yml"
    assert VCR_FORMAT.write(path, iter(interactions)) == (2, 6)
    written = yaml.safe_load(path.read_text())["interactions"]
    assert [w["response"]["body"]["string"] for w in written] == ["x", "ab"]
    assert written[0]["response"]["status"] == {"code": 299, "message": ""}


def test_an_unknown_encoding_stays_raw_and_says_so(tmp_path):
    path = tmp_path / "a.json"
    response = {
        "status": {"code": 200, "message": "OK"},
        "headers": {"content-encoding": ["odd"]},
        "body": {"string": "x"},
    }
    request = {"method": "GET", "uri": "http://h/", "body": None, "headers": {}}
    path.write_text(json.dumps({"version": 1, "interactions": [{"request": request, "response": response}]}))
    ((_, outcome, _),) = VCR_FORMAT.read(path)
    assert (outcome.value["body"], outcome.value["headers"]) == ("x", [["content-encoding", "odd"]])


def test_the_old_form_for_httpx(tmp_path):
    path = tmp_path / "a.json"
    response = {
        "status_code": 200,
        "http_version": "HTTP/1.1",
        "headers": {"content-type": "text/plain"},
        "content": "x",
    }
    request = {"method": "GET", "uri": "http://h/", "body": "", "headers": {}}
    path.write_text(json.dumps({"version": 1, "interactions": [{"request": request, "response": response}]}))
    ((_, outcome, _),) = VCR_FORMAT.read(path)
    assert (outcome.value["status"], outcome.value["body"]) == (200, "x")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.yaml", None),
        ("a.txt", b"x"),
        ("a.yaml", b""),
        ("a.yaml", b"just text"),
        ("a.yaml", b"a: [1"),
        ("a.yaml", b"http_interactions: []"),
        ("a.yaml", b"interactions: [1]"),
        ("a.yaml", b"!!python/object/apply:os.system ['true']"),
        ("a.json", b"{"),
        ("a.json", b"[]"),
        ("a.json", b'{"interactions": [{"request": {}, "response": {}}]}'),
        ("a.yaml", b"\xff\xfe\x00"),
    ],
)
def test_what_is_no_cassette_of_vcrpy(tmp_path, name, content):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput) as raised:
        VCR_FORMAT.read(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(BadInput, match=r"ends in \.yaml"):
        VCR_FORMAT.write(tmp_path / "a.txt", [])
    head = {"status": 200, "headers": [], "encoding": None, "http_version": "HTTP/1.1"}
    call = Call("http", "GET h/", {"url": "http://h/", "body": None}, detail={"method": "GET", "url": "http://h/"})
    binary = Interaction(0, call, Value({**head, "body": b"\xff"}), 0, 1)
    with pytest.raises(BadInput, match=r"write a \.yaml file instead"):
        VCR_FORMAT.write(tmp_path / "a.json", [binary])
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        VCR_FORMAT.write(tmp_path / "file" / "a.yaml", [binary])
