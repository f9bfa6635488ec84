"""Whose fault trials were by people, judges and rules, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from replay.labelling.fault_judging import JudgeAtWork
from replay.labelling.fault_review import UNANSWERED, By, FaultReview, SideBySide
from replay.labelling.labels import UNLABELLED
from replay.plural import number

from .faults_text import agreed_text, user_lines

__all__ = ["judge_lines", "review_lines", "review_table"]

_MOST_SHOWN = 20
_BY: tuple[By, ...] = ("people", "judge", "rules")


def judge_lines(work: JudgeAtWork) -> Iterator[str]:
    """What came of judging now."""
    asked = f"{number(work.live, 'answer')} asked for now" if work.live else "nothing asked: it was recorded before"
    yield f"judge {work.judge}: {number(work.trials, 'trial')}, {asked}"
    if work.live:
        yield f"  {work.cost.line()}"
    if work.unanswered:
        yield f"  unanswered (of another form than asked for, or no majority): {', '.join(work.unanswered)}"
    if work.alike is not None:
        yield f"  its own noise: {work.alike:.0%} of the pairs of its answers on one trial are alike"


def review_table(review: FaultReview) -> Table:
    """One line for each trial."""
    table = Table("trial", *_BY, "taken", "from", "", box=None, pad_edge=False, header_style="bold")
    for trial in review.trials:
        table.add_row(Text(trial.trial), *(trial.said.get(by, "") for by in _BY), *_taken(trial))
    return table


def _taken(trial: SideBySide) -> tuple[str, str, str]:
    if trial.passed:
        return "(passed)", "", ""
    return trial.fault or UNLABELLED, trial.by or "", "they differ" if trial.differ else ""


def review_lines(review: FaultReview) -> Iterator[str]:
    """What the trials come to; how far the sources agree; what the user decided."""
    failed = sum(not trial.passed for trial in review.trials)
    yield f"{number(failed, 'failed trial')} by {review.score}; people go before judges, judges before rules:"
    for fault, by in review.taken.items():
        sources = ", ".join(f"{n} by {source}" for source, n in by.items() if source != UNLABELLED)
        yield f"  {sum(by.values())} {fault}{f': {sources}' if sources else ''}"
    differ = [trial for trial in review.trials if trial.differ]
    for trial in differ[:_MOST_SHOWN]:
        yield from _difference(trial)
    if len(differ) > _MOST_SHOWN:
        yield f"and on {number(len(differ) - _MOST_SHOWN, 'more trial')} (--json has all)"
    for (one, other), found in review.agreement.items():
        yield f"{one} and {other} on {number(found.n, 'trial')}: {agreed_text(found)}"
    if review.users is not None:
        yield from user_lines(review.users)


def _difference(trial: SideBySide) -> Iterator[str]:
    yield f"they differ on {trial.trial}:"
    for told in trial.told:
        if told.fault not in {None, UNANSWERED}:
            kind = f" ({told.type})" if told.type else ""
            author = f"judge {told.author}" if told.by == "judge" else told.author
            yield f"  {told.fault}{kind} by {author}{f': {told.note}' if told.note else ''}"
