from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.cli import main
from replay.home import Home
from replay.importers.tau2 import read_tau2
from replay.labelling.labels import current, read_labels
from replay.runs import load_run
from replay.scores.scorefile import read_scores
from replay.view import View
from tests.replay.importers.simulations import (
    GREETING,
    STOP,
    asks,
    calls,
    in_folder,
    marks,
    result,
    results,
    says,
    simulation,
    whats,
    written,
)

MOCK = Path(__file__).parents[3].parent / "shared" / "data" / "tau2" / "mock"
needs_mock = pytest.mark.skipif(
    not MOCK.exists(), reason=f"{MOCK} is not here: tau2's results are no part of the project"
)


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)], catch_exceptions=False)


def read(tmp_path, *simulations, **changes):
    return read_tau2(written(tmp_path, results(*simulations, **changes)))


def only(findings):
    (trial,) = findings.trials
    return trial


# -- results that tau2 itself wrote ------------------------------------------------------------------------------------


@needs_mock
@pytest.mark.parametrize(("place", "form"), [("results.json", "file"), ("dirformat", "folder")])
def test_results_of_tau2_itself_have_its_own_pass_hat_k(tmp_path, place, form):
    done = run(tmp_path, "import", "tau2", MOCK / place, "--run", "mock", "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["remarks"]) == (0, [])
    assert (told["form"], told["domain"], told["trials"], told["verdicts"]) == (
        form,
        "mock",
        8,
        {"passed": 6, "failed": 2},
    )
    own, other = told["conventions"]
    # Two tasks of 4 trials, 3 of each pass: C(3, k) / C(4, k).
    assert own["pass_hat_k"] == other["pass_hat_k"] == {"1": 0.75, "2": 0.5, "3": 0.25, "4": 0.0}
    assert "tau2" in own["name"]
    assert "tau-bench" in other["name"]
    stats = json.loads(run(tmp_path, "stats", "mock", "--json").stdout)
    assert [row["pass_hat_k"] for row in stats["summary"]["rows"]] == [0.75, 0.5, 0.25, 0.0]


@needs_mock
def test_both_forms_of_the_same_results_give_the_same_trials():
    one, other = (read_tau2(MOCK / place) for place in ("results.json", "dirformat"))
    as_told = [
        sorted(((t.task, t.index, t.ending, t.scores, tuple(t.events)) for t in found.trials), key=lambda t: t[:2])
        for found in (one, other)
    ]
    assert as_told[0] == as_told[1]


@needs_mock
def test_every_message_of_tau2s_results_is_kept():
    document = json.loads((MOCK / "results.json").read_text())
    for given, trial in zip(document["simulations"], read_tau2(MOCK / "results.json").trials, strict=True):
        said = [m for m in given["messages"] if m["role"] == "assistant"]
        assert [c.outcome.value for c in calls(trial, "model")] == said
        answered = [m["content"] for m in given["messages"] if m["role"] == "tool"]
        assert [c.outcome.value for c in calls(trial)] == answered
        assert [m["content"] for m in marks(trial)] == [m["content"] for m in given["messages"] if m["role"] == "user"]
        assert all(c.call.effect == "write" for c in calls(trial))  # the action checks call create_task a write


# -- where results lie -------------------------------------------------------------------------------------------------


def test_a_folder_without_an_index_is_read(tmp_path):
    in_folder(tmp_path, results(simulation(), simulation(trial=1)))
    meta = json.loads((tmp_path / "results.json").read_text())
    del meta["simulation_index"]
    written(tmp_path, meta)
    assert [(t.record, t.index) for t in read_tau2(tmp_path).trials] == [("t1-0.json", 0), ("t1-1.json", 1)]


def test_a_folder_that_is_not_what_its_index_says_is_told_and_read(tmp_path):
    in_folder(tmp_path, results(simulation(), simulation(trial=1), simulation(trial=2), simulation(trial=3)))
    folder = tmp_path / "simulations"
    (folder / "t1-0.json").unlink()
    (folder / "t1-1.json").write_text("{")
    (folder / "t1-2.json").write_text(json.dumps(simulation(trial=2, reason="max_steps")))
    (folder / "t1-2.json").rename(folder / "extra.json")
    (folder / "t1-3.json").write_text(json.dumps({**simulation(trial=3), "termination_reason": "agent_stop"}))
    found = read_tau2(tmp_path)
    assert {(r.record, r.imported): r.what for r in found.remarks} == {
        ("t1-0.json", False): "named in the index, but there is no such file",
        ("t1-1.json", False): "the file is unreadable: no JSON (Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1))",
        ("t1-2.json", False): "named in the index, but there is no such file",
        ("t1-3.json", True): "the index has another termination_reason",
        ("extra.json", True): "not in the index",
    }
    assert sorted(t.index for t in found.trials) == [2, 3]


def test_a_file_with_simulations_beside_a_folder_of_that_name_is_read_and_told(tmp_path):
    (tmp_path / "simulations").mkdir()
    found = read(tmp_path, simulation())
    assert len(found.trials) == 1
    assert "the folder simulations beside it is not read" in whats(found)[0]


@pytest.mark.parametrize("document", [[], {}, {"traj": []}, {"info": {}, "tasks": []}])
def test_what_are_no_results_is_one_error(tmp_path, document):
    with pytest.raises(BadInput, match=r"results\.json is no results file of tau2-bench"):
        read_tau2(written(tmp_path, document))


def test_an_import_that_was_done_changes_nothing_and_another_file_is_refused(tmp_path):
    path = written(tmp_path, results(simulation(review={"errors": [{"source": "user", "reasoning": "r"}]})))
    home = tmp_path / "home"
    run(home, "import", "tau2", path, "--run", "r")
    before = {p: p.read_bytes() for p in sorted((home / "cassettes").rglob("*")) if p.is_file()}
    again = run(home, "import", "tau2", path, "--run", "r")
    assert "already imported: nothing was changed" in again.stderr
    assert {p: p.read_bytes() for p in sorted((home / "cassettes").rglob("*")) if p.is_file()} == before
    other = run(home, "import", "tau2", written(tmp_path, results(simulation(reward=0.0))), "--run", "r")
    assert other.exit_code == 2
    assert "exists already with another configuration" in other.stderr


def test_an_interrupted_import_goes_on(tmp_path):
    path = written(tmp_path, results(simulation(), simulation(trial=1)))
    home = Home(tmp_path / "home")
    run(home.root, "import", "tau2", path, "--run", "r")
    first, second = home.cassette(TrialId("r", "t1", 0)), home.cassette(TrialId("r", "t1", 1))
    second.unlink()
    first.write_bytes(first.read_bytes()[:-20])
    told = json.loads(run(home.root, "import", "tau2", path, "--run", "r", "--json").stdout)
    assert (told["written"], told["replaced"], told["kept"]) == (1, 1, 0)


# -- who did what ------------------------------------------------------------------------------------------------------


def test_tools_of_the_user_are_the_users_and_the_agent_does_not_see_them(tmp_path):
    found = read(
        tmp_path,
        simulation(
            GREETING,
            says("user", "My phone is dead."),
            asks("assistant", ("c", "get_line", {"id": 1})),
            result("c", "active"),
            says("assistant", "Switch it off and on."),
            asks("user", ("c", "toggle", {"on": True})),
            result("c", "done", "user"),
            says("user", "Done."),
            says("assistant", "Good."),
            STOP,
        ),
    )
    trial = only(found)
    assert whats(found) == []
    assert [(c.call.actor, c.call.name, c.outcome.value) for c in calls(trial)] == [
        ("agent", "get_line", "active"),
        ("user", "toggle", "done"),
    ]
    models = [(c.call.actor, c.call.name) for c in calls(trial, "model")]
    assert models.count(("agent", "agent-model")) == 4
    assert models.count(("user", "user-model")) == 4
    last_of_agent = [c for c in calls(trial, "model") if c.call.actor == "agent"][-1].call.arguments["messages"]
    assert [m["content"] for m in last_of_agent if m["role"] == "tool"] == ["active"]
    last_of_user = [c for c in calls(trial, "model") if c.call.actor == "user"][-1].call.arguments["messages"]
    assert [m["content"] for m in last_of_user if m["role"] == "tool"] == ["done"]


def test_a_user_that_is_no_model_is_kept_as_messages_and_a_model_without_a_name_is_unknown(tmp_path):
    info = {
        "user_info": {"implementation": "dummy_user"},
        "agent_info": {"implementation": "llm_agent_solo", "llm": None},
    }
    found = read(tmp_path, simulation(GREETING, says("user", "x"), STOP), info=info)
    assert {(c.call.actor, c.call.name) for c in calls(only(found), "model")} == {("agent", "unknown")}
    assert [m["content"] for m in marks(only(found))] == ["x", "###STOP###"]
    assert found.config["ablation"] == "no-user"


def test_results_pair_by_order_and_id_and_what_does_not_is_told(tmp_path):
    found = read(
        tmp_path,
        simulation(
            asks("assistant", ("a", "one", {}), ("a", "two", {"x": 1}), ("b", "three", "not json")),
            {"role": "tool", "tool_messages": [result("a", "1"), result("a", "2")]},
            result("b", "3"),
            result("z", "stray"),
            asks("assistant", ("c", "four", {})),
            STOP,
        ),
    )
    assert [(c.call.name, dict(c.call.arguments), c.outcome.value) for c in calls(only(found))] == [
        ("one", {}, "1"),
        ("two", {"x": 1}, "2"),
        ("three", {"unparsed": "not json"}, "3"),
    ]
    assert whats(found) == [
        "message 2: the arguments of three are no JSON object; kept as the text 'unparsed'",
        "message 3: a result (id 'z') of no call just before it; kept as a mark",
        "message 4: 1 tool call(s) without a result: four; kept in the reply",
    ]
    assert [m["content"] for m in marks(only(found)) if m["role"] == "tool"] == ["stray"]


def test_a_retrieval_is_a_tool_call_and_its_configuration_is_kept(tmp_path):
    info = {**results()["info"], "retrieval_config": "bm25", "retrieval_config_kwargs": {"k": 3}}
    found = read(
        tmp_path,
        simulation(
            asks("assistant", ("c", "KB_search", {"query": "fees"})), result("c", '[{"id": "d1", "score": 0.5}]'), STOP
        ),
        info=info,
    )
    (call,) = calls(only(found))
    assert (call.call.name, call.call.arguments, call.outcome.value) == (
        "KB_search",
        {"query": "fees"},
        '[{"id": "d1", "score": 0.5}]',
    )
    assert (found.config["retrieval"], found.config["retrieval_args"]) == ("bm25", {"k": 3})


def test_usage_time_and_errors_of_tools_are_kept(tmp_path):
    found = read(
        tmp_path,
        simulation(
            asks(
                "assistant",
                ("c", "look", {}),
                usage={"prompt_tokens": 10, "completion_tokens": 2},
                timestamp="2026-01-01T00:00:05",
                generation_time_seconds=2.0,
                raw_data={"model": "agent-model-1"},
            ),
            result("c", "Error: no", error=True, timestamp="2026-01-01T00:00:06"),
            STOP,
        ),
    )
    model = next(c for c in calls(only(found), "model") if c.call.actor == "agent")
    assert (model.reply.usage.input, model.reply.usage.output, model.reply.model) == (10, 2, "agent-model-1")
    assert (model.at, model.duration) == (3.0, 2.0)
    (tool,) = calls(only(found))
    assert (tool.at, tool.outcome.value, tool.call.detail["error"]) == (6.0, "Error: no", True)


# -- effects -----------------------------------------------------------------------------------------------------------


def test_effects_are_known_as_far_as_tau2_tells_them_and_else_unknown(tmp_path):
    checks = [
        {"action": {"name": name}, "action_match": True, "tool_type": kind}
        for name, kind in (("look", "read"), ("change", "write"), ("think", "think"), ("other", "generic"))
    ]
    said = [(f"c{n}", name, {}) for n, name in enumerate(("look", "change", "think", "other", "new"))]
    told = simulation(asks("assistant", *said), *(result(f"c{n}", "r") for n in range(5)), STOP)
    told["reward_info"]["action_checks"] = checks
    path = written(tmp_path, results(told))
    assert [c.call.effect for c in calls(only(read_tau2(path)))] == ["read", "write", "pure", "unknown", "unknown"]


def test_effects_that_the_user_declares_count_more(tmp_path):
    path = written(tmp_path, results(simulation(asks("assistant", ("c", "look", {"id": 7})), result("c", "r"), STOP)))
    effects = tmp_path / "effects.toml"
    effects.write_text('[tools.look]\neffect = "read"\nreads = "line:{id}"\n')
    home = tmp_path / "home"
    told = json.loads(run(home, "import", "tau2", path, "--run", "r", "--effects", effects, "--json").stdout)
    assert told["calls"] == {
        "tools_of_known_effect": 1,
        "tools_of_unknown_effect": 0,
        "models": {"agent": 1, "user": 1},
    }
    (step,) = [s for s in View(Home(home).cassette(TrialId("r", "t1", 0))).steps if s.call.kind == "tool"]
    assert (step.call.effect, step.call.reads) == ("read", ("line:7",))
    other = run(home, "import", "tau2", path, "--run", "r")
    assert other.exit_code == 2  # not the same import: another answer to what the tools do
    assert "effects" in other.stderr


def test_the_airline_domain_has_the_effects_of_tau_bench(tmp_path):
    info = {**results()["info"], "environment_info": {"domain_name": "airline"}}
    found = read(
        tmp_path, simulation(asks("assistant", ("c", "cancel_reservation", {})), result("c", "r"), STOP), info=info
    )
    assert calls(only(found))[0].call.effect == "write"


# -- endings and rewards -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("user_stop", ("completed", None)),
        ("agent_stop", ("completed", None)),
        ("max_steps", ("capped", None)),
        ("timeout", ("capped", None)),
        ("too_many_errors", ("error", "agent")),
        ("agent_error", ("error", "agent")),
        ("context_window_exceeded", ("error", "agent")),
        ("user_error", ("error", "user")),
        ("infrastructure_error", ("error", "infrastructure")),
        ("unexpected_error", ("error", "unknown")),
    ],
)
def test_every_termination_reason_has_its_ending(tmp_path, reason, ending):
    trial = only(read(tmp_path, simulation(reason=reason, reward=0.0)))
    assert (trial.ending.status, trial.ending.cause, trial.ending.reason) == (*ending, reason)


