"""``trialtape lab reexecute``: what is printed, kept and shown again, and how it ends."""

from __future__ import annotations

import json

import pytest

from tests.replay.importers.records import STOP, asks, record, result, written

_SHOP = """
import trialtape as tt

class Shop:
    name, version, data_digest = "shop", "2", "abc"

    def __init__(self, answers):
        self.answers = answers

    def call(self, name, arguments):
        if name not in self.answers:
            raise tt.UnknownTool(name)
        return self.answers[name]

def same(task):
    return Shop({"look": '{"a": 1, "b": "x"}', "put": "done"})

def other(task):
    return Shop({"look": '{"a": 1, "c": "x"}', "put": "done"})

def less(task):
    return Shop({"look": '{"a": 1, "b": "x"}'})
"""


@pytest.fixture
def shop(tmp_path, call):
    """The file of a shop, and a run of two imported trials."""
    path = tmp_path / "a_shop.py"
    path.write_text(_SHOP)
    look = (asks(("c1", "look", {"n": 1})), result("c1", "look", '{"a": 1, "b": "x"}'))
    put = (asks(("c2", "put", {})), result("c2", "put", "done"))
    records = written(tmp_path, record(*look, *put, STOP), record(*look, STOP, trial=1))
    assert call("import", "taubench", records, "--run", "old").exit_code == 0
    return path


def test_what_is_the_same_is_told_with_the_environment(call, shop):
    done = call("lab", "reexecute", "old", "--env", f"{shop}:same")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("shop 2, data abc: 2 trials, ")
    assert "none of 3 outputs differs" in done.stdout
    assert "  byte for byte: 3" in done.stdout


def test_a_trial_without_calls_is_told_as_such(call, shop, tmp_path):
    assert call("import", "taubench", written(tmp_path, record(STOP)), "--run", "idle").exit_code == 0
    done = call("lab", "reexecute", "idle", "--env", f"{shop}:same", "--mode", "strict")
    assert done.exit_code == 0
    head, *lines = done.stdout.splitlines()
    assert head.startswith("shop 2, data abc: 1 trial, ")
    assert lines[0] == "no tool call was recorded"
    assert lines[1].startswith("final states not compared (1): ")


def test_what_differs_is_told_by_tool_and_field_and_each_mode_ends_as_it_says(call, shop):
    done = call("lab", "reexecute", "old", "--env", f"{shop}:other")
    assert done.exit_code == 0
    assert "2 of 3 outputs differ, all in look: b renamed to c" in done.stdout
    assert "  look: 2 of 2 differ\n    b renamed to c (2)\n" in done.stdout
    assert call("lab", "reexecute", "old", "--env", f"{shop}:other", "--mode", "lenient").exit_code == 1
    strict = call("lab", "reexecute", "old", "--env", f"{shop}:other", "--mode", "strict")
    assert strict.exit_code == 1
    assert "  old/0#0 stopped at step 1, look: another answer" in strict.stdout
    assert "  1 later calls of trials that stopped were not made again" in strict.stdout
    ignoring = ("--ignore-field", "tool:look:b", "--ignore-field", "tool:look:c", "--mode", "lenient")
    assert call("lab", "reexecute", "old", "--env", f"{shop}:other", *ignoring).exit_code == 0


def test_a_tool_that_is_gone_is_told_and_differs(call, shop):
    done = call("lab", "reexecute", "old", "--env", f"{shop}:less", "--mode", "lenient")
    assert done.exit_code == 1
    assert "  put: the environment has no such tool; it had an answer when it was recorded (1)" in done.stdout


