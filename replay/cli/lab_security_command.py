"""``trialtape lab security``: what attacks do to runs, and what defences change."""

from __future__ import annotations

import click

from cassettes.errors import BadInput
from replay.analysis.attack_rows import Wanted
from replay.analysis.security import RunSecurity, run_security
from replay.analysis.security_compare import Defences, compare_defences
from replay.analysis.threshold import Threshold
from replay.home import Home
from replay.report.security_text import (
    difference_lines,
    difference_table,
    measure_table,
    part_lines,
    plane,
    security_head,
    security_notes,
)
from replay.runs import load_run
from replay.scoring import ATTACK
from replay.store import Store

from .ls_command import tell_troubles
from .options import json_option
from .output import console, echo_json, say

__all__ = ["command"]


@click.command("security")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--against", metavar="RUN", help="The run without a defence (default: the first), if there are several.")
@click.option(
    "--safety",
    default=ATTACK,
    show_default=True,
    metavar="NAME[@VERSION]",
    help="The score of the one axis: whether an attack succeeded, or any whose trials pass if they are safe.",
)
@click.option("--helpful", metavar="NAME[@VERSION]", help="That of the other axis (default: each run's primary one).")
@click.option("--safe-if", metavar="THRESHOLD", help="Which values of the safety score are safe, such as '>=2'.")
@click.option("--helpful-if", metavar="THRESHOLD", help="Which values of the other score are helpful.")
@click.option("--by", metavar="TAG", help="Numbers of each value of a tag (default: attack and suite, if several).")
@click.option("-k", "ks", type=click.IntRange(min=1), multiple=True, help="Only this k; may be given again.")
@click.option("--common", is_flag=True, help="Pair the tasks that are the same; list the others.")
@click.option(
    "--changed",
    multiple=True,
    metavar="NAME[,NAME]",
    help="What else is a part of the defence, such as parameters; any other decisive difference is refused.",
)
@json_option
@click.pass_obj
def command(
    home: str | None,
    runs: tuple[str, ...],
    against: str | None,
    safety: str,
    helpful: str | None,
    safe_if: str | None,
    helpful_if: str | None,
    by: str | None,
    ks: tuple[int, ...],
    changed: tuple[str, ...],
    common: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Tell what the user and the attacker got in a run: benign utility, utility under attack, attack success.

    Of several runs, tell what each defence changes on both axes, on the same tasks under the same attack texts.
    """
    wanted = Wanted(safety, helpful, _threshold(safe_if), _threshold(helpful_if), ks, by)
    if len(runs) == 1 and (against is not None or changed or common):
        raise BadInput("--against, --changed and --common compare runs: name two or more")
    place = Home.find(home)
    for run in runs:
        load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh(runs))
        if len(runs) == 1:
            alone = run_security(store, runs[0], wanted)
            echo_json(alone.to_dict()) if as_json else _print(alone)
            return
        named = tuple(name.strip() for names in changed for name in names.split(",") if name.strip())
        found = compare_defences(store, runs, against or runs[0], wanted, changed=named, common=common)
    echo_json(found.to_dict()) if as_json else _print_all(found)


def _threshold(text: str | None) -> Threshold | None:
    return None if text is None else Threshold.parse(text)


def _print(found: RunSecurity) -> None:
    out = console()
    for line in security_head(found):
        say(out, line)
    out.print()
    out.print(measure_table((found,)))
    notes = [*part_lines(found), *security_notes(found)]
    if notes:
        out.print()
    for line in notes:
        say(out, line)


def _print_all(found: Defences) -> None:
    out = console()
    for run in found.runs:
        for line in security_head(run):
            say(out, line)
    for each in found.comparisons:
        for line in difference_lines(each, found.against):
            say(out, line)
    out.print()
    out.print(measure_table(found.runs))
    out.print()
    out.print(difference_table(found))
    say(out, f"p by sign flips of whole clusters of tasks; the p beside it adjusted by Holm for {found.tests} tests")
    notes = {run.run: list(security_notes(run)) for run in found.runs}
    for line in dict.fromkeys(line for lines in notes.values() for line in lines):
        of = [run for run, lines in notes.items() if line in lines]
        say(out, line if len(of) == len(notes) else f"{', '.join(of)}: {line}")
    picture = list(plane(found.runs))
    if picture:
        out.print()
    for line in picture:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
