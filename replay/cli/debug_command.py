"""``trialtape debug``: step through a trial on the terminal, with another one beside it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from cassettes.errors import BadInput
from replay.debugger.beside import AloneRows, Row
from replay.debugger.glances import Glance
from replay.debugger.opened import compare, home_of
from replay.debugger.side import Side
from replay.home import Home
from replay.references import references
from replay.selection import find_trial
from replay.view import View

from .options import json_option
from .output import echo_json

__all__ = ["command"]

_INSTALL = "the debugger needs textual, which is not installed: pip install 'trialtape[debug]'"


@click.command("debug")
@click.argument("trial", metavar="TRIAL")
@click.option("--against", metavar="TRIAL", help="The trial beside it (default: the nearest passing one of its task).")
@click.option("--at", type=click.IntRange(min=0), metavar="N", help="The step to begin with (default: the first).")
@json_option
@click.pass_obj
def command(
    home: str | None,
    trial: str,
    against: str | None,
    at: int | None,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Step through TRIAL (run/task#index, a path, @last or @last-fail), with a passing trial beside it.

    The key ? lists all keys. With --json nothing is opened: the rows that the debugger would list are printed.
    """
    place = Home.find(home)
    view = find_trial(trial, place)
    other = None if against is None else find_trial(against, place)
    if at is not None and at not in view.cassette.step_numbers:
        raise BadInput(f"{view.id} has no step {at}; it has {len(view.cassette)} steps, counted from 0")
    if as_json:
        echo_json(_document(view, other))
        return
    app = _app()
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):  # it is drawn on stderr
        raise BadInput("the debugger needs a terminal; --json prints its rows, and `trialtape show` prints the trial")
    app.debug(view, against=other, at=at)


def _app() -> Any:
    """The module that needs textual, by name: without the extra, the command says how to install it."""
    try:
        return import_module("replay.debugger.app")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        raise BadInput(_INSTALL) from None


def _document(view: View, other: View | None) -> dict[str, Any]:
    side, home = Side(view), home_of(view)
    if other is None and home is not None:
        other = next(iter(references(home, view)), None)
    comparison = None if other is None else compare(side, Side(other))
    rows = AloneRows(len(side)) if comparison is None else comparison.rows
    write = None if comparison is None else comparison.write
    return {
        "trial": str(view.id),
        "reference": None if other is None else str(other.id),
        "first_divergent_write": None if write is None else write.to_dict(),
        "first_divergent_row": None if comparison is None else comparison.first_row,
        "rows": [_row(row, side, None if comparison is None else comparison.other) for row in rows],
    }


def _row(row: Row, side: Side, other: Side | None) -> dict[str, Any]:
    return {
        "sign": row.sign,
        "trial": None if row.left is None else _step(side.glance(row.left)),
        "reference": None if row.right is None or other is None else _step(other.glance(row.right)),
    }


def _step(glance: Glance) -> dict[str, Any]:
    return {
        "step": glance.number,
        "kind": glance.kind,
        "name": glance.name,
        "writes": glance.writes,
        "failed": glance.failed,
        "origin": glance.verdict,
        "asked": glance.asked,
        "came": glance.came,
    }
