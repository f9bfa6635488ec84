# ruff: noqa: PT012  # the second call of a block is refused
"""Policies as users write them: in a file, as a value, on the command line."""

from __future__ import annotations

import json
import pickle

import httpx
import pytest
from click.testing import CliRunner

import trialtape as tt
from cassettes.model import Call
from replay.cli import main
from replay.given_policy import GivenPolicy, settled
from replay.home import Home
from replay.runs import load_run

WHOLE = """
freeze = ["external"]
live = "tool:search_*"
refuse = ["tool:issue_refund"]
catch_up = ["tool:reserve"]
ignore_fields = ["tool:reserve:at"]
ignore = ["tool:charge:idempotency_key"]

[on_miss]
default = "fail"
"tool:get_*" = "extend"

[tools.cancel_order]
effect = "write"
writes = "order:{order_id}"

[http."GET api.shop.example/*"]
effect = "read"
"""


@pytest.fixture
def written(tmp_path):
    """Write a policy file."""

    def write(text, name="policy.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_file_says_all_of_it(written):
    policy = GivenPolicy.read(written(WHOLE))
    assert policy.to_dict() == {
        "freeze": ["external"],
        "live": ["tool:search_*"],
        "refuse": ["tool:issue_refund"],
        "catch_up": ["tool:reserve"],
        "ignore": ["tool:charge:idempotency_key"],
        "ignore_fields": ["tool:reserve:at"],
        "on_miss": ["fail", "tool:get_*=extend"],
        "effects": {
            "tool cancel_order": {"effect": "write", "writes": ["order:{order_id}"]},
            "http GET api.shop.example/*": {"effect": "read"},
        },
    }
    assert policy.name == "policy.toml"


def test_the_same_as_a_value_is_the_same_policy(written):
    value = tt.Policy(
        freeze="external",
        live=["tool:search_*"],
        refuse="tool:issue_refund",
        catch_up="tool:reserve",
        ignore_fields="tool:reserve:at",
        ignore="tool:charge:idempotency_key",
        on_miss={"default": "fail", "tool:get_*": "extend"},
        effects={
            "tools": {"cancel_order": {"effect": "write", "writes": "order:{order_id}"}},
            "http": {"GET api.shop.example/*": {"effect": "read"}},
        },
    )
    assert value.digest == GivenPolicy.read(written(WHOLE)).digest
    assert value.digest != tt.Policy(freeze="external").digest
    assert pickle.loads(pickle.dumps(value)) == value


def test_each_action_reaches_its_calls(written):
    policy = GivenPolicy.read(written(WHOLE)).policy
    decide = {name: policy.decide(Call("tool", name, {})) for name in ("get_order", "search_mail", "issue_refund")}
    assert decide == {"get_order": "frozen", "search_mail": "live", "issue_refund": "refuse"}
    assert policy.decide(Call("model", "m", {})) == "live"


def test_among_selectors_that_are_as_close_refuse_wins_and_then_live():
    policy = tt.Policy(freeze=["tool:a*"], live=["tool:ab*"], refuse=["tool:abc*"]).policy
    decided = [policy.decide(Call("tool", name, {})) for name in ("ax", "abx", "abcx")]
    assert decided == ["frozen", "live", "refuse"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'freze = ["external"]',
            r"policy\.toml: unknown key 'freze'; did you mean 'freeze'\? There are freeze, live, emulate, refuse",
        ),
        ("[on-miss]\ndefault = 1", r"policy\.toml: unknown table \[on-miss\]; did you mean 'on_miss'"),
        ('freeze = ["externl"]', r"policy\.toml: freeze: 'externl' is no selector, did you mean 'external'"),
        ("refuse = 3", r"policy\.toml: refuse is a text or a list of texts"),
        ('ignore = ["a..b"]', r"policy\.toml: ignore: 'a\.\.b' cannot be ignored"),
        ('offline = "yes"', r"policy\.toml: offline is true or false, not 'yes'"),
        ('on_miss = "guess"', r"policy\.toml: on_miss: on-miss 'guess' is none of"),
        ("on_miss = 3", r"policy\.toml: on_miss is an action, or a table"),
        ('[on_miss]\n"tool:x" = "gues"', r"policy\.toml: \[on_miss\] 'tool:x': on-miss 'tool:x=gues' is none of"),
        ('[on_miss]\n"tol:x" = "fail"', r"policy\.toml: \[on_miss\] 'tol:x': 'tol:x' is no selector"),
        ("[on_miss]\ndefault = 1", r"policy\.toml: \[on_miss\] 'default' is a text"),
        ('[tools.x]\neffect = "reads"', r"policy\.toml: \[tools\.x\]: effect 'reads' is none of"),
        ('offline = true\non_miss = "live"', r"policy\.toml: offline lets no frozen call go live"),
        ('freeze = ["tool"]\nrefuse = ["tool"]', r"policy\.toml: 'tool' is in freeze and in refuse"),
        ('refuse = ["clock"]', r"policy\.toml: refuse: 'clock' is no call that can be refused"),
        ("freeze = [", r"policy\.toml is no TOML"),
    ],
)
def test_an_error_is_one_line_that_names_file_table_and_key(written, text, told):
    with pytest.raises(tt.BadInput, match=told) as raised:
        GivenPolicy.read(written(text))
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(tt.BadInput, match=r"nowhere\.toml cannot be read"):
        GivenPolicy.read(tmp_path / "nowhere.toml")