def test_a_reason_that_tau2_does_not_have_is_told(tmp_path):
    found = read(
        tmp_path,
        simulation(reason="boredom"),
        simulation(trial=1, reason=None),
        simulation(trial=2, reason=None, reward=None),
    )
    assert [(t.ending.status, t.ending.cause) for t in found.trials] == [
        ("error", "unknown"),
        ("completed", None),
        ("error", "unknown"),
    ]
    assert len(found.remarks) == 3


def test_both_conventions_are_named_and_infrastructure_errors_are_left_out_of_tau2s(tmp_path):
    both = [simulation(trial=n, reward=1.0 if n < 2 else 0.0) for n in range(3)]
    broken = simulation(trial=3, reason="infrastructure_error", reward=None, messages=[])
    path = written(tmp_path, results(*both, broken))
    done = run(tmp_path / "home", "import", "tau2", path, "--run", "r")
    assert "pass^1..3 0.6667 0.3333 0.0000 (tau2: infrastructure errors left out; 3 counted, 1 left out)" in done.stderr
    assert (
        "pass^1..4 0.5000 0.1667 0.0000 0.0000 (tau-bench: every error counts as failed; "
        "4 counted, 1 of them never scored and taken as failed, 0 left out)"
    ) in done.stderr
    stats = json.loads(run(tmp_path / "home", "stats", "r", "--json").stdout)
    assert stats["summary"]["rows"][0]["pass_hat_k"] == pytest.approx(2 / 3)
    failing = json.loads(run(tmp_path / "home", "stats", "r", "--errors", "fail", "--json").stdout)
    assert failing["summary"]["rows"][0]["pass_hat_k"] == 0.5


