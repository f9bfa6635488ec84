"""Nothing in the project depends on the machine on which it was written."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.docs.documents import ROOT

# Written in pieces, so that this file does not hold what it looks for.
_MACHINE_PATH = re.compile(r"(?<![\w.~/-])/" + r"(?:work|root|tmp|Users|home/\w+|opt|mnt)/" + r"\w")
_REGISTRY = re.compile(
    r"index-" + r"url|python" + r"hosted|pypi" + r"\.org|/sim" + r"ple/?\b|artifact" + r"ory", re.IGNORECASE
)
_SAMPLES = {"tests/cassettes/test_redact.py", "tests/cassettes/test_values.py"}  # paths as values to be recorded


def _texts():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            yield name, data.decode("utf-8", "replace")


def test_no_machine_paths():
    found = [f"{name}: {m[0]}" for name, text in _texts() if name not in _SAMPLES for m in _MACHINE_PATH.finditer(text)]
    assert not found


def test_no_registry_hosts():
    assert not [f"{name}: {match[0]}" for name, text in _texts() for match in _REGISTRY.finditer(text)]
