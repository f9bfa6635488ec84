# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""What the user's own redaction rules find is in no file, and a replay still matches."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass

import openai
import pytest

import trialtape as tt
from replay.home import Home
from replay.verify import check_file, verify_trial

SSN, CARD, NAME = "078-05-1120", "4111 1111 1111 1111", "Ada Lovelace"
ran = []


@dataclass
class Session:
    token: str
    user: dict


@tt.tool(effect="read")
def look_up(customer: dict, note: str):
    ran.append(note)
    return {"customer": customer, "note": note, NAME: [note]}


@tt.tool(effect="read")
def sign_in(customer: dict):
    ran.append(customer)
    return Session(f"t-{customer['ssn']}", {"id": 7})


@tt.tool(effect="write", external=False, ignore=("db",))
def put(db: dict, key: str, value: str):
    db[key] = value
    return value


@tt.tool(effect="read")
def fail(text: str):
    raise ValueError(f"not {text}")


def unnamed(text):
    return text.replace(NAME, "[name]").replace("Lovelace", "[name]")


def agent(trial):
    trial.track({"people": {NAME: SSN}})
    trial.message("user", f"I am {NAME}, {SSN}")
    seen = look_up({"ssn": SSN, "name": NAME}, f"{NAME} pays with {CARD}")
    put(trial.state, "card", CARD)
    with pytest.raises(ValueError, match="not"):
        fail(SSN)
    return seen


RULES = {
    "ssn": re.compile(r"\b\d{3}-\d\d-\d{4}\b"),
    "card": CARD,
    "person": unnamed,
}


def on_disk(home):
    """All that any file below the home holds, cassettes and states unpacked."""
    import zstandard

    texts = []
    for path in home.rglob("*"):
        if path.suffix == ".cassette":
            cassette = tt.open(str(path)).cassette
            texts.append(repr([*cassette, cassette.marks(), cassette.header, cassette.ending]))
            texts.append(repr([cassette.messages() if callable(getattr(cassette, "messages", None)) else ()]))
        elif path.parent.name == "states":
            texts.append(zstandard.ZstdDecompressor().decompress(path.read_bytes()).decode("utf-8", "replace"))
        elif path.is_file():
            texts.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(texts)


def test_nothing_of_it_is_in_any_file_and_a_replay_matches(trial, home):
    with trial(run="r", redact=RULES) as block:
        agent(block)
    text = on_disk(home)
    assert "{secret:ssn:" in text
    assert "[name]" in text
    assert not any(secret in text for secret in (SSN, CARD, "Lovelace"))
    counts = tt.open("r/t#0", home=home).cassette.redacted
    assert set(counts) >= {"ssn", "card", "person"}
    ran.clear()
    with trial(run="again", replay="r/t#0", redact=RULES) as block:
        seen = agent(block)
    assert ran == []
    assert seen["customer"]["name"] == "[name]"
    with trial(run="frozen", freeze="tool", source="r", redact=RULES) as block:
        agent(block)
    assert set(block.verdicts) == {"own"}
    config = json.loads((home / "cassettes/r/run.json").read_text())["config"]
    assert config["redact"] == ["ssn", "card", "person"]


def test_without_the_rules_a_replay_diverges(trial):
    with trial(run="r", redact=RULES) as block:
        agent(block)
    with pytest.raises(tt.Divergence), trial(run="again", replay="r/t#0") as block:
        agent(block)


def test_by_path(trial, home):
    rules = ["arguments.customer.ssn", "result.token"]
    with trial(run="r", redact=rules):
        assert sign_in({"ssn": SSN, "name": NAME}).token == f"t-{SSN}"
    step = tt.open("r/t#0", home=home).steps[0]
    assert step.call.arguments["customer"]["ssn"].startswith("{secret:arguments_customer_ssn:")
    assert step.call.arguments["customer"]["name"] == NAME
    assert step.outcome.result.token.startswith("{secret:result_token:")
    assert step.outcome.result.user == {"id": 7}
    assert SSN not in on_disk(home)
    with trial(run="again", replay="r/t#0", redact=rules):
        assert sign_in({"ssn": SSN, "name": NAME}).token.startswith("{secret:")
    with pytest.raises(tt.Divergence), trial(run="other", replay="r/t#0", redact=rules):
        sign_in({"ssn": "078-05-1121", "name": NAME})