def test_where_stats_counts_differently_from_tau2_it_is_told(tmp_path):
    found = read(tmp_path, simulation(), simulation(trial=1, reason="user_error", reward=0.0))
    assert "1 ended by the user's or an unexpected error: stats leaves them out, tau2 does not" in found.lines


def test_unequal_numbers_of_trials_are_counted_task_by_task(tmp_path):
    every = [simulation(task_id="a", trial=n) for n in range(4)]
    every += [simulation(task_id="b", trial=n, reward=float(n == 0)) for n in range(2)]
    own = read(tmp_path, *every).told["conventions"][0]
    assert own["pass_hat_k"] == {"1": 0.75, "2": 0.5}  # k goes up to the fewest trials


def test_the_reward_is_kept_with_its_components_and_each_is_a_score(tmp_path):
    told = simulation(reward=0.0)
    told["reward_info"] = {
        "reward": 0.0,
        "db_check": {"db_match": True, "db_reward": 1.0},
        "communicate_checks": [{"info": "12", "met": False, "justification": "no"}],
        "nl_assertions": [{"nl_assertion": "kind", "met": True, "justification": "yes"}],
        "env_assertions": [{"env_assertion": {}, "met": True, "reward": 1.0}],
        "action_checks": [{"action": {"name": "x"}, "action_match": False, "action_reward": 0.0}],
        "reward_basis": ["DB", "COMMUNICATE"],
        "reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.0},
    }
    found = read(tmp_path, told)
    assert whats(found) == []
    scores = {f"{s.scorer}@{s.version}": s.score for s in only(found).scores}
    assert {name: score.value for name, score in scores.items()} == {
        "reward@tau2": 0.0,
        "db@tau2": 1.0,
        "env_assertion@tau2": 1.0,
        "communicate@tau2": 0.0,
        "nl_assertion@tau2": 1.0,
        "action@tau2": 0.0,
    }
    evidence = scores["reward@tau2"].evidence
    assert evidence["basis"] == ["DB", "COMMUNICATE"]
    assert evidence["components"]["DB"] * evidence["components"]["COMMUNICATE"] == 0.0
    assert evidence["nl_assertions"][0]["justification"] == "yes"


