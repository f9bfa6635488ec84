"""``trialtape score``: recorded trials, scored again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import click
from attrs import field, frozen
from rich.progress import track

from cassettes.errors import BadInput
from replay.home import Home
from replay.report.score_text import compared_lines, control_lines, score_lines
from replay.runs import load_run
from replay.scores.altered import CONTROLS, Control
from replay.scores.blindness import blind_to, keep_blindness
from replay.scores.controls import controlled
from replay.scores.recombining import named_rule, recombined
from replay.scores.rescoring import Known, rescored
from replay.scores.scorefile import KeptScore, append_scores, read_scores
from replay.scores.scorer_names import scorers_named
from replay.scores.side_by_side import SideBySide, side_by_side
from replay.scoring import OWN, Rule, Scorer
from replay.store import Store

from .options import json_option
from .output import echo_json, messages

__all__ = ["command"]

_BATCH = 32  # scores of so many trials are written at a time: what an interrupted call loses at most


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--with",
    "scorers",
    multiple=True,
    metavar="FILE.py:NAME",
    help=f"A scorer; or one of our own: {', '.join(OWN)}. May be given again. [default: task_checks]",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that score.")
@click.option("--resume", is_flag=True, help="Score only what this version of a scorer has not scored yet.")
@click.option(
    "--combine",
    "rules",
    multiple=True,
    metavar="NAME=RULE",
    help="A reward made of kept scores and their components, such as 'r=final_state*polite'; runs nothing.",
)
@click.option("--compare", is_flag=True, help="Lay the new scores beside the recorded one; tell where they differ.")
@click.option(
    "--control",
    type=click.Choice(CONTROLS),
    help="How many passes survive if the last write is dropped, or nothing is done; keeps no score.",
)
@click.option(
    "--score", metavar="NAME[@VERSION]", help="With --compare or --control: the recorded score (default: the primary)."
)
@click.option("--grades", type=click.IntRange(min=1), metavar="N", help="How many times judges grade each trial.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    runs: tuple[str, ...],
    scorers: tuple[str, ...],
    jobs: int,
    resume: bool,  # noqa: FBT001  # click's way
    rules: tuple[str, ...],
    compare: bool,  # noqa: FBT001  # click's way
    control: Control | None,
    score: str | None,
    grades: int | None,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Score the recorded trials of RUN... again, without calling any API; older scores are kept.

    A scorer is a function of a trial's view that returns a truth value, a number, a tt.Score or None (unscored). What
    it raises makes that trial unscored, and does not stop the rest. Only a judge calls its model, the first time.
    """
    place = Home.find(home)
    named = [named_rule(text) for text in rules]
    _check(control, score, jobs=jobs, given=bool(rules or resume or compare), compare=compare)
    for run in runs:
        load_run(place, run)
    quiet = as_json or not sys.stderr.isatty()
    if control is not None:
        looking = scorers_named(scorers, grades)
        _control(place, runs, control, looking, score, as_json=as_json, quiet=quiet)
        return
    names = scorers or (() if rules else ("task_checks",))
    chosen = scorers_named(names, grades)
    asked = _Asked(names, chosen, named, jobs, grades, resume, compare, score)
    told = [_score_run(place, run, asked, quiet=quiet) for run in runs]
    rows = [row for of_run in told for row in of_run]
    if as_json:
        echo_json([row.to_dict() for row in rows])
    else:
        for row in rows:
            _print(row)
    if any(row.problems for row in rows):
        sys.exit(1)


@frozen
class _Asked:
    """What is wanted of each run."""

    names: Sequence[str]
    scorers: Sequence[Scorer]
    rules: Sequence[tuple[str, Rule]]
    jobs: int
    grades: int | None
    resume: bool
    compare: bool
    score: str | None


@frozen
class _Row:
    """What came of one scorer on one run."""

    run: str
    score: str
    blind_to: tuple[str, ...] | None
    counts: Counter[str] = field(factory=Counter)
    problems: list[str] = field(factory=list)
    compared: SideBySide | None = None

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        names = ("passed", "failed", "unscored", "skipped", "kept")
        told: dict[str, Any] = {"run": self.run, "score": self.score, **{name: self.counts[name] for name in names}}
        told |= {"problems": self.problems, "blind_to": None if self.blind_to is None else list(self.blind_to)}
        return told if self.compared is None else {**told, "compared": self.compared.to_dict()}


