"""The recorded airline trials under redaction: nothing in them is a secret, so nothing in them may change."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from pathlib import Path

import pytest

from cassettes.canonical import canonical, key_of
from cassettes.model import Interaction
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.importers.taubench import read_results
from replay.importers.taubench_import import import_results
from replay.playback import Playback
from replay.recording import Recording
from replay.view import View

AIRLINE = Path(__file__).parents[3].parent / "shared" / "data" / "taubench" / "gpt-4o-airline.json"
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")

pytestmark = pytest.mark.skipif(
    not AIRLINE.exists(), reason=f"{AIRLINE} is not here: the tau-bench recordings are no part of the project"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The trials, imported as by the command: the redactor looks at every one."""
    home = Home(tmp_path_factory.mktemp("airline"))
    environ = {"MY_API_KEY": "a-secret-that-stands-nowhere-0123456789"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        assert import_results(home, "airline", AIRLINE, read_results(AIRLINE)).trials == 200
    return home


@pytest.fixture(scope="module")
def views(home):
    return {(trial.task, trial.index): View(path, home) for trial, path in home.trials("airline")}


@pytest.fixture(scope="module")
def records():
    return {(str(record["task_id"]), record["trial"]): record for record in json.loads(AIRLINE.read_bytes())}


def text(value):
    """As bytes in the order that the source has, so that equal means the same byte for byte."""
    return json.dumps(value, ensure_ascii=False).encode()


def test_every_message_argument_and_result_is_that_of_the_source(views, records):
    assert {*views} == {*records}
    compared = results = emails = 0
    for key, record in records.items():
        traj, view = record["traj"], views[key]
        asked = [place for place, message in enumerate(traj) if message["role"] == "assistant"]
        models = [step for step in view.steps if step.call.kind == "model"]
        tools = [step for step in view.steps if step.call.kind == "tool"]
        assert len(models) == len(asked)
        for step, place in zip(models, asked, strict=True):
            assert text(step.call.arguments["messages"]) == text(traj[:place])
            assert text(step.outcome.result) == text(traj[place])
            compared += 1
        answered = [called for place in asked for called in calls_with_results(traj, place)]
        assert len(tools) == len(answered) == sum(message["role"] == "tool" for message in traj)
        for step, (called, result) in zip(tools, answered, strict=True):
            assert step.call.name == called["name"]
            assert text(dict(step.call.arguments)) == text(json.loads(called["arguments"]))
            assert text(step.outcome.result) == text(result)
            emails += len(EMAIL.findall(result))
            results += 1
        said = [m.data["content"] for m in view.marks if m.kind == "message" and m.data.get("role") == "user"]
        assert text(said) == text([message["content"] for message in traj if message["role"] == "user"])
    assert (compared, results) == (2454, 1164)
    assert emails == 120


def calls_with_results(traj, place):
    """The tool calls of the assistant's message at ``place`` that got a result, each with it."""
    asked = {call["id"]: call["function"] for call in traj[place].get("tool_calls") or []}
    following = takewhile(lambda message: message["role"] == "tool", traj[place + 1 :])
    return [(asked[message["tool_call_id"]], message["content"]) for message in following]


def test_the_redactor_touched_nothing(views):
    assert not any(view.cassette.redacted for view in views.values())


def test_every_trial_replays_in_its_order_with_the_live_side_redacted(home, views):
    environ = {"MY_API_KEY": "a-secret-that-stands-nowhere-0123456789"}
    redactor = Redactor(home.redaction_key(), secrets_of(environ))
    replayed = 0
    for trial in read_results(AIRLINE).trials:
        view = views[trial.task, trial.index]
        playback = Playback(Recording(view.id, view.cassette))
        for event in trial.trajectory.events:
            if not isinstance(event, Interaction):
                continue
            call = redactor.call(event.call)
            entry = playback.take(call, key_of(call))
            assert entry.interaction.step == event.step
            assert canonical(entry.interaction.outcome.result) == canonical(event.outcome.result)
            replayed += 1
        assert playback.left_over() is None
    assert replayed == 2454 + 1164
