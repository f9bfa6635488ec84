"""The model frozen and the tools live: which answers are others now, and what may not be asked."""

from __future__ import annotations

import json
import time
from collections import Counter

import httpx
import openai
import pytest
from click.testing import CliRunner

import trialtape as tt
from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.cli import main
from replay.effects import effects_in
from replay.home import Home
from replay.report.drift_text import age_told, drift_lines
from replay.reruns.drift import Drift
from replay.reruns.live_sample import sampled_reads
from replay.reruns.rerun import AFTER_WRITE, MAY_WRITE
from replay.reruns.rerunning import Terms, named_writes, rerun
from replay.view import View

outside: dict[str, object] = {}
called: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def world():
    outside.clear()
    outside.update(province="NY", quote=5, mails=0)
    called.clear()


@tt.tool(effect="read")
def get_user(name: str) -> dict:
    called["get_user"] += 1
    key = "state" if "renamed" in outside else "province"
    return {"name": name, "address": {key: outside["province"]}}


@tt.tool(effect="read", reads="quotes")
def quote() -> object:
    called["quote"] += 1
    return outside["quote"]


@tt.tool(effect="pure")
def double(number: int) -> int:
    called["double"] += 1
    return 2 * number


@tt.tool(effect="write", writes="mails")
def send_mail() -> str:
    called["send_mail"] += 1
    outside["mails"] += 1
    return "sent"


@tt.tool(effect="read", reads="mails")
def count_mails() -> object:
    called["count_mails"] += 1
    return outside["mails"]


@tt.tool(effect="write", external=False, ignore=("db",))
def put(db: dict, key: str) -> str:
    called["put"] += 1
    db[key] = 1
    return key


@tt.tool(effect="read", external=False, ignore=("db",))
def look(db: dict) -> list:
    called["look"] += 1
    return sorted(db)


@tt.tool
def frob() -> str:
    called["frob"] += 1
    return "frobbed"


TASK = tt.Task(id="t", state=lambda: {"start": 1})


@pytest.fixture
def drift(tmp_path):
    """Record with an agent; then carry the trials out again, after ``meanwhile`` changed the outside."""

    def run(agent, meanwhile=None, again=None, only=None, trials=1, **terms):
        suite = tt.Suite([TASK], agent)
        suite.run("r", trials=trials, home=tmp_path)
        outside.update(meanwhile or {})
        called.clear()
        home = Home(tmp_path)
        views = [View(path, home) for _, path in home.trials("r")]
        return [rerun(view, home, tt.Suite([TASK], again or agent), Terms(**terms), only) for view in views]

    return run


def agent(trial):
    get_user("ann")
    quote()
    double(4)
    put(trial.state, "k")
    look(trial.state)
    send_mail()
    count_mails()
    frob()


def test_reads_and_pure_tools_are_live_and_nothing_outside_is_changed(drift, tmp_path):
    (found,) = drift(agent)
    assert called == {"get_user": 1, "quote": 1, "double": 1, "put": 1, "look": 1}
    assert outside["mails"] == 1
    assert [one.name for one in found.asked] == ["get_user", "quote", "double", "put", "look"]
    assert (found.differing, found.parting) == ((), None)
    assert found.kept == {("send_mail", MAY_WRITE): 1, ("frob", MAY_WRITE): 1, ("count_mails", AFTER_WRITE): 1}
    assert [path.name for path in tmp_path.rglob("*.cassette")] == ["0.cassette"]


def test_a_changed_answer_is_told_by_tool_and_field_and_the_trial_goes_on(drift):
    (found,) = drift(agent, {"renamed": True, "quote": 6})
    assert [(one.step, one.name, one.fields) for one in found.differing] == [
        (0, "get_user", ["address.province renamed to address.state"]),
        (1, "quote", ["the answer changed"]),
    ]
    assert found.parting is None
    assert len(found.asked) == 5


def test_writes_go_live_by_name_alone_and_so_do_the_reads_behind_them(drift):
    with pytest.raises(BadInput, match="'tool' names no tool"):
        named_writes(["tool"])
    (found,) = drift(agent, allow_live=named_writes(["tool:send_mail", "tool:frob"]))
    assert (called["send_mail"], called["count_mails"], called["frob"]) == (1, 1, 1)
    assert [(one.name, one.fields) for one in found.differing] == [("count_mails", ["the answer changed"])]
    assert found.kept == {}


def test_declared_effects_let_more_be_asked(drift):
    (found,) = drift(agent, effects=effects_in({"tools": {"frob": {"effect": "read", "reads": "x"}}}, "test"))
    assert called["frob"] == 1
    assert ("frob", MAY_WRITE) not in found.kept


def without_state(trial):
    local: dict = {}
    put(local, "k")
    look(local)


def test_a_write_on_a_state_that_nobody_tracks_is_not_repeated(tmp_path):
    task = tt.Task(id="t")
    tt.Suite([task], without_state).run("r", trials=1, home=tmp_path)
    called.clear()
    home = Home(tmp_path)
    found = rerun(View(home.cassette(TrialId("r", "t", 0)), home), home, tt.Suite([task], without_state), Terms())
    assert called == {}
    assert found.kept == {("put", MAY_WRITE): 1, ("look", AFTER_WRITE): 1}