def _check(control: Control | None, score: str | None, *, jobs: int, given: bool, compare: bool) -> None:
    if control is not None and (given or jobs > 1):
        raise BadInput("--control keeps no scores: -j, --resume, --combine and --compare do not go with it")
    if score is not None and control is None and not compare:
        raise BadInput("--score names the recorded score of --compare or --control; --with names what is computed")


def _score_run(home: Home, run: str, asked: _Asked, *, quiet: bool) -> list[_Row]:
    jobs = list(home.trials(run))
    if not jobs:
        raise BadInput(f"run {run!r} has no trial yet")
    before = list(read_scores(home, run)) if asked.resume or asked.compare else []
    known: Known = {(s.trial, f"{s.scorer}@{s.version}"): s.digest for s in before} if asked.resume else {}
    rows = {by.id: _Row(run, by.id, by.blind_to or None) for by in asked.scorers}
    made: list[KeptScore] = []
    if asked.scorers:
        keep_blindness(home, run, asked.scorers)
        waiting: list[KeptScore] = []
        done = rescored(home, jobs, asked.names, processes=asked.jobs, grades=asked.grades, known=known)
        shown = track(done, description=run, total=len(jobs), console=messages(), transient=True, disable=quiet)
        try:
            for number, one in enumerate(shown, 1):
                for row in rows.values():
                    row.counts["skipped"] += one.skipped is not None or one.problem is not None
                    row.counts["kept"] += row.score in one.kept
                    if one.problem is not None:
                        row.problems.append(one.problem)
                for kept in one.scores:
                    _count(rows[f"{kept.scorer}@{kept.version}"], kept)
                waiting += one.scores
                if number % _BATCH == 0:
                    append_scores(home, run, waiting)
                    made += waiting
                    waiting = []
        finally:  # interrupted too: what was scored is kept
            append_scores(home, run, waiting)
        made += waiting
    for name, rule in asked.rules:
        combined = recombined(home, run, name, rule)
        append_scores(home, run, combined)
        row = rows.setdefault(f"{name}@{rule.version}", _Row(run, f"{name}@{rule.version}", None))
        for kept in combined:
            _count(row, kept)
        made += combined
    return [_beside(home, row, before, made, asked) for row in rows.values()]


def _count(row: _Row, kept: KeptScore) -> None:
    row.counts[{True: "passed", False: "failed", None: "unscored"}[kept.passed]] += 1
    error = kept.error
    if error is not None:
        row.problems.append(f"{kept.trial}: {error}")


def _beside(home: Home, row: _Row, before: list[KeptScore], made: list[KeptScore], asked: _Asked) -> _Row:
    if not asked.compare:
        return row
    recorded = asked.score or load_run(home, row.run).primary or row.score
    if not any(recorded in {s.scorer, f"{s.scorer}@{s.version}"} for s in before):
        known = ", ".join(sorted({f"{s.scorer}@{s.version}" for s in before})) or "none"
        raise BadInput(f"run {row.run!r} has no score {recorded!r} to compare with (known: {known})")
    found = side_by_side(before, made, recorded, row.score)
    return _Row(row.run, row.score, row.blind_to, row.counts, row.problems, found)


def _control(
    home: Home,
    runs: Sequence[str],
    control: Control,
    scorers: Sequence[Scorer],
    score: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    def shown(trials: Iterable[Any]) -> Iterable[Any]:
        return track(list(trials), description=control, console=messages(), transient=True, disable=quiet)

    with Store(home) as store:
        store.refresh(runs)
        found = [controlled(store, run, control, scorers, score, shown) for run in runs]
    if as_json:
        echo_json([one.to_dict() for one in found])
    for one in found if not as_json else []:
        for line in control_lines(one, blind_to(home, one.run, one.score)):
            click.echo(line)
    for problem in [problem for one in found for problem in one.problems]:
        messages().print(problem, markup=False)
    if any(one.problems for one in found):
        sys.exit(1)


def _print(row: _Row) -> None:
    for line in score_lines(row.run, row.score, row.counts, row.blind_to):
        click.echo(line)
    for line in compared_lines(row.compared):
        click.echo(line)
    for problem in row.problems[:5]:
        messages().print(f"  {problem}", markup=False)
    if len(row.problems) > 5:
        messages().print(f"  and {len(row.problems) - 5} more (--json lists all)", markup=False)
