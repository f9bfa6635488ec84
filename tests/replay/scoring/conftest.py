"""Views of recorded trials for the tests of scorers."""

from __future__ import annotations

import pytest

import trialtape as tt
from cassettes.model import Ending, Mark
from replay.home import Home
from replay.view import View
from tests.factories import COMPLETED, write_cassette
from tests.replay.recorded import steps


@pytest.fixture
def viewed(tmp_path):
    """The view of a trial with these calls (or interactions); ``said`` is who said what before which step."""
    home = Home(tmp_path / "home")

    def make(calls=(), *, said=(), ending=COMPLETED, name="t", **definition):
        made = [c if hasattr(c, "outcome") else None for c in calls]
        made = list(calls) if all(made) and made else steps(calls)
        marks = [Mark("message", 0.0, {"role": role, "content": text, "step": step}) for role, text, step in said]
        path = home.run("r") / name / "0.cassette"
        number = 0
        while path.exists():
            number += 1
            path = home.run("r") / name / f"{number}.cassette"
        path.parent.mkdir(parents=True, exist_ok=True)
        ending = ending if isinstance(ending, Ending) else Ending(ending)
        task = {"id": name, **definition}
        write_cassette(path, made, ending, marks=marks, run="r", task=name, index=number, task_definition=task)
        return View(path, home)

    return make


@pytest.fixture
def stated(tmp_path):
    """The view of a trial that ended with this state."""

    @tt.tool(effect="read")
    def look():
        return 1

    def make(state, **task):
        with tt.trial(run="s", task=tt.Task(id="t", **task), home=tmp_path) as trial:
            trial.track(state)
            look()
        return tt.open(f"s/t#{trial.index}", home=tmp_path)

    return make