def test_a_reward_that_is_not_the_product_of_its_basis_is_told_unless_it_ended_early(tmp_path):
    wrong = simulation(reward=1.0)
    wrong["reward_info"] |= {"reward_breakdown": {"DB": 0.0}, "db_check": None}
    other = simulation(trial=1, reward=1.0)
    other["reward_info"]["db_check"] = {"db_match": False, "db_reward": 0.0}
    early = simulation(trial=2, reward=0.0, reason="max_steps")
    early["reward_info"] |= {"reward_breakdown": {"DB": 1.0}, "db_check": None}
    assert whats(read(tmp_path, wrong, other, early)) == [
        "its reward is 1, but the product of DB is 0",
        "DB is 1 in the breakdown, but its checks say 0",
    ]


def test_25_and_25_point_0_are_the_same_reward_and_no_number_is_unscored(tmp_path):
    found = read(
        tmp_path, simulation(reward=1), simulation(trial=1, reward="high"), simulation(trial=2, reward_info=[])
    )
    assert [t.scores[0].score.passed for t in found.trials] == [True, None, None]
    assert "its reward is no number; left unscored" in whats(found)
    assert "reward_info is a list, no object" in whats(found)


# -- tasks and settings ------------------------------------------------------------------------------------------------


def test_the_task_is_kept_with_its_check_and_digests(tmp_path):
    definition = only(read(tmp_path, simulation())).definition
    assert (definition["instruction"], definition["outputs"], definition["tags"]) == (
        "Fix the phone.",
        ["12"],
        {"domain": "telecom"},
    )
    assert definition["tau2"]["evaluation_criteria"]["reward_basis"] == ["DB"]
    other = results(simulation())
    other["tasks"][0]["evaluation_criteria"]["communicate_info"] = ["13"]
    changed = only(read_tau2(written(tmp_path, other))).definition
    assert changed["digests"]["instruction"] == definition["digests"]["instruction"]
    assert changed["digests"]["expected"] != definition["digests"]["expected"]


