from __future__ import annotations

import asyncio
import sys

import pytest

import trialtape as tt
from replay.processes.boundaries import Boundary, wrap_boundary

RUNNER = """
import trialtape as tt

@tt.tool(effect="read")
def look(what):
    return what

class Runner:
    def run(self, task, epoch=1):
        look(task["id"])
        return "done"

    async def arun(self, task):
        look(task.name)

not_a_function = 3
"""


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """Import a runner whose function is a boundary."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "some_runner.py").write_text(RUNNER)

    def wrapped(function, task_from, trial_from=None, **more):
        where = Boundary.parse(
            f"some_runner:{function}", task_from, trial_from, {"run": "r", "home": str(tmp_path), **more}
        )
        wrap_boundary(where.to_environ())
        import some_runner

        return some_runner

    yield wrapped
    sys.modules.pop("some_runner", None)


def test_a_method_is_a_boundary_and_its_arguments_name_task_and_trial(runner, tmp_path):
    module = runner("Runner.run", "task.id", "epoch")
    assert module.Runner().run({"id": "a"}, epoch=4) == "done"
    assert module.Runner().run({"id": "a"}) == "done"
    assert [step.call.name for step in tt.open("r/a#4", home=tmp_path).steps] == ["look"]
    assert len(tt.open("r/a#1", home=tmp_path).steps) == 1


def test_an_async_function_too_and_the_first_free_index_is_taken(runner, tmp_path):
    class Task:
        name = "b"

    module = runner("Runner.arun", "task.name")

    async def many():
        for _ in range(2):
            await module.Runner().arun(Task())

    asyncio.run(many())
    assert len(tt.open("r/b#1", home=tmp_path).steps) == 1


def test_a_module_that_is_imported_already_is_wrapped_at_once(runner, tmp_path):
    module = runner("Runner.run", "task.id")
    wrap_boundary(Boundary.parse("some_runner:look", "what", None, {"run": "s", "home": str(tmp_path)}).to_environ())
    module.look("outer")
    assert module.look.__name__ == "look"
    assert len(tt.open("s/outer#0", home=tmp_path).steps) == 1


@pytest.mark.parametrize(
    ("path", "said"), [("nobody", "no argument 'nobody'"), ("task.nothing", "dict has no 'nothing'")]
)
def test_an_argument_that_is_not_there_is_told(runner, path, said):
    module = runner("Runner.run", path)
    with pytest.raises(tt.BadInput, match=said):
        module.Runner().run({"id": "a"})


@pytest.mark.parametrize("function", ["nothing", "not_a_function", "Runner.nothing"])
def test_what_is_no_function_is_told_when_its_module_is_imported(runner, function):
    with pytest.raises(tt.BadInput, match="is no function of that module"):
        runner(function, "task")


@pytest.mark.parametrize(
    ("text", "task_from", "said"),
    [("runner", "x", "is no boundary"), (":f", "x", "is no boundary"), ("m:f", None, "--task-from is needed")],
)
def test_other_boundaries_are_refused(text, task_from, said):
    with pytest.raises(tt.BadInput, match=said):
        Boundary.parse(text, task_from, None, {})


def test_ready_made_boundaries_need_nothing_and_take_other_arguments():
    inspect = Boundary.parse("inspect", None, None, {"run": "r"})
    assert (inspect.task_from, inspect.trial_from, inspect.first) == ("state.sample_id", "state.epoch", 1)
    assert Boundary.from_environ(inspect.to_environ()) == inspect
    assert Boundary.parse("inspect", None, "state.other", {}).first == 0
    assert Boundary.from_environ({}) is None
