# ruff: noqa: PT012  # what leaves a trial's block of several calls is what is tested

"""What a session answers under each policy; frozen tools never lie."""

from __future__ import annotations

import asyncio
import functools
import json

import pytest
from click.testing import CliRunner

import trialtape as tt
from cassettes.errors import TrialStopped
from cassettes.model import Reply, Usage
from replay.cli import main
from replay.spending import Price, cost_of
from tests import factories

ran: list[str] = []


class Box:
    """The outside world (external tools), or a tracked state."""

    def __init__(self):
        self.values = {"x": 0, "y": 0}

    @tt.tool(effect="read")
    def read(self, key: str) -> int:
        ran.append("read")
        return self.values[key]

    @tt.tool(effect="write")
    def write(self, key: str, value: int) -> str:
        ran.append("write")
        if value < 0:
            raise LockedError(key, code=423)
        self.values[key] = value
        return "ok"

    @tt.tool(effect="read", reads="box:{key}")
    def read_one(self, key: str) -> int:
        ran.append("read_one")
        return self.values[key]

    @tt.tool(effect="write", reads="box:{key}", writes="box:{key}")
    def write_one(self, key: str, value: int) -> str:
        ran.append("write_one")
        self.values[key] = value
        return "ok"

    @tt.tool(effect="write", external=False)
    def note(self, text: str) -> str:
        ran.append("note")
        self.values[text] = 1
        return "noted"

    @tt.tool(effect="read", external=False)
    def notes(self) -> list[str]:
        ran.append("notes")
        return sorted(self.values)

    @tt.tool(effect="unknown")
    def flip(self) -> int:
        ran.append("flip")
        self.values["x"] = 1 - self.values["x"]
        return self.values["x"]

    @tt.tool
    def research(self, question: str) -> str:
        """A sub-agent: a tool that calls tools."""
        ran.append("research")
        return f"{question}: {self.read('x')}"

    @tt.tool(effect="read")
    async def aread(self, key: str) -> int:
        ran.append("aread")
        await asyncio.sleep(0)
        return self.values[key]


class LockedError(Exception):
    def __init__(self, key, *, code):
        super().__init__(f"{key} is locked")
        self.code = code


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


@pytest.fixture
def record(tmp_path):
    """Record trials of run ``base``: ``record(lambda box: ...)``, each in a fresh box."""

    def recording(*agents, track=False):
        for agent in agents:
            with tt.trial(run="base", task="t", home=tmp_path) as trial:
                box = Box()
                if track:
                    trial.track(box.values)
                agent(box)
        ran.clear()

    return recording


@pytest.fixture
def frozen(tmp_path):
    """A frozen trial that ends where no recording answers, unless a test says otherwise."""
    return functools.partial(
        tt.trial, run="frozen", task="t", freeze="tool", source="base", home=tmp_path, on_miss="fail"
    )


def last(tmp_path, index=0):
    return tt.open(f"frozen/t#{index}", home=tmp_path)


# -- frozen tools do not lie -------------------------------------------------------------------------------------------


def test_the_same_history_gets_the_same_answers_and_nothing_runs(tmp_path, record, frozen):
    def agent(box):
        return [box.read("x"), box.write("x", 1), box.read("x"), box.read("x")]

    record(lambda box: [box.read("x"), box.write("x", 1), box.read("x")])
    with frozen() as trial:
        assert agent(Box()) == [0, "ok", 1, 1]
    assert ran == []
    assert trial.verdicts == {"own": 3, "repeated": 1}
    assert last(tmp_path).coverage == {"own": 3, "repeated": 1}
    assert [step.origin.verdict for step in last(tmp_path).steps] == ["own", "own", "own", "repeated"]


def test_a_read_after_another_history_of_writes_is_stale_and_never_the_old_answer(tmp_path, record, frozen):
    record(lambda box: [box.read("x"), box.write("x", 1)])
    with pytest.raises(tt.Unanswered) as caught, frozen() as trial:
        box = Box()
        box.write("x", 1)
        pytest.fail(f"answered {box.read('x')}")
    assert trial.ending.status == "unanswered"
    assert trial.verdicts["stale"] == 1
    assert last(tmp_path).coverage["stale"] == 1
    assert caught.value.to_dict()["verdict"] == "stale"
    assert len(str(caught.value).splitlines()) <= 10
    assert ran == []


def test_declared_resources_that_do_not_meet_keep_the_answer(record, frozen):
    record(lambda box: [box.read_one("x"), box.write_one("y", 5)])
    with frozen() as trial:
        box = Box()
        assert (box.write_one("y", 5), box.read_one("x")) == ("ok", 0)
    assert trial.verdicts == {"own": 2}


