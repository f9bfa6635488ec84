"""Numbers to the geometry of SVG drawings; the templates write it down. Lengths are in units of the drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from attrs import field, frozen

from replay.stats import SummaryRow, WorldRow

__all__ = [
    "Bar",
    "BarChart",
    "CurveChart",
    "KPoint",
    "Label",
    "across_points",
    "bar_chart",
    "bounds_points",
    "curve_chart",
    "fixed_points",
    "population_points",
]

WIDTH: Final = 380
HEIGHT: Final = 270
_LEFT: Final = 34
_RIGHT: Final = 12
_TOP: Final = 20
_BOTTOM: Final = 42
_INNER: Final = 20  # so that the first and the last label clear the axis and the edge
_FONT: Final = 11.5
_GLYPH: Final = 0.6  # width of a digit against the size of the font
_MOST_MARKS: Final = 20  # more values of k are drawn as lines alone
_MOST_LABELLED: Final = 12


@frozen
class Label:
    """A text: ``x`` is its start, middle or end by ``anchor``, ``y`` its base line."""

    x: float
    y: float
    text: str
    anchor: str = "middle"
    name: str = ""
    size: float = _FONT

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom, about."""
        width = len(self.text) * self.size * _GLYPH
        left = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - self.size * 0.8, left + width, self.y + self.size * 0.25

    def meets(self, other: Label) -> bool:
        """True if the two texts overlap, or touch each other on a line."""
        a, b = self.box, other.box
        return a[0] < b[2] + 2 and b[0] < a[2] + 2 and a[1] < b[3] and b[1] < a[3]


@frozen
class KPoint:
    """What is drawn at one k; all are proportions, None is not drawn."""

    k: int
    pass_hat_k: float | None
    pass_at_k: float | None
    low: float | None
    high: float | None


@frozen
class Mark:
    """A value of one k as drawn."""

    x: float
    y: float


@frozen
class CurveChart:
    """pass^k and pass@k over k.

    Attributes:
        band: corners of the area between the intervals' ends, as SVG has them.
        hat, at: corners of the two lines.
        hats, ats: the marks on them.
        labels: all texts; none overlaps another.
        desc: the drawing in words.
    """

    band: str
    hat: str
    at: str
    hats: tuple[Mark, ...]
    ats: tuple[Mark, ...]
    grid: tuple[float, ...]
    labels: tuple[Label, ...]
    desc: str
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    base: float = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def fixed_points(rows: Iterable[SummaryRow]) -> list[KPoint]:
    """With the intervals that hold if the suite is rerun."""
    return [KPoint(row.k, row.pass_hat_k, row.pass_at_k, row.fixed.low, row.fixed.high) for row in rows]


def population_points(rows: Iterable[SummaryRow]) -> list[KPoint]:
    """With the intervals that hold on other tasks like these."""
    return [KPoint(row.k, row.pass_hat_k, row.pass_at_k, row.population.low, row.population.high) for row in rows]


def bounds_points(bounds: Iterable[tuple[int, float, float]]) -> list[KPoint]:
    """Bounds alone: nothing between them is known."""
    return [KPoint(k, None, None, low, high) for k, low, high in bounds]


def across_points(rows: Iterable[WorldRow]) -> list[KPoint]:
    """pass^k of trials in different worlds."""
    return [KPoint(row.k, row.across, None, row.low, row.high) for row in rows if row.across is not None]


def curve_chart(points: Sequence[KPoint]) -> CurveChart:
    """Draw these values of k; there is at least one."""
    span = max(points[-1].k - points[0].k, 1)
    first = _LEFT + _INNER
    step = (WIDTH - _RIGHT - _INNER - first) / span
    middle = (WIDTH - _RIGHT + _LEFT) / 2

    def x(k: int) -> float:
        return round(first + (k - points[0].k) * step, 1) if len(points) > 1 else middle

    ended = [(x(p.k), _y(p.low), _y(p.high)) for p in points if p.low is not None and p.high is not None]
    hats = [Mark(x(p.k), _y(p.pass_hat_k)) for p in points if p.pass_hat_k is not None]
    ats = [Mark(x(p.k), _y(p.pass_at_k)) for p in points if p.pass_at_k is not None]
    if len(points) == 1:  # a band needs some width
        ended = [(place + shift, low, high) for place, low, high in ended for shift in (-12, 12)]
    upper = [(place, high) for place, _, high in ended]
    lower = [(place, low) for place, low, _ in reversed(ended)]
    few = len(points) <= _MOST_MARKS
    return CurveChart(
        band=_corners([*upper, *lower]),
        hat=_corners([(mark.x, mark.y) for mark in hats]),
        at=_corners([(mark.x, mark.y) for mark in ats]),
        hats=tuple(hats) if few else (),
        ats=tuple(ats) if few else (),
        grid=tuple(_y(tenth / 10) for tenth in range(0, 11, 2)),
        labels=tuple(_axis_labels(points, x) + _value_labels(points, x)),
        desc=_in_words(points),
    )


