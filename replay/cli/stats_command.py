"""``trialtape stats``: pass^k and pass@k with their noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal

import click

from cassettes.errors import BadInput
from replay.analysis.card import Card, card_of
from replay.analysis.groups import Groups, groups_of
from replay.analysis.run_stats import RunStats, run_stats
from replay.analysis.tables import check_path, flat_rows, write_table
from replay.home import Home
from replay.labelling.fault_table import FAULT_COLUMNS, fault_rows
from replay.labelling.faults import Faults, faults_of
from replay.report.card_text import card_lines, groups_notes, groups_table
from replay.report.faults_text import faults_lines, faults_table
from replay.report.stats_text import bounds_text, curve, head, notes, table
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .options import FiniteFloat, errors_option, json_option, score_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_Extra = Faults | Groups | Card


@click.command("stats")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@score_option
@errors_option
@click.option(
    "--threshold",
    type=FiniteFloat(),
    metavar="X",
    help="Values from X on count as passed (default: as the scorer says).",
)
@click.option("-k", "ks", type=click.IntRange(min=1), multiple=True, help="Only this k; may be given again.")
@click.option(
    "--by",
    metavar="NAME",
    help="By group: a tag such as `domain`, `tag` for all tags, `task`; `fault` counts failed trials by their labels.",
)
@click.option("--card", is_flag=True, help="One page for a decision: the number, and what it rests on.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Also write a table: FILE.csv or .parquet."
)
@json_option
@click.pass_obj
def command(
    home: str | None,
    runs: tuple[str, ...],
    score: str | None,
    ks: tuple[int, ...],
    errors: Literal["exclude", "fail"],
    threshold: float | None,
    by: str | None,
    out: Path | None,
    card: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell pass^k (all of k trials pass) and pass@k (at least one does) for all k, with their noise.

    "If you rerun this suite" holds for these very tasks, "on other tasks like these" for the kind of task.
    """
    if card and by is not None:
        raise BadInput("--card and --by do not go together")
    if out is not None:
        check_path(out)
    place = Home.find(home)
    for run in runs:
        load_run(place, run)
    with Store(place) as store:
        _refresh(store, runs, card=card, fault=by == "fault")
        found = [run_stats(store, run, score, errors, ks, threshold) for run in runs]
        faults = [faults_of(store, stats) for stats in found] if by == "fault" else []
        groups = [groups_of(store, stats, by, ks) for stats in found] if by not in {None, "fault"} else []
        cards = [card_of(store, stats) for stats in found] if card else []
    if out is not None:
        _write(out, found, faults, groups)
        messages().print(f"{out}: written", markup=False)
    extras: list[tuple[str, Sequence[_Extra]]] = [("faults", faults), ("groups", groups), ("card", cards)]
    if as_json:
        _echo(found, extras)
        return
    for stats, of_faults, of_groups, of_card in zip_longest(found, faults, groups, cards):
        if of_faults is not None:
            _print_faults(stats, of_faults)
        elif of_groups is not None:
            _print_groups(stats, of_groups)
        elif of_card is not None:
            _print_lines(card_lines(of_card))
        else:
            _print(stats)


def _refresh(store: Store, runs: Sequence[str], *, card: bool, fault: bool) -> None:
    tell_troubles(store.refresh(None if card else runs))
    if fault:  # rules hold a trial against those that passed in any run; their troubles are not this run's
        store.refresh()


def _write(out: Path, found: Sequence[RunStats], faults: Sequence[Faults], groups: Sequence[Groups]) -> None:
    if faults:
        rows = [row for one, of in zip(found, faults, strict=True) for row in fault_rows(one, of)]
        write_table(out, rows, FAULT_COLUMNS)
        return
    write_table(out, [row for one, of in zip_longest(found, groups) for row in flat_rows(one, of)])


def _echo(found: Sequence[RunStats], extras: Sequence[tuple[str, Sequence[_Extra]]]) -> None:
    documents = [stats.to_dict() for stats in found]
    for name, parts in extras:
        for document, part in zip(documents, parts, strict=False):
            document[name] = part.to_dict()
    echo_json(documents if len(documents) > 1 else documents[0])


def _print_lines(lines: Iterable[str]) -> None:
    out = console()
    for line in lines:
        say(out, line)


def _print_groups(stats: RunStats, groups: Groups) -> None:
    _print_lines(head(stats))
    out = console()
    out.print()
    out.print(groups_table(groups))
    out.print()
    _print_lines(groups_notes(groups))


def _print_faults(stats: RunStats, faults: Faults) -> None:
    out = console()
    for line in head(stats):
        say(out, line)
    if stats.summary is None:
        for line in bounds_text(stats):
            say(out, line)
    out.print()
    out.print(faults_table(faults))
    out.print()
    for line in faults_lines(faults):
        say(out, line)


def _print(stats: RunStats) -> None:
    out = console()
    for line in head(stats):
        say(out, line)
    if stats.summary is None:
        for line in bounds_text(stats):
            say(out, line)
        return
    out.print()
    out.print(table(stats, stats.summary))
    out.print()
    for drawn in curve(stats.summary):
        out.print(drawn)
    out.print()
    for line in notes(stats):
        say(out, line)