def test_a_field_that_does_not_count_is_left_out(drift):
    (found,) = drift(agent, {"province": "CA"}, ignore_fields=("address.province",))
    assert found.differing == ()


def other_call(trial):
    get_user("ann")
    quote()
    get_user("bob")


def test_where_the_agent_asks_something_else_the_trial_stops_and_says_that_it_is_not_the_environment(drift):
    (found,) = drift(agent, again=other_call)
    assert found.parting is not None
    assert (found.parting.step, found.parting.goes_on, found.parts_by_itself) == (2, False, True)
    assert called == {"get_user": 1, "quote": 1}


def fewer(trial):
    get_user("ann")


def test_a_trial_that_ends_early_parts_there(drift):
    (found,) = drift(agent, again=fewer)
    assert found.parting is not None
    assert "ended early" in found.parting.why
    assert found.parting.step == 1


def depends(trial):
    if get_user("ann")["address"].get("province") == "NY":
        quote()
    else:
        double(1)


def test_an_agent_that_goes_another_way_because_of_an_answer_parts_because_of_it(drift):
    (found,) = drift(depends, {"province": "CA"})
    assert found.parting is not None
    assert (found.parting.step, found.parts_by_itself) == (1, False)
    assert called == {"get_user": 1}


def breaks(trial):
    if outside["quote"] == 6:
        raise ValueError("no more")
    quote()


def test_an_agent_that_now_fails_parts(drift):
    (found,) = drift(breaks, {"quote": 6})
    assert found.parting is not None
    assert "ValueError: no more" in found.parting.why


def test_a_changed_task_is_not_carried_out_again(drift, tmp_path):
    drift(agent)
    other = tt.Task(id="t", state=lambda: {"start": 2})
    home = Home(tmp_path)
    view = View(home.cassette(TrialId("r", "t", 0)), home)
    assert "its state changed" in (rerun(view, home, tt.Suite([other], agent), Terms()).left_out or "")
    assert "no such task" in (rerun(view, home, tt.Suite([tt.Task(id="u")], agent), Terms()).left_out or "")


def model_agent(base_url):
    def run(trial):
        client = openai.OpenAI(base_url=base_url, api_key="sk-any", max_retries=0)
        said = []
        for _ in range(2):
            user = get_user("ann")
            messages = [*said, {"role": "user", "content": json.dumps(user)}]
            answer = client.chat.completions.create(model="m", messages=messages)
            said = [*messages, {"role": "assistant", "content": answer.choices[0].message.content}]

    return run


def test_a_model_that_is_told_something_else_answers_as_recorded_and_the_calls_behind_it_are_asked(drift, provider):
    acting = model_agent(provider.base_url)
    (found,) = drift(acting, {"province": "CA"})
    assert len(provider.requests) == 2, "no model was asked again"
    assert [one.step for one in found.differing] == [0, 2]
    assert found.parting is not None
    assert (found.parting.step, found.parting.path, found.parting.goes_on) == (1, "messages[0].content", True)
    assert not found.parts_by_itself
    assert called == {"get_user": 2}


def fetching(url):
    def run(trial):
        httpx.get(url)
        httpx.post(url, json={})

    return run


def test_a_get_is_asked_again_and_a_post_is_not(drift, provider):
    (found,) = drift(fetching(f"{provider.url}/anything"))
    assert [(one.name.split()[0], one.changes) for one in found.asked] == [("GET", ())]
    assert [seen.method for seen in provider.requests] == ["GET", "POST", "GET"]


def test_the_age_is_that_of_the_recorded_answer(drift):
    before = time.time()
    (found,) = drift(agent)
    assert 0 <= found.asked[0].age <= time.time() - before


def test_a_sample_is_seeded_holds_reads_of_the_outside_alone_and_never_none(drift, tmp_path):
    drift(agent, trials=4)
    home = Home(tmp_path)
    views = [View(path, home) for _, path in home.trials("r")]
    everything = sampled_reads(views, 1.0, 0)
    assert list(everything.values()) == [{0, 1}] * 4, "not those behind a write that they may notice"
    half = sampled_reads(views, 0.5, 0)
    assert sum(map(len, half.values())) == 4
    assert half == sampled_reads(views, 0.5, 0)
    assert len({str(sampled_reads(views, 0.5, seed)) for seed in range(5)}) > 1
    assert sum(map(len, sampled_reads(views, 0.01, 0).values())) == 1
    for share in (0, 1.1, float("nan")):
        with pytest.raises(BadInput, match="above 0%"):
            sampled_reads(views, share, 0)


def test_only_the_sample_is_asked(drift):
    (found,) = drift(agent, {"quote": 6}, only={1})
    assert called == {"quote": 1}
    assert [(one.step, bool(one.changes)) for one in found.asked] == [(1, True)]


