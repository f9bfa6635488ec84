"""Make a report: read the trials that go into it, compare them with those that passed, and render the page."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from attrs import evolve, frozen

from cassettes.errors import CassetteError
from replay.analysis.reliability import Errors
from replay.analysis.run_compare import RunComparison, compare_runs
from replay.analysis.run_settings import SETTINGS
from replay.labelling.labels import Label, current, read_labels
from replay.prices import PriceList, prices_of
from replay.references import references_in
from replay.runs import load_run
from replay.scores.scorefile import KeptScore, read_scores
from replay.spending import priced, spent_by
from replay.store import Store
from replay.view import View

from .beside import Beside, beside
from .blamed import blamed, forked
from .choice import Wanted, chosen
from .facts import RunFacts, TrialFacts, newest_scores, open_view
from .page import TrialRow, report_page, trial_page
from .shown import one_line
from .trial_page import ending_text, explanation, trial_data

__all__ = ["Report", "compared_for_page", "make_report", "make_trial_page"]


@frozen
class Report:
    """A report, ready to be written.

    Attributes:
        html: the document.
        listed: trials with a line of their own.
        opened: trials whose steps it holds.
        left_out: what it says of the others; None if there are none.
    """

    html: str
    listed: int
    opened: int
    left_out: str | None


def make_report(
    store: Store,
    facts: RunFacts,
    wanted: Wanted | None = None,
    against: RunComparison | None = None,
    advance: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005  # nobody looks
) -> Report:
    """The report of a run.

    Args:
        store: an index that is up to date with all runs: a trial is compared with those that passed in any.
        facts: of the run.
        wanted: which trials' steps it shall hold; None decides by size.
        against: the run compared with another.
        advance: called after each trial with how many are done, of how many.

    Raises:
        CassetteError: a file other than the cassette of a listed trial cannot be read.
    """
    choice = chosen(facts.trials, wanted)
    known = _Known(
        store=store,
        facts=facts,
        opened=choice.opened,
        numbers={trial.id: trial.number for trial in choice.listed if trial.number in choice.opened},
        scores=newest_scores(facts, store),
        labels=_labels(store, facts.stats.run),
        forks=forked(store.home),
    )
    rows, pages = [], {}
    for done, trial in enumerate(choice.listed, 1):
        row, page = _trial(known, trial)
        rows.append(row)
        if page is not None:
            pages[trial.number] = page
        advance(done, len(choice.listed))
    html = report_page(
        facts,
        rows=rows,
        left_out=choice.told,
        pages=pages,
        against=against,
    )
    return Report(html, len(rows), len(pages), choice.told)


def compared_for_page(
    store: Store, before: str, now: str, score: str | None = None, errors: Errors = "exclude"
) -> RunComparison:
    """Run ``now`` compared with run ``before``, for a page.

    Whatever differs between them is told, and nothing of it refused: who reads a page can ask nobody.

    Raises:
        BadInput: a run or score is not there, no task can be paired, or too many trials ended unanswered.
    """
    found = compare_runs(store, before, now, score=score, errors=errors, changed=tuple(SETTINGS), common=True)
    return evolve(found, not_changed=())


def make_trial_page(store: Store, view: View) -> str:
    """One trial as a page of its own; the index is up to date with all runs."""
    known = (store.home.run(view.id.run) / "run.json").exists()
    file = load_run(store.home, view.id.run) if known else None
    newest = {
        f"{score.scorer}@{score.version}": score
        for score in (read_scores(store.home, view.id.run) if known else ())
        if (score.trial, score.digest) == (str(view.id), view.cassette.digest)
    }
    primary = None if file is None else newest.get(file.primary or "")
    scores = sorted(newest.values(), key=lambda score: (score is not primary, score.scorer, score.version))
    prices = PriceList() if file is None else prices_of(file.about)
    data = trial_data(
        view,
        passed=scores[0].passed if scores else None,
        scores=scores,
        cost=priced(spent_by(step.interaction for step in view.steps), prices),
        comparison=_comparison(store, view) if known else beside(view, []),
        numbers={},
        labels=_of_this(_labels(store, view.id.run).get(str(view.id), ()) if known else (), view.cassette.digest),
        blame=blamed(store.home, view) if known else None,
    )
    return trial_page(data)


def _labels(store: Store, run: str) -> dict[str, list[Label]]:
    found: dict[str, list[Label]] = {}
    for label in current(read_labels(store.home, run)[0]):
        found.setdefault(label.trial, []).append(label)
    return found


def _beside(facts: RunFacts, comparison: Beside | None) -> str | None:
    if comparison is None or comparison.first is None:
        return None
    against = comparison.against
    return "what the task expects" if against is None else one_line(against.removeprefix(f"{facts.stats.run}/"), 80)


@frozen
class _Known:
    """What is read once for all trials of a report; ``numbers`` are those of the trials that can be opened, by id."""

    store: Store
    facts: RunFacts
    opened: Container[int]
    numbers: Mapping[str, int]
    scores: Mapping[str, list[KeptScore]]
    labels: Mapping[str, list[Label]]
    forks: Container[str]


def _trial(known: _Known, trial: TrialFacts) -> tuple[TrialRow, Mapping[str, Any] | None]:
    """The trial's line, and its page if it has one; of a file that cannot be read, what the index knows."""
    opens, passed = trial.number in known.opened, trial.sign.name == "passed"
    if passed and not opens:
        return TrialRow(trial), None
    view = None if trial.problem is not None and not trial.steps else open_view(known.store, trial.id)
    if view is None:
        unread = ending_text(trial.ending, trial.cause, trial.problem or trial.reason)
        return TrialRow(trial, (unread,)), None
    scores = known.scores.get(trial.id, [])
    try:
        comparison = None if passed else _comparison(known.store, view)
        page = None
        if opens:
            page = trial_data(
                view,
                passed=trial.passed,
                scores=scores,
                cost=known.facts.costs.get(trial.id),
                comparison=comparison,
                numbers=known.numbers,
                labels=_of_this(known.labels.get(trial.id, ()), trial.digest),
                blame=blamed(known.store.home, view) if trial.id in known.forks else None,
            )
        why = () if passed else tuple(explanation(view, scores, comparison))
        return TrialRow(trial, why, _beside(known.facts, comparison), opens), page
    except CassetteError as error:
        return TrialRow(trial, (one_line(str(error), 300),)), None


def _comparison(store: Store, view: View) -> Beside | None:
    try:
        passing = references_in(store, view)
    except CassetteError:  # of another trial, whose own line tells it
        passing = []
    return beside(view, passing)


def _of_this(labels: Iterable[Label], digest: str | None) -> list[Label]:
    """The labels of this cassette; one that took its place since has none of them."""
    return [label for label in labels if label.digest in {None, digest}]
