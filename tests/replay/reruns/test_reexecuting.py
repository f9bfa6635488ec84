"""Recorded tool calls made again in a real environment: what is the same, what is not, and what cannot be said."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trialtape as tt
from cassettes.errors import BadInput
from cassettes.model import Call, Cancelled, Error, Interaction, Mark, Origin, Value
from replay.home import Home
from replay.reruns.reexecuting import Manner, Reexecutor, reexecuted
from replay.reruns.reexecution import Reexecution
from replay.reruns.state_again import recorded_scores
from replay.view import View
from tests.replay.recorded import keep


class Shop:
    """Answers by name; remembers what it was asked."""

    name, version, data_digest = "shop", "1", "d"

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def call(self, name, arguments):
        self.asked.append((name, dict(arguments)))
        if name not in self.answers:
            raise tt.UnknownTool(f"no tool {name}")
        answer = self.answers[name]
        if isinstance(answer, BaseException):
            raise answer
        return answer(arguments) if callable(answer) else answer


@pytest.fixture
def again(home):
    """Keep a trial of these calls with their outcomes; then make them again in a shop with these answers."""

    def carry_out(calls, answers, *, mode="report", make=Shop, marks=(), ignore=(), **header):
        interactions = [
            Interaction(n, call, outcome, started=2 * n, ended=2 * n + 1, **(more[0] if more else {}))
            for n, (call, outcome, *more) in enumerate(calls)
        ]
        keep(home, "r/t#0", interactions, marks=marks, **header)
        carry_out.made = []

        def factory(task):
            carry_out.made.append(make(answers))
            return carry_out.made[-1]

        ((trial, path),) = home.trials("r")
        return Reexecutor(home, factory, Manner(mode, ignore), recorded_scores(home, {"r"}))((trial, path))

    return carry_out


def tool(name="look", actor="agent", effect="read", **arguments):
    return Call("tool", name, arguments, actor=actor, effect=effect)


def verdicts(found):
    return [call.verdict for call in found.calls]


def test_the_calls_are_made_in_the_order_in_which_they_began(home, again):
    calls = [(tool(n=1), Value("a")), (Call("model", "m", {}), Value({})), (tool("put", n=2), Value("b"))]
    found = again(calls, {"look": "a", "put": "b"})
    assert again.made[0].asked == [("look", {"n": 1}), ("put", {"n": 2})]
    assert (verdicts(found), found.carried_out) == (["identical", "identical"], 2)
    assert (found.facts.name, found.facts.version, found.facts.data_digest) == ("shop", "1", "d")
    assert found.is_identical


def test_an_unknown_tool_is_a_verdict_and_a_difference_only_if_it_was_known_when_recorded(again):
    calls = [
        (tool("gone"), Value("here")),
        (tool("invented"), Value("no tool invented")),
        (tool("refused"), Value("Error: what?")),
        (tool("raised"), Error(KeyError("raised"))),
    ]
    found = again(calls, {})
    assert verdicts(found) == ["unknown tool"] * 4
    assert [call.differs for call in found.calls] == [True, False, False, False]


def test_an_error_of_a_tool_is_its_outcome_and_no_missing_tool(again):
    calls = [(tool(), Value("a")), (tool("raising"), Error(KeyError("x"))), (tool("other"), Value("b"))]
    found = again(calls, {"look": LookupError("a"), "raising": KeyError("x"), "other": SystemExit(3)})
    assert verdicts(found) == ["differs", "identical", "differs"]


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ([(tool(key="{secret:openai:0a1b2c3d}"), Value("a"))], "held a secret"),
        ([(tool(), Cancelled())], "cancelled"),
        ([(tool(), Error(tt.Unanswered("no answer")), {"origin": Origin("missed")})], "never answered"),
        ([(tool(actor="user"), Value("a"))], "tool of the user"),
        ([(tool(unparsed="{"), Value("a"))], "no JSON object"),
    ],
)
def test_what_cannot_be_made_again_is_told_and_is_neither_the_same_nor_another(again, calls, why):
    found = again(calls, {"look": "a"}, config={"mode": "import"})
    assert verdicts(found) == ["not carried out"]
    assert why in found.calls[0].why
    assert not again.made[0].asked
    assert (found.differs, found.is_open, found.is_identical) == (False, True, False)


def test_an_argument_may_be_called_unparsed_where_nothing_was_imported(again):
    found = again([(tool(unparsed="{"), Value("a"))], {"look": "a"}, config={"mode": "record"})
    assert verdicts(found) == ["identical"]


def test_tools_of_the_user_go_to_the_user_s_side_of_the_environment(again):
    class Dual(Shop):
        def call_user(self, name, arguments):
            return f"the user's {name}"

    found = again([(tool(actor="user"), Value("the user's look")), (tool(), Value("a"))], {"look": "a"}, make=Dual)
    assert verdicts(found) == ["identical", "identical"]


def test_what_a_model_played_or_a_judge_asked_is_not_the_environment_s(again):
    found = again([(tool(actor="judge"), Value("a")), (tool(actor="emulator"), Value("a"))], {})
    assert found.calls == ()


def test_of_an_agent_that_is_a_tool_the_calls_inside_are_made_and_not_the_whole_again(home, again):
    calls = [
        (tool("delegate", effect="write"), Value("done"), {}),
        (tool("put", effect="write"), Value("put"), {"parent": 0}),
    ]
    found = again(calls, {"put": "put"})
    assert [(call.tool, call.verdict) for call in found.calls] == [("put", "identical")]


def test_secrets_are_removed_from_what_comes_as_they_were_from_the_recording(home, tmp_path):
    token = "sk-" + "a1B2" * 6

    @tt.tool(effect="read")
    def look() -> dict:
        return {"note": f"use {token}"}

    suite = tt.Suite([tt.Task(id="t")], lambda trial: look())
    suite.run("r", trials=1, home=home.root)
    (job,) = home.trials("r")
    found = Reexecutor(home, lambda task: Shop({"look": {"note": f"use {token}"}}), Manner())(job)
    assert verdicts(found) == ["identical"]
    assert token not in json.dumps(found.to_dict())
    found = Reexecutor(home, lambda task: Shop({"look": {"note": "use " + token.replace("a", "b")}}), Manner())(job)
    assert verdicts(found) == ["differs"]
    assert token.replace("a", "b") not in json.dumps(found.to_dict())


def test_a_tool_may_change_what_it_is_given_and_what_it_gave(home, again):
    answer = {"items": [1]}

    def look(arguments):
        arguments["order"].append("changed")
        answer["items"].append(len(answer["items"]) + 1)
        return answer

    calls = [(tool(order=["W1"]), Value({"items": [1, 2]})), (tool(order=["W1"]), Value({"items": [1, 2, 3]}))]
    found = again(calls, {"look": look})
    assert verdicts(found) == ["identical", "identical"]
    assert View(home.cassette(next(home.trials("r"))[0]), home).steps[0].call.arguments == {"order": ["W1"]}


def test_strict_stops_at_the_first_answer_that_is_not_the_same(again):
    calls = [
        (tool(n=1), Value("1.0")),
        (tool("gone"), Value("Error: none")),
        (tool(n=2), Value("2.0")),
        (tool(n=3), Value("3")),
    ]
    answers = {"look": lambda arguments: f"{arguments['n']}.0" if arguments["n"] == 1 else str(arguments["n"])}
    found = again(calls, answers, mode="strict")
    assert verdicts(found) == ["identical", "unknown tool", "canonical"]
    assert (found.stopped, found.is_identical, len(again.made[0].asked)) == (2, False, 3)
    assert found.unmade == 1


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=25)
@given(st.lists(documents, min_size=1, max_size=6), st.data())
def test_an_environment_that_repeats_a_recording_is_identical_and_one_other_answer_is_found(answers, data):
    with TemporaryDirectory() as folder:
        home = Home(Path(folder))
        keep(home, "r/t#0", [Interaction(n, tool(n=n), Value(a), 2 * n, 2 * n + 1) for n, a in enumerate(answers)])
        (job,) = home.trials("r")

        def found(now):
            make = lambda task: Shop({"look": lambda arguments: now[arguments["n"]]})
            return Reexecutor(home, make, Manner())(job)

        assert found(answers).is_identical
        place = data.draw(st.integers(0, len(answers) - 1))
        other = {"another": answers[place]}
        differing = [
            call.step for call in found([*answers[:place], other, *answers[place + 1 :]]).calls if call.differs
        ]
        assert differing == [place]


def test_fields_that_do_not_count_are_left_out(again):
    found = again([(tool(), Value({"at": 1, "a": 2}))], {"look": {"at": 9, "a": 2}}, ignore=("tool:look:at",))
    assert verdicts(found) == ["canonical"]


def test_an_environment_may_say_what_differs_each_time(again):
    class Clock(Shop):
        ignore_fields = ("tool:look:at",)

    found = again([(tool(), Value({"at": 1, "a": 2}))], {"look": {"at": 9, "a": 2}}, make=Clock)
    assert verdicts(found) == ["canonical"]


# -- states ------------------------------------------------------------------------------------------------------------


@tt.tool(effect="write", external=False, ignore=("db",))
def put(db: dict, key: str, value: int) -> str:
    db["rows"][key] = value
    return "put"


class Stateful:
    """Acts on the recorded initial state, as the recorded tools did."""

    def __init__(self, db, add=0):
        self.db, self.add = db, add

    def call(self, name, arguments):
        self.db["rows"][arguments["key"]] = arguments["value"] + self.add
        return "put"

    def state(self):
        return self.db


@pytest.fixture
def tracked(home):
    """A recorded trial that tracked its state, and passes if ``rows.a`` is 1; made again in this environment."""

    def carry_out(make, agent=lambda trial: put(trial.state, "a", 1), **manner):
        task = tt.Task(id="t", state=lambda: {"rows": {"z": 0}, "size": 10}, expected={"rows": {"a": 1}})
        tt.Suite([task], agent).run("r", trials=1, home=home.root)
        (job,) = home.trials("r")
        return Reexecutor(home, make, Manner(**manner), recorded_scores(home, {"r"}))(job)

    return carry_out


def test_a_tracked_state_is_compared_before_and_after(tracked):
    found = tracked(lambda task: Stateful(task["state"]))
    assert (found.start.verdict, found.state.verdict, found.state.by) == ("same", "same", "whole")
    assert found.is_identical


def test_the_form_of_numbers_and_the_order_of_keys_do_not_count_in_a_state(tracked):
    found = tracked(lambda task: Stateful({"size": 10.0, "rows": {"z": 0}}))
    assert (found.start.verdict, found.state.verdict) == ("same", "same")


def test_another_state_is_told_by_its_leaves(tracked):
    found = tracked(lambda task: Stateful(task["state"], add=1))
    assert found.start.verdict == "same"
    assert [(c.path, c.left, c.right) for c in found.state.changes] == [("rows.a", 1, 2)]
    assert found.differs


def test_another_start_is_a_difference_of_its_own(tracked):
    found = tracked(lambda task: Stateful({"rows": {}, "size": 10}))
    assert found.start.verdict == "differs"
    assert [c.path for c in found.start.changes] == ["rows.z"]


def test_parts_of_a_state_that_do_not_count_are_left_out(tracked):
    class Clock(Stateful):
        ignore_state = ("rows.*",)

    assert tracked(lambda task: Clock(task["state"], add=1)).state.verdict == "same"
    assert tracked(lambda task: Stateful(task["state"], add=1), ignore_state=("rows.a",)).state.verdict == "same"


def test_what_no_tool_changed_is_told_beside_a_state_that_differs(tracked):
    def agent(trial):
        put(trial.state, "a", 1)
        trial.state["size"] = 11

    found = tracked(lambda task: Stateful(task["state"]), agent)
    assert found.state.verdict == "differs"
    assert "something other than a tool changed it" in found.state.why


def test_a_state_that_is_not_shown_or_cannot_be_compared_is_unknown(tracked):
    class Mute(Stateful):
        state = None

    class Broken(Stateful):
        def state(self):
            raise OSError("gone")

    assert tracked(lambda task: Mute(task["state"])).state.why == "the environment shows no state"
    home_again = tracked(lambda task: Broken(task["state"]))
    assert home_again.state.why == "state() raised OSError: gone"


def test_after_a_write_that_was_not_made_again_the_state_is_unknown(again):
    found = again([(tool("put", effect="write"), Cancelled()), (tool(), Value("a"))], {"look": "a"})
    assert (found.state.verdict, found.verdicts) == ("unknown", ())
    assert found.state.why == "step 0 may have changed it, and was not carried out"


def test_a_scorer_looks_at_the_state_of_now_beside_the_recorded_score(tracked):
    (verdict,) = tracked(lambda task: Stateful(task["state"]), scorer=tt.scoring.task_checks).verdicts
    assert (verdict.kind, verdict.recorded, verdict.now, verdict.score) == ("same", True, True, "task_checks@1")


def test_a_verdict_that_flips_is_a_difference(tracked):
    found = tracked(lambda task: Stateful(task["state"], add=1), scorer=tt.scoring.task_checks)
    assert [(v.kind, v.recorded, v.now) for v in found.verdicts] == [("flips", True, False)]


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        (True, [("task_checks@1", "same", True)]),
        (0.25, [("task_checks@1", "flips", False)]),
        (None, [("task_checks@1", "unknown", None)]),
        ("yes", [("task_checks@1", "unknown", None)]),
        ({"task_checks": False, "else": True}, [("task_checks@1", "flips", False), ("else", "unknown", True)]),
    ],
)
def test_an_environment_s_own_check_stands_beside_the_scores_that_it_names(tracked, said, kinds):
    class Checked(Stateful):
        def verdict(self, view):
            assert view.state()["rows"]["a"] == 1
            with pytest.raises(tt.BadInput):
                view.state(0)
            return said

    found = tracked(lambda task: Checked(task["state"])).verdicts
    assert [(v.score, v.kind, v.now) for v in found] == kinds


def test_a_check_that_raises_is_told(tracked):
    class Checked(Stateful):
        def verdict(self, view):
            raise ZeroDivisionError("oh")

    (verdict,) = tracked(lambda task: Checked(task["state"])).verdicts
    assert (verdict.kind, verdict.why) == ("unknown", "ZeroDivisionError: oh")


# -- many --------------------------------------------------------------------------------------------------------------


def test_one_environment_for_two_trials_is_refused(run, tmp_path):
    @tt.tool(effect="read")
    def look() -> str:
        return "a"

    run(lambda trial: look(), trials=1)
    (tmp_path / "shared.py").write_text(
        "class E:\n    def call(self, n, a):\n        return 'a'\nONE = E()\ndef environment(task):\n    return ONE\n"
    )
    home = Home(tmp_path)
    with pytest.raises(BadInput, match="the same environment for two trials"):
        reexecuted(home, list(home.trials("r")), str(tmp_path / "shared.py"), Manner())


def test_a_damaged_cassette_and_a_trial_without_an_environment_cost_only_themselves(run, tmp_path):
    @tt.tool(effect="read")
    def look() -> str:
        return "a"

    run(lambda trial: look(), trials=2)
    (tmp_path / "picky.py").write_text(
        "class E:\n    def call(self, n, a):\n        return 'a'\n"
        "def environment(task):\n    return E() if task['id'] == 'a' else task['no']\n"
    )
    home = Home(tmp_path)
    jobs = list(home.trials("r"))
    damaged = jobs[1][1].read_bytes()
    jobs[1][1].write_bytes(damaged[:-40] + bytes(40))
    found = reexecuted(home, jobs, str(tmp_path / "picky.py"), Manner(), processes=2)
    assert [one.trial for one in found] == ["r/a#0", "r/a#1", "r/b#0", "r/b#1"]
    assert [(one.damaged, one.left_out is None) for one in found] == [
        (False, True),
        (True, False),
        (False, False),
        (False, False),
    ]
    assert "cannot be made: KeyError: 'no'" in found[2].left_out
    assert Reexecution("r", "r", "picky.py", "report", "now", tuple(found)).exit_code == 4


def test_a_process_that_dies_costs_only_its_trial(run, tmp_path):
    @tt.tool(effect="read")
    def look() -> str:
        return "a"

    run(lambda trial: look(), trials=2)
    (tmp_path / "deadly.py").write_text(
        "import os\nclass E:\n    def __init__(self, t):\n        self.t = t\n    def call(self, n, a):\n"
        "        if self.t == 'r/a#1':\n            os._exit(3)\n        return 'a'\n"
        "def environment(task):\n    return E(task['trial'])\n"
    )
    home = Home(tmp_path)
    found = reexecuted(home, list(home.trials("r")), str(tmp_path / "deadly.py"), Manner(), processes=2)
    assert [one.left_out for one in found] == [None, "the process that carried it out died", None, None]


def exit_code(mode, *trials):
    return Reexecution("r", "r", "e", mode, "now", trials).exit_code


def test_the_modes(again):
    same = again([(tool(), Value("a"))], {"look": "a"})
    assert [exit_code(mode, same) for mode in ("report", "lenient", "strict")] == [0, 0, 0]


def test_what_is_only_written_otherwise_fails_the_strict_mode_alone(again):
    found = again([(tool(), Value("1.0"))], {"look": "1"})
    assert [exit_code(mode, found) for mode in ("report", "lenient", "strict")] == [0, 0, 1]


def test_what_differs_fails_the_lenient_mode_too(again):
    found = again([(tool(), Value("a"))], {"look": "b"})
    assert [exit_code(mode, found) for mode in ("report", "lenient", "strict")] == [0, 1, 1]


def test_what_could_not_be_compared_leaves_the_lenient_mode_undecided(again):
    found = again([(tool(), Cancelled())], {})
    assert [exit_code(mode, found) for mode in ("report", "lenient", "strict")] == [0, 6, 1]


def test_marks_without_a_state_are_no_state(again):
    found = again([(tool(), Value("a"))], {"look": "a"}, marks=[Mark("message", 0.0, {"role": "user", "content": "x"})])
    assert (found.start.verdict, found.state.why) == ("unknown", "the recording holds no state")
