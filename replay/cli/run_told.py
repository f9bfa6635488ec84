"""What came of a run, on stderr."""

from __future__ import annotations

import shlex

from replay.leakfile import told as told_leaks
from replay.orchestration.progress import RunResult
from replay.plural import number
from replay.report.trial_text import caught_up_lines
from replay.spending import money

from .output import messages

__all__ = ["tell_problems", "tell_run"]


def tell_run(result: RunResult, *, follow_up: bool = True) -> None:
    """How its trials ended, and what its reader should know of them; ``follow_up``: what to look at next."""
    say, name = messages(), result.name
    endings = ", ".join(f"{count} {ending}" for ending, count in result.endings.most_common())
    resumed = f" ({result.resumed} from before)" if result.resumed else ""
    say.print(f"{name}: {number(result.trials, 'trial')}{resumed}: {endings}", markup=False)
    if result.replaced:
        say.print(f"  attempts set aside and replaced: {result.replaced}", markup=False)
    if result.cost is not None:
        say.print(f"  live model calls cost {money(result.cost)}", markup=False)
    if result.lingering:
        say.print(f"  still running when given up: {', '.join(result.lingering)}", markup=False)
    if result.unattributed:
        names = ", ".join(f"{count} x {name}" for name, count in result.unattributed.most_common(5))
        more = f", and {len(result.unattributed) - 5} more" if len(result.unattributed) > 5 else ""
        say.print(f"  belongs to no trial, so it is not recorded: {names}{more}", markup=False, soft_wrap=True)
    for tool, count in result.misdeclared.most_common():
        told = f'{tool} is declared a read, but changed the tracked state in {count} calls: declare effect="write"'
        say.print(f"  {told}", markup=False, soft_wrap=True)
    for line in caught_up_lines(result.caught_up):
        say.print(f"  {line}", markup=False, soft_wrap=True)
    for line in told_leaks(result.leaks):
        say.print(f"  {line}", markup=False, soft_wrap=True)
    if follow_up:
        say.print(f"  next: trialtape stats {shlex.quote(name)}", markup=False)


def tell_problems(result: RunResult) -> bool:
    """The first problems; True if there are any."""
    for problem in result.problems[:5]:
        messages().print(f"trialtape: {problem}", markup=False, soft_wrap=True)
    return bool(result.problems)