def test_an_unknown_call_counts_as_a_write_so_each_has_a_context_of_its_own(record, frozen):
    record(lambda box: [box.flip(), box.flip()])
    with pytest.raises(tt.Unanswered), frozen():
        box = Box()
        assert [box.flip(), box.flip()] == [1, 0]
        box.flip()
    assert ran == []


def test_never_by_position(record, frozen):
    record(lambda box: [box.read("x"), box.read("y")])

    with frozen():
        box = Box()
        assert [box.read("y"), box.read("x")] == [0, 0]


def test_an_error_replays_as_the_same_error_with_its_fields(record, frozen):
    def agent(box):
        with pytest.raises(LockedError) as caught:
            box.write("x", -1)
        return caught.value

    record(agent)
    with frozen():
        error = agent(Box())
    assert (type(error), error.args, error.code) == (LockedError, ("x is locked",), 423)
    assert ran == []


# -- the trial ends there, whatever the agent makes of it --------------------------------------------------------------


def catching(box):
    for key in ("nothing", "x", "y"):
        try:
            box.read(key)
        except Exception:
            continue


def catching_all_and_going_live(box):
    try:
        box.read("nothing")
    except BaseException:
        box.note("live")


def gathering(box):
    async def main():
        await asyncio.gather(*(box.aread(key) for key in ("nothing", "x")), return_exceptions=True)
        return await box.aread("x")

    asyncio.run(main())


def grouping(box):
    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(box.aread("nothing"))
            group.create_task(box.aread("x"))

    asyncio.run(main())


@pytest.mark.parametrize("agent", [catching, catching_all_and_going_live, gathering, grouping])
@pytest.mark.parametrize("freeze", ["external", "tool"])
def test_a_miss_ends_the_trial_whatever_the_agent_catches(tmp_path, record, agent, freeze):
    record(lambda box: [box.read("x"), asyncio.run(box.aread("x"))])
    options = {"run": "frozen", "task": "t", "freeze": freeze, "source": "base", "home": tmp_path}
    with pytest.raises(tt.Unanswered), tt.trial(**options, offline=True) as trial:
        agent(Box())
    assert trial.ending.status == "unanswered"
    assert ran == []
    verdicts = [step.origin.verdict for step in last(tmp_path).steps]
    assert verdicts[0] == "missed"
    assert len(verdicts) == 1


def test_after_a_miss_no_call_is_answered_not_even_a_live_one(record, frozen):
    record(lambda box: box.read("x"))
    stopped = []
    with pytest.raises(tt.Unanswered), frozen(freeze="external"):
        box = Box()
        for call in (lambda: box.read("y"), lambda: box.read("x"), lambda: box.note("a")):
            try:
                call()
            except TrialStopped as stop:
                stopped.append(stop.halt)
    assert len(stopped) == 3
    assert len(set(map(id, stopped))) == 1
    assert ran == []


def test_a_loop_of_trials_goes_on_with_an_ordinary_exception(tmp_path, record, frozen):
    record(*[lambda box: box.read("x")] * 2)
    seen = []
    for index in range(8):
        try:
            with frozen():
                Box().read("x" if index % 2 else "y")
        except Exception as error:
            seen.append(type(error))
    assert seen == [tt.Unanswered] * 4
    statuses = [last(tmp_path, index).ending.status for index in range(8)]
    assert statuses == ["unanswered", "completed"] * 4


def test_a_group_of_exceptions_is_not_what_leaves_the_block(record, frozen):
    record(lambda box: box.read("x"))

    async def main():
        async with frozen(), asyncio.TaskGroup() as group:
            group.create_task(Box().aread("x"))

    with pytest.raises(tt.Unanswered):
        asyncio.run(main())


# -- counts ------------------------------------------------------------------------------------------------------------


