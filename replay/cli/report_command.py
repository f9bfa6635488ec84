"""``trialtape report``: a run as one page that can be sent."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Literal

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from replay.analysis.reliability import Errors
from replay.home import Home
from replay.report.html.build import compared_for_page, make_report
from replay.report.html.facts import facts_of
from replay.report.html.writing import write_page
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .options import errors_option, json_option, score_option
from .output import echo_json, messages

__all__ = ["command"]


@click.command("report")
@click.argument("run", metavar="RUN")
@click.option("--against", metavar="RUN2", help="Another run to stand beside it, task by task.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="Where to.",
)
@click.option(
    "--trials",
    type=click.Choice(["all", "failing", "none"]),
    help="Whose steps it holds (default: all, or those that did not pass if there are more than 400).",
)
@score_option
@errors_option
@click.option("--open", "opening", is_flag=True, help="Open it in a browser.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    against: str | None,
    output: Path,
    trials: Literal["all", "failing", "none"] | None,
    score: str | None,
    errors: Errors,
    opening: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Write the report of RUN: one HTML file with its numbers, its map and the steps of its trials.

    It asks nothing of any other file or server, so it can be sent as it is. It shows what was recorded.
    """
    place = Home.find(home)
    runs = [run] if against is None else [run, against]
    for name in runs:
        load_run(place, name)
    with Store(place) as store:
        tell_troubles(store.refresh(runs))
        store.refresh()  # a trial is compared with those that passed in any run; their troubles are not this run's
        facts = facts_of(store, run, score, errors)
        other = None if against is None else compared_for_page(store, against, run, score, errors)
        progress = Progress(
            TextColumn("report"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=messages(),
            transient=True,
            disable=as_json or not sys.stderr.isatty(),
        )
        with progress:
            task = progress.add_task("", total=None)
            report = make_report(
                store, facts, trials, other, lambda done, total: progress.update(task, completed=done, total=total)
            )
    size = write_page(output, report.html)
    if opening:
        with suppress(webbrowser.Error):
            webbrowser.open(output.resolve().as_uri())
    if as_json:
        echo_json(
            {
                "file": str(output),
                "bytes": size,
                "run": run,
                "against": against,
                "trials": len(facts.trials),
                "listed": report.listed,
                "opened": report.opened,
                "left_out": report.left_out,
                "stats": facts.stats.to_dict(),
            }
        )
        return
    held = f"{report.opened} of {len(facts.trials)} trials in it"
    messages().print(f"{output}: {size / 1000:.0f} kB, {held}", markup=False, soft_wrap=True)
