from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from click.testing import CliRunner

import replay
from cassettes.model import Ending
from replay.cli import main
from replay.home import Home
from tests.factories import write_cassette
from tests.replay.debugger.scene import failing, scene


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def run(home, *arguments):
    return CliRunner().invoke(main, ["--home", str(home.root), "debug", *arguments])


def test_json_prints_the_rows_with_the_first_divergent_write(home):
    scene(home)
    done = run(home, "r/refund#0", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["trial"], told["reference"]) == ("r/refund#0", "r/refund#1")
    assert told["first_divergent_write"]["line"].startswith("other arguments: step 5 cancel_order")
    assert told["first_divergent_row"] == 2
    assert "".join(row["sign"] for row in told["rows"]) == "==++≈~-≈"
    assert told["rows"][6]["trial"] is None
    assert told["rows"][6]["reference"]["name"] == "send_mail"
    assert told["rows"][3]["trial"]["failed"] is True


def test_against_names_the_other_trial(home):
    scene(home)
    told = json.loads(run(home, "r/refund#0", "--against", "r/refund#2", "--json").stdout)
    assert told["reference"] == "r/refund#2"


def test_a_file_that_lies_in_no_home_is_told_alone(home, tmp_path):
    path = write_cassette(tmp_path / "alone.cassette", failing(), Ending("completed"))
    told = json.loads(run(home, str(path), "--json").stdout)
    assert told["reference"] is None
    assert [row["sign"] for row in told["rows"]] == [""] * 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["r/refund#0", "--at", "99"], "r/refund#0 has no step 99; it has 7 steps, counted from 0"),
        (["r/refund#9"], "there is no trial r/refund#9"),
        (["r/refund#0", "--against", "r/other#0"], "there is no trial r/other#0"),
        (["r/refund#0"], "the debugger needs a terminal; --json prints its rows"),
    ],
)
def test_what_cannot_be_opened_is_one_line(home, arguments, said):
    scene(home)
    done = run(home, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_the_extra_it_says_how_to_install_it(home, tmp_path):
    scene(home)
    code = (
        "import sys\n"
        "sys.modules['textual'] = None\n"
        "from replay.cli import main\n"
        f"main(['--home', {str(home.root)!r}, 'debug', 'r/refund#0', *sys.argv[1:]])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "trialtape: the debugger needs textual, which is not installed: pip install 'trialtape[debug]'\n"
    )
    rows = subprocess.run([sys.executable, "-c", code, "--json"], capture_output=True, timeout=120, check=True)
    assert json.loads(rows.stdout)["trial"] == "r/refund#0"


def test_only_the_debugger_imports_textual():
    package = Path(replay.__file__).parent
    importing = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if re.search(r"^\s*(?:import|from) textual\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert importing == {"debugger"}


def test_the_command_is_loaded_without_textual():
    code = "import sys, replay.cli.debug_command; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode == 0


def test_on_a_real_terminal_it_opens_and_q_quits(home):
    scene(home)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    command = [sys.executable, "-m", "replay", "--home", str(home.root), "debug", "r/refund#0"]
    environ = {**os.environ, "TERM": "xterm-256color"}
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(command, **streams, env=environ, start_new_session=True) as process:
        os.close(theirs)
        shown = b""
        while b"row 1 of" not in shown:
            shown += os.read(ours, 65536)
        os.write(ours, b"q")
        with contextlib.suppress(OSError):  # the other end was closed
            while os.read(ours, 65536):
                pass
        assert process.wait(timeout=60) == 0
    os.close(ours)