def test_the_results_are_kept_and_shown_again(call, shop, home):
    first = json.loads(call("lab", "reexecute", "old", "--env", f"{shop}:other", "--json").stdout)
    assert first["environment"]["seen"] == [{"name": "shop", "version": "2", "data_digest": "abc", "trials": 2}]
    assert first["tools"]["look"]["fields"] == {"b renamed to c": 2}
    (leaf, _) = first["trials"][0]["others"][0]["leaves"]
    assert leaf == {"path": "b", "left": "x"}
    second = call("lab", "reexecute", "old/0#0", "--env", f"{shop}:same").stdout
    again = call("lab", "reexecute", "old").stdout
    lines = again.splitlines()
    assert lines[0].endswith(f"  old in {shop}:other: 2 of 3 outputs differ (report)")
    assert again == f"{lines[0]}\n{second}"
    kept = (home / "cassettes" / "old" / "reexecutions.jsonl").read_text().splitlines()
    assert [json.loads(line)["of"] for line in kept] == ["old", "old/0#0"]
    assert json.loads(call("lab", "reexecute", "old", "--json").stdout) == json.loads(kept[1])


def test_what_tools_print_and_secrets_in_their_errors_are_in_no_document(call, shop, home):
    token = "sk-" + "a1B2" * 6
    told = f"print('noise'); self.answers = dict(answers, put=property)\n        self.token = '{token}'"
    raising = (
        "if name == 'put':\n            raise ValueError('bad key ' + self.token + chr(0xDC80))\n        if name not in"
    )
    text = _SHOP.replace("self.answers = answers", told).replace("if name not in", raising)
    shop.write_text(text)
    done = call("lab", "reexecute", "old", "--env", f"{shop}:same", "--json")
    assert json.loads(done.stdout)["differ"] == 1
    assert "noise" in done.stderr
    assert "bad key {secret:openai:" in done.stdout
    assert token not in done.stdout + (home / "cassettes" / "old" / "reexecutions.jsonl").read_text()
    assert call("lab", "reexecute", "old").exit_code == 0


def test_processes_find_the_same(call, shop):
    def found(*options):
        document = json.loads(call("lab", "reexecute", "old", "--env", f"{shop}:other", "--json", *options).stdout)
        return {**document, "at": None}

    assert found("-j", "2") == found()


def test_a_recorded_score_stands_beside_a_scorer_s_verdict(call, shop):
    done = call("lab", "reexecute", "old", "--env", f"{shop}:same", "--with", "required_outputs")
    assert done.exit_code == 0, done.stderr
    assert "verdicts of required_outputs@1 beside reward@taubench: 0 of 2 the same; passed 2 then, 0 now" in done.stdout
    assert "  old/0#0: passed when it was recorded, fails now" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["old"], "never carried out again; name a real environment: --env"),
        (["nowhere", "--env", "x.py:y"], "there is no run 'nowhere'"),
        (["old", "--env", "gone.py:y"], "gone.py does not exist"),
        (["old", "--env", "nix"], "'nix' is no environment"),
        (["old", "--env", "{shop}:same", "--with", "nix"], "'nix' is no scorer"),
        (["old", "--env", "{shop}:same", "--ignore-field", "a b:"], "cannot be ignored"),
        (
            ["old", "--env", "{shop}:same", "--score", "nix"],
            "no trial has a recorded score 'nix' (known: reward@taubench)",
        ),
        (["old", "--env", "{shop}:same", "--ignore-state", "a["], "cannot be ignored"),
        (["old", "--env", "{shop}:Shop"], "nothing of 'old' was carried out: the environment"),
    ],
)
def test_bad_input_is_one_line(call, shop, home, arguments, told):
    arguments = [text.format(shop=shop) for text in arguments]
    if arguments[-1].endswith(":Shop"):
        shop.write_text(_SHOP.replace("self.answers = answers", "raise ValueError('no data')"))
    done = call("lab", "reexecute", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (home / "cassettes" / "old" / "reexecutions.jsonl").exists()


def test_a_damaged_file_of_results_is_told(call, shop, home):
    assert call("lab", "reexecute", "old", "--env", f"{shop}:same").exit_code == 0
    path = home / "cassettes" / "old" / "reexecutions.jsonl"
    path.write_bytes(path.read_bytes() + b'{"torn')
    assert call("lab", "reexecute", "old").exit_code == 0
    path.write_bytes(b"{torn\n" + path.read_bytes())
    done = call("lab", "reexecute", "old")
    assert (done.exit_code, "line 1 is damaged" in done.stderr) == (4, True)
