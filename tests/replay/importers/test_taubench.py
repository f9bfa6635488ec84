from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from cassettes.errors import BadInput
from cassettes.model import Interaction, TrialId
from cassettes.reader import Cassette
from replay.cli import main
from replay.home import Home
from replay.importers.taubench import read_results
from replay.runs import load_run
from replay.scores.scorefile import read_scores
from replay.view import View
from tests.replay.importers.records import STOP, asks, read, record, result, says, user, whats, written

AIRLINE = Path(__file__).parents[3].parent / "shared" / "data" / "taubench" / "gpt-4o-airline.json"
needs_airline = pytest.mark.skipif(
    not AIRLINE.exists(), reason=f"{AIRLINE} is not here: the tau-bench recordings are no part of the project"
)


CAPPED = {(33, 0), (2, 1), (9, 2), (9, 3), (46, 3)}


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)], catch_exceptions=False)


def imported(home, path, *options, name="r"):
    return run(home, "import", "taubench", path, "--run", name, *options)


def files(home):
    return {p: p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file() and p.suffix not in {".db", ".db-wal"}}


# -- the real file -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def airline(tmp_path_factory):
    home = tmp_path_factory.mktemp("airline")
    done = imported(home, AIRLINE, "--json", name="airline")
    assert done.exit_code == 0
    return Home(home), json.loads(done.stdout)


@needs_airline
def test_the_airline_recordings(airline):
    home, document = airline
    assert (document["trials"], document["written"], document["remarks"]) == (200, 200, [])
    assert (document["domain"], document["agent_model"]) == ("airline", "gpt-4o")
    endings = {(e["ending"], e["reason"]): e["trials"] for e in document["endings"]}
    assert endings == {
        ("completed", "user_stop"): 147,
        ("completed", "transfer_to_human_agents"): 48,
        ("capped", "30 agent actions"): 5,
    }
    views = {(int(t.task), t.index): View(path, home) for t, path in home.trials("airline")}
    assert {place for place, view in views.items() if view.ending.status == "capped"} == CAPPED
    assert document["verdicts"] == {"passed": 84, "failed": 111, "unscored": 5}
    assert load_run(home, "airline").primary == "reward@taubench"
    passed = Counter()
    for score in read_scores(home, "airline"):
        trial = TrialId.parse(score.trial)
        passed[trial.task] += bool(score.passed)
        view = views[int(trial.task), trial.index]
        assert score.digest == view.cassette.digest
        assert (score.passed is None) == (view.ending.status == "capped")
    histogram = Counter(passed[task] for task in {t.task for t, _ in home.trials("airline")})
    assert [histogram[c] for c in range(5)] == [14, 12, 10, 4, 10]


@needs_airline
def test_every_message_of_the_airline_recordings_is_kept_in_its_place(airline):
    home, _ = airline
    twice = 0
    for entry in json.loads(AIRLINE.read_bytes()):
        view = View(home.cassette(TrialId("airline", str(entry["task_id"]), entry["trial"])), home)
        traj, steps, at = entry["traj"], iter(view.steps), 0
        ids = [call["id"] for m in traj for call in m.get("tool_calls") or []]
        twice += len(ids) > len(set(ids))
        turns = [m.data for m in view.cassette.marks() if m.kind == "message"]
        spoken = []
        for place, message in enumerate(traj):
            if message["role"] == "user":
                spoken.append({"role": "user", "content": message["content"], "step": at})
            elif message["role"] == "assistant":
                step = next(steps)
                assert step.outcome.value == message
                assert view.messages(step.number) == traj[:place]
                assert step.call.name == "gpt-4o"
                at += 1
            elif message["role"] == "tool":
                step = next(steps)
                asked = traj[place - 1]["tool_calls"][0]
                assert step.outcome.value == message["content"]
                assert (step.call.name, step.call.detail) == (message["name"], {"tool_call_id": asked["id"]})
                assert step.call.arguments == json.loads(asked["function"]["arguments"])
                at += 1
        assert next(steps, None) is None
        assert turns == spoken
        orders = [n for s in view.steps for n in (s.interaction.started, s.interaction.ended)]
        assert orders == sorted(set(orders))
        assert {s.origin.verdict for s in view.steps} == {"live"}
    assert twice == 49


