"""``trialtape compare``: two runs task by task, or two scorers trial by trial."""

from __future__ import annotations

from typing import Literal

import click

from cassettes.errors import BadInput
from replay.analysis.run_compare import RunComparison, compare_runs
from replay.analysis.score_compare import ScoreComparison, compare_scores
from replay.home import Home
from replay.report.compare_text import (
    compared_head,
    compared_notes,
    compared_table,
    moved_lines,
    scores_head,
    scores_notes,
)
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .options import errors_option, json_option, score_of_each_option
from .output import console, echo_json, say

__all__ = ["command", "print_comparison"]


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="A [B]")
@click.option("--common", is_flag=True, help="Pair the tasks that are the same; list the others with their effect.")
@click.option(
    "--changed",
    multiple=True,
    metavar="NAME[,NAME]",
    help="What was changed on purpose, such as prompt,git; any other decisive difference is refused.",
)
@click.option("--scores", nargs=2, metavar="SCORE SCORE", help="Compare two scores of the one run A instead.")
@score_of_each_option
@errors_option
@click.option("-k", "ks", type=click.IntRange(min=1), multiple=True, help="Only this k; may be given again.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    runs: tuple[str, ...],
    changed: tuple[str, ...],
    scores: tuple[str, str] | None,
    score: str | None,
    errors: Literal["exclude", "fail"],
    ks: tuple[int, ...],
    common: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell whether run B differs from run A in pass^k by more than luck, and which tasks moved.

    Runs are paired by task, and by world where both are frozen in the same ones. With --scores, two scorers are
    compared on the same trials of one run.
    """
    named = tuple(name.strip() for names in changed for name in names.split(",") if name.strip())
    _check(runs, scores, named, score=score, common=common)
    place = Home.find(home)
    for run in runs:
        load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh(runs))
        if scores is not None:
            of_scores = compare_scores(store, runs[0], scores, errors=errors, ks=ks)
            echo_json(of_scores.to_dict()) if as_json else _print_scores(of_scores)
            return
        found = compare_runs(store, runs[0], runs[1], score=score, errors=errors, ks=ks, changed=named, common=common)
    echo_json(found.to_dict()) if as_json else print_comparison(found)


def _check(
    runs: tuple[str, ...], scores: tuple[str, str] | None, changed: tuple[str, ...], *, score: str | None, common: bool
) -> None:
    if scores is None:
        if len(runs) != 2:
            raise BadInput(f"two runs are compared, and {len(runs)} given; --scores compares two scores of one run")
        return
    if len(runs) != 1:
        raise BadInput("--scores compares two scores of one run; name one run only")
    if changed or common or score:
        raise BadInput("--scores goes with none of --changed, --common and --score: both scores see the same trials")


def print_comparison(found: RunComparison) -> None:
    """What two runs differ in, and which tasks moved."""
    out = console()
    for line in compared_head(found):
        say(out, line)
    out.print()
    out.print(compared_table((found.a, found.b), found.paired, found.fixed))
    out.print()
    for line in moved_lines(found):
        say(out, line)
    for line in compared_notes(found):
        say(out, line)


def _print_scores(found: ScoreComparison) -> None:
    out = console()
    for line in scores_head(found):
        say(out, line)
    out.print()
    out.print(compared_table(found.scores, found.paired))
    out.print()
    for line in scores_notes(found):
        say(out, line)
