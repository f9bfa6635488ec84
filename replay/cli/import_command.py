"""``trialtape import``: recordings of other tools as cassettes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from attrs import asdict
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cassettes.model import TrialId
from replay.home import Home
from replay.importers.taubench import Results, read_results
from replay.importers.taubench_import import Imported, import_results
from replay.importers.vcr import import_vcr

from .output import echo_json, json_option, messages

__all__ = ["command"]


@click.group("import")
def command() -> None:
    """Turn recordings of other tools into cassettes."""


@command.command("taubench")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--run", "name", required=True, metavar="NAME", help="The run's name; the same file and name go on.")
@json_option
@click.pass_obj
def taubench(home: str | None, file: Path, name: str, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Import a results file of tau-bench: one cassette per trial, its reward as the run's primary score.

    Records that are broken or ambiguous are told one by one; those that cannot be imported make the exit code 1.
    """
    results = read_results(file)
    imported = Imported(name)
    if results.trials:
        with _bar(len(results.trials), quiet=as_json) as advance:
            imported = import_results(Home.find(home), name, file, results, advance)
    if as_json:
        echo_json(_document(imported, results))
    _tell(imported, results)
    if any(not remark.imported for remark in results.remarks):
        sys.exit(1)


@command.command("vcr")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--run", "name", default="vcr", show_default=True, metavar="NAME", help="The run's name.")
@click.option("--task", metavar="NAME", help="The task's id (default: the file's name without its ending).")
@json_option
@click.pass_obj
def vcr(home: str | None, file: Path, name: str, task: str | None, as_json: bool) -> None:  # noqa: FBT001  # click's
    """Import a cassette of vcrpy: its exchanges as one trial."""
    trial = TrialId(name, task or file.stem, 0)
    done, interactions = import_vcr(Home.find(home), trial, file)
    models = sum(interaction.call.kind == "model" for interaction in interactions)
    if as_json:
        echo_json({"trial": str(trial), "done": done, "interactions": len(interactions), "model": models})
    say = messages()
    if done == "kept":
        say.print(f"{trial}: already imported", markup=False)
        return
    say.print(f"{trial}: {len(interactions)} exchanges, {models} of them model calls", markup=False)
    say.print(f"  next: trialtape show {shlex.quote(str(trial))}", markup=False)


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr, if that is a terminal."""
    progress = Progress(
        TextColumn("importing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=messages(),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )
    with progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)


def _document(imported: Imported, results: Results) -> dict[str, Any]:
    return {
        "run": imported.run,
        "trials": imported.trials,
        **{done: imported.done[done] for done in ("written", "replaced", "kept")},
        "domain": results.domain,
        "agent_model": results.model,
        "endings": [
            {"ending": ending, "reason": reason, "trials": count}
            for (ending, reason), count in imported.endings.most_common()
        ],
        "verdicts": dict(imported.verdicts),
        "remarks": [asdict(remark) for remark in results.remarks],
    }


def _tell(imported: Imported, results: Results) -> None:
    say = messages()
    for remark in results.remarks:
        say.print(str(remark), markup=False, soft_wrap=True)
    left_out = sum(not remark.imported for remark in results.remarks)
    if not imported.trials:
        say.print(f"trialtape: nothing imported: {left_out} records, none of them usable", markup=False)
        return
    before = f", {imported.done['kept']} of them already imported" if imported.done["kept"] else ""
    if not imported.changed:
        before = ", already imported: nothing was changed"
    if imported.done["replaced"]:
        before += f", {imported.done['replaced']} incomplete ones set aside and written again"
    say.print(f"{imported.run}: {imported.trials} trials{before}", markup=False)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in imported.verdicts.most_common())
    endings = ", ".join(
        f"{count} {ending}{f' ({_short(reason)})' if reason else ''}"
        for (ending, reason), count in imported.endings.most_common(6)
    )
    say.print(f"  {verdicts}; {endings}", markup=False)
    if left_out:
        say.print(f"  {left_out} records were not imported, see above", markup=False)
    say.print(f"  next: trialtape stats {shlex.quote(imported.run)}", markup=False)


def _short(reason: str) -> str:
    line = (reason.splitlines() or [""])[0]
    return line if len(line) <= 60 else line[:59] + "…"
