"""kill -9 while recording: what had returned, and is lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Final

import httpx2
import yaml

import trialtape as tt
from cassettes.reader import Cassette

from .peers import vcr_recorder
from .rows import Row, Target

__all__ = ["rows"]

_ROOT: Final = Path(__file__).resolve().parents[1]


def rows(kills: int = 10, at_most: int = 400) -> list[Row]:
    """Kill a recording child so many times, after up to ``at_most`` of its calls."""
    made = random.Random(11)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = [_killed("ours", folder / str(number), made, at_most) for number in range(kills)]
        theirs = [_killed("vcrpy", folder / f"vcr-{number}", made, min(at_most, 20)) for number in range(min(kills, 2))]
    acknowledged = sum(told for told, _ in ours)
    return [
        Row(
            f"acknowledged interactions lost in {kills} kills",
            sum(max(0, told - kept) for told, kept in ours),
            "",
            sum(told - kept for told, kept in theirs),
            f"vcrpy, of {sum(told for told, _ in theirs)} in {len(theirs)} kills",
            Target("<=", 0),
            note=f"SIGKILL at a random moment; {acknowledged:,} calls had returned in all, "
            f"{sum(kept for _, kept in ours):,} could be read back (a call may be "
            "written before it returns)",
        )
    ]


def _killed(side: str, folder: Path, made: random.Random, at_most: int) -> tuple[int, int]:
    """Calls that had returned, and calls that can be read."""
    command = [sys.executable, "-m", f"{__package__}.killed", side, str(folder)]
    child = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    told = len(child.stdout.read(made.randint(1, at_most)))
    time.sleep(made.uniform(0, 0.003))
    child.kill()
    told += len(child.stdout.read())
    child.stdout.close()
    child.wait()
    return told, _kept(side, folder)


def _kept(side: str, folder: Path) -> int:
    if side == "ours":
        return len(Cassette(folder / "cassettes" / "killed" / "0" / "0.cassette"))
    path = folder / "0.yaml"
    return len(yaml.safe_load(path.read_text("utf-8"))["interactions"]) if path.exists() else 0


# -- the child: one byte to stdout for each call that has returned -----------------------------------------------------


@tt.tool(effect="read")
def _look(number: int) -> dict[str, int]:
    return {"number": number, "square": number * number}


def _record(folder: Path) -> None:
    with tt.trial(run="killed", task="0", home=folder):
        for number in count():
            _look(number)
            os.write(1, b".")


def _record_with_vcrpy(folder: Path) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"path": request.url.path}))
    with httpx2.Client(transport=transport) as client, vcr_recorder(folder / "0.yaml"):
        for number in count():
            client.get(f"https://example.org/{number}")
            os.write(1, b".")


if __name__ == "__main__":
    {"ours": _record, "vcrpy": _record_with_vcrpy}[sys.argv[1]](Path(sys.argv[2]))
