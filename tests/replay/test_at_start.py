"""Joining a trial where Python ignores PYTHONPATH: the line in site-packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import trialtape as tt

ROOT = Path(__file__).parents[2]
LINE = ROOT / "replay" / "boot" / "trialtape.pth"

LOOKED = """
import sys
loaded = [name for name in ("replay", "replay.at_start") if name in sys.modules]
print(loaded, [folder for folder in sys.path if folder.endswith("boot")])
"""

AGENT = """
import json, os, sys
import httpx

with httpx.Client() as client:
    body = {"model": "m", "messages": [{"role": "user", "content": "isolated"}]}
    client.post(os.environ["PROVIDER"] + "/chat/completions", json=body)
boot = [folder for folder in sys.path if folder.endswith("boot")]
print(json.dumps([sys.flags.isolated, boot, "sitecustomize" in sys.modules]))
"""


@pytest.fixture(scope="module")
def isolated(tmp_path_factory):
    """An environment with the line, and with what is installed here."""
    folder = tmp_path_factory.mktemp("isolated")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "_first.pth").write_text(f"{ROOT}\n{sysconfig.get_paths()['purelib']}\n")
    (packages / LINE.name).write_bytes(LINE.read_bytes())
    return folder / "bin" / "python"


def ran(python, *arguments, **environ):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TRIALTAPE"))}
    return subprocess.run(
        [str(python), *arguments], check=False, capture_output=True, text=True, env={**inherited, **environ}, timeout=60
    )


def recorded(home, python, *flags, provider, **environ):
    program = home / "agent.py"
    home.mkdir(exist_ok=True)
    program.write_text(AGENT)
    command = ["-m", "replay", "--home", str(home), "record", "--run", "r", "--task", "t", "--", str(python), *flags]
    return ran(sys.executable, *command, str(program), PROVIDER=provider.base_url, PYTHONPATH=str(ROOT), **environ)


def test_it_is_one_line_that_python_runs():
    (line,) = LINE.read_text().splitlines()
    assert line.startswith("import ")


@pytest.mark.parametrize("environ", [{}, {"TRIALTAPE_INVITATION": ""}, {"TRIALTAPE_HOME": "x"}])
def test_without_a_trial_nothing_of_ours_is_loaded(isolated, environ):
    done = ran(isolated, "-I", "-c", LOOKED, **environ)
    assert (done.stdout, done.stderr) == ("[] []\n", "")


def test_without_a_trial_it_does_not_matter_whether_we_are_installed(tmp_path):
    """The environment from which we were removed by hand, or whose checkout is gone."""
    (tmp_path / LINE.name).write_bytes(LINE.read_bytes())
    code = f"import site; site.addsitedir({str(tmp_path)!r})\n{LOOKED}"
    done = ran(Path(sys.base_prefix) / "bin" / "python3", "-I", "-c", code)
    assert (done.stdout, done.stderr) == ("[] []\n", "")


@pytest.mark.parametrize("flag", ["-I", "-E", "-IB"])
def test_an_isolated_program_is_recorded_and_finds_its_own_path(isolated, tmp_path, provider, flag):
    done = recorded(tmp_path / "home", isolated, flag, provider=provider)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [int("I" in flag), [], True]
    view = tt.open("r/t#0", home=tmp_path / "home")
    assert [step.call.kind for step in view.steps] == ["model"]


def test_where_the_path_is_looked_at_it_is_joined_once(isolated, tmp_path, provider):
    done = recorded(tmp_path / "home", isolated, provider=provider)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)[1]) == 1
    assert len(tt.open("r/t#0", home=tmp_path / "home").steps) == 1


def test_what_cannot_be_joined_stops_the_program(isolated):
    done = ran(isolated, "-I", "-c", "print('ran')", TRIALTAPE_INVITATION="{}")
    assert (done.returncode, done.stdout) == (125, "")
    assert "cannot record this process" in done.stderr


def test_an_isolated_program_without_the_line_is_an_error(isolated, tmp_path, provider):
    line = next(isolated.parents[1].glob("lib/python*/site-packages/trialtape.pth"))
    away = line.rename(tmp_path / "away")
    try:
        done = recorded(tmp_path / "home", isolated, "-I", provider=provider)
    finally:
        away.rename(line)
    assert done.returncode == 1
    assert "0 calls captured" in done.stderr


@pytest.mark.slow
def test_a_wheel_brings_the_line_along(tmp_path, provider):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    built = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path / "dist"), str(ROOT)]
    subprocess.run([*pip, *built], check=True)
    (wheel,) = (tmp_path / "dist").glob("trialtape-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([*pip, "--python", str(python), "install", "--quiet", "--no-deps", str(wheel)], check=True)
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    assert (packages / LINE.name).read_bytes() == LINE.read_bytes()
    (packages / "others.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    program, home = tmp_path / "agent.py", tmp_path / "home"
    program.write_text(AGENT)
    trialtape = python.with_name("trialtape")
    command = ["--home", str(home), "record", "--run", "r", "--task", "t", "--", str(python), "-I", str(program)]
    done = ran(trialtape, *command, PROVIDER=provider.base_url)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0] == 1
    assert len(tt.open("r/t#0", home=home).steps) == 1
    doctor = json.loads(ran(trialtape, "doctor", "--json").stdout)
    assert doctor["isolated"] == str(packages / LINE.name)
    assert doctor["packages"]["replay"] == str(packages / "replay")
    listed = ran(python, "-c", "import importlib.metadata as m; print(*m.distribution('trialtape').files, sep='\\n')")
    assert LINE.name in listed.stdout.splitlines(), "uninstalling takes it away again"
