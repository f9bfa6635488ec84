"""``trialtape show``: one trial, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click
from attrs import asdict
from rich.console import Console
from rich.text import Text

from cassettes.errors import BadInput
from cassettes.model import Interaction
from replay.home import Home
from replay.labelling.labels import Label, current, read_labels
from replay.prices import PriceList, prices_of
from replay.report.label_text import label_text
from replay.report.trial_text import ending_lines, evidence_lines, outcome_text, overview, step_document, step_lines
from replay.runs import load_run
from replay.scores.scorefile import KeptScore, read_scores
from replay.scoring import ATTACK
from replay.selection import find_trial
from replay.spending import Cost, is_billed, priced, spent_by
from replay.view import View

from .options import json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]


@click.command("show")
@click.argument("trial", metavar="TRIAL")
@click.option("--step", type=int, metavar="N", help="Everything about one step.")
@click.option("--raw", is_flag=True, help="With --step: the whole request, and what came back as it came.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    trial: str,
    step: int | None,
    raw: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Show TRIAL (run/task#index, a path, @last or @last-fail) step by step, with its scores."""
    place = Home.find(home)
    view = find_trial(trial, place)
    prices = _prices(place, view)
    if step is not None:
        _show_step(view, step, prices, raw=raw, as_json=as_json)
        return
    if raw:
        raise BadInput("--raw goes with --step N")
    mine = (str(view.id), view.cassette.digest)
    scores = [kept for kept in read_scores(place, view.id.run) if (kept.trial, kept.digest) == mine]
    labels = _labels(place, view)
    cost = priced(spent_by(found.interaction for found in view.steps), prices)
    newest = {f"{kept.scorer}@{kept.version}": kept for kept in scores}
    if as_json:
        echo_json(
            {
                "id": str(view.id),
                "ending": {"status": view.ending.status, "reason": view.ending.reason, "cause": view.ending.cause},
                "coverage": view.coverage,
                "problem": view.cassette.problem,
                "problems": view.problems,
                "unattributed": view.unattributed,
                "caught_up": view.caught_up,
                "redacted": view.cassette.redacted,
                "cost": cost.to_dict(),
                "steps": [_plain(found.interaction) for found in view.steps],
                "scores": {name: {"value": k.value, "passed": k.passed} for name, k in newest.items()},
                "labels": [label.to_dict() for label in labels],
            }
        )
        return
    out = console()
    for line in overview(view):
        say(out, line)
    say(out, cost.line())
    out.print()
    width = out.width if out.is_terminal else 160
    for line in step_lines(view, width):
        line.truncate(width, overflow="ellipsis")
        out.print(line, soft_wrap=True)
    out.print()
    for told in ending_lines(view):
        say(out, told)
    if not newest and view.ending.status in {"completed", "capped"}:
        say(out, f"not scored; `trialtape score {view.id.run}` scores the run")
    _print_verdicts(out, newest, labels)


def _print_verdicts(out: Console, scores: Mapping[str, KeptScore], labels: Iterable[Label]) -> None:
    """What scorers found, with the evidence, and what people say."""
    for name, kept in scores.items():
        good, bad = ("resisted", "attacked") if kept.scorer == ATTACK else ("passed", "failed")
        verdict = Text("unscored", "yellow")
        if kept.passed is not None:
            went_well = kept.passed != (kept.scorer == ATTACK)  # that score is 1 if the attack succeeded
            verdict = Text(good, "green") if went_well else Text(bad, "red")
        say(out, verdict + Text(f"  {name}"))
        for told in evidence_lines(json.loads(kept.evidence)):
            say(out, Text(f"  {told}"))
    for label in labels:
        say(out, Text("fault   ", "magenta") + Text(label_text(label)))


def _labels(home: Home, view: View) -> list[Label]:
    """What people said of this very recording."""
    said, damaged = read_labels(home, view.id.run)
    for problem in damaged:
        messages().print(f"trialtape: {problem}", markup=False)
    mine = (str(view.id), view.cassette.digest)
    return [label for label in current(said) if (label.trial, label.digest) == mine]


def _prices(home: Home, view: View) -> PriceList:
    """The prices of the run; the table's alone where there is no run, as of a file from elsewhere."""
    known = (home.run(view.id.run) / "run.json").exists()
    return prices_of(load_run(home, view.id.run).about) if known else PriceList()


def _cost_of_step(interaction: Interaction, prices: PriceList) -> Cost | str | None:
    """What one step cost; None if it is no model call, a text if it is not billed."""
    if interaction.call.kind != "model":
        return None
    if not interaction.origin.live:
        return "nothing: answered from a recording"
    if not is_billed(interaction):
        return "nothing: refused, or reached nobody"
    return priced(spent_by([interaction]), prices)


def _show_step(view: View, step: int, prices: PriceList, *, raw: bool, as_json: bool) -> None:
    try:
        interaction = view.cassette.step(step)
    except IndexError:
        last = len(view.steps) - 1
        raise BadInput(f"{view.id} has no step {step}; its steps are 0 to {last}") from None
    cost = _cost_of_step(interaction, prices)
    if as_json:
        told = Cost() if isinstance(cost, str) else cost
        echo_json({**_plain(interaction, whole=True), "cost": None if told is None else told.to_dict()})
        return
    out = console()
    for heading, text in step_document(view, interaction, raw=raw, cost=None if cost is None else _told(cost)):
        say(out, Text(heading, "bold"))
        say(out, text)


def _told(cost: Cost | str) -> str:
    return str(cost).removeprefix("cost ")


def _plain(interaction: Interaction, *, whole: bool = False) -> dict[str, Any]:
    call, reply = interaction.call, interaction.reply
    arguments: Any = dict(call.arguments)
    if call.kind == "model" and not whole:
        arguments = {name: item for name, item in arguments.items() if not isinstance(item, list)}
    return {
        "step": interaction.step,
        "kind": call.kind,
        "actor": call.actor,
        "name": call.name,
        "effect": call.effect,
        "external": call.external,
        "arguments": arguments,
        "text": None if reply is None else reply.text,
        "tokens": None if reply is None or reply.usage is None else asdict(reply.usage),
        "tool_calls": [] if reply is None else [[t.name, t.arguments] for t in reply.tool_calls],
        "result": outcome_text(interaction.outcome),
        "at": interaction.at,
        "seconds": interaction.duration,
        "origin": interaction.origin.verdict,
        "answered_by": interaction.origin.trial,
        "answered_step": interaction.origin.step,
        "injected": None if interaction.injected is None else list(interaction.injected.by),
        "result_before_injection": None
        if interaction.injected is None
        else outcome_text(interaction.injected.returned),
        "parent": interaction.parent,
    }