@needs_airline
def test_the_airline_tasks_keep_their_digests(airline):
    home, _ = airline
    digests = defaultdict(set)
    for trial, path in home.trials("airline"):
        definition = Cassette(path).header.task_definition
        assert definition["actions"] is not None
        digests[trial.task].add(tuple(sorted(definition["digests"].items(), key=str)))
    assert {len(found) for found in digests.values()} == {1}
    assert len({found for group in digests.values() for found in group}) == 50


@needs_airline
def test_the_published_table(airline):
    home, _ = airline
    once, twice = (run(home.root, "stats", "airline") for _ in range(2))
    assert once.exit_code == 0, once.output
    assert once.stdout == twice.stdout
    for number in ("0.420", "0.273", "0.220", "0.200", "0.567", "0.660", "0.720"):
        assert number in once.stdout


@needs_airline
def test_the_same_file_again_changes_nothing(airline):
    home, _ = airline
    before = files(home.root)
    again = imported(home.root, AIRLINE, name="airline")
    assert (again.exit_code, again.stdout) == (0, "")
    assert "already imported" in again.stderr
    assert files(home.root) == before


# -- pairing -----------------------------------------------------------------------------------------------------------


def steps_of(trial):
    return [event for event in trial.trajectory.events if isinstance(event, Interaction)]


def tools_of(trial):
    return [(i.call.name, i.call.arguments, i.outcome.value) for i in steps_of(trial) if i.call.kind == "tool"]


def test_an_id_used_twice_does_not_mix_results(tmp_path):
    results = read(
        tmp_path,
        record(
            asks(("c1", "get_user_details", {"user_id": "a"})),
            result("c1", "get_user_details", "A"),
            asks(("c1", "get_user_details", {"user_id": "b"})),
            result("c1", "get_user_details", "B"),
            STOP,
        ),
    )
    assert tools_of(results.trials[0]) == [
        ("get_user_details", {"user_id": "a"}, "A"),
        ("get_user_details", {"user_id": "b"}, "B"),
    ]
    assert results.remarks == []


def test_parallel_calls_are_paired_by_id_and_equal_ids_by_order(tmp_path):
    calls = [("c1", "get_user_details", {"user_id": x}) for x in "ab"] + [("c2", "think", {"thought": "t"})]
    results = read(
        tmp_path,
        record(
            asks(*calls),
            result("c2", "think", ""),
            result("c1", "get_user_details", "A"),
            result("c1", "get_user_details", "B"),
            STOP,
        ),
    )
    assert [(arguments, content) for _, arguments, content in tools_of(results.trials[0])] == [
        ({"thought": "t"}, ""),
        ({"user_id": "a"}, "A"),
        ({"user_id": "b"}, "B"),
    ]
    assert results.remarks == []


def test_parallel_calls_that_the_harness_dropped(tmp_path):
    calls = [(f"c{i}", "get_user_details", {"user_id": i}) for i in range(3)]
    results = read(tmp_path, record(asks(*calls), result("c0", "get_user_details", "A"), says("ok"), STOP))
    model = steps_of(results.trials[0])[0]
    assert [asked.id for asked in model.reply.tool_calls] == ["c0", "c1", "c2"]
    assert len(tools_of(results.trials[0])) == 1
    assert whats(results) == [
        "message 2: 2 tool call(s) dropped by the harness: get_user_details, get_user_details; kept in the reply"
    ]


