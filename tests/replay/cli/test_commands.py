"""Each command, as text and as one JSON document."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def document(result, code=0):
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def python(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60, cwd=ROOT, **options
    )


# -- the command itself ------------------------------------------------------------------------------------------------


def test_help_imports_click_and_nothing_heavy():
    done = python("-X", "importtime", "-m", "replay", "--help")
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert "pass^k and pass@k of a run" in done.stdout
    assert "click" in imported
    heavy = {"numpy", "scipy", "vcr", "rich", "sqlite_utils", "msgpack", "openai", "attrs", "attr", "zstandard", "yaml"}
    assert imported & heavy == set()


def test_every_command_has_a_help_of_its_own(call):
    listed = call("--help").stdout.split("Commands:")[1]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]
    assert {"run", "import", "stats", "score", "show", "verify", "ls", "export", "doctor"} <= set(names)
    for name in names:
        assert call(name, "--help").exit_code == 0


def test_python_m_replay_is_the_command(tmp_path):
    done = python("-m", "replay", "--home", str(tmp_path), "ls", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


def test_a_reader_that_goes_away_is_no_error(home, call, recorded):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "replay", "--home", str(home), "ls", "base", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=ROOT,
    )
    os.close(writer)
    assert "Traceback" not in done.stderr


def test_the_home_may_come_from_the_environment(tmp_path, recorded, home):
    env = os.environ | {"TRIALTAPE_HOME": str(home)}
    done = python("-m", "replay", "ls", "--json", env=env)
    assert [row["name"] for row in json.loads(done.stdout)] == ["base"]


# -- run ---------------------------------------------------------------------------------------------------------------


def test_run_tells_how_trials_ended_and_what_to_do_next(call, suite_file):
    result = call("run", suite_file, "--run", "base", "-n", 2, "-j", 2)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "base: 4 trials: 4 completed" in result.stderr
    assert "next: trialtape stats base" in result.stderr


def test_run_as_json(call, suite_file, home):
    told = document(call("run", suite_file, "--run", "base", "-n", 2, "--json"))
    assert told["endings"] == {"completed": 4}
    assert (told["trials"], told["passed"], told["home"]) == (4, 2, str(home))
    assert document(call("run", suite_file, "--run", "base", "-n", 2, "--json"))["resumed"] == 4


def test_a_run_in_which_nothing_was_captured_fails(tmp_path, call):
    path = tmp_path / "silent.py"
    path.write_text("import trialtape as tt\nsuite = tt.Suite([tt.Task(id='x')], agent=lambda trial: None)")
    for _ in range(2):  # also when it goes on
        result = call("run", path, "--run", "r", "-n", 1)
        assert result.exit_code == 1
        assert "r/x#0: 0 calls captured" in result.stderr


def test_run_and_show_tell_what_belongs_to_no_trial(tmp_path, call):
    path = tmp_path / "leaking.py"
    path.write_text("""
from contextvars import Context
import trialtape as tt

@tt.tool(effect="read")
def look(number):
    return number

def agent(trial):
    look(1)
    Context().run(look, 2)

suite = tt.Suite([tt.Task(id="x")], agent)
""")
    told = "belongs to no trial, so it is not recorded: 2 x tool look"
    assert told in call("run", path, "--run", "r", "-n", 2).stderr
    assert "not recorded, as it belongs to no trial: 1 x tool look" in call("show", "r/x#0").stdout
    assert document(call("show", "r/x#0", "--json"))["unattributed"] == {"tool look": 1}
    result = document(call("run", path, "--run", "again", "-n", 2, "--json"))
    assert result["unattributed"] == {"tool look": 2}


def test_a_frozen_run(call, suite_file, recorded):
    result = call("run", suite_file, "--run", "frozen", "--source", "base", "--freeze", "external", "-n", 4, "--json")
    assert document(result)["endings"] == {"completed": 8}
    told = document(call("stats", "frozen", "--json"))
    assert told["coverage"]["verdicts"] == {"own": 24}
    assert told["worlds"] == "base"
    assert "24 of 24 exact; answered whole: 8 of 8 trials" in call("stats", "frozen").stdout


def test_a_run_that_spent_its_money_exits_with_5_and_goes_on(tmp_path, call, provider):
    path = tmp_path / "priced.py"
    path.write_text(f"""
