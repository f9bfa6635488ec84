"""``trialtape lab faults``: whose fault failed trials were, by people, judges and rules."""

from __future__ import annotations

import sys
from functools import partial
from hashlib import sha256
from typing import Literal

import click
from attrs import evolve
from rich.progress import Progress

from cassettes.errors import BadInput
from replay.analysis.run_stats import RunStats, run_stats
from replay.emulation import asking
from replay.home import Home
from replay.labelling.fault_judge import FaultJudge, fault_judge
from replay.labelling.fault_judging import JudgeAtWork, judge_faults
from replay.labelling.fault_prompt import PROMPT
from replay.labelling.fault_review import counted_trials, fault_review
from replay.orchestration.loading import load_object
from replay.prices import prices_of
from replay.report.fault_review_text import judge_lines, review_lines, review_table
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .options import errors_option, json_option, score_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_MOST_TOLD = 5


@click.command("faults")
@click.argument("run", metavar="RUN")
@click.option("--model", metavar="NAME", help="Ask this model about each failed trial, by the openai SDK.")
@click.option("--with", "named", metavar="FILE.py:NAME", help="Or ask a judge of your own, made by tt.fault_judge.")
@click.option("--grades", type=click.IntRange(min=1), metavar="N", help="How many times the judge is asked about each.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Trials judged at once.")
@click.option("--all", "passed_too", is_flag=True, help="Ask about passed trials too: did the user err in them?")
@score_option
@errors_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    model: str | None,
    named: str | None,
    grades: int | None,
    jobs: int,
    score: str | None,
    errors: Literal["exclude", "fail"],
    passed_too: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell whose fault the failed trials of RUN were by people, by judges and by rules, side by side.

    With a judge it is asked first; its answers become labels, and its calls are kept beside the trials, so that the
    same command asks nothing again. Without one, what was said before is shown.
    """
    place = Home.find(home)
    load_run(place, run)
    judge = _judge(model, named, grades)
    if judge is None and (grades is not None or passed_too):
        raise BadInput("--grades and --all go with a judge: --model NAME or --with FILE.py:NAME")
    with Store(place) as store:
        tell_troubles(store.refresh([run]))
        store.refresh()  # rules hold a trial against those that passed in any run; their troubles are not this run's
        stats = run_stats(store, run, score, errors)
        work = None
        if judge is not None:
            work = _judged(store, stats, judge, jobs, passed_too=passed_too, quiet=as_json)
            store.refresh([run])
        review = fault_review(store, stats)
    if as_json:
        echo_json({**review.to_dict(), "judge": None if work is None else work.to_dict()})
    else:
        out = console()
        for line in () if work is None else judge_lines(work):
            say(out, line)
        out.print(review_table(review))
        out.print()
        for line in review_lines(review):
            say(out, line)
    _end(work, review.problems)


def _judge(model: str | None, named: str | None, grades: int | None) -> FaultJudge | None:
    if model is not None and named is not None:
        raise BadInput("--model and --with name two judges; give one")
    if model is not None:
        version = sha256(PROMPT.encode()).hexdigest()[:8]
        return fault_judge(partial(asking(), model), name=model, version=version, grades=grades or 1)
    if named is None:
        return None
    found = load_object(named, "judge")
    if not isinstance(found, FaultJudge):
        raise BadInput(f"{named} names a {type(found).__name__}; a judge made by tt.fault_judge is needed")
    return found if grades is None else evolve(found, grades=grades)


def _judged(
    store: Store, stats: RunStats, judge: FaultJudge, jobs: int, *, passed_too: bool, quiet: bool
) -> JudgeAtWork:
    prices = prices_of(load_run(store.home, stats.run).about)
    trials = [(trial, passed) for trial, passed in counted_trials(store, stats).items() if passed_too or not passed]
    hidden = quiet or not sys.stderr.isatty()
    with Progress(console=messages(), transient=True, disable=hidden) as bar:
        task = bar.add_task(f"{stats.run}: {judge.id}", total=len(trials))
        return judge_faults(
            store, judge, trials, stats.score, jobs=jobs, prices=prices, progress=lambda: bar.advance(task)
        )


def _end(work: JudgeAtWork | None, problems: tuple[str, ...]) -> None:
    """Tell what went wrong, and end with the code that says so."""
    told = [] if work is None else [f"{trial} cannot be judged: {why}" for trial, why in work.problems.items()]
    for problem in (*told[:_MOST_TOLD], *problems):
        messages().print(f"trialtape: {problem}", markup=False)
    if len(told) > _MOST_TOLD:
        messages().print(f"trialtape: and {len(told) - _MOST_TOLD} more (--json has all)", markup=False)
    if told or problems:
        sys.exit(1)
    if work is not None and work.unanswered:
        sys.exit(3)
