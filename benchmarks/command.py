"""The command line as a user waits for it: whole processes, wall time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cassettes.model import Ending, TrialId
from replay.home import Home
from replay.importers.keeping import Keeper
from replay.importers.trajectory import read_trajectory
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score

from .airline import trials
from .rows import Row, Target
from .timing import median

__all__ = ["rows"]

RUN: Final = "airline"
_ROOT: Final = Path(__file__).resolve().parents[1]
# Which distributions' modules are there once the help has been printed.
_IMPORTED: Final = """
import sys
before = set(sys.modules)
from importlib.metadata import packages_distributions
from replay.cli import main
main(["--help"], standalone_mode=False)
known = packages_distributions()
found = {d for m in {*sys.modules} - before if "." not in m for d in known.get(m, [])} - {"trialtape"}
print("FOUND", *sorted(found))
"""


def rows(tasks: int = 10, repetitions: int = 8, rounds: int = 5) -> list[Row]:
    """Tell the reliability of ``tasks`` x ``repetitions`` trials.

    Raises:
        Skipped: the recordings are not there.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Home(Path(name))
        digests = _make(home, tasks, repetitions)
        stats = ["--home", str(home.root), "stats", RUN]
        number = 0

        compiled = home.root / "bytecode"

        def first() -> float:
            for file in home.root.glob("trialtape.db*"):
                file.unlink()
            return _timed(_ours(*stats), compiled)

        def rescored() -> float:
            nonlocal number
            number += 1
            _score(home, digests, number)
            return _timed(_ours(*stats), compiled)

        _score(home, digests, 0)
        for command in (_ours(*stats), _ours("--help"), [sys.executable, "-c", "import vcr"]):
            _output(command, compiled)  # leaves the byte code
        found = median(
            {
                "first": first,
                "rescored": rescored,
                "help": lambda: _timed(_ours("--help"), compiled),
                "python": lambda: _timed([sys.executable, "-c", "pass"], compiled),
                "vcrpy": lambda: _timed([sys.executable, "-c", "import vcr"], compiled),
                "libraries": lambda: _timed(
                    [sys.executable, "-c", "import numpy, scipy.special, sqlite_utils, rich.table"], compiled
                ),
            },
            rounds,
        )
        told = {_output(_ours(*stats, "--json"), compiled) for _ in range(2)}
        imported = _output([sys.executable, "-c", _IMPORTED], compiled).rpartition("FOUND")[2].split()
    note = (
        f"{tasks} tasks x {repetitions} trials; whole processes, wall time, median of {rounds}; byte code of all sides "
        "is compiled before, as an installation does"
    )
    return [
        Row(
            "`trialtape stats`, after new scores",
            found["rescored"],
            "s",
            found["libraries"],
            "import numpy, scipy.special, sqlite_utils, rich.table",
            Target("<", 0.5),
            note=note,
        ),
        Row("`trialtape stats`, nothing indexed yet", found["first"], "s", note=note),
        Row(
            "`trialtape --help`",
            found["help"],
            "s",
            found["vcrpy"],
            "import vcr",
            Target("<", 0.2),
            note=f"imported: {', '.join(imported)}; python alone takes {found['python']:.3f} s",
        ),
        Row(
            "distributions that `--help` imports beside click",
            len(set(imported) - {"click"}),
            "",
            target=Target("<=", 0),
        ),
        Row("different outputs of the same `stats` command, of 2", len(told) - 1, "", target=Target("<=", 0)),
    ]


def _make(home: Home, tasks: int, repetitions: int) -> dict[TrialId, str]:
    known = trials()
    open_run(home, RunFile(RUN, {"mode": "import"}, primary="passes"))
    keeper = Keeper(home)
    digests: dict[TrialId, str] = {}
    for number in range(tasks * repetitions):
        trial = TrialId(RUN, str(number // repetitions), number % repetitions)
        found = read_trajectory(known[number % len(known)], "gpt-4o").events
        _, digests[trial] = keeper.keep(trial, found, Ending("completed"), config={})
    return digests


def _score(home: Home, digests: dict[TrialId, str], version: int) -> None:
    """The scores of one more version; tasks differ, and so do their trials."""
    append_scores(
        home,
        RUN,
        [
            KeptScore.of(
                trial, "passes", str(version), Score(float((trial.index * 7 + int(trial.task)) % 9 > 2)), digest
            )
            for trial, digest in digests.items()
        ],
    )


def _ours(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "replay", *arguments]


def _timed(command: Sequence[str], compiled: Path) -> float:
    began = time.perf_counter()
    _output(command, compiled)
    return time.perf_counter() - began


def _output(command: Sequence[str], compiled: Path) -> str:
    """What a command prints; the byte code of its modules is kept in ``compiled``, whatever is set for this process."""
    environ = {**os.environ, "PYTHONHASHSEED": "random", "PYTHONPYCACHEPREFIX": str(compiled)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(command, cwd=_ROOT, env=environ, check=True, capture_output=True, text=True).stdout
