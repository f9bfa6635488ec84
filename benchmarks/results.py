"""The table, for the terminal and as ``results.md``."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from .rows import Row

__all__ = ["RESULTS", "markdown", "print_table"]

RESULTS: Final = Path(__file__).parent / "results.md"

_HEAD: Final = ("what", "ours", "peer or baseline, same run", "times better", "target", "")
_PACKAGES: Final = (
    "attrs",
    "httpx2",
    "msgpack",
    "numpy",
    "openai",
    "scipy",
    "sqlite-utils",
    "vcrpy",
    "xxhash",
    "zstandard",
)


def print_table(found: Sequence[Row], skipped: Mapping[str, str]) -> None:
    """Print what was measured, and what was not."""
    table = Table(*_HEAD)
    for row in found:
        style = "red" if row.met is False else None
        table.add_row(*row.cells(), style=style)
    out = Console()
    if not out.is_terminal:
        out.width = 180
    out.print(table)
    for name, reason in skipped.items():
        out.print(f"not measured: {name}: {reason}", markup=False)


def markdown(found: Sequence[Row], skipped: Mapping[str, str], seconds: float) -> str:
    """The whole document."""
    load = f"load average at the end {os.getloadavg()[0]:.1f} (other jobs ran beside)"
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    lines = [
        "# Benchmarks",
        "",
        f"Made by `make bench` (`python -m benchmarks`) on {datetime.now(UTC):%Y-%m-%d} in {seconds:.0f} s. It is the",
        "outcome of one run: nothing was chosen from several. Both sides of a row ran in turn in it, so the ratios",
        "mean more than the times; CPU times are the best of the rounds, wall times the median. The targets are limits",
        "that were set before measuring.",
        "",
        f"- machine: {_processor()}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}; {load}",
        f"- Python {platform.python_version()}; {versions}",
        "",
        _line(_HEAD),
        _line(("---",) * len(_HEAD)),
    ]
    notes: list[str] = []
    for row in found:
        what, *rest, verdict = row.cells()
        if row.note:
            if row.note not in notes:
                notes.append(row.note)
            what = f"{what} [{notes.index(row.note) + 1}]"
        lines.append(_line((what, *rest, f"**{verdict}**" if row.met is False else verdict)))
    missed = [row.what for row in found if row.met is False]
    judged = sum(row.met is not None for row in found)
    told = f" NOT met: {'; '.join(missed)}." if missed else ""
    lines += ["", f"Targets met: {judged - len(missed)} of {judged}.{told}"]
    if skipped:
        lines += ["", "Not measured:", "", *(f"- {name}: {reason}" for name, reason in skipped.items())]
    if notes:
        lines += ["", "## Conditions", "", *(f"{number}. {note}" for number, note in enumerate(notes, 1))]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    return names[0] if names else platform.processor() or platform.machine()
