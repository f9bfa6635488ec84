"""``trialtape diff``: two trials side by side, and the write where they part."""

from __future__ import annotations

import sys
from typing import Any

import click
from attrs import evolve, frozen

from cassettes.errors import BadInput
from replay.comparing import Comparison, Part, compared, compared_with_expected, state_changes
from replay.home import Home
from replay.references import expected_actions, references
from replay.report.diff_text import beside, expected_line, state_lines, verdict_line
from replay.runs import load_run
from replay.scores.scorefile import read_scores
from replay.selection import find_trial
from replay.view import View

from .options import json_option
from .output import console, echo_json, say

__all__ = ["command"]

_EXPECTED = "expected actions"


@frozen
class _Reference:
    """What the trial is compared with.

    Attributes:
        view: another trial; None for the actions that the task expects.
        chosen: how it was chosen, for a person.
    """

    view: View | None
    chosen: str


@click.command("diff")
@click.argument("trial", metavar="A")
@click.argument("other", metavar="[B]", required=False)
@click.option("--expected", is_flag=True, help="Compare with the actions that the task expects, not with a trial.")
@click.option("--writes", is_flag=True, help="Only what writes, or may write.")
@click.option("--model", is_flag=True, help="Model calls, too: their requests and replies.")
@click.option("--all", "whole", is_flag=True, help="Equal stretches, too, call by call.")
@click.option("--state", is_flag=True, help="Also compare the final tracked states.")
@click.option("--width", type=click.IntRange(min=60), metavar="N", help="Cells of a line (default: the terminal's).")
@json_option
@click.pass_obj
def command(
    home: str | None,
    trial: str,
    other: str | None,
    width: int | None,
    expected: bool,  # noqa: FBT001  # click's way
    writes: bool,  # noqa: FBT001  # click's way
    model: bool,  # noqa: FBT001  # click's way
    whole: bool,  # noqa: FBT001  # click's way
    state: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Compare trial A with B, by default the nearest passing trial of A's task; exit code 1 if they differ.

    The verdict on top is the first divergent write. Below it, both trajectories stand side by side. Where no trial of
    the task passed, the actions that the task expects take B's place.
    """
    _check(other, expected=expected, writes=writes, model=model, state=state)
    place = Home.find(home)
    view = find_trial(trial, place)
    reference = _expected(view, "asked for") if expected else _reference(place, view, other)
    part: Part = "writes" if writes else "all" if model else "acts"
    comparison = _compared(view, reference, part)
    if state:
        if reference.view is None:
            raise BadInput("--state needs another trial: expected actions have no state")
        comparison = evolve(comparison, state=state_changes(view, reference.view))
    actions = None if reference.view is None else expected_actions(view)
    beyond = None if actions is None else compared_with_expected(view, actions, "writes")
    if as_json:
        echo_json(_document(place, view, reference, comparison, beyond))
    else:
        _print(place, view, reference, comparison, beyond, width=width, fold=not whole)
    sys.exit(0 if comparison.equal else 1)


def _check(other: str | None, *, expected: bool, writes: bool, model: bool, state: bool) -> None:
    if expected and other is not None:
        raise BadInput("--expected takes the place of B; leave one of them out")
    if expected and state:
        raise BadInput("--state needs another trial: expected actions have no state")
    if expected and model:
        raise BadInput("--model needs another trial: expected actions hold no model call")
    if writes and model:
        raise BadInput("--writes and --model do not go together: a model call writes nothing")


def _reference(home: Home, view: View, other: str | None) -> _Reference:
    if other is not None:
        return _Reference(find_trial(other, home), "given")
    passing = references(home, view)
    if passing:
        alone = "the only other trial of this task that passed"
        return _Reference(passing[0], alone if len(passing) == 1 else f"the nearest of {len(passing)} that passed")
    if not expected_actions(view):
        raise BadInput(
            f"no other trial of task {view.id.task!r} passed, and the task tells no expected actions: name a trial "
            f"to compare with, as in `trialtape diff {view.id} OTHER`"
        )
    return _expected(view, "no other trial of this task passed")


def _expected(view: View, why: str) -> _Reference:
    if not expected_actions(view):
        raise BadInput(f"task {view.id.task!r} tells no expected actions: name a trial to compare with")
    return _Reference(None, why)


def _compared(view: View, reference: _Reference, part: Part) -> Comparison:
    if reference.view is not None:
        return compared(view, reference.view, part)
    return compared_with_expected(view, expected_actions(view) or [], "acts" if part == "all" else part)


def _verdict(home: Home, view: View) -> bool | None:
    """Of the run's primary score for this very cassette; None if it has none."""
    if not (home.run(view.id.run) / "run.json").exists():
        return None
    primary = load_run(home, view.id.run).primary
    mine = (str(view.id), view.cassette.digest, primary)
    kept = [s.passed for s in read_scores(home, view.id.run) if (s.trial, s.digest, f"{s.scorer}@{s.version}") == mine]
    return kept[-1] if kept else None


def _document(
    home: Home, view: View, reference: _Reference, comparison: Comparison, expected: Comparison | None
) -> dict[str, Any]:
    return {
        "left": _side(home, view),
        "right": _side(home, reference.view),
        "chosen": reference.chosen,
        **comparison.to_dict(),
        "expected_actions": None if expected is None else expected.to_dict()["first_divergent_write"],
    }


def _side(home: Home, view: View | None) -> dict[str, Any] | None:
    if view is None:
        return None
    return {"trial": str(view.id), "ending": view.ending.status, "passed": _verdict(home, view)}


def _told(home: Home, view: View) -> str:
    word = {True: "passed", False: "failed", None: "unscored"}[_verdict(home, view)]
    ending = view.ending.status
    return f"{view.id} ({word}{'' if ending == 'completed' else f', {ending}'})"


def _print(
    home: Home,
    view: View,
    reference: _Reference,
    comparison: Comparison,
    expected: Comparison | None,
    *,
    width: int | None,
    fold: bool,
) -> None:
    out = console()
    cells = width or out.width
    right = _EXPECTED if reference.view is None else _told(home, reference.view)
    say(out, f"{_told(home, view)} against {right}: {reference.chosen}")
    say(out, verdict_line(comparison))
    if expected is not None:
        say(out, expected_line(expected.first_write, comparison.first_write))
    out.print()
    names = str(view.id), _EXPECTED if reference.view is None else str(reference.view.id)
    for line in beside(comparison, names, cells, fold=fold):
        out.print(line, soft_wrap=True)
    if comparison.state is not None:
        out.print()
        for line in state_lines(comparison.state, cells):
            out.print(line, soft_wrap=True)
