"""``trialtape lab judge``: a judge against people."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.progress import track

from cassettes.errors import BadInput
from replay.analysis.judging import JudgeReport, human_score, judge_report, read_verdicts
from replay.analysis.repeats import Repeats, repeats_in
from replay.home import Home
from replay.plural import number
from replay.runs import load_run
from replay.stats import JudgeQuality, Share
from replay.store import Store
from replay.view import View

from .ls_command import tell_troubles
from .options import FiniteRange, json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_MOST_SHOWN = 20


@click.command("judge")
@click.argument("run", metavar="RUN")
@click.option("--score", metavar="NAME[@VERSION]", help="The judge's score (default: the run's primary one).")
@click.option(
    "--labels", type=click.Path(path_type=Path), metavar="FILE", help="Human labels: trial and passed, as CSV or JSONL."
)
@click.option("--human", metavar="NAME[@VERSION]", help="Or a score of RUN that holds the human verdicts.")
@click.option(
    "--half-width",
    type=FiniteRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="How well the corrected pass rate is to be known: how many labels does that need?",
)
@click.option(
    "--repeats", is_flag=True, help="Instead: how many answers did identical requests at temperature 0 get in RUN?"
)
@click.option("--actor", metavar="NAME", help="With --repeats: only requests on whose behalf, such as judge.")
@click.option("-k", "ks", type=click.IntRange(min=1), multiple=True, help="Only this k; may be given again.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    score: str | None,
    labels: Path | None,
    human: str | None,
    half_width: float,
    actor: str | None,
    ks: tuple[int, ...],
    repeats: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell how far a judge agrees with people, and the pass rate and pass^k without the judge's errors.

    Label trials that were drawn at random: labels of interesting trials say little of the others.
    """
    if repeats:
        if labels is not None or human is not None:
            raise BadInput("--repeats looks at requests and answers only: leave --labels and --human out")
        _tell_repeats(Home.find(home), run, actor, as_json=as_json)
        return
    if (labels is None) == (human is None):
        raise BadInput("name the human verdicts: --labels FILE, or --human SCORE, and not both")
    place = Home.find(home)
    load_run(place, run)
    given = None if labels is None else read_verdicts(labels)
    with Store(place) as store:
        tell_troubles(store.refresh([run]))
        verdicts = human_score(store, run, human or "") if given is None else given
        found = judge_report(store, run, verdicts, name=human or str(labels), score=score, half_width=half_width, ks=ks)
    if as_json:
        echo_json(found.to_dict())
        return
    out = console()
    for line in _lines(found):
        say(out, line)


def _tell_repeats(home: Home, run: str, actor: str | None, *, as_json: bool) -> None:
    load_run(home, run)
    trials = list(home.trials(run))
    shown = track(
        trials, description=run, console=messages(), transient=True, disable=as_json or not sys.stderr.isatty()
    )
    found = repeats_in(((str(trial), View(path, home).cassette) for trial, path in shown), actor)
    if as_json:
        echo_json(found.to_dict())
        return
    out = console()
    for line in _repeat_lines(run, found):
        say(out, line)


def _repeat_lines(run: str, found: Repeats) -> Iterator[str]:
    yield f"{run}: {number(found.calls, 'live model call')} at temperature 0, {found.requests} different requests"
    if found.unknown:
        yield f"  not counted: {number(found.unknown, 'call')} without a temperature"
    if not found.repeated:
        yield "no request was made twice, so nothing is known of repeats"
        return
    made = number(len(found.repeated), "request")
    yield f"{made} made more than once, {found.differing} of them got different answers"
    for request in found.repeated[:_MOST_SHOWN]:
        if request.answers > 1:
            told = f"{request.answers} answers to {request.calls} calls of {request.model}"
            yield f"  {told}: {' and '.join(request.where)}"


def _kappa(quality: JudgeQuality) -> str:
    if quality.kappa is None:
        return "undefined: both gave one verdict only"
    kappa, low, high = quality.kappa
    return f"{kappa:.3f}   95% [{max(low, -1.0):.3f}, {min(high, 1.0):.3f}]"


def _lines(found: JudgeReport) -> Iterator[str]:
    yield f"{found.run}: {found.judge} against {found.human}, {found.labelled} of {found.judged} judged trials labelled"
    if found.unused:
        yield f"  not used: {number(found.unused, 'label')} of trials that {found.judge} did not judge"
    q = found.quality
    yield f"  both pass {q.tp}, both fail {q.tn}, the judge alone passes {q.fp}, people alone {q.fn}"
    yield ""
    for name, share in (("precision", q.precision), ("recall", q.recall), ("specificity", q.specificity)):
        yield f"{name:<12} {_share(share)}"
    yield f"{'F1':<12} {'undefined' if q.f1 is None else f'{q.f1:.3f}'}"
    yield f"{'kappa':<12} {_kappa(q)}"
    yield ""
    yield f"the judge passes {found.pass_rate:.3f} of the trials"
    if found.corrected is None:
        yield "no corrected pass rate: it needs at least 2 labelled and 2 other trials"
    else:
        rate = found.corrected
        told = f"people would pass {rate.estimate:.3f}   95% [{rate.low:.3f}, {rate.high:.3f}]"
        yield f"{told}   ({found.method}, tasks as clusters)"
        if found.labels_needed is None:
            yield f"no number of labels tells it to ±{found.half_width:g}: the tasks are too few, or differ too much"
        else:
            yield f"to know it to ±{found.half_width:g}, about {found.labels_needed} labels are needed"
    yield ""
    for row in found.rows:
        told = "not known: the labels tell too little of the judge's errors"
        c = row.corrected
        if c is not None and c.estimate is not None:
            told = f"{c.estimate:.3f}   95% [{c.low:.3f}, {c.high:.3f}]"
        yield f"pass^{row.k}   judged {row.judged:.3f}   corrected {told}"
    yield "corrected by the error rates above, each trial misjudged independently; the interval is of the rates alone"
    if found.disagreements:
        yield ""
        yield "they disagree on:"
        for trial, judged in found.disagreements[:_MOST_SHOWN]:
            yield f"  {trial}   {'passed' if judged else 'failed'} by the judge, not by people"
        if len(found.disagreements) > _MOST_SHOWN:
            yield f"  and {len(found.disagreements) - _MOST_SHOWN} more (--json has all)"


def _share(share: Share) -> str:
    if share.estimate is None or share.low is None or share.high is None:
        return "undefined"
    return f"{share.estimate:.3f}   95% [{share.low:.3f}, {share.high:.3f}]   of {share.of}"
