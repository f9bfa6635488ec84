"""The demo runs its commands in order, with the model gone for the second half, and stops at the first failure."""

import sys

import pytest

from examples.support import demo

# Stands for the trialtape command: notes its arguments and whether a model answers, and fails where it is told to.
COMMAND = """\
#!{python}
import os, sys, urllib.error, urllib.request
headers = {{"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/models", headers=headers)
try:
    urllib.request.urlopen(request).close()
    model = "up"
except urllib.error.URLError:
    model = "down"
with open({log!r}, "a") as log:
    print(model, *sys.argv[3:], file=log)
sys.exit(3 if sys.argv[3] == {failing!r} else 0)
"""


@pytest.fixture
def commands(tmp_path, monkeypatch):
    def run(failing=""):
        log = tmp_path / "log"
        command = tmp_path / "trialtape"
        command.write_text(COMMAND.format(python=sys.executable, log=str(log), failing=failing))
        command.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(demo, "HOME", tmp_path / "home")
        code = demo.main()
        return code, [line.split()[:2] for line in log.read_text().splitlines()]

    return run


def test_every_command_in_order(commands, capsys):
    code, ran = commands()
    assert code == 0
    assert ran == [
        ["up", "run"],
        ["up", "stats"],
        ["up", "run"],
        ["up", "stats"],
        ["down", "verify"],
        ["down", "score"],
        ["down", "stats"],
        ["down", "show"],
    ]
    shown = capsys.readouterr().out
    assert shown.count("\n$ trialtape --home ") == len(ran)
    assert "shut down" in shown


def test_the_first_failure_ends_it_with_its_exit_code(commands, capsys):
    code, ran = commands(failing="verify")
    assert code == 3
    assert ran[-1] == ["down", "verify"]
    assert "exit code 3" in capsys.readouterr().err


def test_no_trialtape_on_the_path(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(demo, "HOME", tmp_path / "home")
    assert demo.main() == 2
    assert "no command 'trialtape'" in capsys.readouterr().err
