"""Programs that are not changed: recorded, frozen, replayed; with what they start in turn."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import trialtape as tt

ROOT = Path(__file__).parents[2]

PARTS = """
import asyncio, json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
import httpx

url = os.environ["PROVIDER"]

def body(who):
    return {"model": "m", "messages": [{"role": "user", "content": who}]}

def ask(who):
    with httpx.Client() as client:
        return client.post(f"{url}/chat/completions", json=body(who)).json()["choices"][0]["message"]["content"]

async def aask(who):
    async with httpx.AsyncClient() as client:
        return (await client.post(f"{url}/chat/completions", json=body(who))).json()["choices"][0]["message"]["content"]

if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(ask(sys.argv[1]))
        sys.exit()
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, ["thread 0", "thread 1"]))
    child = subprocess.run([sys.executable, __file__, "subprocess"], check=True, capture_output=True, text=True)
    answers.append(child.stdout.strip())
    answers.append(asyncio.run(aask("asyncio")))
    print(json.dumps(answers))
    sys.exit(int(os.environ.get("CODE", "0")))
"""

THREE = """
import agent

for who in ("one", "two", "three"):
    agent.ask(who)
"""

STARTS = """
import os, subprocess, sys

boot = os.environ["PYTHONPATH"].split(":")[0]
environ = {{**os.environ, "PYTHONPATH": boot + ":{folder}"}}
sys.exit(subprocess.run([sys.executable, "-c", "print(1)"], env=environ).returncode)
"""

RUNNER = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
import runner

with ThreadPoolExecutor(4) as pool:
    jobs = [(f"task-{t}", i) for t in range(5) for i in range(4)]
    list(pool.map(lambda job: runner.run_one({"id": job[0]}, job[1]), jobs))
"""

RUN_ONE = """
import trialtape as tt

@tt.tool(effect="read")
def look(what: str, index: int) -> str:
    return f"{what} {index}"

def run_one(task, index, note=""):
    for _ in range(3):
        look(task["id"], index)
"""


@pytest.fixture
def started(tmp_path, provider):
    """Run the command line in a folder with the programs, as a process of its own."""
    (tmp_path / "agent.py").write_text(PARTS)
    (tmp_path / "runner.py").write_text(RUN_ONE)
    (tmp_path / "main.py").write_text(RUNNER)

    def run(*arguments, **environ):
        command = [sys.executable, "-m", "replay", "--home", str(tmp_path / "home"), *arguments]
        inherited = {"PATH": "/usr/bin:/bin", "PROVIDER": provider.base_url, "PYTHONPATH": str(ROOT), **environ}
        return subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=tmp_path, env=inherited, timeout=120
        )

    return run


def agent():
    return ["--", sys.executable, "agent.py"]


def asked(view):
    return sorted(step.call.arguments["messages"][0]["content"] for step in view.steps)


EVERYTHING = ["asyncio", "subprocess", "thread 0", "thread 1"]


def test_threads_a_subprocess_and_asyncio_are_recorded_in_one_trial_and_the_frozen_program_touches_nothing(
    started, provider, tmp_path
):
    done = started("record", "--run", "first", "--task", "t", "-n", "2", *agent())
    assert done.returncode == 0, done.stderr
    view = tt.open("first/t#0", home=tmp_path / "home")
    assert asked(view) == EVERYTHING
    assert view.unattributed == {}
    assert len(provider.requests) == 8
    provider.stop()
    again = started("run", "--run", "again", "--source", "first", "--freeze", "model", "-n", "2", *agent())
    assert again.returncode == 0, again.stderr
    assert sorted(again.stdout.splitlines()) == sorted(done.stdout.splitlines())
    assert tt.open("again/t#1", home=tmp_path / "home").coverage == {"own": 4}
    verified = started("verify", "first", "--json", PROVIDER=provider.base_url)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert json.loads(verified.stdout[verified.stdout.index("{") :])["counts"] == {"identical": 2}


def test_a_frozen_program_that_asks_what_nobody_recorded_ends_with_its_own_code_and_reaches_nobody(
    started, provider, tmp_path
):
    program = ["--", sys.executable, "agent.py"]
    assert started("record", "--run", "first", *program, "known").returncode == 0
    before = len(provider.requests)
    done = started(
        "run", "--run", "again", "--source", "first", "--freeze", "model", "--offline", "-n", "1", *program, "unknown"
    )
    assert done.returncode == 1, done.stderr
    assert len(provider.requests) == before
    assert tt.open("again/main#0", home=tmp_path / "home").ending.status == "unanswered"


def test_a_recorded_program_can_be_forked(started, provider, tmp_path):
    (tmp_path / "three.py").write_text(THREE)
    program = ["--", sys.executable, "three.py"]
    assert started("record", "--run", "first", "--task", "t", *program).returncode == 0
    before = len(provider.requests)
    done = started("fork", "first/t#0", "--at", "2", "-n", "2", "--json")
    assert done.returncode == 0, done.stderr
    (fork,) = json.loads(done.stdout[done.stdout.index("{\n") :])["forks"]
    assert len(provider.requests) == before + 2  # of each continuation the third question alone
    view = tt.open(f"{fork['run']}/t#0", home=tmp_path / "home")
    assert [step.origin.verdict for step in view.steps] == ["own", "own", "live"]


