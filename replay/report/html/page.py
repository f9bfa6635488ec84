"""A report as one HTML document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import jinja2
from attrs import frozen
from markupsafe import Markup

from replay.analysis.run_compare import RunComparison
from replay.report.compare_text import compared_head, compared_notes
from replay.report.stats_text import bounds_text
from replay.stats import SummaryRow

from .charts import (
    Bar,
    CurveChart,
    KPoint,
    across_points,
    bar_chart,
    bounds_points,
    curve_chart,
    fixed_points,
    population_points,
)
from .facts import RunFacts, TrialFacts
from .map import trial_map
from .pack import as_json, content_hash, packed
from .shown import one_line, shown
from .signs import SIGNS
from .words import Fact, assumptions, blind_spots, coverage_rows, endings, facts_told, finding, noise, warnings

__all__ = ["TrialRow", "report_page", "trial_page"]

MOST_KS: Final = 16  # of the table that is shown unasked


@frozen
class TrialRow:
    """A trial in the lists of the page.

    Attributes:
        why: of one that did not pass, what is known of it, on lines.
        beside: what it was compared with; None if with nothing.
        opens: True if the page holds its steps.
    """

    trial: TrialFacts
    why: tuple[str, ...] = ()
    beside: str | None = None
    opens: bool = False


@frozen
class Figure:
    """A drawing of the numbers for one of the questions; None where there is nothing to draw."""

    name: str
    heading: str
    told: str
    chart: CurveChart | None


def report_page(
    facts: RunFacts,
    *,
    rows: Sequence[TrialRow],
    left_out: str | None,
    pages: Mapping[int, Mapping[str, Any]],
    against: RunComparison | None,
) -> str:
    """The report of a run.

    Args:
        facts: of the run.
        rows: trials to list, by task and index.
        left_out: which trials are not listed or not opened, and how to have them; None if all are.
        pages: the trials whose steps are in the page, by number.
        against: the run compared with another, which is its ``a``.
    """
    stats = facts.stats
    linked = {row.trial.number for row in rows}
    drawn = trial_map(facts.trials, stats.counted, linked)
    groups, index = _grouped(facts.trials, pages)
    bundle = packed(groups)
    return _rendered(
        "report.html.j2",
        title=f"{shown(stats.run)}: reliability",
        run=shown(stats.run),
        finding=finding(stats),
        noise=noise(stats),
        warnings=[one_line(line, 600) for line in warnings(stats)],
        facts=facts_told(facts),
        stats=stats,
        summary=stats.summary,
        few=_few(facts),
        bounds={k: (low, high) for k, low, high in stats.bounds},
        bounds_text=bounds_text(stats) if stats.summary is None else [],
        figures=_figures(facts),
        map=drawn,
        rows=rows,
        missed=[row for row in rows if row.trial.sign.name != "passed"],
        passing=[row for row in rows if row.trial.sign.name == "passed"],
        left_out=left_out,
        endings=endings(facts),
        coverage=coverage_rows(stats),
        models=facts.models,
        cost=one_line(stats.cost.line(), 600),
        costs=_cost_rows(facts),
        against=against,
        against_head=[] if against is None else _lines(compared_head(against)),
        against_notes=[] if against is None else _lines(compared_notes(against)),
        assumptions=assumptions(stats),
        blind_spots=blind_spots(stats),
        bundle=bundle,
        index=as_json(index),
        numbers=as_json(stats.to_dict()),
    )


def trial_page(data: Mapping[str, Any]) -> str:
    """One trial as a page of its own; its transcript is readable without scripts, too.

    Args:
        data: of `trial_data`.
    """
    bundle = packed([[data]])
    return _rendered(
        "trial.html.j2",
        title=str(data["id"]),
        trial=data,
        bars=bar_chart([Bar(**bar) for bar in data["blame"]["bars"]]) if "blame" in data else None,
        bundle=bundle,
        index=as_json([[data["id"], 0, 0, data["sign"], 0]]),
    )


def _lines(lines: Iterable[str]) -> list[str]:
    return [one_line(line, 600) for line in lines]


def _few(facts: RunFacts) -> list[SummaryRow]:
    """The rows that are shown unasked: all if they are few."""
    rows = list(facts.stats.summary.rows) if facts.stats.summary else []
    if len(rows) <= MOST_KS:
        return rows
    pitch = next(size for size in (5, 10, 20, 50, 100, 1 << 60) if len(rows) <= size * (MOST_KS - 6))
    return [row for row in rows if row.k <= 5 or row.k % pitch == 0 or row is rows[-1]]


def _figures(facts: RunFacts) -> list[Figure]:
    summary, stats = facts.stats.summary, facts.stats
    if stats.shared is not None:
        told = f"k trials in k different worlds, as live trials are. {stats.shared.level:.0%} task bootstrap."
        return [_figure("across", "across recorded worlds", told, across_points(stats.shared.rows))]
    if summary is None:
        told = "Between all unanswered trials failed, and all passed."
        return [_figure("bounds", "what can be told: bounds", told, bounds_points(stats.bounds))]
    percent = f"{summary.level:.0%}"
    fixed = f"These very tasks again; only the trials are random. {percent} interval."
    population = f"The tasks are a sample, too. {percent} interval."
    return [
        _figure("fixed", "if you rerun this suite", fixed, fixed_points(summary.rows)),
        _figure("population", "on other tasks like these", population, population_points(summary.rows)),
    ]


def _figure(name: str, heading: str, told: str, points: Sequence[KPoint]) -> Figure:
    return Figure(name, heading, told, curve_chart(points) if points else None)


def _grouped(
    trials: Iterable[TrialFacts], pages: Mapping[int, Mapping[str, Any]]
) -> tuple[list[list[Mapping[str, Any]]], list[list[Any]]]:
    """Trials of a task are compressed together, as they say much the same; and where each of them is."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    places: dict[str, int] = {}
    index: list[list[Any]] = []
    for trial in trials:
        data = pages.get(trial.number)
        if data is None:
            continue
        group = groups.setdefault(trial.task, [])
        place = places.setdefault(trial.task, len(places))
        index.append([data["id"], place, len(group), trial.sign.name, trial.number])
        group.append(data)
    return list(groups.values()), index