import openai
import trialtape as tt

def agent(trial):
    with openai.OpenAI(api_key="k", base_url={provider.base_url!r}, max_retries=0) as client:
        client.chat.completions.create(model="m", messages=[])

suite = tt.Suite([tt.Task(id="x")], agent, prices={{"m": tt.Price(input=0, output=1e6)}})
unpriced = tt.Suite([tt.Task(id="x")], agent, prices={{"other": tt.Price(input=0, output=1e6)}})
""")
    options = ("--run", "r", "-n", 3, "--max-cost")
    stopped = call("run", path, *options, "7")
    assert stopped.exit_code == 5
    assert "10.0000 of 7.0000 is spent" in stopped.stderr.replace("\n", " ")
    assert call("run", path, *options, "100").exit_code == 0
    assert provider.count == 3
    unknown = call("run", f"{path}:unpriced", "--run", "u", "-n", 3, "--max-cost", "1")
    assert unknown.exit_code == 2
    assert len(unknown.stderr.splitlines()) == 1
    assert "the cost of model 'm' is unknown" in unknown.stderr


# -- cost --------------------------------------------------------------------------------------------------------------

ASKING = """
import openai
import trialtape as tt

def agent(trial):
    with openai.OpenAI(api_key="k", base_url={url!r}, max_retries=0) as client:
        client.chat.completions.create(model={model!r}, messages=[])

def fine(view):
    return True

