from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from adapters.processes import PROCESSES
from cassettes.recorder import listening
from tests.fakes import ListRecorder

ORIGINALS = {
    (BaseProcess, "start"): BaseProcess.start,
    (ProcessPoolExecutor, "submit"): ProcessPoolExecutor.submit,
    (subprocess.Popen, "__init__"): subprocess.Popen.__init__,
}
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(autouse=True)
def installed():
    PROCESSES.install()
    PROCESSES.install()
    yield
    PROCESSES.uninstall()
    assert {(owner, name): vars(owner)[name] for owner, name in ORIGINALS} == ORIGINALS
    assert PROCESSES.patched() == []


@pytest.fixture
def recorder():
    recorder = ListRecorder()
    with listening(recorder):
        yield recorder


def test_what_is_patched():
    assert PROCESSES.patched() == [
        "multiprocessing.process.BaseProcess.start",
        "concurrent.futures.ProcessPoolExecutor.submit",
        "subprocess.Popen.__init__",
    ]


@pytest.mark.parametrize(
    ("command", "shell", "told"),
    [
        ([sys.executable, "-c", "pass", "sk-secret"], False, f"subprocess {Path(sys.executable).name}"),
        ([Path("/bin/true")], False, "subprocess true"),
        (b"/bin/true", False, "subprocess true"),
        ("TOKEN=secret true", True, "subprocess of the shell"),
    ],
)
def test_a_subprocess_is_told_without_its_arguments(recorder, command, shell, told):
    assert subprocess.run(command, shell=shell, check=False).returncode == 0
    assert recorder.escapes == [told]


def test_a_subprocess_that_cannot_start_is_not_told(recorder):
    with pytest.raises(FileNotFoundError):
        subprocess.run(["/no/such/program"], check=False)
    assert recorder.escapes == []


def test_what_the_platform_module_asks_is_not_told(recorder):
    subprocess.run(["uname", "-p"], check=False, capture_output=True)
    assert recorder.escapes == []


def test_a_process_is_told(recorder):
    process = SPAWN.Process(target=len, args=("abc",))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert recorder.escapes == ["process of multiprocessing"]


def test_an_item_of_a_process_pool_is_told_once_also_if_it_starts_a_process(recorder):
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert [pool.submit(len, "abc").result() for _ in range(2)] == [3, 3]
    assert recorder.escapes == ["item of a process pool"] * 2


def test_nothing_is_told_where_nobody_listens():
    assert subprocess.run([sys.executable, "-c", "pass"], check=False).returncode == 0
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert pool.submit(len, "abc").result() == 3
