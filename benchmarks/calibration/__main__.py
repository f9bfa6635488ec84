"""``python -m benchmarks.calibration``: simulate, tell what was promised and what was measured."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .measures import Cell, jobs
from .report import markdown, picture

_FOLDER = Path(__file__).parents[1]


@click.command()
@click.option("--reps", type=click.IntRange(min=2), default=60, show_default=True, help="Simulations of each world.")
@click.option("--tasks", type=click.IntRange(min=3), multiple=True, help="Only suites of so many tasks.")
@click.option("--only", metavar="TEXT", default="", help="Only simulations whose names hold this.")
@click.option("--write", is_flag=True, help="Write benchmarks/calibration.md and benchmarks/calibration.svg.")
def main(reps: int, tasks: tuple[int, ...], only: str, write: bool) -> None:  # noqa: FBT001  # click's way
    """Simulate worlds of which the truth is known, and hold the statistics against it.

    The defaults take some minutes on one core; --reps 600 gives standard errors of 0.01.
    """
    chosen = [job for job in (jobs(tasks) if tasks else jobs()) if only in job.name]
    cells: list[Cell] = []
    bar = Progress(
        TextColumn("{task.description:<24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with bar:
        shown = bar.add_task("", total=len(chosen))
        for number, job in enumerate(chosen):
            bar.update(shown, description=job.name)
            cells += job.run(np.random.default_rng([0, number]), reps)
            bar.advance(shown)
    parts = [f"--reps {reps}", *(f"--tasks {size}" for size in tasks), *([f"--only {only}"] if only else [])]
    text = markdown(cells, f"python -m benchmarks.calibration {' '.join(parts)}")
    click.echo(text[: text.index("## Spreads")])
    if write:
        (_FOLDER / "calibration.md").write_text(text, encoding="utf-8")
        (_FOLDER / "calibration.svg").write_text(picture(cells), encoding="utf-8")
        click.echo(f"written: {_FOLDER / 'calibration.md'} and .svg", err=True)


if __name__ == "__main__":
    main()
