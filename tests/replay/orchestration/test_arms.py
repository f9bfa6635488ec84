"""An arm's file: what it may say, and one clear error for each thing that it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

import trialtape as tt
from replay.orchestration.arms import Arm, refuse_shadowed, suite_of_arm, variant_of_arm
from replay.orchestration.variant import Variant
from replay.processes.commands import Command

SUITE = tt.Suite([tt.Task(id="t")], print, settings={"prompt": "long", "depth": 3, "loud": False, "any": None})
PROGRAM = tt.Suite([tt.Task(id="t")], Command(["python"]))


@pytest.fixture
def arm(tmp_path):
    def write(text, name="b.toml"):
        path = tmp_path / name
        path.write_text(text)
        return Arm.read(path)

    return write


def test_an_empty_file_is_the_suite_as_it_is_under_the_files_name(arm):
    found = arm("", "as_it_is.toml")
    assert (found.run, found.agent, found.policy) == ("as_it_is", None, None)
    assert variant_of_arm(SUITE, found) == Variant(SUITE.settings)
    assert suite_of_arm(SUITE, found) is SUITE


def test_settings_replace_those_of_the_suite(arm):
    found = arm('run = "deep"\n[settings]\ndepth = 5.5\nany = ["a", 1]')
    assert found.run == "deep"
    assert variant_of_arm(SUITE, found).settings == {"prompt": "long", "depth": 5.5, "loud": False, "any": ["a", 1]}


def test_a_setting_may_be_the_text_of_a_file_beside_the_arm(arm, tmp_path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "short.md").write_text("Be brief – please.\n", encoding="utf-8")
    found = arm('[files]\nprompt = "prompts/short.md"')
    assert variant_of_arm(SUITE, found).settings["prompt"] == "Be brief – please.\n"


def test_another_agent_is_loaded_from_beside_the_arm(arm, tmp_path):
    (tmp_path / "other_agent_of_an_arm.py").write_text("def run(trial):\n    return 7\n")
    found = arm('agent = "other_agent_of_an_arm.py:run"')
    assert suite_of_arm(SUITE, found).agent(None) == 7
    assert variant_of_arm(SUITE, found).agent == str(tmp_path / "other_agent_of_an_arm.py:run")


def test_a_program_is_given_environment_variables(arm):
    assert variant_of_arm(PROGRAM, arm('[env]\nMODEL = "b"')) == Variant(env={"MODEL": "b"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("run = ", "is no TOML"),
        ("setings = 1", r"unknown key 'setings'; did you mean 'settings'\? There are run, agent"),
        ("run = 3", "run is a text, not 3"),
        ('agent = ""', "agent is a text"),
        ('settings = "x"', r"settings is a table, such as \[settings\]"),
        ("[env]\nN = 1", r"\[env\] N: an environment variable is a text, in quotes"),
        ("[files]\nprompt = 1", r"\[files\] prompt is the name of a file"),
        ('[files]\nprompt = "none.md"', r"\[files\] prompt: .*none\.md cannot be read"),
        ('[settings]\nprompt = "x"\n[files]\nprompt = "b.toml"', r"'prompt' stands in \[settings\] and in \[files\]"),
    ],
)
def test_what_a_file_may_not_say_is_named(arm, text, why):
    with pytest.raises(tt.BadInput, match=why) as caught:
        arm(text)
    assert "b.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("suite", "text", "why"),
    [
        (SUITE, "[settings]\ndept = 1", r"no setting 'dept'; did you mean 'depth'\? It has prompt, depth"),
        (SUITE, '[settings]\ndepth = "3"', "'depth' is a number in the suite, and a text here: '3'"),
        (SUITE, "[settings]\nloud = 1", "'loud' is true or false in the suite, and a number here"),
        (SUITE, "[settings]\nany = 2026-01-01", "the setting 'any' cannot be kept"),
        (SUITE, '[env]\nMODEL = "b"', r"\[env\] goes with a program behind --"),
        (PROGRAM, "[settings]\ndepth = 1", r"a program is given \[env\]"),
    ],
)
def test_what_does_not_fit_the_suite_is_named(arm, suite, text, why):
    with pytest.raises(tt.BadInput, match=why):
        variant_of_arm(suite, arm(text))


def test_a_program_is_not_exchanged_and_an_agent_must_be_one(arm, tmp_path):
    with pytest.raises(tt.BadInput, match="agent goes with a suite"):
        suite_of_arm(PROGRAM, arm('agent = "x.py:run"'))
    with pytest.raises(tt.BadInput, match=r"x\.py does not exist"):
        suite_of_arm(SUITE, arm('agent = "x.py:run"'))
    (tmp_path / "no_agent_of_an_arm.py").write_text("agent = 3\n")
    with pytest.raises(tt.BadInput, match="names a int; an agent is a function of the trial"):
        suite_of_arm(SUITE, arm('agent = "no_agent_of_an_arm.py"'))


def test_two_agents_with_modules_of_one_name_are_refused(arm, tmp_path):
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent.py").touch()
    (tmp_path / "suite.py").touch()
    (tmp_path / "a" / "helpers.py").touch()
    (tmp_path / "b" / "helpers").mkdir()
    (tmp_path / "b" / "helpers" / "__init__.py").touch()
    one, two, three = (arm(f'agent = "{name}/agent.py"', f"{name}.toml") for name in "abc")
    origin = str(tmp_path / "suite.py")
    with pytest.raises(tt.BadInput, match="both hold a module 'helpers'; in one process one of them"):
        refuse_shadowed(SUITE, [one, two], origin)
    refuse_shadowed(SUITE, [one, three], origin)
    refuse_shadowed(SUITE, [arm("", "as_it_is.toml"), two], origin)
    refuse_shadowed(PROGRAM, [one, two], None)


def test_a_path_is_found_from_the_arms_place(arm, tmp_path):
    assert arm('policy = "p.toml"').policy == Path(tmp_path / "p.toml")