def test_a_task_that_is_not_in_the_file_is_told(tmp_path):
    found = read(tmp_path, simulation(task_id=7))
    assert (only(found).task, whats(found)) == (
        "7",
        ["its task is not in the file: instruction and check are not known"],
    )


def test_what_makes_runs_comparable_is_in_the_configuration(tmp_path):
    home = tmp_path / "home"
    run(home, "import", "tau2", written(tmp_path, results(simulation())), "--run", "r")
    config = load_run(Home(home), "r").config
    assert {
        name: config[name] for name in ("format", "domain", "agent_model", "user_model", "ablation", "caps", "seed")
    } == {
        "format": "tau2",
        "domain": "telecom",
        "agent_model": "agent-model",
        "user_model": "user-model",
        "ablation": "default",
        "caps": {"max_steps": 200, "max_errors": 10},
        "seed": 300,
    }
    assert (config["domain_commit"], config["agent_args"]) == ("abc", {"temperature": 0.0})
    assert load_run(Home(home), "r").primary == "reward@tau2"


def test_a_key_in_the_models_arguments_is_not_written(tmp_path):
    document = results(simulation())
    secret = "sk-" + "a1B2" * 10
    document["info"]["agent_info"]["llm_args"] = {"api_key": secret}
    home = tmp_path / "home"
    run(home, "import", "tau2", written(tmp_path, document), "--run", "r")
    assert all(secret.encode() not in p.read_bytes() for p in (home / "cassettes").rglob("*") if p.is_file())