def test_verdicts_are_in_stats_as_table_and_as_json(tmp_path, record):
    def agent(trial):
        box = Box()
        trial.track(box.values)
        box.read("x")
        if trial.index:
            box.read("nowhere")
        box.note("a")

    record(*[lambda box: box.read("x")] * 4)
    suite = tt.Suite(
        tasks=[tt.Task(id="t", expected={"a": 1})],
        agent=agent,
    )
    suite.run("frozen", trials=4, freeze="external", source="base", offline=True, home=tmp_path)
    call = CliRunner().invoke(main, ["--home", str(tmp_path), "stats", "frozen", "--json"])
    assert call.exit_code == 0, call.stderr
    told = json.loads(call.stdout)
    assert told["coverage"]["verdicts"] == {"own": 4, "missed": 3}
    assert (told["coverage"]["trials"], told["coverage"]["whole"]) == (4, 1)
    assert told["summary"] is None  # 3 of 4 unanswered: only bounds
    assert told["bounds"][0] == {"k": 1, "low": 0.25, "high": 1.0}
    text = CliRunner().invoke(main, ["--home", str(tmp_path), "stats", "frozen"]).stdout
    assert "4 of 7 exact, 3 missed" in text
    assert "pass^1 lies between 0.250 (all failed) and 1.000 (all passed)" in text


# -- the tracked state -------------------------------------------------------------------------------------------------


def test_a_frozen_write_applies_its_patch_so_that_the_final_state_is_known(tmp_path, record, frozen):
    record(lambda box: box.write("x", 1), track=True)
    with frozen() as trial:
        box = Box()
        trial.track(box.values)
        box.write("x", 1)
        assert box.values == {"x": 1, "y": 0}
    assert ran == []
    assert last(tmp_path).state() == {"x": 1, "y": 0}
    assert last(tmp_path).state(step=-1) == {"x": 0, "y": 0}


def test_a_frozen_error_applies_no_patch(tmp_path, record, frozen):
    def agent(box):
        with pytest.raises(LockedError):
            box.write("x", -1)

    record(agent, track=True)
    with frozen() as trial:
        box = Box()
        trial.track(box.values)
        agent(box)
    assert last(tmp_path).state() == {"x": 0, "y": 0}


@pytest.mark.parametrize("change", [lambda values: values.pop("x"), lambda values: values.update(x=7)])
def test_a_patch_that_does_not_fit_is_stale_and_changes_nothing(tmp_path, record, frozen, change):
    record(lambda box: box.write("x", 1), track=True)
    with pytest.raises(tt.Unanswered, match="does not fit") as caught, frozen() as trial:
        box = Box()
        change(box.values)
        trial.track(box.values)
        before = dict(box.values)
        box.write("x", 1)
    assert box.values == before
    assert trial.ending.status == "unanswered"
    assert trial.verdicts == {"stale": 1}
    assert last(tmp_path).coverage == {"stale": 1}
    assert caught.value.to_dict()["verdict"] == "stale"


def test_live_writes_on_the_tracked_state_do_not_touch_the_outside(record, frozen):
    record(lambda box: [box.read("x"), box.note("a")])
    with frozen(freeze="external") as trial:
        box = Box()
        trial.track(box.values)
        assert (box.note("b"), box.read("x")) == ("noted", 0)
    assert ran == ["note"]
    assert trial.verdicts == {"own": 1}


def test_writes_that_are_live_by_policy_enter_the_contexts_of_frozen_reads(record, frozen):
    record(lambda box: [box.read("x"), box.write("x", 1), box.read("x")])
    with frozen(freeze="tool:read"):
        box = Box()
        assert [box.read("x"), box.write("x", 1), box.read("x")] == [0, "ok", 1]
    assert ran == ["write"]
    with pytest.raises(tt.Unanswered, match="stale"), frozen(freeze="tool:read"):
        box = Box()
        box.write("x", 2)
        box.read("x")


# -- sub-agents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["the same", "another"])
def test_a_sub_agent_is_a_span_it_runs_and_what_is_inside_is_answered(record, frozen, question):
    record(lambda box: box.research("the same"))
    with frozen() as trial:
        assert Box().research(question) == f"{question}: 0"
    assert ran == ["research"]
    assert trial.verdicts == {"own": 1}


def test_a_sub_agent_runs_in_a_replay_too(tmp_path, record):
    record(lambda box: box.research("q"))
    with tt.trial(run="again", task="t", replay="base/t#0", home=tmp_path):
        assert Box().research("q") == "q: 0"
    assert ran == ["research"]


# -- on a miss ---------------------------------------------------------------------------------------------------------


def test_on_miss_error_gives_the_agent_an_error_and_goes_on(tmp_path, record, frozen):
    record(lambda box: box.read("x"))
    with frozen(on_miss="error") as trial:
        with pytest.raises(LookupError, match="read: no recorded answer"):
            Box().read("y")
        assert Box().read("x") == 0
    assert trial.ending.status == "completed"
    assert trial.verdicts == {"missed": 1, "own": 1} == last(tmp_path).coverage
    assert ran == []