def _cost_rows(facts: RunFacts) -> list[Fact]:
    """The dearest trials, if costs are known."""
    known = [(trial, cost.amount) for trial, cost in facts.costs.items() if cost.amount]
    dearest = sorted(known, key=lambda entry: (-entry[1], entry[0]))[:3]
    return [Fact(shown(trial), (str(facts.costs[trial]),)) for trial, _ in dearest]


# -- templates ---------------------------------------------------------------------------------------------------------


def _rendered(template: str, **context: Any) -> str:
    css, script = _file("page.css"), _file("page.js")
    policy = (
        f"default-src 'none'; style-src {content_hash(css)}; script-src {content_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    made: str = (
        _environment()
        .get_template(template)
        .render(
            css=Markup(css),  # noqa: S704  # the project's own file
            script=Markup(script),  # noqa: S704  # the same
            policy=policy,
            version=_version(),
            signs=SIGNS,
            **context,
        )
    )
    return made


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__ or "", "templates"),
        autoescape=True,  # by every name: the templates end in .j2
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., str]] = {
        "share": lambda value: f"{value:.3f}",
        "interval": lambda low, high: "undefined" if low is None or high is None else f"[{low:.3f}, {high:.3f}]",
        "signed_interval": lambda low, high: (
            "undefined" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"
        ),
        "signed": lambda value: f"{value:+.3f}",
        "tokens": lambda value: "not told" if value is None else f"{value:,}".replace(",", " "),
        "shown": lambda value: shown(str(value)),
        "line": one_line,
    }
    made.filters.update(filters)
    return made


def _version() -> str:
    try:
        return version("trialtape")
    except PackageNotFoundError:
        return ""