# -- identities --------------------------------------------------------------------------------------------------------


def test_simulations_that_cannot_be_trials_are_told_and_the_others_imported(tmp_path):
    path = written(
        tmp_path,
        results(
            simulation(),
            simulation(),
            "no simulation",
            simulation(trial=-1),
            simulation(trial=True),
            simulation(task_id=""),
            simulation(task_id=None),
            simulation(task_id="x" * 400),
            simulation(trial=None),
        ),
    )
    done = run(tmp_path / "home", "import", "tau2", path, "--run", "r", "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["trials"]) == (1, 2)
    assert {r["record"] for r in told["remarks"] if not r["imported"]} == {1, 2, 3, 4, 5, 6, 7}
    assert {r["what"] for r in told["remarks"] if r["record"] == 8} == {"it has no trial number; taken as 1"}


# -- reviews and notes -------------------------------------------------------------------------------------------------


REVIEW = {
    "summary": "s",
    "has_errors": True,
    "critical_user_error": True,
    "errors": [
        {"source": "agent", "severity": "minor", "turn_idx": 0, "reasoning": "terse", "error_tags": ["style"]},
        {
            "source": "user",
            "error_type": "content_error",
            "severity": "critical_hindered",
            "turn_idx": 3,
            "reasoning": "made up a passenger",
            "correct_behavior": "say nothing",
            "error_tags": ["invented", "fact"],
        },
        {"source": "unknown", "reasoning": "?"},
    ],
}


def test_a_review_is_a_label_with_its_worst_error_and_is_kept_whole(tmp_path):
    found = read(
        tmp_path,
        simulation(GREETING, says("user", "a"), says("assistant", "b"), says("user", "c"), STOP, review=REVIEW),
    )
    trial = only(found)
    (label,) = trial.labels
    assert (label.author, label.fault, label.type, label.step) == (
        "tau2 review",
        "user",
        "critical_hindered content_error",
        3,
    )
    assert label.note == (
        "agent minor [style]: terse | "
        "user critical_hindered [invented, fact]: made up a passenger (better: say nothing)"
    )
    assert "review names nobody for 1 of 3 errors: no label for these" in whats(found)
    assert marks(trial, "annotation") == [{"from": "review", "data": REVIEW}]


def test_reviews_of_the_user_alone_and_hallucinations_are_labels_of_their_own_authors(tmp_path):
    more = {
        "user_only_review": {"errors": [{"severity": "critical", "reasoning": "r", "error_tags": []}]},
        "hallucination_check": {"hallucination_found": True, "errors": [{"reasoning": "h"}]},
        "auth_classification": {"status": "succeeded"},
    }
    trial = only(read(tmp_path, simulation(**more)))
    assert [(x.author, x.fault, x.type) for x in trial.labels] == [
        ("tau2 user-only review", "user", "critical"),
        ("tau2 hallucination check", "user", "hallucination"),
    ]
    assert [m["from"] for m in marks(trial, "annotation")] == [
        "user_only_review",
        "hallucination_check",
        "auth_classification",
    ]


def test_a_review_is_a_judges_and_tells_of_the_user_also_where_it_finds_no_error(tmp_path):
    def error(source, severity):
        return {"source": source, "severity": severity, "reasoning": "r"}

    def said(review):
        return [(x.source, x.fault, x.user_error) for x in only(read(tmp_path, simulation(review=review))).labels]

    assert said({"errors": []}) == [("judge", None, "none")]
    assert said({"errors": [error("agent", "critical")]}) == [("judge", "agent", "none")]
    assert said({"errors": [error("user", "minor")]}) == [("judge", "user", "minor")]
    assert said({"errors": [error("user", "minor"), error("user", "critical_helped")]}) == [
        ("judge", "user", "critical")
    ]
    assert said({"errors": [error("user", None)]}) == [("judge", "user", None)]  # nobody tells how badly
    assert said({"summary": "not looked at"}) == []


def test_notes_are_labels_by_their_authors(tmp_path):
    notes = [
        {
            "simulation_id": "t1-0",
            "note": "bad",
            "error_source": "system",
            "error_type": "vad",
            "author_email": "a@b.c",
        },
        {"task_id": "t1", "trial": 0, "note": "also", "error_source": "agent", "created_at": "2026-01-02T00:00:00"},
        {"simulation_id": "t1-0", "note": "nice"},
        {"simulation_id": "gone", "note": "?", "error_source": "user"},
    ]
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(map(json.dumps, notes)))
    path, home = written(tmp_path, results(simulation())), tmp_path / "home"
    done = run(home, "import", "tau2", path, "--run", "r", "--notes", file)
    assert "note 2 names no source of the error: no label" in done.stderr
    assert "1 note(s) of gone, which is not here" in done.stderr
    held = current(read_labels(Home(home), "r")[0])
    assert {(x.author, x.fault, x.type, x.note) for x in held} == {
        ("a@b.c", "infrastructure", "vad", "bad"),
        ("tau2 note", "agent", None, "also"),
    }
    assert {x.at for x in held if x.author == "tau2 note"} == {"2026-01-02T00:00:00"}
    (score,) = [s for s in read_scores(Home(home), "r") if s.scorer == "reward"]
    assert {x.digest for x in held} == {score.digest}


def test_a_label_that_its_author_took_back_does_not_come_again(tmp_path):
    path, home = written(tmp_path, results(simulation(review=REVIEW))), tmp_path / "home"
    run(home, "import", "tau2", path, "--run", "r")
    assert run(home, "label", "r/t1#0", "--remove", "--author", "tau2 review").exit_code == 0
    run(home, "import", "tau2", path, "--run", "r")
    assert current(read_labels(Home(home), "r")[0]) == []