def _y(value: float) -> float:
    return round(HEIGHT - _BOTTOM - value * (HEIGHT - _BOTTOM - _TOP), 1)


def _corners(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _axis_labels(points: Sequence[KPoint], x: Callable[[int], float]) -> list[Label]:
    shares = [Label(_LEFT - 6, _y(tenth / 10) + 4, f"{tenth / 10:.1f}", "end", "axis") for tenth in range(0, 11, 2)]
    ks = [Label(x(point.k), HEIGHT - _BOTTOM + 17, str(point.k), name="axis") for point in _told(points)]
    title = Label((WIDTH - _RIGHT + _LEFT) / 2, HEIGHT - 6, "k, the number of trials in question", name="axis")
    return [*shares, *_apart(ks), title]


def _value_labels(points: Sequence[KPoint], x: Callable[[int], float]) -> list[Label]:
    """pass^k below its line and pass@k above its own, as far as there is room; the ends come first."""
    told = _told(points)
    ordered = [told[-1], told[0], *told[1:-1]] if len(told) > 1 else told
    return _apart([label for point in ordered for label in _labels_of(point, x(point.k))])


def _told(points: Sequence[KPoint]) -> list[KPoint]:
    """Those that have labels: all if they are few, else round ones, the first and the last."""
    if len(points) <= _MOST_LABELLED:
        return list(points)
    pitch = next(size for size in (5, 10, 20, 50, 100, 200, 500, 1 << 60) if len(points) <= 6 * size)
    return [p for p in points if p in {points[0], points[-1]} or p.k % pitch == 0]


def _apart(labels: Sequence[Label]) -> list[Label]:
    """The labels that do not meet an earlier one."""
    placed: list[Label] = []
    for label in labels:
        if not any(label.meets(other) for other in placed):
            placed.append(label)
    return placed


def _labels_of(point: KPoint, x: float) -> list[Label]:
    found = []
    if point.pass_hat_k is not None:
        y = _y(point.pass_hat_k)
        below = y + 18 if y + 18 < HEIGHT - _BOTTOM - 2 else y - 8
        found.append(Label(x, below, f"{point.pass_hat_k:.3f}", name="hat"))
    if point.pass_at_k is not None and point.k > 1:
        found.append(Label(x, _y(point.pass_at_k) - 8, f"{point.pass_at_k:.3f}", name="at"))
    if point.pass_hat_k is None:
        found += [
            Label(x, min(_y(end) + shift, HEIGHT - _BOTTOM - 4), f"{end:.3f}", name="hat")
            for end, shift in ((point.high, -7), (point.low, 16))
            if end is not None
        ]
    return found


def _in_words(points: Iterable[KPoint]) -> str:
    told = []
    for p in points:
        between = "" if p.low is None or p.high is None else f" between {p.low:.3f} and {p.high:.3f}"
        hat = "" if p.pass_hat_k is None else f" {p.pass_hat_k:.3f},"
        at = "" if p.pass_at_k is None else f"; pass@{p.k} {p.pass_at_k:.3f}"
        told.append(f"pass^{p.k}{hat}{between}{at}".replace(",;", ";").rstrip(","))
    return ". ".join(told) + "."


@frozen
class Bar:
    """A share with its interval, such as the chance to pass when going on from one step.

    Attributes:
        value, low, high: proportions, 0 to 1; None if the ends are not known.
        step: that it is about.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    step: int | None = None


@frozen
class DrawnBar:
    """A bar as drawn; its label stands above it."""

    y: float
    width: float
    whisker: tuple[float, float] | None


@frozen
class BarChart:
    """Bars one below the other."""

    bars: tuple[DrawnBar, ...]
    labels: tuple[Label, ...]
    desc: str
    height: int
    left: float = field(default=8)
    width: int = WIDTH


def bar_chart(bars: Sequence[Bar]) -> BarChart:
    """Draw these bars, in this order."""
    room = WIDTH - 8 - 56
    drawn, labels, told = [], [], []
    for place, bar in enumerate(bars):
        top = 38 * place + 4
        name = bar.label if len(bar.label) <= 52 else bar.label[:51] + "…"
        ends = None if bar.low is None or bar.high is None else (8 + bar.low * room, 8 + bar.high * room)
        drawn.append(DrawnBar(top + 16, round(bar.value * room, 1), ends))
        labels.append(Label(8, top + 11, name, "start", "axis"))
        labels.append(Label(WIDTH - 8, top + 28, f"{bar.value:.3f}", "end", "hat"))
        told.append(f"{bar.label}: {bar.value:.3f}")
    return BarChart(tuple(drawn), tuple(labels), "; ".join(told), 38 * len(bars) + 8)
