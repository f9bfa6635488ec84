"""The reliability of a run, drawn for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from replay.analysis.outcomes import tells_harm
from replay.analysis.reliability import NotCounted
from replay.analysis.run_coverage import Coverage
from replay.analysis.run_stats import RunStats
from replay.plural import number
from replay.stats import Summary, SummaryRow, WorldSummary

from .score_text import blind_line

__all__ = ["curve", "head", "not_counted_lines", "notes", "table"]

_WIDTH = 50


def head(stats: RunStats) -> list[str]:
    """What was counted, and by which convention."""
    counted = stats.counted
    told = f"{number(len(counted.tasks), 'task')}, {sum(counted.trials)} of {number(counted.total, 'trial')} counted"
    passed = "" if stats.threshold is None else f", passed from {stats.threshold:g} on"
    lines = [f"{stats.run}: {told}, score {stats.score}{passed}"]
    if counted.capped:
        right = f" ({stats.capped_right} of them with everything right)" if stats.capped_right else ""
        lines.append(f"  {number(counted.capped, 'capped trial')} counted as failed{right}")
    if counted.capped_by_verdict:
        told = number(counted.capped_by_verdict, "capped trial")
        lines.append(f"  {told} counted by the verdict: harm may be done before a cap")
    if counted.agent_errors:
        lines.append(f"  {number(counted.agent_errors, 'trial')} in which the agent itself raised counted as failed")
    lines += not_counted_lines(counted.not_counted, fails=not tells_harm(stats.score.partition("@")[0]))
    if counted.failed_by_convention:
        told = number(counted.failed_by_convention, "trial")
        lines.append(f"  {told} without a verdict counted as failed (--errors fail)")
    if stats.worlds is not None:
        lines.append(f"  given the recorded worlds of {stats.worlds}: not the same number as a live run's")
    if stats.coverage is not None:
        lines.append(f"  {_covered(stats.coverage)}")
        lines += _emulated(stats.coverage)
    lines.append(f"  {blind_line(stats.blind_to)}")
    lines.append(f"  {stats.cost.line()}")
    return lines + _leaks(stats)


def not_counted_lines(found: NotCounted, *, fails: bool = True) -> list[str]:
    """What is left out; ``fails``: the command can count it as failed."""
    lines = []
    if found.left_out:
        told = ", ".join(f"{trials} {reason}" for reason, trials in found.left_out.items())
        lines.append(f"  left out: {told}{'   (--errors fail counts them as failed)' if fails else ''}")
    if found.empty:
        lines.append(f"  tasks without any counted trial: {', '.join(found.empty)}")
    return lines


def _emulated(coverage: Coverage) -> list[str]:
    """What a model made up stands beside every number: nobody knows what the tools would have answered."""
    calls = coverage.verdicts.get("emulated", 0)
    if coverage.emulator is None or not calls:
        return []
    return [f"  EMULATED: {number(calls, 'answer')} to tool calls were made up, by {coverage.emulator}"]


def _leaks(stats: RunStats) -> list[str]:
    """That trials are not independent stands beside every number: pass^k is of independent trials."""
    broken = {leak.trial for leak in stats.leaks}
    lines = []
    if broken:
        kinds = Counter(leak.kind for leak in stats.leaks)
        told = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
        lines.append(
            f"  NOT INDEPENDENT: {number(len(broken), 'trial')} show something of another ({told}): `trialtape lab"
        )
        lines[-1] += f" independence {stats.run}` tells what, and these numbers are not pass^k of independent trials"
    if stats.unchecked:
        lines.append(f"  {number(stats.unchecked, 'trial')} came or changed since independence was checked")
    return lines


def table(stats: RunStats, summary: Summary) -> Table:
    """pass^k and pass@k for all k, with both intervals and the bootstrap."""
    percent = f"{summary.level:.0%}"
    made = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left")
    for heading in ("k", "pass^k", f"if you rerun this suite\n{percent}", f"on other tasks like these\n{percent}"):
        made.add_column(heading, justify="right")
    made.add_column(f"task bootstrap\nB={summary.resamples}, seed {summary.seed}", justify="right")
    made.add_column("pass@k", justify="right")
    bounds = {k: _interval(low, high) for k, low, high in stats.bounds}
    if bounds:
        made.add_column("if unanswered\nfail / pass", justify="right")
    for row in summary.rows:
        made.add_row(
            str(row.k),
            f"{row.pass_hat_k:.3f}",
            _interval(row.fixed.low, row.fixed.high),
            _interval(row.population.low, row.population.high),
            _interval(*(row.bootstrap or (None, None))),
            f"{row.pass_at_k:.3f}",
            *([bounds.get(row.k, "")] if bounds else []),
        )
    return made


def curve(summary: Summary) -> Iterator[Text]:
    """pass^k falling and pass@k rising over k, with the intervals of pass^k."""
    yield Text(f"      0{'pass^k ●  pass@k ○':^{_WIDTH - 2}}1")
    for row in summary.rows:
        yield Text(f"{row.k:>4}  ") + _bar(row)
    yield Text("      ━ if you rerun this suite   ─ on other tasks like these", "dim")


def notes(stats: RunStats) -> list[str]:
    """What must be read with the numbers."""
    summary = stats.summary
    if summary is None:
        return []
    lines = [
        f"tasks: {summary.always} always pass, {summary.never} never, {summary.flipping} flip"
        + ("" if summary.icc is None else f"; ICC {summary.icc:.2f}"),
    ]
    last = summary.rows[-1]
    if last.k > 1:
        lines.append(
            f"pass^{last.k} is {last.pass_hat_k:.3f}; if failures were spread evenly over the tasks it would be "
            f"(pass^1)^{last.k} = {last.independent_power:.3f}"
        )
    return [*lines, *summary.notes, *reward_lines(stats)]


def reward_lines(stats: RunStats) -> list[str]:
    """The mean of values that are not only 0 and 1."""
    reward = stats.reward
    if reward is None:
        return []
    ends = _interval(reward.low, reward.high)
    told = number(reward.trials, "completed trial")
    lines = [f"values go from {reward.least:g} to {reward.most:g}, mean {reward.mean:.3f} over {told}"]
    lines.append(f"the mean on other tasks like these, tasks as clusters: 95% {ends}")
    if stats.threshold is None:
        lines.append("pass^k counts what the scorer passed; --threshold X counts values from X on")
    return lines


def shared_lines(shared: WorldSummary) -> list[str]:
    """pass^k of trials that share worlds, one line for each k, with what must be read with it."""
    lines = [
        f"trials share worlds ({_range(shared.worlds, 'world')} of a task, {_range(shared.trials, 'trial')} in each):"
    ]
    for row in shared.rows:
        across = "needs more worlds" if row.across is None else f"{row.across:.3f} {_interval(row.low, row.high)}"
        within = "" if row.within is None else f"; within one world {row.within:.3f}"
        lines.append(f"  pass^{row.k} across worlds {across}{within}")
    return [
        *lines,
        "  across: k trials in k different worlds, as live trials are; within: given one world, so never to be taken",
        f"  for the former. Intervals: {shared.level:.0%} task bootstrap (B={shared.resamples}, seed {shared.seed}).",
    ]


def _range(ends: tuple[int, int], noun: str) -> str:
    low, high = ends
    return number(low, noun) if low == high else f"{low} to {number(high, noun)}"


def bounds_text(stats: RunStats) -> list[str]:
    """What is told where there is no table: of shared worlds their numbers, else bounds.

    Bounds are pass^k if all unanswered trials had failed, and if all had passed.
    """
    if stats.shared is not None:
        return [*shared_lines(stats.shared), *(_bounds(stats) if stats.bounds else [])]
    return _bounds(stats)


def _bounds(stats: RunStats) -> list[str]:
    lines = [
        f"{stats.counted.unanswered} of {number(stats.counted.total, 'trial')} ended unanswered, and not at random:"
    ]
    lines += [
        f"  pass^{k} lies between {low:.3f} (all failed) and {high:.3f} (all passed)" for k, low, high in stats.bounds
    ]
    return lines


def _interval(low: float | None, high: float | None) -> str:
    return "undefined" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _bar(row: SummaryRow) -> Text:
    cells = [" "] * (_WIDTH + 1)
    styles = ["dim"] * (_WIDTH + 1)
    for interval, sign, style in ((row.population, "─", "cyan"), (row.fixed, "━", "blue")):
        if interval.low is None or interval.high is None:
            continue
        for place in range(_place(interval.low), _place(interval.high) + 1):
            cells[place], styles[place] = sign, style
    for value, sign, style in ((row.pass_at_k, "○", "green"), (row.pass_hat_k, "●", "bold")):
        cells[_place(value)], styles[_place(value)] = sign, style
    drawn = Text()
    for cell, style in zip(cells, styles, strict=True):
        drawn.append(cell, style)
    return drawn


def _place(value: float) -> int:
    return round(value * _WIDTH)


def _covered(coverage: Coverage) -> str:
    others = "".join(f", {n} {name}" for name, n in coverage.others.items())
    return (
        f"frozen calls: {coverage.exact} of {coverage.calls} exact{others}; answered whole: "
        f"{coverage.whole} of {coverage.trials} trials, {coverage.whole_with_write} of {coverage.with_write} that write"
    )
