"""``python -m benchmarks [NAME...]``: measure, print the table, and write ``benchmarks/results.md``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

from . import (
    bootstrap,
    command,
    killed,
    model_call,
    opening,
    outside_share,
    replaying,
    rescoring,
    rivals,
    sessions,
    size,
    streaming,
    tool_call,
    tracking,
)
from .results import RESULTS, markdown, print_table
from .rows import Row, Skipped

GROUPS: dict[str, Callable[[], list[Row]]] = {
    "tool_call": tool_call.rows,
    "model_call": model_call.rows,
    "sessions": sessions.rows,
    "streaming": streaming.rows,
    "size": size.rows,
    "replaying": replaying.rows,
    "opening": opening.rows,
    "tracking": tracking.rows,
    "rescoring": rescoring.rows,
    "command": command.rows,
    "bootstrap": bootstrap.rows,
    "killed": killed.rows,
    "outside_share": outside_share.rows,
    "rivals": rivals.rows,
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(GROUPS)), metavar="NAME...")
@click.option("--list", "listing", is_flag=True, help="Tell the groups, and measure nothing.")
def main(names: tuple[str, ...], listing: bool) -> None:  # noqa: FBT001  # click's way
    """Measure the groups NAME... (all of them by default; only then results.md is written)."""
    if listing:
        for name, group in GROUPS.items():
            click.echo(f"{name:12} {(sys.modules[group.__module__].__doc__ or '').splitlines()[0]}")
        return
    found: list[Row] = []
    skipped: dict[str, str] = {}
    chosen = names or tuple(GROUPS)
    began = time.perf_counter()
    for number, name in enumerate(chosen, 1):
        click.echo(f"[{number}/{len(chosen)}] {name} ... ", err=True, nl=False)
        start = time.perf_counter()
        try:
            found += GROUPS[name]()
        except Skipped as reason:
            skipped[name] = str(reason)
        told = "skipped" if name in skipped else f"{time.perf_counter() - start:.1f} s"
        click.echo(told, err=True)
    print_table(found, skipped)
    if not names:
        RESULTS.write_text(markdown(found, skipped, time.perf_counter() - began), "utf-8")
        click.echo(f"written: {RESULTS}", err=True)


if __name__ == "__main__":
    main()