def test_an_unknown_table_of_effects_is_named():
    with pytest.raises(tt.BadInput, match=r"effects: unknown table \[tool\]; did you mean 'tools'"):
        tt.Policy(effects={"tool": {"x": {"effect": "read"}}})


def test_options_add_to_a_policy_and_what_both_say_is_refused(written):
    path = written('freeze = ["external"]')
    both = settled(path, GivenPolicy(offline=True, ignore=["a"]))
    assert (both.freeze, both.offline, both.ignore, both.name) == (("external",), True, ("a",), "policy.toml")
    with pytest.raises(tt.BadInput, match=r"policy\.toml says freeze already, and so does an option"):
        settled(path, GivenPolicy(freeze="tool"))
    with pytest.raises(tt.BadInput, match="offline lets no frozen call go live"):
        settled(tt.Policy(on_miss="live"), GivenPolicy(offline=True))


@tt.tool(effect="read")
def quote(key: str) -> str:
    RAN.append(f"quote {key}")
    return f"{key}!"


@tt.tool(effect="write")
def refund(key: str) -> str:
    RAN.append(f"refund {key}")
    return "refunded"


@tt.tool(effect="read")
def fetch(address: str) -> str:
    RAN.append("fetch")
    return httpx.get(address).text


RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran_yet():
    RAN.clear()


def test_a_refused_call_ends_the_trial_never_runs_and_is_kept(tmp_path, trial):
    with (
        pytest.raises(tt.Refused, match=r"the policy refuses tool refund \(step 1\)"),
        trial(run="r", policy=tt.Policy(refuse="tool:refund")),
    ):
        quote("a")
        try:
            refund("a")
        except Exception:
            RAN.append("caught")
        quote("b")
    assert RAN == ["quote a"]
    view = tt.open("r/t#0", home=tmp_path)
    assert (view.ending.status, view.ending.cause) == ("error", "refused")
    assert [(step.call.name, step.origin.verdict) for step in view.steps] == [("quote", "live"), ("refund", "refused")]
    assert view.coverage == {"refused": 1}


def test_a_refused_request_is_not_sent_from_within_a_live_tool_either(tmp_path, trial, provider):
    with (
        pytest.raises(tt.Refused, match=r"the policy refuses http GET 127\.0\.0\.1"),
        trial(run="r", policy=tt.Policy(refuse="http:GET *")),
    ):
        fetch(f"{provider.url}/anything")
    assert provider.requests == []


