"""``trialtape ls``: runs, or the trials of a run."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from cassettes.errors import BadInput
from replay.analysis.costs import costs_of_trials
from replay.home import Home
from replay.labelling.labels import FAULTS, UNLABELLED
from replay.prices import PriceList, prices_of
from replay.runs import load_run
from replay.spending import Cost
from replay.store import Store, Trouble

from .options import json_option
from .output import console, echo_json, messages

__all__ = ["command"]

_RUNS = """
SELECT r.name, r.mode, r.source, r.created, r.primary_score, COUNT(t.id) AS trials, COUNT(DISTINCT t.task) AS tasks,
       SUM(t.ending = 'completed') AS completed, SUM(t.ending = 'capped') AS capped,
       SUM(t.ending NOT IN ('completed', 'capped')) AS other
FROM runs r LEFT JOIN trials t ON t.run = r.name
GROUP BY r.name ORDER BY r.created, r.name
"""
_TRIALS = """
SELECT t.id, t.ending, t.cause, t.reason, t.steps, t.seconds, t.coverage, t.problem, s.passed, s.value
FROM trials t JOIN runs r ON r.name = t.run
LEFT JOIN scores s ON s.trial = t.id AND s.scorer || '@' || s.version = r.primary_score
WHERE t.run = ? ORDER BY t.task, t.idx
"""
_LABELS = """
SELECT trial, author, source, fault, user_error, type, step, note FROM labels WHERE run = ? ORDER BY at, author
"""


@click.command("ls")
@click.argument("run", required=False)
@click.option("--failed", is_flag=True, help="Only trials that the primary score failed or that did not complete.")
@click.option("--label", type=click.Choice([*FAULTS, UNLABELLED]), help="Of RUN, only trials with this fault.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str | None,
    failed: bool,  # noqa: FBT001  # click's way
    label: str | None,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """List runs, or the trials of RUN with their verdicts."""
    if label is not None and run is None:
        raise BadInput("--label goes with a RUN: its trials are labelled, not runs")
    place = Home.find(home)
    prices = PriceList() if run is None else prices_of(load_run(place, run).about)
    with Store(place) as store:
        troubles = store.refresh(None if run is None else [run])
        rows = store.rows(_RUNS) if run is None else store.rows(_TRIALS, [run])
        costs = {} if run is None else costs_of_trials(store, run, prices)[0]
        labels: dict[str, list[dict[str, Any]]] = {}
        for said in store.rows(_LABELS, [run]):
            labels.setdefault(said.pop("trial"), []).append(said)
    if failed:
        rows = [row for row in rows if row.get("passed") != 1 or row.get("ending") != "completed"]
    for row in rows:
        if "coverage" in row:
            row["coverage"] = json.loads(row["coverage"] or "{}")
            row["cost"] = costs.get(row["id"], Cost()).to_dict()
            row["labels"] = labels.get(row["id"], [])
    if label is not None:
        rows = [row for row in rows if label in (_faults(row["labels"]) or [UNLABELLED])]
    if as_json:
        echo_json(rows)
    elif rows:
        console().print(_runs_table(rows) if run is None else _trials_table(rows))
    else:
        messages().print(f"no {'trial' if run else 'run'} in {place.root}", markup=False)
    tell_troubles(troubles)


def _faults(labels: list[dict[str, Any]]) -> list[str]:
    return [said["fault"] for said in labels if said["fault"] is not None]


def tell_troubles(troubles: list[Trouble]) -> None:
    """Say on stderr which files could not be indexed."""
    for trouble in troubles:
        messages().print(f"trialtape: not indexed: {trouble.why}", markup=False)


def _runs_table(rows: list[dict[str, Any]]) -> Table:
    table = Table("run", "mode", "source", "tasks", "trials", "completed", "capped", "other", "score", box=None)
    for row in rows:
        numbers = [str(row[name] or 0) for name in ("tasks", "trials", "completed", "capped", "other")]
        table.add_row(row["name"], row["mode"] or "", row["source"] or "", *numbers, row["primary_score"] or "")
    return table


def _trials_table(rows: list[dict[str, Any]]) -> Table:
    table = Table("trial", "verdict", "ending", "steps", "seconds", "frozen calls", box=None)
    for row in rows:
        verdict = {1: Text("passed", "green"), 0: Text("failed", "red")}.get(row["passed"], Text("unscored", "yellow"))
        ending = row["ending"] + (f" ({row['cause']})" if row["cause"] else "")
        covered = ", ".join(f"{count} {name}" for name, count in row["coverage"].items())
        seconds = "" if row["seconds"] is None else f"{row['seconds']:.2f}"
        table.add_row(Text(row["id"]), verdict, ending, str(row["steps"] or 0), seconds, covered)
    return table
