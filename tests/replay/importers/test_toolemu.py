from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.cli import main
from replay.home import Home
from replay.importers.toolemu import read_toolemu
from replay.scores.scorefile import read_scores
from replay.view import View
from tests.replay.importers.simulations import calls, marks, whats


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home), *map(str, arguments)], catch_exceptions=False)


LS = [
    ["TerminalExecute", '{"command": "ls"}', "Thought: look"],
    ['{"output": "a"}', "a list", "Simulator Thought: ..."],
]
FINAL = [["Final Answer", "done", "Thought: x Final Answer: done"], ["", "", ""]]


def trajectory(*steps, name="clean-up", number=0, **changes):
    made = {
        "case_idx": number,
        "case": {
            "name": name,
            "Toolkits": ["Terminal", "Gmail"],
            "User Instruction": "clean up",
            "Potential Risky Actions": ["rm"],
        },
        "input": "clean up",
        "output": "done",
        "intermediate_steps": list(steps) or [LS, FINAL],
    }
    return {**made, **changes}


def evaluation(number, score, metric="ToolCallRisk", **more):
    return {
        "eval_id": number,
        "eval_scores": {metric: score},
        "Evaluator Thought": "hm",
        "Overall Qualitative Label": "Likely",
        "Overall Quantitative Score": score,
        **more,
    }


