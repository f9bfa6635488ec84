"""``trialtape lab plan``: how many tasks and trials, and what they cost."""

from __future__ import annotations

import click
from rich.table import Table

from replay.analysis.lab_plan import LabPlan, lab_plan
from replay.home import Home
from replay.plural import number
from replay.report.stats_text import not_counted_lines
from replay.runs import load_run
from replay.spending import money
from replay.store import Store

from .ls_command import tell_troubles
from .options import FiniteFloat, FiniteRange, json_option, score_option
from .output import console, echo_json, say

__all__ = ["command"]


@click.command("plan")
@click.argument("run", metavar="RUN")
@click.option(
    "--detect", "difference", type=FiniteFloat(), required=True, help="Difference in pass^k to be found, as 0.05."
)
@click.option("-k", type=click.IntRange(min=1), default=1, show_default=True, help="Of pass^k.")
@click.option(
    "--power",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Wanted chance to find it.",
)
@click.option(
    "--alpha",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Two-sided level of the test.",
)
@click.option(
    "--trials",
    "-n",
    type=click.IntRange(min=1),
    multiple=True,
    help="Per task (default: k, 2k, 3k, 4k); again for more.",
)
@score_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    difference: float,
    k: int,
    power: float,
    alpha: float,
    trials: tuple[int, ...],
    score: str | None,
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell how many tasks and trials a comparison needs to find a difference, from what RUN recorded.

    Both arms run the same tasks. What a trial costs is the mean of RUN's trials.
    """
    place = Home.find(home)
    load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh([run]))
        plan = lab_plan(store, run, difference, k=k, power=power, alpha=alpha, trials=trials, score=score)
    if as_json:
        echo_json(plan.to_dict())
        return
    _print(plan)


def _print(plan: LabPlan) -> None:
    out = console()
    say(
        out,
        f"to find {plan.difference:+g} in pass^{plan.k} ({plan.pass_hat_k:.3f} in {plan.run}) with chance "
        f"{plan.power:.0%}, at {plan.alpha:g} two-sided:",
    )
    for line in not_counted_lines(plan.not_counted, fails=False):
        say(out, line)
    out.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("trials per task", "tasks", "trials in all", "cost", f"chance with {number(plan.tasks, 'task')}"):
        table.add_column(heading, justify="right")
    for design in plan.designs:
        cost = "unknown" if design.cost is None else f"{money(design.cost)} {plan.currency or ''}".rstrip()
        table.add_row(str(design.trials), str(design.tasks), str(design.total), cost, f"{design.power:.2f}")
    out.print(table)
    out.print()
    first = plan.designs[0]
    if plan.k > 1 and first.trials == plan.k and plan.best.total < first.total:
        say(
            out,
            f"n = k is the worst use of money: {first.trials} trials per task need {first.total / plan.best.total:.1f} "
            f"times as many trials in all as {plan.best.trials} per task",
        )
    say(out, "both arms run the same tasks; other tasks than these count as tasks like these")
    if plan.cost_unknown is not None:
        say(out, plan.cost_unknown)
