"""`trialtape fork`: going on from a step, and finding the step that lost a trial."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import trialtape as tt
from cassettes.model import TrialId
from replay.branching.forks import blame_of
from replay.cli import main
from replay.home import Home
from replay.runs import load_run

SUITE = """
from pathlib import Path
import trialtape as tt

HERE = Path(__file__).parent

def noted(name):
    with (HERE / "ran").open("a") as file:
        file.write(name + "\\n")

@tt.tool(effect="read")
def look(number):
    noted(f"look {number}")
    return number

@tt.tool(effect="read")
def decide():
    noted("decide")
    return {"choice": (HERE / "choice").read_text()}

@tt.tool(effect="write", external=False, ignore=["db"])
def put(db, key):
    noted(f"put {key}")
    db[key] = 1
    return f"put {key}"

@tt.tool(effect="write")
def pay(amount):
    noted(f"pay {amount}")
    return "paid"

def agent(trial):
    look(2 if (HERE / "astray").exists() else 1)
    key = decide()["choice"]
    put(trial.state, key)
    if trial.task.id == "payer":
        pay(5)
    look(3)

def make():
    return {"start": 1}

tasks = [tt.Task(id=name, state=make, expected={"right": 1}) for name in ("plain", "payer")]
suite = tt.Suite(tasks=tasks, agent=agent)
smaller = tt.Suite(tasks=tasks[1:], agent=agent)
other = tt.Suite(tasks=[tt.Task(id="plain", state=dict, expected={"right": 1})], agent=agent)
nothing = 5
"""


@pytest.fixture
def suite_file(tmp_path):
    path = tmp_path / "the_suite.py"
    path.write_text(SUITE)
    return path


@pytest.fixture
def choose(tmp_path):
    """What the outside answers from now on."""

    def set_to(text):
        (tmp_path / "choice").write_text(text)

    return set_to


@pytest.fixture
def ran(tmp_path):
    """What really ran since the last time."""

    def read():
        path = tmp_path / "ran"
        lines = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return lines

    return read


@pytest.fixture
def lost(call, suite_file, choose, ran):
    """Two trials that chose wrong; the outside answers right by now."""
    choose("wrong")
    assert call("run", suite_file, "--run", "base", "--trials", 1).exit_code == 0
    choose("right")
    ran()
    return "base/plain#0"


def forked(call, *arguments, code=0):
    result = call("fork", *arguments, "--json")
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


# -- one step ----------------------------------------------------------------------------------------------------------


def test_what_comes_before_the_step_does_not_run(call, lost, ran):
    document = forked(call, lost, "--at", 1, "-n", 2)
    assert ran() == ["decide", "put right", "look 3"] * 2
    assert document["trial"] == lost
    assert document["passed"] is False
    [fork] = document["forks"]
    assert (fork["run"], fork["at"], fork["resumed"]) == ("base.fork-plain-0-at1", 1, 0)
    assert (fork["passed"], fork["counted"]) == (2, 2)
    assert [trial["id"] for trial in fork["trials"]] == [f"base.fork-plain-0-at1/plain#{index}" for index in (0, 1)]
    assert all(trial["passed"] for trial in fork["trials"])
    assert document["bars"] == []


def test_it_is_told_in_words(call, lost):
    result = call("fork", lost, "--at", 1, "-n", 4)
    assert result.exit_code == 0
    assert "base/plain#0 failed; from step 1 on 4 of 4 continuations pass   95% [0.51, 1.00]" in result.stdout
    assert 'recorded from there: put(key="wrong")' in result.stdout
    assert "4 continuations from step 1 in base.fork-plain-0-at1" in result.stderr


def test_the_same_fork_twice_finds_the_first(call, lost, ran, files):
    forked(call, lost, "--at", 1, "-n", 2)
    ran()
    before = files()
    assert forked(call, lost, "--at", 1, "-n", 2)["forks"][0]["resumed"] == 2
    assert ran() == []
    assert files() == before
    assert "all there already; --run NAME makes new ones" in call("fork", lost, "--at", 1, "-n", 2).stderr


def test_more_trials_add_only_the_missing_ones(call, lost, ran):
    forked(call, lost, "--at", 2, "-n", 1)
    ran()
    fork = forked(call, lost, "--at", 2, "-n", 3)["forks"][0]
    assert ran() == ["put wrong", "look 3"] * 2
    assert (fork["resumed"], fork["counted"], fork["passed"]) == (1, 3, 0)
    assert forked(call, lost, "--at", 2, "-n", 2)["forks"][0]["trials"][1]["id"].endswith("#1"), (
        "no more than asked for"
    )


def test_a_run_may_be_named(call, lost):
    assert forked(call, lost, "--at", 1, "-n", 1, "--run", "mine")["forks"][0]["run"] == "mine"
    result = call("fork", lost, "--at", 2, "-n", 1, "--run", "mine")
    assert result.exit_code == 2
    assert "run 'mine' exists already with another configuration (fork.at: 1 there, 2 now" in result.stderr


def test_another_agent_does_not_go_on_with_the_continuations_of_this_one(call, lost, suite_file):
    forked(call, lost, "--at", 1, "-n", 1)
    suite_file.write_text(SUITE + "\n# changed\n")
    result = call("fork", lost, "--at", 1, "-n", 1)
    assert result.exit_code == 2
    assert "fork.agent" in result.stderr


def test_the_whole_trial_may_be_frozen_and_goes_on_from_its_end(call, lost, ran):
    assert forked(call, lost, "--at", 4, "-n", 1)["forks"][0]["passed"] == 0
    assert ran() == []
    assert forked(call, lost, "--at", 0, "-n", 1)["forks"][0]["passed"] == 1
    assert ran() == ["look 1", "decide", "put right", "look 3"]


def test_the_continuations_are_trials_like_any_other(call, lost):
    forked(call, lost, "--at", 1, "-n", 2)
    assert call("verify", "base.fork-plain-0-at1").exit_code == 0
    shown = call("show", "base.fork-plain-0-at1/plain#1")
    assert "fork: goes on from step 1 of base/plain#0" in shown.stdout
    assert 'look {"number": 1} → 1  [own]' in shown.stdout
    assert "1 task, 2 of 2 trials counted" in call("stats", "base.fork-plain-0-at1").stdout


def test_a_fork_is_forked(call, lost, ran):
    forked(call, lost, "--at", 1, "-n", 1)
    ran()
    fork = forked(call, "base.fork-plain-0-at1/plain#0", "--at", 3, "-n", 1)["forks"][0]
    assert fork["run"] == "base.fork-plain-0-at1.fork-plain-0-at3"
    assert fork["passed"] == 1
    assert ran() == ["look 3"]


# -- edits -------------------------------------------------------------------------------------------------------------


def test_an_edit_changes_the_course(call, lost, tmp_path, choose, ran):
    (tmp_path / "edit.json").write_text('{"choice": "right"}\n')
    choose("nobody asks")
    fork = forked(call, lost, "--at", 2, "-n", 1, "--edit", tmp_path / "edit.json")["forks"][0]
    assert ran() == ["put right", "look 3"]
    assert (fork["passed"], fork["edited"]) == (1, 1)
    assert fork["run"].startswith("base.fork-plain-0-at2-edit-")
    shown = call("show", f"{fork['run']}/plain#0").stdout
    assert "with another outcome of step 1" in shown
    assert "[emulated]" in shown
    assert call("verify", fork["run"]).exit_code == 0


def test_another_edit_is_another_fork(call, lost, tmp_path):
    runs = set()
    for choice in ("right", "left"):
        (tmp_path / "edit.json").write_text(json.dumps({"choice": choice}))
        runs.add(forked(call, lost, "--at", 2, "-n", 1, "--edit", tmp_path / "edit.json")["forks"][0]["run"])
    assert len(runs) == 2


def test_an_edited_write_says_that_the_state_stays(call, lost, tmp_path):
    (tmp_path / "edit.txt").write_text("it failed\n")
    result = call("fork", lost, "--at", 3, "-n", 1, "--edit", tmp_path / "edit.txt")
    assert "another outcome of step 2 (tool put)" in result.stderr
    assert "stays as recorded" in result.stderr
    assert result.exit_code == 0


def test_an_edit_comes_from_stdin(home, lost):
    arguments = ["--home", str(home), "fork", lost, "--at", "2", "-n", "1", "--edit", "-", "--json"]
    result = CliRunner().invoke(main, arguments, input='{"choice": "right"}')
    assert json.loads(result.stdout)["forks"][0]["passed"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--at", "1,2", "--edit", "edit.json"), "--at names several"),
        (("--at", "0", "--edit", "edit.json"), "nothing to edit before step 0"),
        (("--at", "2", "--edit", "absent.json"), "absent.json cannot be read"),
        (("--at", "9", "--edit", "edit.json"), "0 is before its first call, 4 after its last"),
        (("--at", "2", "--edit", "bytes"), "no text in UTF-8"),
    ],
)
def test_an_edit_that_cannot_be(call, lost, tmp_path, monkeypatch, arguments, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edit.json").write_text("{}")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    result = call("fork", lost, *arguments)
    assert result.exit_code == 2
    assert told in result.stderr


# -- where continuations are stopped -----------------------------------------------------------------------------------


def test_an_agent_that_does_otherwise_before_the_step_is_told_and_may_try_again(call, lost, tmp_path):
    (tmp_path / "astray").touch()
    result = call("fork", lost, "--at", 2, "-n", 2)
    assert result.exit_code == 3
    assert "2 stopped: base/plain#0 diverges at step 0:" in result.stderr
    assert "the first difference is at number" in result.stderr
    assert "no continuation can be counted" in result.stdout
    (tmp_path / "astray").unlink()
    assert forked(call, lost, "--at", 2, "-n", 2)["forks"][0]["counted"] == 2


def test_a_world_that_lacks_a_frozen_write_is_not_asked(call, lost, ran):
    result = call("fork", "base/payer#0", "--at", 4, "-n", 2)
    assert result.exit_code == 3
    assert (
        "2 stopped: step 4: tool look would ask the real thing, which never saw the write of step 3 (pay)"
        in result.stderr
    )
    assert "left out: 2 error (refused)" in result.stdout
    assert ran() == []
    assert forked(call, "base/payer#0", "--at", 4, "-n", 1, "--freeze", "external")["forks"][0]["counted"] == 1
    assert ran() == []
    assert forked(call, "base/payer#0", "--at", 4, "-n", 1, "--allow-live", "tool:look")["forks"][0]["counted"] == 1
    assert ran() == ["look 3"]


def test_what_the_world_lacks_may_be_carried_out_first(call, lost, ran):
    result = call("fork", "base/payer#0", "--at", 4, "-n", 2, "--catch-up", "tool:pay")
    assert result.exit_code == 0
    assert ran() == ["pay 5", "look 3"] * 2
    assert "2 continuations from step 4 in base.fork-payer-0-at4-catch-up-tool=pay" in result.stderr
    assert "frozen writes carried out before live calls: 2 x pay" in result.stderr
    shown = call("show", "base.fork-payer-0-at4-catch-up-tool=pay/payer#0").stdout
    assert "↻ pay (step 3) carried out → the same outcome" in shown
    (fork,) = forked(call, "base/payer#0", "--at", 4, "-n", 3, "--catch-up", "tool:pay")["forks"]
    assert fork["caught_up"] == {"pay": 1}
    asked = ("--catch-up", "tool:pay", "--ignore-field", "tool:pay:at", "--run", "less")
    assert forked(call, "base/payer#0", "--at", 4, "-n", 1, *asked)["forks"][0]["counted"] == 1


def test_what_the_world_does_not_hold_is_unanswered(call, lost, choose):
    (fork,) = forked(call, lost, "--at", 1, "-n", 1, "--freeze", "tool:decide", "--freeze", "tool:look")["forks"]
    assert fork["counted"] == 1
    assert fork["trials"][0]["passed"] is False, "frozen, it decides as it did"


def test_a_policy_decides_what_happens_after_the_step_and_not_before_it(call, lost, ran, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('freeze = ["external"]\nrefuse = ["tool:look"]\n')
    result = call("fork", "base/payer#0", "--at", 3, "-n", 1, "--policy", policy)
    assert result.exit_code == 3
    assert "1 stopped: the policy refuses tool look (step 4)" in result.stderr
    assert ran() == [], "pay was answered from the recording, and look before the step, too"
    policy.write_text('live = ["tool:look"]\n')
    (fork,) = forked(call, "base/payer#0", "--at", 4, "-n", 1, "--policy", policy)["forks"]
    assert fork["counted"] == 1
    assert ran() == ["look 3"]
    config = load_run(Home(tmp_path / "home"), fork["run"]).config
    assert fork["run"] == f"base.fork-payer-0-at4-policy-{config['policy']['digest'][:6]}"
    assert config["policy"]["content"] == {"live": ["tool:look"]}
    assert config["mode"] == "fork"
    header = tt.open(f"{fork['run']}/payer#0", home=tmp_path / "home").cassette.header
    assert header.config["policy"] == {"name": "policy.toml", "digest": config["policy"]["digest"]}


def test_a_fork_under_a_policy_is_not_counted_with_the_others(call, lost, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('ignore = ["tool:look:x"]\n')
    forked(call, lost, "--at", 1, "-n", 2, "--policy", policy)
    assert blame_of(Home(tmp_path / "home"), TrialId.parse(lost)) == []
    forked(call, lost, "--at", 1, "-n", 1)
    assert [bar.counted for bar in blame_of(Home(tmp_path / "home"), TrialId.parse(lost))] == [1]


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ('freeze = ["external"]', ["--freeze", "tool"], "policy.toml says freeze already"),
        ('emulate = ["tool:look"]', [], "name it with --emulator MODEL"),
        ('catch_up = ["tool"]', [], "policy.toml: catch_up: 'tool' names no tool"),
        ("offline = true", ["--on-miss", "live"], "offline lets no frozen call go live"),
        ("nonsense = 1", [], "unknown key 'nonsense'"),
    ],
)
def test_a_policy_that_cannot_be_used_is_told(call, lost, tmp_path, text, options, told):
    policy = tmp_path / "policy.toml"
    policy.write_text(f"{text}\n")
    result = call("fork", lost, "--at", 1, "--policy", policy, *options)
    assert result.exit_code == 2
    assert told in result.stderr


# -- several steps -----------------------------------------------------------------------------------------------------


def test_the_step_that_lost_it_is_named(call, lost):
    document = forked(call, lost, "--at", "each-step", "-n", 8)
    assert [(bar["step"], bar["passed"], bar["counted"]) for bar in document["bars"]] == [
        (0, 8, 8),
        (1, 8, 8),
        (2, 0, 8),
        (3, 0, 8),
        (4, 0, 8),
    ]
    [loss] = document["lost"]
    assert (loss["steps"], loss["label"]) == ([1], "decide()")
    assert document["verdict"].startswith("lost at step 1, decide() (8/8 pass from before it, 0/8 from after it")
    assert len(document["forks"]) == 5


def test_it_is_drawn(call, lost):
    result = call("fork", lost, "--at", "1,2", "-n", 8)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "base/plain#0 failed"
    [drawn] = [line.rstrip() for line in lines if line.rstrip().endswith("1 decide()")]
    assert "━━━●  8/8  [0.68, 1.00]" in drawn
    assert lines[-2].startswith("lost at step 1, decide()")
    assert lines[-1].startswith("  beside base.fork-plain-0-at1/plain#0, which passed: other arguments: step 2 put: ")


def test_bars_go_on_where_they_were(call, lost, ran):
    forked(call, lost, "--at", 1, "-n", 2)
    ran()
    document = forked(call, lost, "--at", "1,2", "-n", 2)
    assert [fork["resumed"] for fork in document["forks"]] == [2, 0]
    assert ran() == ["put wrong", "look 3"] * 2
    assert document["verdict"] == "not decided with n=2: no fall is clear; try -n 8"


def test_each_write_looks_after_the_last_one_too(call, lost):
    document = forked(call, lost, "--at", "each-write", "-n", 4)
    assert [bar["step"] for bar in document["bars"]] == [2, 3]
    assert document["verdict"].startswith("lost before step 2 already")


def test_runs_of_several_steps_may_be_named(call, lost):
    document = forked(call, lost, "--at", "1,2", "-n", 1, "--run", "mine")
    assert [fork["run"] for fork in document["forks"]] == ["mine-at1", "mine-at2"]


def test_the_report_finds_the_bars(call, lost, home):
    forked(call, lost, "--at", "each-step", "-n", 1)
    assert [bar.passed for bar in blame_of(Home(home), TrialId.parse(lost))] == [1, 1, 0, 0, 0]


# -- which agent -------------------------------------------------------------------------------------------------------


@tt.tool(effect="read", name="look")
def looked(number: int) -> int:
    return number


def test_a_trial_of_no_suite_needs_one(call, home, lost, suite_file):
    with tt.trial(run="alone", task=tt.Task(id="plain", state=lambda: {"start": 1}), home=home):
        looked(1)
    result = call("fork", "alone/plain#0", "--at", 1)
    assert result.exit_code == 2
    assert "'alone' names no suite, so there is no agent to go on; give one with --suite SUITE.py" in result.stderr
    assert forked(call, "alone/plain#0", "--at", 1, "-n", 1, "--suite", suite_file)["forks"][0]["passed"] == 1


@pytest.mark.parametrize(
    ("suite", "told"),
    [
        ("smaller", "the suite has no task 'plain', which base/plain#0 is a trial of"),
        ("other", "task 'plain' is another than when base/plain#0 was recorded (its state changed)"),
        ("nothing", "names a int; a tt.Suite is needed"),
        ("absent", "defines no 'absent'"),
    ],
)
def test_another_suite(call, lost, suite_file, suite, told):
    result = call("fork", lost, "--at", 1, "--suite", f"{suite_file}:{suite}")
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_trial_that_is_not_there(call, lost):
    assert call("fork", "base/plain#7", "--at", 1).exit_code == 2
    assert call("fork", lost).exit_code == 2, "--at is needed"


def test_a_damaged_trial(call, lost, home):
    path = home / "cassettes" / "base" / "plain" / "0.cassette"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    result = call("fork", lost, "--at", 1)
    assert result.exit_code in {2, 4}
    assert len(result.stderr.splitlines()) == 1


# -- money -------------------------------------------------------------------------------------------------------------

MODEL_SUITE = """
import os
import openai
import trialtape as tt