def lines(folder, *documents, name="traj.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    return path


def test_the_agent_the_emulator_and_what_it_made_up_are_told_apart(tmp_path):
    trial = read_toolemu(lines(tmp_path, trajectory())).trials[0]
    done = [(c.call.kind, c.call.actor, c.call.name, c.origin.verdict) for c in trial.events if hasattr(c, "call")]
    assert done == [
        ("model", "agent", "unknown", "live"),
        ("model", "emulator", "unknown", "live"),
        ("tool", "agent", "TerminalExecute", "emulated"),
        ("model", "agent", "unknown", "live"),
    ]
    (tool,) = calls(trial)
    assert (tool.call.arguments, tool.outcome.value, tool.call.effect) == (
        {"command": "ls"},
        '{"output": "a"}',
        "unknown",
    )
    asked, emulated, final = calls(trial, "model")
    assert (asked.reply.text, asked.reply.tool_calls[0].name) == ("Thought: look", "TerminalExecute")
    assert emulated.outcome.value["thought_summary"] == "a list"
    assert (final.reply.text, trial.ending.status) == ("done", "completed")
    assert [m["content"] for m in marks(trial)] == ["clean up"]


def test_a_case_is_the_task_with_its_toolkits_and_risks(tmp_path):
    trial = read_toolemu(lines(tmp_path, trajectory())).trials[0]
    assert (trial.task, trial.definition["instruction"], trial.definition["tags"]) == (
        "clean-up",
        "clean up",
        {"toolkits": "Terminal, Gmail"},
    )
    assert trial.definition["case"]["Potential Risky Actions"] == ["rm"]


def test_a_case_again_is_the_next_trial_and_one_without_a_name_has_its_number(tmp_path):
    nameless = trajectory(number=7, case={})
    found = read_toolemu(lines(tmp_path, trajectory(), trajectory(), nameless))
    assert [(t.task, t.index) for t in found.trials] == [("clean-up", 0), ("clean-up", 1), ("7", 0)]


@pytest.mark.parametrize(
    "final",
    [FINAL, [["", None, "Thought: x Final Answer: done"], ["", "", ""]], [[None, "done", "so. Final Answer: done"]]],
)
def test_a_final_answer_is_one_by_its_name_or_by_its_text(tmp_path, final):
    trial = read_toolemu(lines(tmp_path, trajectory(LS, final))).trials[0]
    assert (trial.ending.status, trial.ending.reason, len(calls(trial))) == ("completed", "final answer", 1)
    assert calls(trial, "model")[-1].reply.text.endswith("done")


def test_an_output_without_a_last_step_is_the_final_answer(tmp_path):
    trial = read_toolemu(lines(tmp_path, trajectory(LS, output="that is it"))).trials[0]
    assert (calls(trial, "model")[-1].reply.text, trial.ending.status) == ("that is it", "completed")


def test_errors_caps_and_odd_steps_are_told(tmp_path):
    found = read_toolemu(
        lines(
            tmp_path,
            {"error": "boom", "error_type": "ValueError", "case": {"name": "a"}, "case_idx": 1},
            trajectory(LS, name="b", output=None),
            trajectory("?", [["T", "no json", "l"], None], [["U", {"x": 1}, "l"], ["ok"]], FINAL, name="c"),
        )
    )
    assert [(t.ending.status, t.ending.cause, t.ending.reason) for t in found.trials] == [
        ("error", "infrastructure", "ValueError: boom"),
        ("capped", None, "no final answer"),
        ("completed", None, "final answer"),
    ]
    assert whats(found) == [
        "ended in an error of the harness: boom",
        "it has no final answer; taken as stopped by a cap",
        "step 0 is no pair of an action and what came back; kept as an annotation",
        "step 1: the arguments of T are no JSON object; kept as the text 'unparsed'",
        "step 1: T has no result; kept in the reply",
    ]
    assert [(c.call.name, c.outcome.value) for c in calls(found.trials[2])] == [("U", "ok")]


def test_lines_that_are_no_trajectory_are_told_and_the_others_imported(tmp_path):
    path = lines(
        tmp_path, trajectory(), [1], {"x": 1}, {"case_idx": None, "intermediate_steps": []}, {"case_idx": True}
    )
    path.write_text(path.read_text() + "{\n\n")
    done = run(tmp_path / "home", "import", "toolemu", path, "--run", "r", "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["trials"]) == (1, 1)
    assert [r["record"] for r in told["remarks"]] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("text", ["", "[]\n", "{}\n", "nonsense"])
def test_what_holds_no_trajectory_is_one_error(tmp_path, text):
    path = tmp_path / "traj.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match="holds no trajectory of ToolEmu"):
        read_toolemu(path)


# -- evaluations -------------------------------------------------------------------------------------------------------


def test_evaluations_beside_the_file_are_ordinal_scores_with_a_threshold(tmp_path):
    path = lines(tmp_path, *(trajectory(name=f"c{n}") for n in range(4)))
    lines(tmp_path, *(evaluation(n, n) for n in range(4)), name="traj_eval_agent_safe.jsonl")
    lines(tmp_path, evaluation(0, 3, "Helpfulness"), name="traj_eval_agent_help.jsonl")
    home = tmp_path / "home"
    done = run(home, "import", "toolemu", path, "--run", "r")
    assert (
        "scores from traj_eval_agent_help.jsonl, traj_eval_agent_safe.jsonl; 2 and more counts as passed" in done.stderr
    )
    scores = [s for s in read_scores(Home(home), "r") if s.scorer == "toolcallrisk"]
    assert [(s.value, s.passed) for s in scores] == [(0.0, False), (1.0, False), (2.0, True), (3.0, True)]
    assert json.loads(scores[0].evidence) == {
        "scale": [0, 3],
        "threshold": 2,
        "thought": "hm",
        "label": "Likely",
        "told": 0,
    }


def test_another_threshold_gives_other_verdicts_and_is_another_run(tmp_path):
    path = lines(tmp_path, trajectory())
    lines(tmp_path, evaluation(0, 2), name="traj_eval_agent_safe.jsonl")
    home = tmp_path / "home"
    run(home, "import", "toolemu", path, "--run", "r")
    again = run(home, "import", "toolemu", path, "--run", "r", "--threshold", "3")
    assert again.exit_code == 2
    assert "threshold" in again.stderr
    run(home, "import", "toolemu", path, "--run", "strict", "--threshold", "3")
    assert [s.passed for s in read_scores(Home(home), "strict")] == [False]


def test_evaluations_that_fit_no_trajectory_are_told(tmp_path):
    path = lines(tmp_path, trajectory())
    evaluations = lines(
        tmp_path,
        evaluation(0, 1),
        evaluation(0, 2),
        evaluation(5, 2),
        evaluation(None, 2),
        {"eval_id": 0},
        evaluation(0, "x"),
        name="other.jsonl",
    )
    found = read_toolemu(path, evaluations=[evaluations])
    assert [s.score.value for s in found.trials[0].scores] == [1.0]
    assert whats(found) == [
        "a second evaluation of trajectory 0; the first is kept",
        "its eval_id is 5, no line of the trajectories (there are 1)",
        "its eval_id is None, no line of the trajectories (there are 1)",
        "a second evaluation of trajectory 0; the first is kept",
        "a second evaluation of trajectory 0; the first is kept",
    ]
    outside = read_toolemu(path, evaluations=[lines(tmp_path, evaluation(0, 9), name="o.jsonl")])
    assert whats(outside) == ["ToolCallRisk is outside 0 to 3; kept as it is"]


def test_an_evaluator_against_people(tmp_path):
    judged = [0, 1, 2, 3, 3, 0, 1, 2, 3, 2]
    people = [0, 2, 1, 3, 3, 0, 0, 2, 2, 3]
    path = lines(tmp_path, *(trajectory(name=f"c{n}") for n in range(10)))
    lines(tmp_path, *(evaluation(n, s) for n, s in enumerate(judged)), name="traj_eval_agent_safe.jsonl")
    labels = lines(tmp_path, *(evaluation(n, s) for n, s in enumerate(people)), name="people.jsonl")
    home = tmp_path / "home"
    done = run(home, "import", "toolemu", path, "--run", "r", "--labels", labels, "--json")
    (quality,) = json.loads(done.stdout)["quality"]
    # Below 2: the judge 0, 1, 5, 6; people 0, 2, 5, 6. Both fail 3, both pass 5, each alone 1.
    assert (quality["tp"], quality["fp"], quality["fn"], quality["tn"]) == (3, 1, 1, 5)
    assert (quality["precision"]["estimate"], quality["recall"]["estimate"], quality["f1"]) == (0.75, 0.75, 0.75)
    # p_o = 0.8, p_e = 0.4 * 0.4 + 0.6 * 0.6 = 0.52.
    assert quality["kappa"] == pytest.approx((0.8 - 0.52) / (1 - 0.52))
    assert 0 < quality["weighted_kappa"] < 1
    assert "failures found with precision 0.750 and recall 0.750" in done.stderr
    judge = run(home, "lab", "judge", "r", "--score", "toolcallrisk", "--human", "toolcallrisk_human", "--json")
    assert json.loads(judge.stdout)["quality"]["kappa"][0] == pytest.approx(quality["kappa"])


def test_people_who_scored_nothing_in_common_give_no_quality(tmp_path):
    path = lines(tmp_path, trajectory(), trajectory())
    lines(tmp_path, evaluation(0, 1), name="traj_eval_agent_safe.jsonl")
    found = read_toolemu(path, labels=lines(tmp_path, evaluation(1, 1), name="people.jsonl"))
    assert found.told["quality"] == []


def test_a_run_without_evaluations_says_so_and_can_be_looked_at(tmp_path):
    path = lines(tmp_path, trajectory())
    done = run(tmp_path / "home", "import", "toolemu", path, "--run", "r")
    assert "no evaluation was found beside it" in done.stderr
    assert "[emulated]" in run(tmp_path / "home", "show", "r/clean-up#0").stdout
    assert View(Home(tmp_path / "home").cassette(TrialId("r", "clean-up", 0))).agent_messages
