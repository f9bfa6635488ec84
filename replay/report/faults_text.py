"""The faults of a run's failed trials, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rich.table import Table

from replay.analysis.failed import Without
from replay.labelling.agreement import Agreement
from replay.labelling.faults import DISPUTED, UNTYPED, Faults, Labellers
from replay.labelling.labels import UNLABELLED
from replay.labelling.user_errors import UserErrors
from replay.plural import number
from replay.stats import Share

__all__ = ["agreed_text", "faults_lines", "faults_table", "user_lines", "with_and_without"]

_FEW: Final = 20


def faults_table(faults: Faults) -> Table:
    """How many failed trials each fault has."""
    made = Table("fault", box=None, pad_edge=False, header_style="bold")
    judged = any(row.by_judge for row in faults.rows)
    for heading in ("failed trials", "share", *(["by a judge alone"] if judged else []), "pass^1 without them"):
        made.add_column(heading, justify="right")
    for row in faults.rows:
        without = "" if row.pass_1_without is None else f"{row.pass_1_without:.3f}"
        made.add_row(row.fault, str(row.trials), f"{row.share:.0%}", *([str(row.by_judge)] if judged else []), without)
    return made


def faults_lines(faults: Faults) -> Iterator[str]:
    """What must be read with the table; how far the labellers agree."""
    if faults.pass_1 is not None:
        yield f"pass^1 is {faults.pass_1:.3f}"
    if faults.others and faults.pass_1 is not None:
        would = "undefined" if faults.pass_1_without_others is None else f"{faults.pass_1_without_others:.3f}"
        judged = sum(row.by_judge for row in faults.rows if row.pass_1_without is not None)
        whose = f"{faults.others}, of which {judged} by a judge alone" if judged else str(faults.others)
        yield f"without the failed trials labelled as no fault of the agent ({whose}) it would be {would}:"
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
        yield from with_and_without(faults.pass_k)
    for pair in faults.labellers:
        yield from _agreed(pair)
    yield from _by_rules(faults)
    if faults.users is not None:
        yield from user_lines(faults.users)


def _by_rules(faults: Faults) -> Iterator[str]:
    rules = faults.rules
    if not rules.trials:
        return
    told = ", ".join(f"{n} {fault if fault != UNLABELLED else 'no rule fits'}" for fault, n in rules.by_fault.items())
    yield f"by rules (the first write that is not as it should be; --json has each trial): {told}"
    if rules.by_type:
        yield f"  the agent's: {_shares(rules.by_type)}"
    if rules.elsewhere:
        held = number(sum(rules.elsewhere.values()), "trial")
        yield f"  {held} held against passing trials of other runs in this home ({', '.join(rules.elsewhere)}):"
        yield "  without those runs, or beside others, the rules may say otherwise"
    if any(fault not in {"agent", UNLABELLED} for fault in rules.by_fault):
        yield from with_and_without(rules.pass_k)
    if rules.agreement is not None:
        yield f"  rules and labels on {number(rules.agreement.n, 'trial')}: {agreed_text(rules.agreement)}"


def _shares(by_type: Mapping[str, int]) -> str:
    whole = sum(by_type.values())
    return ", ".join(f"{n} {kind} ({n / whole:.0%})" for kind, n in by_type.items())


def with_and_without(rows: tuple[Without, ...]) -> Iterator[str]:
    """pass^k, and what it would be."""
    for row in rows:
        would = "undefined: a task has fewer trials left" if row.without is None else f"{row.without:.3f}"
        yield f"  pass^{row.k} is {row.value:.3f}; without them {would}"


def _agreed(pair: Labellers) -> Iterator[str]:
    told = number(pair.agreement.n, "trial")
    yield f"{pair.first} and {pair.second} both labelled {told}: {agreed_text(pair.agreement)}"
    for (one, other), times in pair.agreement.table.items():
        if one != other:
            yield f"  {times} x {one} by {pair.first}, {other} by {pair.second}"


def agreed_text(found: Agreement) -> str:
    """How far two agree: ``50% alike, Cohen's kappa 0.33 (95% [-0.12, 0.79])``."""
    kappa = "undefined, as both gave one and the same label only"
    if found.kappa is not None and found.low is not None and found.high is not None:
        shown = found.n >= _FEW and found.low < found.high  # its interval is one for many pairs that differ
        bounds = f" (95% [{max(found.low, -1.0):.2f}, {min(found.high, 1.0):.2f}])" if shown else ""
        kappa = f"{found.kappa:.2f}{bounds or ', too few pairs for an interval'}"
    return f"{found.observed:.0%} alike, Cohen's kappa {kappa}"


def user_lines(users: UserErrors) -> Iterator[str]:
    """How often the user erred, and pass^k with and without the trials that this decided."""
    people = f", of {users.by_people} by people" if users.by_people else ""
    yield f"of the user something is said in {users.said} of {number(users.trials, 'counted trial')}{people}:"
    yield f"  it erred in {_share(users.erred)}, critically in {_share(users.critical)}"
    if users.disputed:
        yield f"  of {number(users.disputed, 'trial')} different things are said: the lesser error counts"
    if users.said < users.trials:
        yield "  of the other trials nothing is known, so the rates are of those that were looked at"
    if users.critical.estimate:
        passed = f" ({users.passed} of them passed)" if users.passed else ""
        yield f"  with and without the trials with a critical error of the user{passed}:"
        yield from with_and_without(users.pass_k)


def _share(share: Share) -> str:
    if share.estimate is None or share.low is None or share.high is None:
        return "none"
    return f"{round(share.estimate * share.of)} ({share.estimate:.0%}, 95% [{share.low:.0%}, {share.high:.0%}])"
