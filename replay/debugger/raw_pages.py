"""Pages about what went over the wire, and about the trial as a whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from cassettes.model import Interaction, Outcome, Stream, Value
from replay.labelling.labels import Label
from replay.report.label_text import by_whom, said_in
from replay.report.trial_text import ending_lines, evidence_lines, overview
from replay.scores.scorefile import KeptScore
from replay.view import View

from .inert import inert
from .outcomes import compact, outcome_told
from .page import Page
from .side import Side

__all__ = ["raw_page", "scores_page"]


def raw_page(side: Side, place: int) -> Page:
    """The exchange of a step, as it was sent and as it came; of a tool, the HTTP inside of it."""
    page = Page()
    step = side.step(place)
    inside = [side.step(inner) for inner in side.inside(place)]
    exchanges = [each for each in (step, *inside) if each.call.detail.get("method")]
    for each in exchanges:
        _exchange(page, each)
    if not exchanges:
        page.heading(f"step {step.step}: no HTTP was recorded in it; the call itself is")
        page.value({"name": step.call.name, "arguments": dict(step.call.arguments), "detail": dict(step.call.detail)})
        page.heading("what came back")
        _body(page, step.outcome)
    return page


def _exchange(page: Page, step: Interaction) -> None:
    call, outcome = step.call, step.outcome
    page.heading(f"step {step.step}: sent")
    page.text(f"{call.detail.get('method')} {call.detail.get('url', '')}", "bold")
    _headers(page, call.detail.get("headers"))
    sent = dict(call.arguments) if call.kind == "model" else call.arguments.get("body")
    if sent is not None:
        page.text("")
        page.value(sent)
    page.heading(f"step {step.step}: came back")
    head = outcome.head if isinstance(outcome, Stream) else outcome.result if isinstance(outcome, Value) else None
    if not isinstance(head, dict) or "status" not in head:
        _body(page, outcome)
        return
    page.text(f"{head.get('http_version') or 'HTTP'} {head['status']}", "bold")
    _headers(page, head.get("headers"))
    page.text("")
    _body(page, Value(head.get("body")) if isinstance(outcome, Value) else outcome)


def _body(page: Page, outcome: Outcome) -> None:
    """What came, whole: JSON in colours, the pieces of a stream each with its time."""
    match outcome:
        case Stream(_, chunks):
            for chunk in chunks:
                data = chunk.data.decode("utf-8", "replace") if isinstance(chunk.data, bytes) else compact(chunk.data)
                page.fact(f"+{chunk.at:.4f} s", data.rstrip())
            page.text(outcome_told(outcome), "yellow" if not outcome.complete else "dim")
        case Value() as returned if isinstance(returned.result, str):
            page.json(returned.result)
        case Value() as returned:
            page.value(returned.result)
        case _:
            page.text(outcome_told(outcome), "red")


def _headers(page: Page, headers: Any) -> None:
    for name, value in _pairs(headers):
        page.text(f"{name}: {value}", "dim")


def _pairs(headers: Any) -> list[tuple[str, str]]:
    if isinstance(headers, dict):
        return [(str(name), str(value)) for name, value in headers.items()]
    return [(str(pair[0]), str(pair[1])) for pair in headers or [] if isinstance(pair, list | tuple) and len(pair) == 2]


def scores_page(
    view: View, scores: Sequence[KeptScore], labels: Sequence[Label], cost: str, troubles: Sequence[str]
) -> Page:
    """The trial as a whole: its ending, scores with their evidence, labels."""
    page = Page()
    for line in overview(view):
        page.lines += [Text(part, line.style) for part in inert(line.plain).split("\n")]
    page.text(cost)
    for reason in ending_lines(view):
        page.text(reason)
    page.heading("scores")
    if not scores:
        page.text(f"none; `trialtape score {view.id.run}` scores the run", "yellow")
    for kept in scores:
        word, style = {True: ("passed", "green"), False: ("failed", "red"), None: ("unscored", "yellow")}[kept.passed]
        page.text(f"{word}  {kept.scorer}@{kept.version}", f"bold {style}")
        for evidence in evidence_lines(json.loads(kept.evidence)):
            page.text(f"  {evidence}")
    page.heading("labels")
    if not labels:
        page.text("none; l adds one", "dim")
    for label in labels:
        where = "" if label.step is None else f"step {label.step}: "
        told = said_in(label)
        page.text(f"{where}{told}", "bold yellow")
        page.text("  " + " ".join(part for part in (label.note, f"({by_whom(label)}, {label.at})") if part))
    for trouble in troubles:
        page.text(trouble, "red")
    return page
