"""What stands around the trial in its home: verdict, scores, labels, prices, and trials to compare it with."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from cassettes.errors import TrialtapeError
from cassettes.model import Interaction
from replay.home import Home
from replay.labelling.labels import Label, current, read_labels
from replay.prices import PriceList, prices_of
from replay.references import references
from replay.runs import load_run
from replay.scores.scorefile import KeptScore, read_scores
from replay.spending import is_billed, priced, spent_by
from replay.view import View
from replay.writes import DivergentWrite, first_divergent_write, ignored_by

from .beside import Row, rows_beside
from .side import Side

__all__ = ["Comparison", "Surroundings", "compare", "home_of", "passing", "surroundings"]


@frozen
class Surroundings:
    """What a home knows of a trial.

    Attributes:
        home: None if the file lies in no home folder; then nothing is known.
        passed: the primary verdict; None if there is none.
        scores: the newest of each scorer and version, for this very cassette.
        labels: those that hold.
        troubles: what could not be read.
    """

    home: Home | None
    passed: bool | None = None
    scores: tuple[KeptScore, ...] = ()
    labels: tuple[Label, ...] = ()
    prices: PriceList = field(factory=PriceList)
    troubles: tuple[str, ...] = ()

    def cost_of(self, step: Interaction) -> str | None:
        """What one model call cost, in words; None if it is none."""
        if step.call.kind != "model":
            return None
        if not step.origin.live:
            return "nothing: answered from a recording"
        if not is_billed(step):
            return "nothing: refused, or reached nobody"
        return str(priced(spent_by([step]), self.prices)).removeprefix("cost ")

    def cost_of_all(self, view: View) -> str:
        """What the trial's live model calls cost, in words."""
        return priced(spent_by(view.cassette), self.prices).line()


def home_of(view: View) -> Home | None:
    """The home in which a trial's file lies: ``<home>/cassettes/<run>/<task>/<index>.cassette``."""
    above = view.path.resolve().parents
    return Home(above[3]) if len(above) > 3 and above[2].name == "cassettes" else None


def surroundings(view: View) -> Surroundings:
    """Read what the trial's home knows of it; what cannot be read is told, and stops nothing."""
    home = home_of(view)
    if home is None:
        return Surroundings(None, troubles=("the file lies in no home folder: no scores, labels or other trials",))
    run, mine = view.id.run, (str(view.id), view.cassette.digest)
    troubles: list[str] = []
    primary, prices, scores = None, PriceList(), dict[str, KeptScore]()
    try:
        if (home.run(run) / "run.json").exists():
            file = load_run(home, run)
            primary, prices = file.primary, prices_of(file.about)
        scores = {f"{s.scorer}@{s.version}": s for s in read_scores(home, run) if (s.trial, s.digest) == mine}
    except TrialtapeError as error:
        troubles.append(str(error))
    labels, damaged = read_labels(home, run)
    kept = scores.get(primary or "")
    return Surroundings(
        home,
        passed=None if kept is None else kept.passed,
        scores=tuple(scores.values()),
        labels=tuple(label for label in current(labels) if label.trial == mine[0] and label.digest in {None, mine[1]}),
        prices=prices,
        troubles=(*troubles, *damaged),
    )


@frozen
class Comparison:
    """A trial with another beside it.

    Attributes:
        write: where their writes part; None if these are identical.
        write_row: the row of that write.
        first_row: the first row in which the trials differ by more than a model's words.
    """

    other: Side
    rows: Sequence[Row]
    write: DivergentWrite | None
    write_row: int | None
    first_row: int | None

    def verdict(self) -> str:
        """What the comparison says, on one line."""
        if self.write is not None:
            return self.write.line()
        return f"the same writes as {self.other.name}"


def compare(side: Side, other: Side) -> Comparison:
    """Lay a trial beside another one.

    Raises:
        CassetteError: a step cannot be read.
    """
    ignore = (*ignored_by(side.view), *ignored_by(other.view))
    rows = rows_beside(side.glances(), other.glances(), ignore)
    write = first_divergent_write(_own(side.view), _own(other.view))
    return Comparison(
        other,
        rows,
        write,
        None if write is None else _row_of_write(write, side, other, rows),
        next((place for place, row in enumerate(rows) if row.differs), None),
    )


def passing(view: View, home: Home) -> list[View]:
    """The passing trials of the same task, the nearest first; the steps that were read to find them are let go.

    Raises:
        CassetteError: one of them cannot be read.
    """
    return [View(found.path, home) for found in references(home, _own(view))]


def _own(view: View) -> View:
    """The same trial, with a cache of its own: a view keeps every step that was read, with its whole history."""
    return View(view.path, home_of(view))


def _row_of_write(write: DivergentWrite, side: Side, other: Side, rows: Sequence[Row]) -> int | None:
    if write.left is not None:
        place = side.place_of(write.left.number)
        return next((at for at, row in enumerate(rows) if row.left == place), None)
    assert write.right is not None
    place = other.place_of(write.right.number)
    return next((at for at, row in enumerate(rows) if row.right == place), None)