def test_a_call_that_would_be_answered_from_a_recording_is_refused_too(trial):
    with trial(run="a"):
        quote("a")
        refund("a")
    RAN.clear()
    policy = tt.Policy(freeze="external", refuse="tool:refund")
    with pytest.raises(tt.Refused), trial(run="b", source="a", policy=policy) as frozen:
        assert quote("a") == "a!"
        refund("a")
    assert (RAN, frozen.verdicts) == ([], {"own": 1, "refused": 1})


def test_what_is_live_by_a_closer_selector_is_called(trial):
    with trial(run="a"):
        quote("a")
    RAN.clear()
    with trial(run="b", source="a", policy=tt.Policy(freeze="external", live="tool:quote")) as half:
        quote("a")
    assert (RAN, half.verdicts) == (["quote a"], {})


def agent(trial):
    quote("a")


def test_the_policy_is_kept_in_the_runs_file_and_belongs_to_the_run(run, tmp_path, written):
    run(agent)
    path = written('freeze = ["external"]\noffline = true\n')
    assert run(agent, "f", source="r", policy=path).endings == {"completed": 4}
    config = load_run(Home(tmp_path), "f").config
    policy = GivenPolicy.read(path)
    content = {"freeze": ["external"], "offline": True}
    assert config["policy"] == {"name": "policy.toml", "digest": policy.digest, "content": content}
    assert (config["freeze"], config["on_miss"]) == (["external"], ["fail"])
    header = tt.open("f/a#0", home=tmp_path).cassette.header
    assert header.config["policy"] == {"name": "policy.toml", "digest": policy.digest}
    path.write_text('freeze = ["external"]\n')
    with pytest.raises(tt.BadInput, match="another configuration"):
        run(agent, "f", source="r", policy=path)


def test_a_policy_that_freezes_needs_a_source_and_goes_with_no_replay(trial, run):
    with trial(run="a"):
        quote("a")
    freezing = tt.Policy(freeze="external")
    with pytest.raises(tt.BadInput, match="freeze and source go together"):
        trial(run="b", policy=freezing)
    with pytest.raises(tt.BadInput, match="freeze and source go together"):
        run(agent, policy=freezing)
    with pytest.raises(tt.BadInput, match="do not go with it"):
        trial(run="b", replay="a/t#0", policy=tt.Policy(refuse="tool"))


def test_what_may_be_carried_out_belongs_to_the_run_and_is_told_at_its_end(run, tmp_path, written):
    balances = {}

    @tt.tool(effect="write")
    def pay(key: str) -> str:
        balances[key] = 1
        return "paid"

    @tt.tool(effect="read")
    def balance(key: str) -> int:
        return balances[key]

    run(lambda trial: pay(trial.task.id), "base")
    balances.clear()
    path = written('freeze = ["external"]\ncatch_up = ["tool:pay"]\n')

    def asking(trial):
        pay(trial.task.id)
        assert balance(trial.task.id) == 1

    result = run(asking, "f", source="base", policy=path)
    assert result.endings == {"completed": 4}
    assert result.caught_up == {"pay": 4}
    assert load_run(Home(tmp_path), "f").config["catch_up"] == ["tool:pay"]
    with pytest.raises(tt.BadInput, match="catch_up carries out frozen writes, and nothing is frozen"):
        run(asking, "g", catch_up="tool:pay")


SUITE = """
import trialtape as tt

@tt.tool(effect="read")
def quote(key: str) -> str:
    return key + "!"

suite = tt.Suite([tt.Task(id="t")], lambda trial: quote("a"))
"""


def test_the_command_takes_a_policy(tmp_path, written):
    written(SUITE, "policy_suite.py")
    path = written('refuse = ["tool:quote"]')
    command = ["run", str(tmp_path / "policy_suite.py"), "--run", "r", "-n", "1", "--json"]
    done = CliRunner().invoke(main, ["--home", str(tmp_path / "home"), *command, "--policy", str(path)])
    assert json.loads(done.stdout)["endings"] == {"error": 1}
    both = CliRunner().invoke(main, [*command, "--policy", str(written("offline = true")), "--offline"])
    assert both.exit_code == 2
    assert "policy.toml says offline already" in both.stderr
