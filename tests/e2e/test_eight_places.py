# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""One and the same set of keys in eight places, and in no file.

The places: a header, a cookie, a query string, a JSON body, a tool argument, a tool result, an exception's message, an
environment variable.
"""

from __future__ import annotations

import contextlib
import itertools
import json

import httpx2
import openai
import pytest
import zstandard
from click.testing import CliRunner

import trialtape as tt
from cassettes import frames
from cassettes.scan import inflate_all
from replay.cli import main

# Of every known kind of shape, one without any shape (the environment tells it), and one that only its field tells.
SHAPED = {
    "openai": "sk-proj-E1ghtPlacesAAAABBBBCCCCDDDDEEEE",
    "github": "ghp_E1ghtP1acesAAAABBBBCCCCDDDDEEEEFFFF",
    "aws": "AKIAE1GHTPLACESABCDE",
    "google": "AIzaE1ghtPlacesAAAABBBBCCCCDDDDEEEEFFFF",
    "slack": "xoxb-E1ghtPlaces-0123456789",
    "stripe": "sk_live_E1ghtPlaces0123456789",
    "jwt": "eyJE1ghtPlaces0.eyJFMWdodFBsYWNlczA.E1ghtPlacesSignature",
    "environment": "f00d5eed-E1ghtPlaces-0123456789-b10b",
}
NAMED = "correct.horse.battery.staple"
KEYS = [*SHAPED.values(), NAMED]
TELLING = {"api_key": NAMED, **{f"{name}_value": key for name, key in SHAPED.items()}}
SENTENCE = f"https://x.test/?api_key={NAMED}&n=1 and " + " and ".join(SHAPED.values())


class Denied(Exception):
    def __init__(self, message, **fields):
        super().__init__(message)
        self.fields = fields


@tt.tool(effect="read")
def look_up(password, asked):
    look_up.got.append((password, asked))
    return {"granted": TELLING, "text": [SENTENCE], "nested": json.dumps(TELLING)}


@tt.tool(effect="read")
def refuse(text):
    try:
        raise KeyError(f"no {SENTENCE}")
    except KeyError as error:
        denied = Denied(f"not with {SENTENCE}", **TELLING)
        denied.add_note(f"see {SENTENCE}")
        raise denied from error


@tt.tool(effect="write", external=False, ignore=("db",))
def put(db, secret_key):
    db["kept"] = TELLING
    return "done"


def agent(url, block):
    block.track({"before": TELLING})
    block.message("user", f"here is {SENTENCE}")
    got = []
    headers = {"authorization": f"Bearer {SHAPED['jwt']}", "x-api-key": NAMED, "user-agent": f"me/1 {SHAPED['openai']}"}
    with httpx2.Client(headers=headers, cookies={"session": SHAPED["slack"], "token": NAMED}) as client:
        answer = client.post(f"{url}/echo", params=TELLING, json={"inside": TELLING, "text": SENTENCE})
        got.append(answer.json())
        got.append(client.post(f"{url}/echo", data=TELLING).json())
    with openai.OpenAI(api_key=SHAPED["openai"], base_url=f"{url}/v1", max_retries=0) as model:
        messages = [{"role": "user", "content": SENTENCE}]
        got.append(model.chat.completions.create(model="m", messages=messages).model_dump())
        got.append([c.model_dump() for c in model.chat.completions.create(model="m", messages=messages, stream=True)])
    got.append(look_up(NAMED, TELLING))
    with pytest.raises(Denied) as caught:
        refuse(SENTENCE)
    got.append((str(caught.value), caught.value.fields))
    put(block.state, NAMED)
    return got


@pytest.fixture(autouse=True)
def planted(monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", SHAPED["environment"])
    look_up.got = []


@pytest.fixture
def recorded(trial, provider):
    with trial() as block:
        got = agent(provider.url, block)
    for finish in (lambda: RuntimeError(SENTENCE), lambda: Denied(SENTENCE, **TELLING)):
        with contextlib.suppress(RuntimeError, Denied), trial(run="failed"):
            look_up(NAMED, TELLING)
            raise finish()
    seen = list(provider.requests)
    provider.stop()
    return provider.url, got, seen


def plain_parts(path):
    """What a file holds: its bytes, and what they are when they are decompressed."""
    data = path.read_bytes()
    yield data
    if path.suffix == ".cassette":
        stretch = []
        for frame in itertools.chain(frames.frames(data), [None]):
            if stretch and (frame is None or frame.restart or frame.type != frames.STEPS):
                yield from inflate_all(stretch)
                stretch = []
            if frame is not None:
                stretch.append(frame)
    elif data.startswith(zstandard.MAGIC_NUMBER.to_bytes(4, "little")):
        yield zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 24)


def found_in(home):
    """Which key is in which file, and how many stretches were looked through."""
    looked, found = 0, set()
    for path in home.rglob("*"):
        for part in plain_parts(path) if path.is_file() else ():
            looked += 1
            found |= {(str(path.relative_to(home)), key) for key in KEYS if key.encode() in part}
    return looked, found


def test_no_key_is_in_any_file(home, recorded, trial):
    url, _, _ = recorded
    with trial(run="again", replay="r/t#0") as block:
        agent(url, block)
    with trial(run="frozen", freeze=["model", "tool", "http"], source="r") as block:
        agent(url, block)
    shown = CliRunner().invoke(main, ["--home", str(home), "ls", "--json"])  # which brings the index up to date
    assert shown.exit_code == 0
    assert (home / "trialtape.db").exists()
    looked, found = found_in(home)
    assert found == set()
    assert looked > 20


def test_the_look_would_see_a_key_in_a_cassette_and_in_a_state(home, trial, monkeypatch):
    monkeypatch.delenv("SERVICE_TOKEN")
    with trial() as block:
        block.track({"text": SHAPED["environment"]})
        look_up("", SHAPED["environment"])
    _, found = found_in(home)
    assert {path.partition("/")[0] for path, _ in found} == {"cassettes", "states"}


def test_the_server_and_the_tools_got_the_keys_and_the_agent_read_what_was_sent(recorded):
    _, (echoed, form, _, _, granted, (message, fields)), seen = recorded
    first = seen[0]
    assert all(key in first.path for key in KEYS)
    assert first.headers["x-api-key"] == NAMED
    assert SHAPED["slack"] in first.headers["cookie"]
    assert NAMED in first.headers["cookie"]
    assert json.loads(echoed["body"]) == {"inside": TELLING, "text": SENTENCE}
    assert all(key in form["body"] for key in KEYS)
    assert look_up.got[0] == (NAMED, TELLING)
    assert granted == {"granted": TELLING, "text": [SENTENCE], "nested": json.dumps(TELLING)}
    assert message == f"not with {SENTENCE}"
    assert fields == TELLING


def test_the_replay_matches_with_the_server_gone_and_tells_no_key(home, recorded, trial):
    url, live, _ = recorded
    look_up.got.clear()
    with trial(run="again", replay="r/t#0") as block:
        got = agent(url, block)
    assert block.ending.status == "completed"
    assert look_up.got == []
    assert not any(key in repr(got) for key in KEYS)
    assert [type(item) for item in got] == [type(item) for item in live]
    assert got[2:4] == live[2:4]  # what the model said holds no key
    assert {step.origin.verdict for step in tt.open("again/t#0", home=home).steps} == {"own"}


@pytest.mark.parametrize("place", ["query", "body", "argument"])
def test_another_key_in_that_place_is_another_call(recorded, trial, place):
    url, _, _ = recorded
    other = "another.horse.battery.staple"
    params = TELLING | ({"api_key": other} if place == "query" else {})
    body = {"inside": TELLING | ({"api_key": other} if place == "body" else {}), "text": SENTENCE}
    with pytest.raises(tt.Divergence) as caught, trial(run="other", replay="r/t#0") as block:
        block.track({"before": TELLING})
        with httpx2.Client() as client:
            client.post(f"{url}/echo", params=params, json=body)
            client.post(f"{url}/echo", data=TELLING)
        look_up(other if place == "argument" else NAMED, TELLING)
    assert not any(key in str(caught.value) for key in [*KEYS, other])


def test_keys_in_what_a_suite_keeps(home, provider):
    def scorer(view):
        return view.steps[0].outcome.value["granted"]["api_key"] != NAMED

    tasks = [tt.Task("t", instruction=SENTENCE, state=lambda: {"db": TELLING}, expected={"db": TELLING})]
    suite = tt.Suite(tasks, lambda trial: look_up(NAMED, trial.task.instruction), scorers=[scorer])
    result = suite.run("suite", trials=2, home=home)
    assert result.endings == {"completed": 2}
    suite.run("frozen", trials=2, freeze="external", source="suite", home=home)
    assert (home / "cassettes/suite/scores.jsonl").exists()
    assert (home / "cassettes/suite/run.json").exists()
    looked, found = found_in(home)
    assert found == set()
    assert looked > 10