def test_without_a_read_there_is_no_sample(drift, tmp_path):
    drift(without_state)
    home = Home(tmp_path)
    with pytest.raises(BadInput, match="no recorded read of the outside"):
        sampled_reads([View(path, home) for _, path in home.trials("r")], 0.5, 0)


def test_the_lines_sum_up_what_differs_where_and_how_old_it_is(drift):
    lines = list(drift_lines(Drift(tuple(drift(agent, {"renamed": True}, trials=3)))))
    assert lines[0] == "3 of 15 answers that were asked for again differ, all in get_user"
    assert "  get_user: 3 of 3 differ" in lines
    assert "    address.province renamed to address.state (3)" in lines
    assert "  the same as recorded: double (3), look (3), put (3), quote (3)" in lines
    assert any("seconds ago" in line for line in lines)
    assert f"answered from the recording, {MAY_WRITE}: send_mail (3), frob (3)" in lines
    assert lines[-1] == "the 3 trials go as they were recorded"


@pytest.mark.parametrize(
    ("seconds", "told"), [(3, "3 seconds"), (150, "2 minutes"), (7200, "2 hours"), (86_400 * 12.2, "12 days")]
)
def test_an_age_is_told_in_a_fitting_unit(seconds, told):
    assert age_told(seconds) == told


SUITE = """
import pathlib
import trialtape as tt

HERE = pathlib.Path(__file__).parent

def note(name, text):
    with (HERE / name).open("a") as file:
        file.write(text)

@tt.tool(effect="read")
def stock(sku: str) -> dict:
    note("asked", sku)
    return {"sku": sku, "available": int((HERE / "stock").read_text())}

@tt.tool(effect="write")
def order(sku: str) -> str:
    note("ordered", sku)
    return "ordered"

def agent(trial):
    stock("a")
    stock("b")
    order("a")

suite = tt.Suite([tt.Task(id="t")], agent)
"""


@pytest.fixture
def command(tmp_path):
    """Run the command beside a suite of which two trials are recorded."""
    (tmp_path / "drift_suite.py").write_text(SUITE)
    (tmp_path / "stock").write_text("5")
    runner = CliRunner()

    def run(*words):
        return runner.invoke(main, ["--home", str(tmp_path / "home"), *words])

    done = run("run", str(tmp_path / "drift_suite.py"), "--run", "r", "-n", "2")
    assert done.exit_code == 0, done.output
    (tmp_path / "asked").unlink()
    return run


def test_the_command_tells_drift_and_nothing_was_ordered_again(command, tmp_path):
    same = command("lab", "drift", "r")
    assert (same.exit_code, same.stdout.splitlines()[0]) == (
        0,
        "none of the 4 answers that were asked for again differs",
    )
    (tmp_path / "stock").write_text("0")
    other = command("lab", "drift", "r", "--json")
    found = json.loads(other.stdout)
    assert (other.exit_code, found["asked"], found["differ"], found["parted"]) == (1, 4, 4, 0)
    assert found["tools"] == {"stock": {"asked": 4, "differ": 4, "fields": {"available changed": 4}}}
    assert found["kept"] == [{"tool": "order", "why": MAY_WRITE, "calls": 2}]
    assert found["trials"][0]["changes"][0]["leaves"] == [{"path": "available", "left": 5, "right": 0}]
    assert (tmp_path / "ordered").read_text() == "aa"
    assert command("lab", "drift", "r", "--ignore-field", "tool:stock:available").exit_code == 0
    assert command("lab", "drift", "r#0").exit_code == 2


def test_the_command_says_so_if_nothing_could_be_asked(command, tmp_path):
    (tmp_path / "none.toml").write_text('[tools."*"]\neffect = "write"\n')
    done = command("lab", "drift", "r", "--effects", str(tmp_path / "none.toml"))
    assert done.exit_code == 2
    assert "nothing is known of its drift" in done.stderr


def test_verify_asks_a_sample_again(command, tmp_path):
    same = command("verify", "r", "--live-sample", "50%")
    assert same.exit_code == 0
    assert "none of the 2 answers that were asked for again differs" in same.stdout
    assert len((tmp_path / "asked").read_text()) == 2
    (tmp_path / "stock").write_text("0")
    other = command("verify", "r", "--live-sample", "0.25", "--seed", "3", "--json")
    found = json.loads(other.stdout)
    assert (other.exit_code, found["counts"]) == (1, {"identical": 2})
    assert (found["live_sample"]["asked"], found["live_sample"]["differ"]) == (1, 1)
    assert found["live_sample"]["age"]["oldest"] >= 0
    assert (tmp_path / "ordered").read_text() == "aa"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--live-sample", "some"], "is no share"),
        (["--live-sample", "0%"], "above 0%"),
        (["--live-sample", "5%", "--files"], "replays nothing"),
    ],
)
def test_verify_refuses_what_is_no_sample(command, words, told):
    done = command("verify", "r", *words)
    assert done.exit_code == 2
    assert told in done.stderr