def test_results_and_calls_without_each_other(tmp_path):
    results = read(
        tmp_path,
        record(
            result("c9", "think", "no call before it"),
            asks(("c1", "think", {"thought": "t"})),
            says("no result"),
            asks(("c2", "think", {})),
            result("c3", "think", "another id"),
            asks(("c4", "think", {})),
            {"role": "tool", "name": "think", "content": "no id"},
            asks(("c5", "think", {})),
            result("c5", "calculate", "another name"),
            {"role": "narrator", "content": "?"},
            "no message",
            STOP,
        ),
    )
    assert tools_of(results.trials[0]) == [("think", {}, "no id"), ("think", {}, "another name")]
    told = " | ".join(whats(results))
    for part in (
        "message 2: a result (tool_call_id 'c9') of no call just before it",
        "message 3: 1 tool call(s) without a result: think",
        "message 6: a result (tool_call_id 'c3') of no call",
        "message 8: a result without tool_call_id; taken as that of think",
        "message 10: a result named 'calculate' for a call of 'think'",
        "message 11: is no message of a known role",
        "message 12: is no message of a known role",
    ):
        assert part in told
    marks = [e.data for e in results.trials[0].trajectory.events if not isinstance(e, Interaction)]
    assert {"role": "tool", "tool_call_id": "c9", "name": "think", "content": "no call before it", "step": 0} in marks


@pytest.mark.parametrize("text", ["{", "[1]", "null", ""])
def test_arguments_that_are_no_json_object_are_kept_as_text(tmp_path, text):
    results = read(tmp_path, record(asks(("c", "think", text)), result("c", "think", ""), STOP))
    assert tools_of(results.trials[0]) == [("think", {"unparsed": text}, "")]
    assert "no JSON object" in whats(results)[0]


def test_effects_come_from_the_table(tmp_path):
    names = ["book_reservation", "modify_user_address", "think", "get_order_details", "not_of_the_benchmark"]
    messages = [m for n in names for m in (asks(("c", n, {})), result("c", n, ""))]
    results = read(tmp_path, record(*messages, STOP))
    tools = [i for i in steps_of(results.trials[0]) if i.call.kind == "tool"]
    assert [i.call.effect for i in tools] == ["write", "write", "pure", "read", "unknown"]
    assert {i.call.external for i in tools} == {True}
    assert results.domain is None  # tools of both domains


def test_user_turns_say_which_step_comes_next(tmp_path):
    results = read(
        tmp_path, record(says("a"), user("b"), asks(("c", "think", {})), result("c", "think", ""), says("d"), STOP)
    )
    marks = [e.data for e in results.trials[0].trajectory.events if not isinstance(e, Interaction)]
    assert [(m["content"], m["step"]) for m in marks] == [("hi", 0), ("b", 1), (STOP["content"], 4)]


def test_results_inside_user_messages_are_told(tmp_path):
    results = read(tmp_path, record(says("Thought: x\nAction: {}"), user("API output: []"), says("ok"), STOP))
    assert "act or react" in whats(results)[0]


# -- the file's name ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("results.json", None),
        ("gpt-4o-airline.json", "gpt-4o"),
        ("sonnet-35-new-retail.json", "sonnet-35-new"),
        ("tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0612120000.json", "gpt-4o"),
    ],
)
def test_the_model_is_what_the_file_name_says(tmp_path, name, model):
    results = read_results(written(tmp_path, record(says("a"), STOP), name=name))
    assert results.model == model
    assert results.config["agent_model_from"] == (model and "the file name")
    assert steps_of(results.trials[0])[0].call.name == (model or "unknown")


# -- broken records and files ------------------------------------------------------------------------------------------


def without(name, **changes):
    return {key: value for key, value in record(STOP, **changes).items() if key != name}


def test_records_that_cannot_be_imported_are_told_one_by_one(tmp_path):
    path = written(
        tmp_path,
        record(says("a"), STOP),
        without("task_id", trial=1),
        without("trial", task_id=5),
        without("reward", trial=2),
        without("traj", trial=3),
        "text",
        record(STOP, task_id=None, trial=4),
        record(STOP, task_id="", trial=4),
        record(STOP, trial=-1),
        record(STOP, trial="0"),
        record(STOP, trial=5, traj="text"),
        record(says("other"), STOP),
    )
    home = tmp_path / "home"
    done = imported(home, path, "--json")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["trials"] == 1
    left_out = [r for r in document["remarks"] if not r["imported"]]
    assert [r["record"] for r in left_out] == list(range(1, 12))
    assert left_out[1]["task"] == "5"
    for part in (
        "record 1: task_id missing; not imported",
        "record 3 (task 0, trial 2): reward missing; not imported",
        "record 5: a str instead of a result",
        "record 11 (task 0, trial 0): a second record of this task and trial; record 0 is kept",
    ):
        assert part in done.stderr
    (view,) = [View(p) for _, p in Home(home).trials("r")]
    assert view.steps[0].text == "a"


