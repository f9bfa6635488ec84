# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""Secrets never reach the disk, and what was recorded without them still matches."""

from __future__ import annotations

import openai
import pytest

import trialtape as tt
from cassettes.reader import Cassette
from cassettes.values import pack

IN_HEADER = "sk-proj-Hd7eR0aaaaBBBBccccDDDDeeeeFFFFgggg1234"
IN_MESSAGE = "sk-proj-Ms9gX1hhhhIIIIjjjjKKKKllllMMMMnnnn5678"
IN_ARGUMENTS = "hunter2-very-long-password"
IN_RESULT = "ghp_R3s0ultAAAABBBBCCCCDDDDEEEEFFFFGGGG"
IN_ENVIRONMENT = "env-0f1e2d3c4b5a69788796a5b4c3d2e1f0"
SECRETS = [IN_HEADER, IN_MESSAGE, IN_ARGUMENTS, IN_RESULT, IN_ENVIRONMENT, "secret-cookie", "secret-organisation"]
EMAIL = "ada@example.com"


@tt.tool(effect="read")
def login(user: str, password: str) -> dict:
    return {"user": user, "email": EMAIL, "api_key": IN_RESULT, "note": f"use {IN_ENVIRONMENT}"}


def agent(url):
    with openai.OpenAI(api_key=IN_HEADER, base_url=url, max_retries=0) as client:
        messages = [{"role": "user", "content": f"my key is {IN_MESSAGE}, my mail {EMAIL}"}]
        first = client.chat.completions.create(model="m", messages=messages)
        found = login("ada", IN_ARGUMENTS)
        messages.append({"role": "user", "content": str(found)})
        chunks = list(client.chat.completions.create(model="m", messages=messages, stream=True))
    return first.model_dump(), found, [chunk.model_dump() for chunk in chunks]


@pytest.fixture
def live(monkeypatch, trial, provider):
    monkeypatch.setenv("SERVICE_TOKEN", IN_ENVIRONMENT)
    with trial():
        got = agent(provider.base_url)
    provider.stop()
    return got


def everything_kept(home):
    """The bytes of every file, and what the cassettes hold decompressed."""
    for path in home.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()
        if path.suffix == ".cassette":
            cassette = Cassette(path)
            yield path, repr(cassette.header).encode()
            for step in cassette:
                yield path, repr(step).encode() + pack([dict(step.call.arguments), dict(step.call.detail)])
            for mark in cassette.marks():
                yield path, repr(mark).encode()


def test_no_secret_is_on_the_disk(home, live):
    with tt.trial(run="again", task="t", replay="r/t#0", home=home):
        agent("http://127.0.0.1:9/v1")
    found = [
        (path.name, secret) for path, data in everything_kept(home) for secret in SECRETS if secret.encode() in data
    ]
    assert found == []
    assert tt.open("r/t#0", home=home).cassette.redacted


def test_the_agent_that_records_reads_what_is_really_there(live):
    assert live[1] == {"user": "ada", "email": EMAIL, "api_key": IN_RESULT, "note": f"use {IN_ENVIRONMENT}"}


def test_the_replay_matches_and_differs_in_the_secrets_only(home, live):
    with tt.trial(run="again", task="t", replay="r/t#0", home=home) as again:
        first, found, chunks = agent("http://127.0.0.1:9/v1")
    assert again.ending.status == "completed"
    assert (first, chunks) == (live[0], live[2])
    assert found["email"] == EMAIL
    assert found["api_key"] != IN_RESULT


def test_an_e_mail_address_is_kept(home, live):
    view = tt.open("r/t#0", home=home)
    assert EMAIL in view.messages(step=0)[0]["content"]
    assert view.steps[1].outcome.result["email"] == EMAIL


def test_two_passwords_are_two_calls(home, live):
    with pytest.raises(tt.Divergence) as caught, tt.trial(run="again", task="t", replay="r/t#0", home=home):
        with openai.OpenAI(api_key=IN_HEADER, base_url="http://127.0.0.1:9/v1", max_retries=0) as client:
            messages = [{"role": "user", "content": f"my key is {IN_MESSAGE}, my mail {EMAIL}"}]
            client.chat.completions.create(model="m", messages=messages)
        login("ada", "another-very-long-password")
    assert caught.value.to_dict()["step"] == 1
    assert "another-very-long-password" not in str(caught.value)


def test_the_redaction_key_is_readable_by_its_owner_only(home, live):
    assert (home / "redaction.key").stat().st_mode & 0o777 == 0o600