@tt.tool(effect="write", external=False, ignore=["db"])
def put(db, key):
    db[key] = 1

def agent(trial):
    with openai.OpenAI(api_key="sk-no-key", base_url=os.environ["A_URL"], max_retries=0) as client:
        for turn in range(3):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": str(turn)}])
            put(trial.state, str(turn))

suite = tt.Suite(
    tasks=[tt.Task(id="t", state=dict, expected={"2": 1})], agent=agent, prices={"m": tt.Price(input=0.0, output=1e6)}
)
"""


@pytest.fixture
def asked(call, tmp_path, provider, monkeypatch):
    """A trial of three model calls, each of which costs 5; how many were made since."""
    monkeypatch.setenv("A_URL", provider.url)
    path = tmp_path / "model_suite.py"
    path.write_text(MODEL_SUITE)
    assert call("run", path, "--run", "paid", "--trials", 1).exit_code == 0
    assert provider.count == 3
    return "paid/t#0"


def test_no_model_is_asked_before_the_step(call, asked, provider):
    for at, live in ((6, 0), (4, 1), (2, 2)):
        before = provider.count
        fork = forked(call, asked, "--at", at, "-n", 1)["forks"][0]
        assert fork["passed"] == 1
        assert provider.count - before == live
        assert fork["cost"] == 5.0 * live


def test_nothing_is_asked_of_a_provider_that_is_gone(call, asked, provider):
    provider.stop()
    assert forked(call, asked, "--at", 5, "-n", 1)["forks"][0]["passed"] == 1


def test_the_money_is_that_of_all_steps_together(call, asked, provider):
    result = call("fork", asked, "--at", "2,4", "-n", 2, "--max-cost", 22, "--json")
    assert result.exit_code == 5
    assert provider.count == 3 + 4 + 1
    [fork] = json.loads(result.stdout)["forks"]
    assert fork["at"] == 2
    more = forked(call, asked, "--at", "2,4", "-n", 2, "--max-cost", 100)
    assert [fork["counted"] for fork in more["forks"]] == [2, 2]
    assert provider.count == 3 + 4 + 2


def test_a_reply_may_be_edited(call, asked, tmp_path):
    shown = json.loads(call("show", asked, "--step", 2, "--json").stdout)
    whole = json.loads(shown["result"])
    body = json.loads(whole["body"])
    body["choices"][0]["message"]["content"] = "something else"
    (tmp_path / "edit.json").write_text(json.dumps(body))
    fork = forked(call, asked, "--at", 3, "-n", 1, "--edit", tmp_path / "edit.json")["forks"][0]
    assert "something else" in call("show", f"{fork['run']}/t#0").stdout
    (tmp_path / "edit.json").write_text(json.dumps({**whole, "body": json.dumps(body)}))
    assert (
        forked(call, asked, "--at", 3, "-n", 1, "--edit", tmp_path / "edit.json")["forks"][0]["run"] == fork["run"]
    ), "the whole response says the same"
    (tmp_path / "edit.json").write_text('{"answer": 1}')
    result = call("fork", asked, "--at", 3, "-n", 1, "--edit", tmp_path / "edit.json")
    assert result.exit_code == 2
    assert "no reply that the protocol openai-chat knows" in result.stderr


def test_secrets_stay_out(call, lost, home):
    secret = "sk-" + "a1B2" * 12
    edit = home.parent / "edit.json"
    edit.write_text(json.dumps({"choice": "right", "key": secret}))
    forked(call, lost, "--at", 2, "-n", 1, "--edit", edit)
    for path in home.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()
