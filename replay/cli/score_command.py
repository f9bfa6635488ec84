"""``trialtape score``: recorded trials, scored again."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import click
from rich.progress import track

from cassettes.errors import BadInput, CassetteError
from replay.home import Home
from replay.loading import load_object
from replay.runs import load_run
from replay.scorefile import KeptScore, append_scores
from replay.scoring import Scorer, as_scorer, score_trial
from replay.scoring.checks import final_state, forbidden_tools, required_outputs, task_checks
from replay.view import View

from .output import echo_json, json_option, messages

__all__ = ["command"]

_OWN = {s.name: s for s in (task_checks, final_state, required_outputs, forbidden_tools)}


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--with",
    "scorers",
    multiple=True,
    metavar="FILE.py:NAME",
    help=f"A scorer; or one of our own: {', '.join(_OWN)}. May be given again. [default: task_checks]",
)
@json_option
@click.pass_obj
def command(home: str | None, runs: tuple[str, ...], scorers: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001
    """Score the recorded trials of RUN... again, without calling any API; older scores are kept.

    A scorer is a function of a trial's view that returns a truth value, a number, a tt.Score or None (unscored). What
    it raises makes that trial unscored, and does not stop the rest.
    """
    place = Home.find(home)
    chosen = [_scorer(text) for text in scorers or ("task_checks",)]
    told: list[dict[str, Any]] = []
    for run in runs:
        load_run(place, run)
        told += _score_run(place, run, chosen, quiet=as_json)
    if as_json:
        echo_json(told)
    else:
        for row in told:
            numbers = ", ".join(
                f"{row[name]} {name}" for name in ("passed", "failed", "unscored", "skipped") if row[name]
            )
            click.echo(f"{row['run']}  {row['score']}: {numbers}")
            for problem in row["problems"][:5]:
                messages().print(f"  {problem}", markup=False)
            if len(row["problems"]) > 5:
                messages().print(f"  and {len(row['problems']) - 5} more (--json lists all)", markup=False)
    if any(row["problems"] for row in told):
        sys.exit(1)


def _scorer(text: str) -> Scorer:
    if text in _OWN:
        return _OWN[text]
    if ".py" not in text:
        raise BadInput(f"{text!r} is no scorer; give FILE.py:NAME, or one of {', '.join(_OWN)}")
    return as_scorer(load_object(text, "scorer"))


def _score_run(home: Home, run: str, scorers: list[Scorer], *, quiet: bool) -> list[dict[str, Any]]:
    counts = {by.id: Counter[str]() for by in scorers}
    problems: dict[str, list[str]] = {by.id: [] for by in scorers}
    kept: list[KeptScore] = []
    trials = list(home.trials(run))
    if not trials:
        raise BadInput(f"run {run!r} has no trial yet")
    shown = track(trials, description=run, console=messages(), transient=True, disable=quiet or not sys.stderr.isatty())
    for identity, path in shown:
        try:
            view = View(path, home)
        except CassetteError as error:
            for by in scorers:
                counts[by.id]["skipped"] += 1
                problems[by.id].append(str(error))
            continue
        for by in scorers:
            if view.ending.status not in {"completed", "capped"}:
                counts[by.id]["skipped"] += 1
                continue
            score = score_trial(view, by)
            counts[by.id][{True: "passed", False: "failed", None: "unscored"}[score.passed]] += 1
            if "error" in score.evidence:
                problems[by.id].append(f"{identity}: {score.evidence['error']}")
            kept.append(KeptScore.of(identity, by.name, by.version, score, view.cassette.digest))
    append_scores(home, run, kept)
    return [
        {
            "run": run,
            "score": by.id,
            **{name: counts[by.id][name] for name in ("passed", "failed", "unscored", "skipped")},
            "problems": problems[by.id],
        }
        for by in scorers
    ]