def test_the_exit_code_of_the_program_is_handed_on(started, tmp_path):
    assert started("record", "--run", "r", *agent(), CODE="7").returncode == 7
    ending = tt.open("r/main#0", home=tmp_path / "home").ending
    assert (ending.status, ending.cause, ending.reason) == (
        "error",
        "agent",
        "CommandFailed: the program ended with code 7",
    )


def test_a_program_without_a_call_is_an_error(started):
    done = started("record", "--run", "r", "--", sys.executable, "-c", "print('nothing')")
    assert done.returncode == 1
    assert "0 calls captured" in done.stderr


def test_no_such_program_is_told_before_anything_is_made(started, tmp_path):
    done = started("record", "--run", "r", "--", "no-such-program-anywhere")
    assert done.returncode == 127
    assert done.stderr.splitlines() == ["trialtape: no-such-program-anywhere: no such program"]
    assert not (tmp_path / "home" / "cassettes" / "r").exists()


@pytest.mark.parametrize("arguments", [("record", "--run", "r"), ("record", "--run", "r", "--"), ("run", "--run", "r")])
def test_without_a_program_the_usage_is_told(started, arguments):
    done = started(*arguments)
    assert done.returncode == 2
    assert "behind --" in done.stderr


def test_a_python_that_cannot_record_says_so_and_does_not_run_on(started, tmp_path):
    broken = tmp_path / "broken" / "cassettes"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('too old')")
    (tmp_path / "starts.py").write_text(STARTS.format(folder=str(broken.parent)))
    done = started("record", "--run", "r", "--", sys.executable, "starts.py")
    assert done.returncode == 125
    assert "cannot record this process: ImportError: too old" in done.stderr


def test_the_programs_own_sitecustomize_still_runs(started, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import os; os.environ['OWN_SITE'] = 'ran'")
    program = "import os, runpy; print(os.environ['OWN_SITE']); runpy.run_path('agent.py', run_name='__main__')"
    done = started("record", "--run", "r", "--", sys.executable, "-c", program, PYTHONPATH=f"{folder}:{ROOT}")
    assert done.stdout.splitlines()[0] == "ran", done.stderr


@pytest.mark.slow  # a timeout long enough for a busy machine
def test_a_program_that_takes_too_long_is_ended_and_its_calls_are_kept(started, tmp_path):
    text = (tmp_path / "agent.py").read_text().replace("sys.exit()", "import time; time.sleep(600)")
    (tmp_path / "agent.py").write_text(text)
    done = started("record", "--run", "r", "--timeout", "20", "--", sys.executable, "agent.py", "x")
    assert done.returncode == 124, done.stderr
    view = tt.open("r/main#0", home=tmp_path / "home")
    assert view.ending.status == "capped"
    assert asked(view) == ["x"]


def test_a_boundary_opens_a_trial_around_each_call_of_the_runners_own_function(started, tmp_path):
    boundary = ["--boundary", "runner:run_one", "--task-from", "task.id", "--trial-from", "index"]
    done = started("record", "--run", "r", *boundary, "--", sys.executable, "main.py")
    assert done.returncode == 0, done.stderr
    assert "20 trials recorded" in done.stderr
    for task in range(5):
        for index in range(4):
            view = tt.open(f"r/task-{task}#{index}", home=tmp_path / "home")
            assert [step.outcome.value for step in view.steps] == [f"task-{task} {index}"] * 3


def test_a_boundary_that_is_never_called_is_an_error(started):
    done = started(
        "record", "--run", "r", "--boundary", "runner:nothing", "--task-from", "x", "--", sys.executable, "main.py"
    )
    assert done.returncode == 1
    assert "is no function of that module" in done.stderr
    done = started(
        "record", "--run", "r", "--boundary", "json:dumps", "--task-from", "obj", "--", sys.executable, "-c", "1"
    )
    assert done.returncode == 2
    assert "was never called" in done.stderr


def test_a_pytest_suite_is_recorded_test_by_test(started, tmp_path):
    (tmp_path / "test_agent.py").write_text(
        "import runner\n\n"
        "def test_one():\n    runner.look('a', 1)\n\n"
        "def test_two():\n    assert runner.look('b', 2) == 'x'\n"
    )
    done = started(
        "record",
        "--run",
        "r",
        "--boundary",
        "pytest",
        "--",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "test_agent.py",
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 trials recorded" in done.stderr
    one, two = (tt.open(f"r/test_agent.py::test_{name}#0", home=tmp_path / "home") for name in ("one", "two"))
    assert (one.ending.status, two.ending.status) == ("completed", "error")
