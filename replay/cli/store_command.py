"""``trialtape store``: looking after the recordings."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.progress import track

from cassettes.errors import BadInput, CassetteError
from cassettes.reader import Cassette
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.labelling.labels import carry_labels
from replay.retention import delete_expired, expired, seconds_of
from replay.rewriting import redact_file, secrets_in
from replay.runs import load_run
from replay.scores.scorefile import carry_scores

from .options import json_option
from .output import echo_json, messages

__all__ = ["command"]


@click.group("store")
def command() -> None:
    """Look after the recordings: are they whole, do they hold secrets, and which are old?"""


@command.command("check")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@json_option
@click.pass_obj
def check(home: str | None, runs: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Read every byte of the cassettes of RUN (default: of all runs), attempts too.

    Exit code 4 if one is damaged or has no end.
    """
    damaged: dict[str, str] = {}
    files = list(_files(Home.find(home), runs))
    for path in _shown(files, "check", quiet=as_json):
        try:
            Cassette(path).check()
        except CassetteError as error:
            damaged[str(path)] = str(error)
    if as_json:
        echo_json({"files": len(files), "damaged": damaged})
    else:
        for why in damaged.values():
            click.echo(why)
        click.echo(f"{len(files)} cassettes: {len(files) - len(damaged)} intact, {len(damaged)} damaged or incomplete")
    if damaged:
        sys.exit(4)


@command.command("scan")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@json_option
@click.pass_obj
def scan(home: str | None, runs: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Look for credentials in the cassettes of RUN (default: of all runs); exit code 1 if any are found.

    What is told is how many each rule found, never what they are.
    """
    if _secrets(home, runs, secrets_in, "found", as_json=as_json):
        sys.exit(1)


@command.command("redact")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@json_option
@click.pass_obj
def redact(home: str | None, runs: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Remove credentials from the cassettes of RUN (default: of all runs).

    A cassette that held any is replaced whole; its digest changes, so a frozen run that drew on it cannot be continued.
    """
    place = Home.find(home)

    def work(path: Path, redactor: Redactor) -> Counter[str]:
        return redact_file(path, redactor, lambda old, new: _carry(place, old, new))

    _secrets(home, runs, work, "replaced", as_json=as_json)


def _carry(home: Home, old: Cassette, new: Cassette) -> None:
    carry_scores(home, old, new)
    carry_labels(home, old, new)


@command.command("gc")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option("--keep", required=True, metavar="AGE", help="Delete what is older, such as 30d, 12h or 2w.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be deleted.")
@json_option
@click.pass_obj
def gc(
    home: str | None,
    runs: tuple[str, ...],
    keep: str,
    dry_run: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Delete the old sessions of RUN (default: of all runs). Trials are never deleted."""
    place = Home.find(home)
    seconds = seconds_of(keep)
    for run in runs:
        load_run(place, run)
    work = expired if dry_run else delete_expired
    gone = [str(path) for run in runs or tuple(place.runs()) for path in work(place, run, seconds)]
    if as_json:
        echo_json({"deleted": [] if dry_run else gone, "expired": gone})
        return
    for path in gone:
        click.echo(path)
    click.echo(f"{len(gone)} sessions older than {keep} {'would be' if dry_run else 'were'} deleted")


def _secrets(
    home: str | None,
    runs: tuple[str, ...],
    work: Callable[[Path, Redactor], Counter[str]],
    done: str,
    *,
    as_json: bool,
) -> int:
    """Do the work on each file and tell what it found; returns the number of secrets."""
    place = Home.find(home)
    redactor = Redactor(place.redaction_key(), secrets_of(os.environ))
    found: dict[str, dict[str, int]] = {}
    unread: dict[str, str] = {}
    files = list(_files(place, runs))
    for path in _shown(files, done, quiet=as_json):
        try:
            counts = work(path, redactor)
        except CassetteError as error:
            unread[str(path)] = str(error)
            continue
        if counts:
            found[str(path)] = dict(counts)
    total = sum(sum(counts.values()) for counts in found.values())
    if as_json:
        echo_json({"files": len(files), done: found, "unread": unread})
        return total
    for name, rules in found.items():
        click.echo(f"{name}: {', '.join(f'{number} {rule}' for rule, number in sorted(rules.items()))}")
    for why in unread.values():
        messages().print(f"trialtape: not read: {why}", markup=False)
    click.echo(f"{len(files)} cassettes: {total} secrets {done} in {len(found)}")
    return total


def _files(home: Home, runs: tuple[str, ...]) -> Iterator[Path]:
    for run in runs:
        load_run(home, run)
    for run in runs or tuple(home.runs()):
        yield from sorted(home.run(run).glob("*/*.cassette"))
    if not runs and not home.cassettes.is_dir():
        raise BadInput(f"there are no recordings in {home.root}")


def _shown(files: list[Path], what: str, *, quiet: bool) -> Iterator[Path]:
    hidden = quiet or not sys.stderr.isatty()
    yield from track(files, description=what, console=messages(), transient=True, disable=hidden)
