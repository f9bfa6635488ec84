from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from adapters.vcr import VCR_FORMAT
from replay.cli import main
from replay.home import Home
from replay.view import open_trial

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
REPLY = {
    "id": "r1",
    "model": "m-1",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
}


def exchange(method, uri, body, answer, kind="application/json"):
    return {
        "request": {"method": method, "uri": uri, "body": body, "headers": {"content-type": ["application/json"]}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": [kind]},
            "body": {"string": answer},
        },
    }


def written(path, *more):
    chat = exchange("POST", "http://h/v1/chat/completions", json.dumps(CHAT), json.dumps(REPLY))
    text = exchange("GET", "http://h/a", None, "words", "text/plain")
    path.write_text(json.dumps({"version": 1, "interactions": [chat, text, *more]}))
    return path


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)], catch_exceptions=False)


def test_a_file_is_one_trial(tmp_path):
    home = tmp_path / "home"
    done = run(home, "import", "vcr", written(tmp_path / "first one.json"), "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"trial": "vcr/first one#0", "done": "written", "interactions": 2, "model": 1}
    view = open_trial("vcr/first one#0", Home(home))
    model, http = view.steps
    assert (model.call.kind, model.call.arguments, model.text) == ("model", CHAT, "hello")
    assert view.messages(0) == CHAT["messages"]
    assert (http.call.name, http.call.effect, http.outcome.value["body"]) == ("GET h/a", "read", "words")
    assert (view.ending.status, view.cassette.header.began) == ("completed", 0.0)
    orders = [n for s in view.steps for n in (s.interaction.started, s.interaction.ended)]
    assert orders == sorted(set(orders))


def test_there_and_back(tmp_path):
    home, path, back = tmp_path / "home", written(tmp_path / "a.json"), tmp_path / "back.json"
    run(home, "import", "vcr", path, "--run", "r", "--task", "t")
    done = run(home, "export", "r/t#0", "--to", "vcr", "-o", back)
    assert done.exit_code == 0
    assert "2 exchanges written" in done.stderr
    assert [(c.arguments, o, reply) for c, o, reply in VCR_FORMAT.read(back)] == [
        (c.arguments, o, reply) for c, o, reply in VCR_FORMAT.read(path)
    ]


def test_the_same_file_again_changes_nothing_and_another_is_refused(tmp_path):
    home, path = tmp_path / "home", written(tmp_path / "a.json")
    run(home, "import", "vcr", path)
    kept = Home(home).cassettes / "vcr" / "a" / "0.cassette"
    before = kept.read_bytes()
    again = run(home, "import", "vcr", path)
    assert (again.exit_code, again.stderr) == (0, "vcr/a#0: already imported\n")
    written(path, exchange("GET", "http://h/b", None, "more", "text/plain"))
    other = run(home, "import", "vcr", path)
    assert (other.exit_code, len(other.stderr.splitlines())) == (2, 1)
    assert "another file" in other.stderr
    assert kept.read_bytes() == before
    assert run(home, "import", "vcr", path, "--task", "b").exit_code == 0


@pytest.mark.parametrize("content", [None, "{", '{"version": 1, "interactions": []}'])
def test_what_cannot_be_imported(tmp_path, content):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_text(content)
    done = run(tmp_path / "home", "import", "vcr", path)
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert not (tmp_path / "home").exists()
