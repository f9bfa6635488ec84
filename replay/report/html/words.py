"""What a report says in sentences: the finding, the head, what the numbers assume and cannot see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, Final

from attrs import frozen

from replay.analysis.run_settings import benchmark_of, caps_of
from replay.analysis.run_stats import RunStats
from replay.plural import number
from replay.report.score_text import blind_line
from replay.report.stats_text import head, notes
from replay.stats import WorldSummary

from .facts import RunFacts
from .shown import one_line, shown

__all__ = [
    "Fact",
    "assumptions",
    "blind_spots",
    "coverage_rows",
    "endings",
    "facts_told",
    "finding",
    "noise",
    "warnings",
]


_INDEPENDENT: Final = (
    "The trials of a task are independent attempts. An answer from a cache, or a state that was not reset, makes many "
    "trials of one."
)
_TARGETS: Final = (
    "“If you rerun this suite” takes these very tasks as given: only the trials are random. “On other tasks like "
    "these” takes the tasks as a sample of those that are meant; it is the one to quote when more than these is meant."
)
_WORLDS: Final = (
    "The outside world was answered from recordings of {}: the numbers hold given these recorded worlds, and trials "
    "that share a world are not independent."
)
_VERDICTS: Final = (
    "A verdict is what {} says, and inherits its blindness. A check of the final state passes an agent that changes "
    "the right thing without asking; another score of the same recordings may say otherwise."
)
_BOUNDARY: Final = (
    "Only what crossed a recorded boundary is here: what happened in other processes, over websockets, or in tools "
    "that nobody declared, is not."
)
_REFERENCE: Final = (
    "A trial that did not pass is shown beside one that did. That is one right way, not the only one, and where the "
    "writes part first is where to look first, no proof of the cause."
)
_LUCK: Final = "Two runs differ by luck, too. A difference smaller than the intervals is no finding."


@frozen
class Fact:
    """A heading, and what stands below it, on lines."""

    name: str
    lines: tuple[str, ...]


def finding(stats: RunStats) -> str:
    """The run in one sentence."""
    summary, counted = stats.summary, stats.counted
    if stats.shared is not None:
        return _finding_across(stats.shared)
    if summary is None:
        first = stats.bounds[0] if stats.bounds else None
        between = "" if first is None else f": pass^{first[0]} lies between {first[1]:.3f} and {first[2]:.3f}"
        return f"Only bounds can be told, as {counted.unanswered} of {counted.total} trials ended unanswered{between}."
    once, last = summary.rows[0], summary.rows[-1]
    tasks = number(summary.tasks, "task")
    verbs = ("passes", "fails") if summary.flipping == 1 else ("pass", "fail")
    flip = f"{summary.flipping} of {tasks} sometimes {verbs[0]} and sometimes {verbs[1]}"
    flips = flip if summary.flipping else f"each of {tasks} always ends the same way"
    if last.k == once.k:
        return (
            f"A trial passes {once.pass_hat_k:.1%} of the time; of k > 1 nothing is known, as some task has one trial."
        )
    return (
        f"A single trial passes {once.pass_hat_k:.1%} of the time, {last.k} trials of a task all pass "
        f"{last.pass_hat_k:.1%} of the time; {flips}."
    )


def _finding_across(shared: WorldSummary) -> str:
    told = [f"pass^{row.k} is {row.across:.1%}" for row in shared.rows if row.across is not None]
    ends = told if len(told) <= 2 else [told[0], told[-1]]
    return (
        f"Across recorded worlds {' and '.join(ends) or 'nothing is known'}; trials that share a world are not pooled."
    )


def noise(stats: RunStats) -> str | None:
    """How sure the last number of the finding is; None if only bounds are told."""
    if stats.summary is None:
        return None
    last = stats.summary.rows[-1]
    both = ((last.fixed, "if you rerun this suite"), (last.population, "on other tasks like these"))
    told = [
        f"{interval.low:.1%} to {interval.high:.1%} {heading}"
        for interval, heading in both
        if interval.low is not None and interval.high is not None
    ]
    return f"{stats.summary.level:.0%} intervals of pass^{last.k}: {', '.join(told)}." if told else None


def facts_told(facts: RunFacts) -> list[Fact]:
    """Run, models, time, suite, score, size and conventions."""
    stats, file = facts.stats, facts.file
    git = file.about.get("git")
    commit = f"commit {git['commit'][:12]}{', with changes' if git.get('changed') else ''}" if git else ""
    suite = file.about.get("suite") or file.about.get("file")
    told = [
        Fact("Models", tuple(_models(facts))),
        Fact("When", (_when(facts),)),
        Fact("Suite", (PurePath(shown(str(suite))).name, *([commit] if commit else [])) if suite else ("not known",)),
        Fact("Benchmark", tuple(_named(benchmark_of(file.config)))),
        Fact("Caps", tuple(_named(caps_of(file.config)))),
        Fact("Score", (shown(stats.score),)),
        Fact("Size", (_size(facts),)),
        Fact("Conventions", tuple(one_line(line, 400) for line in _conventions(facts))),
    ]
    return [fact for fact in told if fact.lines]


def _models(facts: RunFacts) -> Iterator[str]:
    actors: dict[str, list[str]] = {}
    for use in facts.models:
        actors.setdefault(use.actor, []).append(one_line(use.name, 80))
    if not actors:
        yield one_line(str(facts.file.config.get("agent_model") or "not known"), 80)
    for actor in sorted(actors, key=lambda name: (name != "agent", name)):
        yield f"{', '.join(actors[actor])} ({shown(actor)})"


def _named(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        parts = value if isinstance(value, dict) else {"": value}
        told = ", ".join(f"{key} {item}".strip() for key, item in parts.items() if item is not None)
        yield one_line(f"{name.replace('_', ' ')}: {told}", 120)


def _when(facts: RunFacts) -> str:
    began = sorted(trial.began for trial in facts.trials if trial.began)
    if not began:
        made = facts.file.about.get("created")
        return f"not known; in this form since {shown(str(made))[:10]}" if made else "not known"
    first, last = (datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M") for moment in (began[0], began[-1]))
    return f"{first} UTC" if first == last else f"{first} to {last[11:] if last[:10] == first[:10] else last} UTC"


def _size(facts: RunFacts) -> str:
    per_task = Counter(trial.task for trial in facts.trials).values()
    fewest, most = min(per_task), max(per_task)
    tasks = number(len(per_task), "task")
    if fewest == most:
        return f"{tasks} × {number(most, 'trial')}"
    return f"{tasks}, {fewest} to {most} trials each, {len(facts.trials)} in all"


def _conventions(facts: RunFacts) -> Iterator[str]:
    """The lines that `stats` prints below its first one."""
    stats = facts.stats
    counted = stats.counted
    yield f"{sum(counted.trials)} of {number(counted.total, 'trial')} counted"
    elsewhere = {stats.cost.line(), blind_line(stats.blind_to), *warnings(stats)}
    yield from (line.strip() for line in head(stats)[1:] if line.strip() not in elsewhere)
    if facts.attempts:
        yield f"{number(facts.attempts, 'attempt')} replaced and not counted"


def warnings(stats: RunStats) -> list[str]:
    """What takes the numbers their meaning: trials that show something of each other, answers that were made up."""
    return [line.strip() for line in head(stats)[1:] if line.strip().startswith(("NOT INDEPENDENT", "EMULATED"))]


def endings(facts: RunFacts) -> list[tuple[str, int]]:
    """Trials by ending, and by cause where there is one."""
    found = Counter(f"{t.ending} ({shown(t.cause)})" if t.cause else t.ending for t in facts.trials)
    return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))


def coverage_rows(stats: RunStats) -> list[tuple[str, str]]:
    """How the frozen calls of a run were answered."""
    covered = stats.coverage
    if covered is None:
        return []
    rows = [("frozen calls", str(covered.calls)), ("exact", f"{covered.exact} of {covered.calls}")]
    rows += [(name, str(count)) for name, count in covered.others.items()]
    rows.append(("trials answered whole", f"{covered.whole} of {covered.trials}"))
    rows.append(("of those that write", f"{covered.whole_with_write} of {covered.with_write}"))
    return rows


def assumptions(stats: RunStats) -> list[str]:
    """What the numbers rest on."""
    left = "are left out, by name" if stats.errors == "exclude" else "count as failed, too (--errors fail)"
    lines = [
        _INDEPENDENT,
        _TARGETS,
        f"Capped trials, and those in which the agent itself raised, count as failed. Trials without a verdict {left}.",
    ]
    if stats.worlds is not None:
        lines.append(_WORLDS.format(shown(stats.worlds)))
    return [*lines, *(_sentence(shown(line)) for line in notes(stats))]


def _sentence(line: str) -> str:
    return f"{line if line.startswith(('pass^', 'n ')) else line[0].upper() + line[1:]}."


def blind_spots(stats: RunStats) -> list[str]:
    """What no number here can know."""
    told = [] if stats.blind_to is None else [f"{shown(stats.score)} cannot see: {shown('; '.join(stats.blind_to))}."]
    return [*told, _VERDICTS.format(shown(stats.score)), _BOUNDARY, _REFERENCE, _LUCK]
