"""The faults of a run's failed trials, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table

from replay.faults import DISPUTED, UNTYPED, Faults, Labellers, Without
from replay.labels import UNLABELLED

from .stats_text import number

__all__ = ["faults_lines", "faults_table"]


def faults_table(faults: Faults) -> Table:
    """How many failed trials each fault has."""
    made = Table("fault", box=None, pad_edge=False, header_style="bold")
    for heading in ("failed trials", "share", "pass^1 without them"):
        made.add_column(heading, justify="right")
    for row in faults.rows:
        without = "" if row.pass_1_without is None else f"{row.pass_1_without:.3f}"
        made.add_row(row.fault, str(row.trials), f"{row.share:.0%}", without)
    return made


def faults_lines(faults: Faults) -> Iterator[str]:
    """What must be read with the table; how far the labellers agree."""
    if faults.pass_1 is not None:
        yield f"pass^1 is {faults.pass_1:.3f}"
    if faults.others and faults.pass_1 is not None:
        would = "undefined" if faults.pass_1_without_others is None else f"{faults.pass_1_without_others:.3f}"
        yield f"without the failed trials labelled as no fault of the agent ({faults.others}) it would be {would}:"
        yield "  conditional on these labels, and no substitute for the number above"
    if faults.others and faults.emptied:
        yield f"  without any trial then, and not in it: {', '.join(faults.emptied)}"
    counts = {row.fault: row.trials for row in faults.rows}
    for name, why in ((UNLABELLED, ""), (DISPUTED, " (its authors name different faults)")):
        if counts.get(name):
            yield f"{name}{why}: {counts[name]} of {number(faults.failed, 'failed trial')}, left out nowhere"
    if {*faults.by_type} - {UNTYPED}:
        yield f"the agent's by their labels: {_shares(faults.by_type)}"
    if faults.others:
        yield from _with_and_without(faults.pass_k)
    for pair in faults.labellers:
        yield from _agreed(pair)
    yield from _by_rules(faults)


def _by_rules(faults: Faults) -> Iterator[str]:
    rules = faults.rules
    if not rules.trials:
        return
    told = ", ".join(f"{n} {fault if fault != UNLABELLED else 'no rule fits'}" for fault, n in rules.by_fault.items())
    yield f"by rules (the first write that is not as it should be; --json has each trial): {told}"
    if rules.by_type:
        yield f"  the agent's: {_shares(rules.by_type)}"
    if any(fault not in {"agent", UNLABELLED} for fault in rules.by_fault):
        yield from _with_and_without(rules.pass_k)
    if rules.agreement is not None:
        kappa = "undefined" if rules.agreement.kappa is None else f"{rules.agreement.kappa:.2f}"
        same = f"{rules.agreement.observed:.0%} alike, Cohen's kappa {kappa}"
        yield f"  rules and labels on {number(rules.agreement.n, 'trial')}: {same}"


def _shares(by_type: Mapping[str, int]) -> str:
    whole = sum(by_type.values())
    return ", ".join(f"{n} {kind} ({n / whole:.0%})" for kind, n in by_type.items())


def _with_and_without(rows: tuple[Without, ...]) -> Iterator[str]:
    """pass^k, and what it would be."""
    for row in rows:
        would = "undefined: a task has fewer trials left" if row.without is None else f"{row.without:.3f}"
        yield f"  pass^{row.k} is {row.value:.3f}; without them {would}"


def _agreed(pair: Labellers) -> Iterator[str]:
    found = pair.agreement
    kappa = "undefined, as both gave one and the same label only" if found.kappa is None else f"{found.kappa:.2f}"
    told = number(found.n, "trial")
    yield f"{pair.first} and {pair.second} both labelled {told}: {found.observed:.0%} alike, Cohen's kappa {kappa}"
    for (one, other), times in found.table.items():
        if one != other:
            yield f"  {times} x {one} by {pair.first}, {other} by {pair.second}"