suite = tt.Suite([tt.Task(id="x")], agent, scorers=[fine], prices={prices})
"""


@pytest.fixture
def asking(tmp_path, call, provider):
    """Run ``r``: two trials that ask this model once each."""

    def run(model, prices="{}", *options, name="r"):
        path = tmp_path / f"asking_{name}.py"
        path.write_text(ASKING.format(url=provider.base_url, model=model, prices=prices))
        return call("run", path, "--run", name, "-n", 2, *options)

    return run


def test_stats_ls_and_show_tell_what_a_run_cost(call, asking):
    assert asking("gpt-4o-mini-2024-07-18").exit_code == 0
    told = r"live model calls: \d+ tokens in, \d+ out, cost 0\.0000\d+ USD, prices of 2026-\d\d-\d\d"
    assert re.search(rf"^{told}$", call("show", "r/x#0").stdout, re.MULTILINE)
    cost = document(call("show", "r/x#0", "--json"))["cost"]
    assert cost["amount"] > 0
    assert (cost["unknown"], cost["calls"], cost["currency"]) == ({}, 1, "USD")
    assert [trial["cost"] for trial in document(call("ls", "r", "--json"))] == [cost] * 2
    whole = document(call("stats", "r", "--json"))["cost"]
    doubled = ("amount", "at_least", "calls", "input_tokens", "output_tokens")
    assert whole == cost | {name: pytest.approx(2 * cost[name]) for name in doubled}
    assert re.search(rf"^  {told}$", call("stats", "r").stdout, re.MULTILINE)


def test_show_step_tells_what_a_model_call_cost(call, asking):
    asking("gpt-4o-mini")
    step = call("show", "r/x#0", "--step", 0).stdout
    assert re.search(r"^cost: +0\.0000\d+ USD, prices of 2026-", step, re.MULTILINE)
    told = document(call("show", "r/x#0", "--step", 0, "--json"))
    assert told["cost"]["amount"] > 0
    assert told["tokens"]["input"] == told["cost"]["input_tokens"]


def test_an_unknown_cost_is_told_as_such(call, asking):
    asking("m")
    assert "cost unknown: no price for m\n" in call("show", "r/x#0").stdout
    assert re.search(r"^cost: +unknown: no price for m$", call("show", "r/x#0", "--step", 0).stdout, re.MULTILINE)
    cost = document(call("stats", "r", "--json"))["cost"]
    assert (cost["amount"], cost["at_least"], cost["unknown"]) == (None, None, {"m": "no price for m"})


def test_a_suites_own_prices_hold_for_its_run_when_it_is_looked_at(call, asking):
    told = asking("gpt-4o-mini", "{'gpt-4o-mini': tt.Price(input=0, output=1e6)}")
    amount = document(call("stats", "r", "--json"))["cost"]["amount"]
    assert amount == int(amount) > 0
    assert f"cost {amount:.4f}" in told.stderr
    assert f"cost {amount:.4f}, by the suite's own prices" in call("stats", "r").stdout


def test_frozen_calls_cost_nothing(call, asking, provider):
    asking("m")
    frozen = asking("m", "{}", "--freeze", "model", "--source", "r", name="f")
    assert (frozen.exit_code, provider.count) == (0, 2)
    assert document(call("stats", "f", "--json"))["cost"]["amount"] == 0
    assert "live model calls: none, so cost 0" in call("show", "f/x#0").stdout
    assert "nothing: answered from a recording" in call("show", "f/x#0", "--step", 0).stdout


def test_a_budget_needs_a_price_of_the_suite_or_of_the_table(asking):
    assert asking("gpt-4o-mini", "{}", "--max-cost", "1").exit_code == 0
    unknown = asking("m", "{}", "--max-cost", "1", name="u")
    assert unknown.exit_code == 2
    assert "the cost of model 'm' is unknown" in unknown.stderr


# -- ls, show ----------------------------------------------------------------------------------------------------------


def test_ls(call, recorded):
    (run,) = document(call("ls", "--json"))
    assert (run["name"], run["trials"], run["tasks"], run["completed"]) == ("base", 8, 2, 8)
    trials = document(call("ls", "base", "--json"))
    assert [trial["id"] for trial in trials][:2] == ["base/a#0", "base/a#1"]
    failed = document(call("ls", "base", "--failed", "--json"))
    assert [trial["id"] for trial in failed] == ["base/a#1", "base/a#3", "base/b#1", "base/b#3"]
    assert "base/b#3" in call("ls", "base").stdout
    assert "8" in call("ls").stdout


def test_an_empty_home_is_told_on_stderr(call):
    result = call("ls")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no run in" in result.stderr


def test_show(call, recorded):
    told = document(call("show", "base/a#1", "--json"))
    assert [step["name"] for step in told["steps"]] == ["look", "look", "look", "put"]
    assert told["scores"]["task_checks@1"]["passed"] is False
    assert document(call("show", "base/a#1", "--step", 2, "--json"))["arguments"] == {"number": 2}
    assert document(call("show", "@last", "--json"))["id"] == "base/b#3"
    assert document(call("show", "@last-fail", "--json"))["id"] == "base/b#3"


# -- score, stats ------------------------------------------------------------------------------------------------------


def test_score_with_a_new_scorer(tmp_path, call, recorded):
    path = tmp_path / "more_scorers.py"
    path.write_text(
        "def long_enough(view):\n    return len(view.steps) > 3\n\ndef broken(view):\n    return view.nothing\n"
    )
    (told,) = document(call("score", "base", "--with", f"{path}:long_enough", "--json"))
    assert (told["passed"], told["failed"], told["problems"]) == (8, 0, [])
    assert told["score"].startswith("long_enough@")
    stats = document(call("stats", "base", "--score", "long_enough", "--json"))
    assert stats["summary"]["rows"][0]["pass_hat_k"] == 1.0
    broken = call("score", "base", "--with", f"{path}:broken", "--json")
    (told,) = document(broken, code=1)
    assert told["unscored"] == 8
    assert "AttributeError" in told["problems"][0]


def test_stats(call, recorded):
    told = document(call("stats", "base", "--json"))
    assert [row["pass_hat_k"] for row in told["summary"]["rows"]] == pytest.approx([0.5, 1 / 6, 0.0, 0.0])
    text = call("stats", "base").stdout
    assert "if you rerun this suite" in text
    assert "on other tasks like these" in text
    assert call("stats", "base").stdout == text
    both = document(call("stats", "base", "base", "--json"))
    assert [one["run"] for one in both] == ["base", "base"]


# -- verify ------------------------------------------------------------------------------------------------------------


def test_verify_replays_every_trial(call, recorded):
    told = document(call("verify", "base", "--json"))
    assert told["counts"] == {"identical": 8}
    assert "8 trials: 8 identical" in call("verify", "base").stdout
    assert "1 trial: 1 identical" in call("verify", "base/a#1").stdout


def test_verify_tells_what_differs_and_goes_on(tmp_path, call, recorded, suite_file):
    changed = tmp_path / "changed.py"
    changed.write_text(suite_file.read_text().replace("range(3)", "range(3 if trial.task.id == 'a' else 4)"))
    result = call("verify", "base", "--suite", changed, "--json")
    told = document(result, code=1)
    assert told["counts"] == {"identical": 4, "differs": 4}
    text = call("verify", "base", "--suite", changed)
    assert text.exit_code == 1
    assert "diverges at step 3" in text.stdout


@pytest.fixture
def with_ids(tmp_path):
    """A suite whose agent makes an id anew in each call."""
    path = tmp_path / "with_ids.py"
    path.write_text("""
