"""A judge of faults at work on a run: each trial judged, and what it said appended to the run's labels."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from attrs import asdict, evolve, field, frozen

from cassettes.errors import CassetteError
from cassettes.model import TrialId
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.prices import PriceList
from replay.spending import Cost, priced
from replay.store import Store
from replay.view import View

from .attribution import Attribution, attributed
from .fault_judge import FaultJudge, Judged
from .fault_prompt import Verdict
from .labels import Label, append_label, last_lines, read_labels

__all__ = ["JudgeAtWork", "judge_faults"]

_EVIDENCE = "SELECT evidence FROM scores WHERE trial = ? AND scorer || '@' || version = ?"


@frozen
class JudgeAtWork:
    """What came of judging some trials.

    Attributes:
        judge: ``name@version``.
        trials: judged now; ``unanswered`` are those without a verdict.
        live: answers that were asked for now, at this ``cost``; the others were recorded before.
        alike: of the pairs of answers on one trial, the share that agree, as a mean over trials: the judge's own
            noise; None with one answer each.
        problems: by trial, why it could not be judged.
    """

    judge: str
    trials: int
    unanswered: tuple[str, ...]
    live: int
    cost: Cost
    alike: float | None
    problems: Mapping[str, str] = field(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {**asdict(self), "cost": self.cost.to_dict()}


def judge_faults(
    store: Store,
    judge: FaultJudge,
    trials: Iterable[tuple[str, bool]],
    score: str,
    *,
    jobs: int = 1,
    prices: PriceList | None = None,
    progress: Callable[[], None] = lambda: None,
) -> JudgeAtWork:
    """Judge trials, and keep what is said as the judge's labels, each as soon as it is known.

    Args:
        store: an index that is up to date.
        judge: who judges.
        trials: of one run, with whether each passed.
        score: by which: ``name@version``.
        jobs: how many trials are judged at the same time, in threads.
        prices: of the judge's model.
        progress: called after each trial.
    """
    redactor = Redactor(store.home.redaction_key(), secrets_of(os.environ))
    held: dict[str, dict[str, Label]] = {}
    told: dict[str, Judged] = {}
    problems: dict[str, str] = {}
    for name, view, judged in _judged(store, judge, trials, score, jobs):
        if view is None or isinstance(judged, Exception):
            problems[name] = f"{type(judged).__name__}: {judged}"
        else:
            told[name] = judged
            run = view.id.run
            if run not in held:
                held[run] = _lines_of(store.home, run, judge.id)
            _keep(store.home, _label(view, judge, judged, redactor), held[run].get(name))
        progress()
    alike = [judged.alike for judged in told.values() if judged.alike is not None]
    return JudgeAtWork(
        judge=judge.id,
        trials=len(told),
        unanswered=tuple(sorted(name for name, judged in told.items() if judged.verdict is None)),
        live=sum(judged.live for judged in told.values()),
        cost=priced((part for judged in told.values() for part in judged.spent), prices or PriceList()),
        alike=sum(alike) / len(alike) if alike else None,
        problems=dict(sorted(problems.items())),
    )


def _judged(
    store: Store, judge: FaultJudge, trials: Iterable[tuple[str, bool]], score: str, jobs: int
) -> Iterator[tuple[str, View | None, Judged | Exception]]:
    """Each trial with what is said of it, or what went wrong: that costs this trial only."""
    left = iter(trials)
    with ThreadPoolExecutor(jobs, thread_name_prefix="trialtape-judge") as pool:
        running: dict[Future[Judged], tuple[str, View]] = {}
        while True:
            for name, passed in islice(left, jobs - len(running)):
                try:
                    view = View(store.home.cassette(TrialId.parse(name)), store.home)
                    known = _known(store, view, score, passed=passed)
                except CassetteError as error:
                    yield name, None, error
                else:
                    running[pool.submit(judge, view, known)] = name, view
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                name, view = running.pop(done)
                failed = done.exception()
                yield name, view, failed if isinstance(failed, Exception) else done.result()


def _known(store: Store, view: View, score: str, *, passed: bool) -> dict[str, Any]:
    rows = store.rows(_EVIDENCE, [str(view.id), score])
    try:
        rules = None if passed else _ruled(attributed(store, view))
    except CassetteError:  # of a trial that it would be held against
        rules = None
    evidence = json.loads(rows[0]["evidence"] or "{}") if rows else {}
    return {"passed": passed, "score": score, "evidence": evidence, "rules": rules}


def _ruled(found: Attribution) -> str | None:
    if found.fault is None:
        return None
    kind = f" ({found.type})" if found.type else ""
    return f"{found.fault}{kind}: {found.because}"


def _label(view: View, judge: FaultJudge, judged: Judged, redactor: Redactor) -> Label:
    verdict = judged.verdict
    said = Label(
        trial=str(view.id),
        author=judge.id,
        fault=None if verdict is None else verdict.fault,
        source="judge",
        digest=view.cassette.digest,
    )
    if verdict is None:
        return evolve(said, unanswered=redactor.text("\n---\n".join(judged.said), Counter()))
    return evolve(
        said,
        user_error=verdict.user_error,
        type=verdict.type,
        step=verdict.step,
        note=redactor.text(verdict.because + _how_many(verdict, judged.answers), Counter()),
    )


def _how_many(verdict: Verdict, answers: Sequence[Verdict | None]) -> str:
    same = sum(one is not None and one.key == verdict.key for one in answers)
    return f" ({same} of {len(answers)} answers)" if len(answers) > 1 else ""


def _lines_of(home: Home, run: str, author: str) -> dict[str, Label]:
    return {label.trial: label for label in last_lines(read_labels(home, run)[0]) if label.author == author}


def _keep(home: Home, label: Label, before: Label | None) -> None:
    if before is None or evolve(before, at=label.at) != label:
        append_label(home, label)