def test_a_file_of_nothing_usable_makes_no_run(tmp_path):
    done = imported(tmp_path / "home", written(tmp_path, without("traj")))
    assert done.exit_code == 1
    assert "nothing imported" in done.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"{}", b"[]", b"[1]", b'[{"a": 1}]', b"\xff\xfe", b"1", b"[" * 100_000, b'"traj"']
)
def test_what_is_no_results_file(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(BadInput) as raised:
        read_results(path)
    assert "\n" not in str(raised.value)
    done = imported(tmp_path / "home", path)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "home").exists()


def test_a_missing_file(tmp_path):
    done = imported(tmp_path / "home", tmp_path / "none.json")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)


# -- again -------------------------------------------------------------------------------------------------------------


def three(tmp_path):
    return written(tmp_path, *(record(says(f"a{i}"), STOP, trial=i) for i in range(3)))


def test_another_file_under_the_same_name_is_refused(tmp_path):
    home = tmp_path / "home"
    assert imported(home, three(tmp_path)).exit_code == 0
    before = files(home)
    other = imported(home, written(tmp_path, record(says("b"), STOP)))
    assert (other.exit_code, len(other.stderr.splitlines())) == (2, 1)
    assert "another configuration" in other.stderr
    assert files(home) == before


@pytest.mark.parametrize("left", [0, 10, 200, -1])
def test_an_interrupted_import_goes_on(tmp_path, left):
    home, path = Home(tmp_path / "home"), three(tmp_path)
    imported(home.root, path)
    cut = home.cassette(TrialId("r", "0", 1))
    cut.write_bytes(cut.read_bytes()[: left if left >= 0 else -40])
    home.cassette(TrialId("r", "0", 2)).unlink()
    scores = home.run("r") / "scores.jsonl"
    scores.write_text(scores.read_text().splitlines()[0] + '\n{"trial": "r/0#1", "sco')
    again = imported(home.root, path, "--json")
    assert again.exit_code == 0
    document = json.loads(again.stdout)
    assert (document["kept"], document["replaced"], document["written"]) == (1, 1, 1)
    assert home.attempts("r") == 1
    assert [View(p).steps[0].text for _, p in home.trials("r")] == ["a0", "a1", "a2"]
    kept = Counter(score.trial for score in read_scores(home, "r"))
    assert kept == {f"r/0#{i}": 1 for i in range(3)}
    before = files(home.root)
    assert "already imported" in imported(home.root, path).stderr
    assert files(home.root) == before


def test_secrets_in_a_results_file_are_not_kept(tmp_path):
    secret = "ghp_" + "a1B2" * 9
    messages = asks(("c", "think", {"thought": secret})), result("c", "think", secret), says(secret), user(secret), STOP
    home = tmp_path / "home"
    assert imported(home, written(tmp_path, record(*messages))).exit_code == 0
    (path,) = [p for _, p in Home(home).trials("r")]
    cassette = Cassette(path)
    assert secret not in repr([list(cassette), cassette.marks()])
    assert sum(cassette.redacted.values()) > 0
    (scores,) = home.rglob("scores.jsonl")
    assert secret not in scores.read_text()


def test_half_of_a_surrogate_pair_and_big_numbers_are_kept(tmp_path):
    home = tmp_path / "home"
    messages = asks(("c", "think", '{"n": 123456789012345678901234567890}')), result("c", "think", "\ud83d"), STOP
    assert imported(home, written(tmp_path, record(*messages))).exit_code == 0
    (view,) = [View(p) for _, p in Home(home).trials("r")]
    assert view.steps[1].call.arguments == {"n": 123456789012345678901234567890}
    assert view.steps[1].outcome.value == "\ud83d"
