"""``trialtape search``: the steps of all trials that hold some words."""

from __future__ import annotations

import sys

import click
from rich.text import Text

from cassettes.errors import BadInput
from cassettes.model import KINDS
from replay.home import Home
from replay.query import parsed
from replay.runs import load_run
from replay.search import Filters, Found, Hit, on_one_line, search
from replay.store import Store

from .ls_command import tell_troubles
from .options import json_option
from .output import console, echo_json, messages

__all__ = ["command"]

_NAME_WIDTH = 30  # longer names push what stands behind them aside


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option("--run", metavar="RUN", help="Only this run.")
@click.option("--task", metavar="TASK", help="Only this task's trials.")
@click.option("--tool", metavar="GLOB", help="Only calls of tools with such a name, as in 'cancel_*'.")
@click.option("--kind", type=click.Choice(KINDS), help="Only steps of this kind.")
@click.option("--errors", is_flag=True, help="Only steps whose outcome is an error.")
@click.option("--failed", is_flag=True, help="Only trials that the primary score failed, that were capped, or raised.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show so many steps at most.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    words: tuple[str, ...],
    run: str | None,
    task: str | None,
    tool: str | None,
    kind: str | None,
    errors: bool,  # noqa: FBT001  # click's way
    failed: bool,  # noqa: FBT001  # click's way
    limit: int,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Search the steps of all trials: names, arguments, answers, errors, and what was said.

    All words must stand in one step; a* is any word that begins with a, and "a b" is a phrase. Exit code 1 if no step
    matches.
    """
    text = " ".join(words)
    query = parsed(text)
    place = Home.find(home)
    if run is not None:
        load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh(None if run is None else [run]))
        _check_task(store, run, task)
        found = search(store, query, Filters(run, task, tool, kind, errors, failed), limit)
    if as_json:
        hits = [hit.to_dict() for hit in found.hits]
        echo_json({"query": text, "steps": found.total, "trials": found.trials, "hits": hits})
    else:
        _print(found)
    if not found.total:
        messages().print(f"no step of {place.root} matches {text!r}", markup=False)
        sys.exit(1)


def _check_task(store: Store, run: str | None, task: str | None) -> None:
    if task is None:
        return
    rows = store.rows("SELECT DISTINCT task FROM trials WHERE ? IS NULL OR run = ? ORDER BY task", [run, run])
    known = [row["task"] for row in rows]
    if task not in known:
        there = ", ".join(known[:8]) or "none"
        raise BadInput(f"no trial is of a task {task!r}; the tasks there: {there}{', ...' if len(known) > 8 else ''}")


def _print(found: Found) -> None:
    out = console()
    trial = max((len(hit.trial) for hit in found.hits), default=0)
    name = min(_NAME_WIDTH, max((len(hit.name) for hit in found.hits), default=0))
    for hit in found.hits:
        line = _line(hit, trial, name)
        if out.is_terminal:
            line.truncate(out.width, overflow="ellipsis")
        out.print(line, soft_wrap=True)
    if found.total > len(found.hits):
        told = f"the best {len(found.hits)} of {found.total} steps in {found.trials} trials; --limit shows more"
        messages().print(told, markup=False)


def _line(hit: Hit, trial: int, name: int) -> Text:
    """The trial, the step, what was called, and the part that matches; the first three at least so wide."""
    what = (f"{on_one_line(hit.name):<{name}}  ", "red" if hit.error else "cyan")
    line = Text.assemble((f"{on_one_line(hit.trial):<{trial}}", "bold"), f"  {hit.step:>3}  ", what)
    for text, match in hit.snippet:
        line.append(text, "bold yellow" if match else "")
    if hit.injected is not None:
        line.append(f"  [injected: {on_one_line(hit.injected)}]", "red")
    return line
