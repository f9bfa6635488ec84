"""The suite whose agent made a run: the one in the file that the run names, or the program that it recorded."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from cassettes.errors import BadInput
from replay.home import Home
from replay.processes.commands import Command
from replay.runs import RunFile, load_run

from .loading import load_agent, load_object
from .suite import Suite
from .tasks import Task

__all__ = ["load_suite", "suite_of_run"]


def load_suite(spec: str) -> Suite:
    """The suite that ``FILE.py`` or ``FILE.py:NAME`` defines.

    Raises:
        BadInput: there is none.
    """
    found = load_object(spec, "suite")
    if not isinstance(found, Suite):
        raise BadInput(f"{spec} names a {type(found).__name__}; a tt.Suite is needed")
    return found


def suite_of_run(home: Home, run: str, tasks: Iterable[Task], wanted_for: str) -> tuple[Suite, str | None]:
    """The suite of a recorded run, and where it was loaded from; None of a recorded program.

    Args:
        home: where the run lies.
        run: its name.
        tasks: as the trials hold them: a recorded program has no other.
        wanted_for: what there is nobody for, if the run names no agent, for the error.

    Raises:
        BadInput: it names no agent.
    """
    known = (home.run(run) / "run.json").exists()
    file = load_run(home, run) if known else RunFile(run)
    about = file.about
    if about.get("suite"):
        suite, agent = load_suite(str(about["suite"])), file.config.get("agent")
        return (evolve(suite, agent=load_agent(agent)) if agent else suite), str(about["suite"])
    if about.get("command"):
        return Suite(tasks={task.id: task for task in tasks}.values(), agent=Command(about["command"])), None
    raise BadInput(f"{run!r} names no suite, so there is no agent {wanted_for}; give one with --suite SUITE.py")
