"""A failing trial of the demo becomes a pytest test: it fails now, and passes once the agent's code is mended."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples.support.server import serving
from replay.home import Home
from replay.scores.scorefile import read_scores

SUPPORT = Path(__file__).parents[2] / "examples" / "support"
TASK = "rug-regret"  # forbidden by the shop's policy, and refunded all the same in many trials

SUITE = f"""
import trialtape as tt
from examples.support.suite import dialogue
from examples.support.tasks import TASKS

suite = tt.Suite(tasks=[task for task in TASKS if task.id == "{TASK}"], agent=dialogue)
"""

BEFORE = "    return {name: getattr(shop, name) for name in TOOL_NAMES}"
GUARD = """    if True:  # no refund without a return: the model is told that there is no such tool
        return {name: getattr(shop, name) for name in TOOL_NAMES if name != "issue_refund"}
"""


def run(*command, cwd, home, server=None, **environ):
    """Run a module of Python; ``server`` is where the agent's model answers, if one does."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "TRIALTAPE_"))}
    env = clean | {"TRIALTAPE_HOME": str(home), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environ}
    if server is not None:
        env |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "any"}
    whole = [sys.executable, "-m", *map(str, command)]
    return subprocess.run(whole, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A copy of the demo with a run of one task, and the id of a trial that failed."""
    folder = tmp_path_factory.mktemp("recorded")
    support = folder / "examples" / "support"
    shutil.copytree(SUPPORT, support, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "examples" / "__init__.py").touch()
    (support / "one_task.py").write_text(SUITE)
    with serving(seed=5) as server:
        asked = ("replay", "run", "examples/support/one_task.py", "--run", "baseline", "--trials", "6")
        done = run(*asked, cwd=folder, home=folder / "home", server=server)
    assert done.returncode == 0, done.stderr
    verdicts = {score.trial: score.passed for score in read_scores(Home(folder / "home"), "baseline")}
    assert True in verdicts.values()
    return folder, next(trial for trial, passed in verdicts.items() if not passed)


@pytest.fixture
def project(recorded, tmp_path):
    """A copy of that, whose agent may be changed, with the failing trial exported."""
    folder, failing = recorded
    shutil.copytree(folder, tmp_path / "project")
    told = run(
        *("replay", "export", failing, "--to", "pytest", "-o", "tests"),
        cwd=tmp_path / "project",
        home=tmp_path / "project" / "home",
    )
    assert told.returncode == 0, told.stderr
    assert "it fails now" in told.stderr
    return tmp_path / "project"


def outcome(tests, **options):
    """Run pytest on the written test, from a folder that has nothing to do with it, and with an empty home."""
    elsewhere = tests.parents[1] / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    return run("pytest", "-q", "-p", "no:cacheprovider", tests, cwd=elsewhere, home=elsewhere / "home", **options)


def test_it_fails_until_the_agent_is_mended_and_then_passes(project):
    tests = project / "tests"
    (test,), (cassette,) = tests.glob("test_*.py"), tests.glob("*.cassette")
    text, recorded = test.read_text(), cassette.read_bytes()

    # As it is: no model answers, and the write that lost the trial is named.
    before = outcome(tests)
    assert before.returncode == 1
    assert "first divergent write: extra write: step" in before.stdout
    assert 'issue_refund(order_id="W1012"' in before.stdout

    # The agent is mended. What its model says to that was never recorded: the test does not guess.
    agent = project / "examples" / "support" / "suite.py"
    agent.write_text(agent.read_text().replace(BEFORE, GUARD + BEFORE))
    unknown = outcome(tests)
    assert unknown.returncode == 1
    assert "the agent now asks something that was not recorded" in unknown.stdout
    assert "TRIALTAPE_LIVE=1" in unknown.stdout
    assert "divergent" not in unknown.stdout
    assert cassette.read_bytes() == recorded

    # Asked live once, it passes, and the answers stay.
    with serving(seed=5) as server:
        live = outcome(tests, server=server, TRIALTAPE_LIVE="1")
    assert live.returncode == 0, live.stdout
    assert cassette.read_bytes() != recorded

    # From then on it passes without a model, and fails again if the mend is taken back.
    assert outcome(tests).returncode == 0
    agent.write_text(agent.read_text().replace(GUARD, ""))
    again = outcome(tests)
    assert again.returncode == 1
    assert "first divergent write: extra write" in again.stdout
    assert test.read_text() == text


def test_what_is_written_is_formatted_and_holds_no_path_of_this_machine(project):
    for check in (["format", "--check"], ["check"]):
        done = run("ruff", *check, "--isolated", "tests", cwd=project, home=project / "home")
        assert done.returncode == 0, done.stdout
    text = next((project / "tests").glob("test_*.py")).read_text()
    assert str(project) not in text
    assert 'SUITE = HERE / "../examples/support/one_task.py"' in text
