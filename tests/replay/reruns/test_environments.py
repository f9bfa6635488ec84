"""Where environments are found, and what a factory is told."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

import trialtape as tt
from cassettes.errors import BadInput, CorruptCassette
from replay.home import Home
from replay.reruns.environments import Facts, environment_factory, facts_of, known_of, made_by
from replay.view import View

_FILE = """
class Shop:
    version = 3
    def call(self, name, arguments):
        return name

def environment(task):
    return Shop()

other = 7
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (tmp_path / "a_shop.py").write_text(_FILE)
    yield tmp_path
    sys.modules.pop("a_shop", None)


@pytest.mark.parametrize("spec", ["a_shop.py", "a_shop.py:environment", "a_shop:environment"])
def test_a_factory_is_a_function_of_a_file_or_of_a_module(here, spec):
    made = made_by(environment_factory(spec), {})
    assert made.call("x", {}) == "x"
    assert facts_of(made) == Facts(None, "3", None)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("a_shop.py:nothing", "defines no 'nothing'"),
        ("a_shop.py:other", "names a int; a function is needed"),
        ("a_shop:nothing", "has no 'nothing'"),
        ("a_shop_that_is_not:x", "cannot be imported: No module named 'a_shop_that_is_not': it is not installed here"),
        ("nix", "is no environment; give FILE.py:FACTORY or MODULE:FACTORY"),
        ("gone.py:x", "does not exist"),
        ("broken_shop:x", "broken_shop cannot be imported: ZeroDivisionError"),
    ],
)
def test_what_is_no_factory_is_one_clear_error(here, spec, told):
    (here / "broken_shop.py").write_text("1 / 0")
    with pytest.raises(BadInput, match=told):
        environment_factory(spec)


@pytest.mark.skipif(find_spec("agentdojo") is not None, reason="agentdojo is installed here")
def test_an_environment_that_is_offered_and_lacks_its_library_says_what_to_install():
    with pytest.raises(BadInput, match=r"AgentDojo is not installed here .*: pip install 'trialtape\[agentdojo\]'"):
        environment_factory("agentdojo")


def test_a_factory_that_raises_or_gives_something_else_is_told():
    with pytest.raises(BadInput, match=r"cannot be made: KeyError: 'a'"):
        made_by(lambda task: task["a"], {})
    with pytest.raises(BadInput, match="gave a dict without a method call"):
        made_by(lambda task: {}, {})


def test_a_factory_is_told_the_task_and_the_initial_state(run, tmp_path):
    @tt.tool(effect="write", external=False, ignore=("db",))
    def put(db):
        db["orders"]["W1"] = "cancelled"

    task = tt.Task(id="t", instruction="Cancel.", state=lambda: {"orders": {"W1": "open"}}, tags={"domain": "shop"})
    run(lambda trial: put(trial.state), ids=(), suite={"tasks": [task]}, trials=1)
    home = Home(tmp_path)
    ((_, path),) = home.trials("r")
    view = View(path, home)
    known = known_of(view, home)
    assert (known["id"], known["trial"], known["instruction"]) == ("t", "r/t#0", "Cancel.")
    assert (known["tags"], known["config"]["mode"]) == ({"domain": "shop"}, "record")
    assert known["state"] == {"orders": {"W1": "open"}}
    known["state"]["orders"].clear()
    assert known_of(view, home)["state"] == {"orders": {"W1": "open"}}
    (state,) = (tmp_path / "states").iterdir()
    state.unlink()
    with pytest.raises(CorruptCassette):
        known_of(view, home)
