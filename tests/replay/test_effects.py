# ruff: noqa: PT012  # the second call of a block misses
from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

import trialtape as tt
from cassettes.model import Call
from replay.effects import AS_DECLARED, Effects, effects_in, read_effects

ORDER = Call("tool", "get_order", {"order_id": "7"})


def effects(**tools):
    return effects_in({"tools": tools}, "test")


def test_what_is_declared_is_put_on_the_call():
    declared = effects(get_order={"effect": "read", "external": False, "reads": "order:{order_id}", "writes": []})
    assert declared.applied(ORDER) == evolve(ORDER, effect="read", external=False, reads=("order:7",), writes=())


def test_what_is_left_out_stays_as_the_tool_declares_it():
    call = evolve(ORDER, effect="write", external=False, reads=("a",), writes=("b",))
    assert effects(get_order={"effect": "read"}).applied(call) == evolve(call, effect="read")
    assert effects(get_order={"writes": ["c", "d"]}).applied(call) == evolve(call, writes=("c", "d"))


def test_an_exact_name_wins_over_patterns_and_the_first_pattern_over_later_ones():
    declared = effects(**{"*": {"effect": "write"}, "get_*": {"effect": "read"}, "get_order": {"effect": "pure"}})
    assert declared.applied(ORDER).effect == "pure"
    assert declared.applied(evolve(ORDER, name="get_user")).effect == "write"


def test_http_has_a_table_of_its_own():
    declared = effects_in(
        {"http": {"POST shop.example/search*": {"effect": "read"}}, "tools": {"*": {"effect": "write"}}}, "x"
    )
    assert declared.applied(Call("http", "POST shop.example/search/x", {})).effect == "read"
    assert declared.applied(Call("http", "POST shop.example/buy", {})).effect == "unknown"


def test_model_calls_are_left_alone():
    call = Call("model", "m", {})
    assert Effects(forget=True).applied(call) is call
    assert effects(m={"effect": "pure"}).applied(call) is call


def test_an_argument_that_is_missing_leaves_its_place_open():
    assert effects(get_order={"reads": "order:{number}"}).applied(ORDER).reads == ("order:*",)


def test_none_forgets_what_the_tools_declare():
    call = evolve(ORDER, effect="read", reads=("a",), external=False)
    assert read_effects("none").applied(call) == evolve(ORDER, external=False)
    assert read_effects(None) is AS_DECLARED
    assert AS_DECLARED.applied(call) is call


def test_a_file_is_read(tmp_path):
    file = tmp_path / "effects.toml"
    file.write_text('[tools."get_*"]\neffect = "read"\n\n[http."GET a/*"]\nreads = ["x"]\n')
    declared = read_effects(file)
    assert declared.to_dict() == {"tool get_*": {"effect": "read"}, "http GET a/*": {"reads": ["x"]}}
    assert declared.digest == read_effects(str(file)).digest
    assert declared.digest != effects(**{"get_*": {"effect": "write"}}).digest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tools", "is no TOML"),
        ('[tolls.x]\neffect = "read"', r"unknown table \[tolls\]"),
        ('[tools.x]\neffect = "reads"', r"\[tools.x\]: effect 'reads' is none of read, write, pure, unknown"),
        ('[tools.x]\nefect = "read"', "unknown field 'efect'"),
        ("[tools.x]", "declares nothing"),
        ("[tools]\nx = 1", "is no table"),
        ("tools = 1", "is no table of names"),
        ("[tools.x]\nexternal = 1", "external is true or false"),
        ("[tools.x]\nreads = 1", "reads is a text or a list of texts"),
        ('[tools.x]\nreads = "order:{a!r}"', "must be the plain name of a parameter"),
        ('[tools.x]\nreads = "order:{"', "Single|expected"),
    ],
)
def test_what_cannot_be_understood_is_one_clear_error(tmp_path, text, said):
    file = tmp_path / "effects.toml"
    file.write_text(text)
    with pytest.raises(tt.BadInput, match=said):
        read_effects(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(tt.BadInput, match=r"nowhere\.toml cannot be read"):
        read_effects(tmp_path / "nowhere.toml")


@tt.tool
def lookup(x: str) -> str:
    RAN.append(x)
    return f"{x}!"


@tt.tool
def other() -> str:
    RAN.append("other")
    return "other"


RAN: list[str] = []


def test_8b_a_lookup_after_another_unknown_call_is_a_miss_until_both_are_declared(tmp_path, trial):
    with trial(run="a"):
        lookup("x")
        other()
    with pytest.raises(tt.Unanswered), trial(run="b", freeze="tool", source="a"):
        other()
        lookup("x")
    RAN.clear()
    declared = effects(lookup={"effect": "read"}, other={"effect": "read"})
    with trial(run="c", freeze="tool", source="a", effects=declared) as frozen:
        other()
        assert lookup("x") == "x!"
    assert frozen.verdicts == {"own": 2}
    assert RAN == []
    assert tt.open("c/t#0", home=tmp_path).steps[0].call.effect == "read"


def test_the_run_keeps_what_was_declared(run, tmp_path):
    file = Path(tmp_path) / "effects.toml"
    file.write_text('[tools.lookup]\neffect = "read"\n')

    def agent(trial):
        lookup("x")

    run(agent, effects=file)
    with pytest.raises(tt.BadInput, match="effects"):
        run(agent)
    assert run(agent, effects=str(file)).resumed == 4
