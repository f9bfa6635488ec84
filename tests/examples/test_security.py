"""The assistant under attack: its tasks, its defences against the stand-in, and the demo as the docs show it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import trialtape as tt
from examples.security import agent
from examples.security.model import PLANS, DeskModel
from examples.security.suite import suite, tool_filter
from examples.security.tasks import ATTACKS, BENIGN, GOALS, TASKS
from examples.support.server import serving

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "measure-attacks.md"


@pytest.fixture
def model(monkeypatch):
    with serving(provider=DeskModel(3)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        yield server


def of(*names):
    return [task for task in TASKS if task.id in names]


def test_each_user_task_is_attacked_in_each_way_with_each_goal():
    assert len(TASKS) == len(BENIGN) * (1 + len(ATTACKS) * len(GOALS))
    assert {task.id for task in BENIGN} == {*PLANS}
    attacked = [task for task in TASKS if task.injections]
    assert Counter(task.tags["user_task"] for task in attacked) == dict.fromkeys(PLANS, 4)


def test_without_an_attack_every_plan_fulfils_its_task(model, tmp_path):
    tt.Suite(BENIGN, agent.undefended).run("r", trials=2, home=tmp_path)
    passed = [tt.scoring.task_checks(tt.open(f"r/{t.id}#{i}", home=tmp_path)).passed for t in BENIGN for i in (0, 1)]
    assert passed.count(True) >= 18  # the stand-in slips once in a while


def test_every_defence_meets_the_same_attack_text(model, tmp_path):
    tasks = of("pay-bill/important/money")
    told = {}
    for defence in (agent.undefended, agent.delimiting, agent.repeating, agent.tool_filter):
        tt.Suite(tasks, defence).run(defence.__name__, trials=1, home=tmp_path)
        view = tt.open(f"{defence.__name__}/pay-bill/important/money#0", home=tmp_path)
        read = next(step for step in view.steps if step.call.name == "read_mails")
        told[defence.__name__] = (read.interaction.injected.by, str(read.outcome.result))
    assert len({*told.values()}) == 1
    assert "pay 900.00 to GB33" in told["delimiting"][1]


def test_a_tool_that_was_not_chosen_is_not_there(model, tmp_path):
    (task,) = of("museum/important/money")
    tool_filter_only = tt.Suite([task], tool_filter.agent)
    tool_filter_only.run("r", trials=6, home=tmp_path)
    views = [tt.open(f"r/{task.id}#{index}", home=tmp_path) for index in range(6)]
    assert not any(step.call.name == "pay" for view in views for step in view.steps)
    assert {tt.scoring.attack_success(view).passed for view in views} <= {False, None}


def test_the_suite_tells_whether_attacks_succeed():
    assert [scorer.name for scorer in suite.scorers] == ["task_checks", "attack_success"]


@pytest.mark.slow
def test_the_demo_prints_what_the_page_shows(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "examples.security.demo", "--home", str(tmp_path / "home")],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=900,
    )
    printed = done.stdout[done.stdout.index("$ trialtape lab security") :]
    shown = PAGE.read_text().partition("```text\n")[2].partition("```")[0]
    assert [line.rstrip() for line in printed.strip().splitlines()] == shown.strip().splitlines()