from uuid import uuid4
import trialtape as tt

@tt.tool(effect="write")
def charge(amount, request):
    return "charged"

def agent(trial):
    charge(5, {"id": str(uuid4()), "at": "now"})

suite = tt.Suite([tt.Task(id="x")], agent)
""")
    return path


def test_verify_suggests_what_to_ignore_and_ignores_only_what_it_is_told(call, with_ids):
    assert call("run", with_ids, "--run", "base", "-n", 2).exit_code == 0
    text = call("verify", "base")
    assert text.exit_code == 1
    assert "Both look like a UUID. If it may differ each time: --ignore tool:charge:request.id" in text.stdout
    (first, _) = document(call("verify", "base", "--json"), code=1)["trials"]
    assert first["report"]["ignore"] == "tool:charge:request.id"
    assert call("verify", "base", "--ignore", "tool:charge:request.id").exit_code == 0
    assert call("verify", "base", "--ignore", "request.id").exit_code == 0
    assert call("verify", "base", "--ignore", "tool:refund:request.id", "--ignore", "amount").exit_code == 1
    assert call("verify", "base", "--ignore", "a..b").exit_code == 2


def test_what_a_run_ignores_is_ignored_when_it_is_frozen_and_verified(call, with_ids):
    run = ("run", with_ids, "-n", 2, "--json")
    assert call(*run, "--run", "base", "--ignore", "request.id").exit_code == 0
    assert call("verify", "base").exit_code == 0
    frozen = (*run, "--source", "base", "--freeze", "tool")
    assert document(call(*frozen, "--run", "missed"))["endings"] == {"unanswered": 2}
    assert document(call(*frozen, "--run", "served", "--ignore", "request.id"))["endings"] == {"completed": 2}
    other = call(*run, "--run", "base", "--ignore", "amount")
    assert other.exit_code == 2
    assert "another configuration" in other.stderr


def test_verify_of_a_damaged_file_exits_with_4(home, call, recorded):
    path = home / "cassettes/base/a/0.cassette"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    told = document(call("verify", "base", "--json"), code=4)
    assert told["counts"] == {"damaged": 1, "identical": 7}


# -- doctor ------------------------------------------------------------------------------------------------------------


def test_doctor_finds_no_problem_here(call):
    told = document(call("doctor", "--json"))
    assert told["problems"] == []
    assert {adapter["name"] for adapter in told["adapters"]} >= {"httpx", "httpx2", "threads"}
    assert "httpx2.Client._transport_for_url" in [p for adapter in told["adapters"] for p in adapter["patches"]]
    assert "no problem found" in call("doctor").stdout


def test_doctor_reports_a_folder_that_shadows_a_package(tmp_path):
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters/__init__.py").write_text("")
    code = f"""
import sys
from replay.cli.doctor_command import command
sys.path.insert(0, {str(tmp_path)!r})
sys.modules.pop("adapters", None)
import adapters
command(["--json"], obj={str(tmp_path)!r})
"""
    done = python("-c", code)
    assert done.returncode == 1
    assert "something shadows it" in json.loads(done.stdout)["problems"][0]