def test_on_miss_live_calls_a_read_and_says_so(tmp_path, record, frozen):
    record(lambda box: box.read("x"))
    with frozen(on_miss="live") as trial:
        assert [Box().read("y"), Box().read("x")] == [0, 0]
    assert ran == ["read"]
    assert trial.verdicts == {"live": 1, "own": 1}
    assert last(tmp_path).coverage == {"own": 1}


def test_on_miss_live_refuses_a_write(tmp_path, record, frozen):
    record(lambda box: box.read("x"))
    with pytest.raises(tt.Unanswered, match="may write"), frozen(on_miss="live"):
        Box().write("x", 1)
    assert ran == []
    assert last(tmp_path).ending.status == "unanswered"


def test_on_miss_live_refuses_a_read_from_a_world_that_lacks_the_frozen_writes(record, frozen):
    record(lambda box: box.write("x", 1))
    with (
        pytest.raises(tt.Unanswered, match=r"the real thing never saw the frozen writes .*\(write\)"),
        frozen(on_miss="live"),
    ):
        box = Box()
        box.write("x", 1)
        box.read("y")
    assert ran == []


def test_on_miss_live_reads_the_tracked_state_because_frozen_writes_reach_it(record, frozen):
    record(lambda box: box.note("a"), track=True)
    with frozen(on_miss="live") as trial:
        box = Box()
        trial.track(box.values)
        box.note("a")
        assert box.notes() == ["a", "x", "y"]
    assert ran == ["notes"]


def test_a_policy_may_freeze_the_model_and_leave_the_tools_live(tmp_path, provider):
    import openai

    def agent(box):
        with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
            answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        return answer.choices[0].message.content, box.read("x")

    url = provider.base_url
    with tt.trial(run="base", task="t", home=tmp_path):
        recorded = agent(Box())
    provider.stop()
    ran.clear()
    with tt.trial(run="frozen", task="t", freeze="model", source="base", home=tmp_path) as trial:
        assert agent(Box()) == recorded
    assert ran == ["read"]
    assert trial.verdicts == {"own": 1}


# -- what cannot be kept or matched ------------------------------------------------------------------------------------


def test_an_argument_that_cannot_be_kept_stops_a_frozen_trial(record, frozen):
    record(lambda box: box.read("x"))
    with pytest.raises(tt.UnkeepableValue, match=r"arguments\.key"), frozen():
        Box().read(open)  # a built-in function has no lossless form
    assert ran == []


@pytest.mark.parametrize("mode", ["replay", "freeze"])
def test_what_a_sub_agent_asks_over_http_does_not_reach_the_network(tmp_path, provider, mode):
    import httpx2

    @tt.tool
    def research(question):
        page = httpx2.get(f"{provider.url}/echo").json()["path"]
        return [page, Box().read("x")]

    with tt.trial(run="base", task="t", home=tmp_path):
        live = research("q")
    assert provider.count == 1
    how = {"replay": "base/t#0"} if mode == "replay" else {"freeze": "external", "source": "base"}
    with tt.trial(run="again", task="t", home=tmp_path, **how) as trial:
        assert research("q") == live == ["/echo", 0]
    assert provider.count == 1
    assert trial.verdicts == {"own": 2}


def test_http_inside_a_live_tool_is_part_of_it(tmp_path, provider):
    import httpx2

    @tt.tool(effect="read")
    def fetch():
        return httpx2.get(f"{provider.url}/echo").json()["path"]

    with tt.trial(run="base", task="t", home=tmp_path):
        fetch()
    (tool, http) = tt.open("base/t#0", home=tmp_path).steps
    assert (tool.call.kind, http.call.kind, http.interaction.parent) == ("tool", "http", tool.number)
    with tt.trial(run="again", task="t", replay="base/t#0", home=tmp_path) as trial:
        assert fetch() == "/echo"
    assert provider.count == 1
    assert trial.verdicts == {"own": 1}


def test_a_trial_in_progress_does_not_keep_the_conversations_of_its_calls(tmp_path):
    told = [{"role": "user", "content": "a long story"}]
    with tt.trial(run="r", task="t", home=tmp_path) as trial:
        for _ in range(3):
            trial.session.begin(factories.model_call(list(told))).done({"status": 200}, Reply("yes", usage=Usage(5, 7)))
        kept = trial.session.live_model_calls
    assert [dict(item.call.arguments) for item in kept] == [{}] * 3
    assert cost_of(kept, {"gpt-x": Price(1e6, 1e6)}) == 3 * 12
    assert trial.ending.status == "completed"
    assert tt.open("r/t#0", home=tmp_path).messages(2) == told