@pytest.mark.parametrize("stream", [False, True])
def test_model_calls(trial, home, provider, stream):
    rules = [re.compile(r"\d{3}-\d\d-\d{4}"), "arguments.messages[*].secret"]

    def ask():
        client = openai.OpenAI(base_url=provider.base_url, api_key="any", max_retries=0)
        messages = [{"role": "user", "content": f"echo {SSN}", "secret": NAME}]
        answer = client.chat.completions.create(model="m", messages=messages, stream=stream)
        return [str(chunk) for chunk in answer] if stream else answer.choices[0].message.content

    with trial(run="r", redact=rules):
        ask()
    assert not any(secret in on_disk(home) for secret in (SSN, NAME))
    provider.stop()
    with trial(run="again", replay="r/t#0", redact=rules):
        ask()


def broken(text):
    raise ValueError(text)


def endless(text):
    return text + "x"


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (broken, "the redaction rule 'broken' raised ValueError"),
        (endless, "the redaction rule 'endless' never comes to rest"),
        (lambda text: None, "the redaction rule 'lambda' gave a NoneType"),
    ],
)
def test_a_rule_that_fails_stops_the_trial_before_anything_is_written(trial, home, rule, told):
    calls = []
    with pytest.raises(tt.CassetteError, match=told) as caught, trial(run="r", redact=rule):
        for _ in range(3):
            calls.append(1)
            try:
                look_up({"ssn": SSN}, NAME)
            except Exception:
                pytest.fail("an agent could swallow it")
    assert calls == [1]
    assert SSN not in str(caught.value)
    assert not any(secret in on_disk(home) for secret in (SSN, "Lovelace"))
    assert tt.open("r/t#0", home=home).ending.status == "incomplete"


def test_a_rule_that_fails_at_a_message_stops_the_trial_even_if_the_agent_goes_on(trial, home):
    with pytest.raises(tt.CassetteError, match="'broken' raised"), trial(run="r", redact=broken) as block:
        with contextlib.suppress(Exception):
            block.message("user", NAME)
        look_up({}, "x")
    assert "Lovelace" not in on_disk(home)


def test_a_rule_that_fails_stops_a_run_with_one_error(home):
    suite = tt.Suite([tt.Task("t")], lambda trial: look_up({}, SSN), redact=broken)
    with pytest.raises(tt.CassetteError, match="'broken' raised ValueError"):
        suite.run("r", trials=3, home=home)
    assert SSN not in on_disk(home)


def test_a_suites_rules_hold_for_its_runs(home):
    tasks = [tt.Task("t", instruction=f"I am {NAME}", state=lambda: {"ssn": SSN})]

    def run(trial):
        look_up({"ssn": SSN}, NAME)
        put(trial.state, "name", NAME)

    suite = tt.Suite(tasks, run, redact=RULES)
    suite.run("r", trials=2, home=home)
    result = suite.run("frozen", trials=2, freeze="tool", source="r", home=home)
    assert result.endings == {"completed": 2}
    assert not any(secret in on_disk(home) for secret in (SSN, "Lovelace"))
    place = Home(home)
    for trial, path in place.trials("r"):
        view = check_file(trial, path, place)
        assert verify_trial(view, place, tasks[0], run, redact=suite.redact).status == "identical"
        assert verify_trial(view, place, tasks[0], run).status == "differs"
    with pytest.raises(tt.BadInput, match="another configuration"):
        tt.Suite(tasks, run).run("r", trials=3, home=home)
