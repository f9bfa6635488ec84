"""A step as pages to read: the step itself, what the model saw, what it changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from attrs import frozen

from cassettes.errors import BadInput, TrialtapeError
from cassettes.model import Interaction, Patch, Stream, Value
from cassettes.values import unpack
from replay.labelling.labels import Label
from replay.leaves import ABSENT, LeafChange, leaf_changes
from replay.report.label_text import by_whom, said_in
from replay.report.trial_text import caught_up_text
from replay.view import View, messages_of

from .beside import Row
from .glances import verdict_word
from .outcomes import failed, outcome_told
from .page import Page
from .side import Side

__all__ = ["Notes", "messages_page", "state_page", "step_page"]

_ORDINARY: Final = frozenset({"role", "content"})
_MOST_STATE: Final = 2000


@frozen
class Notes:
    """What is known of a step beside its recording.

    Attributes:
        labels: that name this step.
        cost: of a model call, in words.
        breaks: the conditions that it meets.
        edited: the outcome that a fork would give it, as JSON text.
        write: what is said of the first divergent write, if this is it.
    """

    labels: Sequence[Label] = ()
    cost: str | None = None
    breaks: Sequence[str] = ()
    edited: str | None = None
    write: str | None = None


def step_page(row: Row, side: Side, other: Side | None, notes: Notes) -> Page:
    """The step of a row, and what is different in the other trial."""
    page = Page()
    if row.left is None:
        assert row.right is not None
        assert other is not None
        if notes.write:
            page.text(f"◆ {notes.write}", "bold red")
        page.heading(f"only in {other.name}", "yellow")
        _facts(page, other, row.right, Notes())
        _asked_and_answered(page, other, row.right)
        return page
    mine = side.step(row.left)
    _facts(page, side, row.left, notes)
    if notes.write:
        page.text(f"◆ {notes.write}", "bold red")
    for label in notes.labels:
        told = " ".join(part for part in (said_in(label), label.note) if part)
        page.fact("label", f"{told} ({by_whom(label)})", "yellow")
    if notes.edited is not None:
        page.heading("edited: a fork behind this step is given", "yellow")
        page.json(notes.edited)
    if row.sign in {"≈", "~"} and row.right is not None and other is not None:
        _compared(page, mine, other, row.right, same_call=row.sign == "≈")
    _asked_and_answered(page, side, row.left)
    if mine.patch is not None:
        page.heading("changed in the tracked state")
        page.changes(_patched(mine.patch), "before", "after")
    return page


def _facts(page: Page, side: Side, place: int, notes: Notes) -> None:
    step, glance = side.step(place), side.glance(place)
    call, reply, origin = step.call, step.reply, step.origin
    page.heading(f"step {step.step}  {glance.word}  {call.name}")
    timed = bool(side.view.cassette.header.began)  # what was imported from elsewhere may tell no times
    page.fact("when", f"{step.at:.3f} s, took {step.duration * 1e3:.1f} ms" if timed else "unknown")
    if call.kind != "model":
        declared = {"unknown": "no effect declared"}.get(call.effect, call.effect)
        page.fact("effect", f"{declared}, {'outside world' if call.external else 'tracked state'}")
        page.fact("reads", None if call.reads is None else ", ".join(call.reads))
        page.fact("writes", None if call.writes is None else ", ".join(call.writes))
    source = f" from {origin.trial} step {origin.step}" if origin.trial else ""
    word = verdict_word(origin.verdict) or "live"
    precise = f" ({origin.verdict})" if word != origin.verdict else ""
    page.fact("answered", f"{word}{precise}{source}", "" if origin.live else "yellow")
    for done in side.view.caught_up:
        if done["before"] == step.step:
            page.fact("before it", f"frozen write {caught_up_text(done)}", "red" if done["other"] else "")
    page.fact("injected", None if step.injected is None else ", ".join(step.injected.by), "bold red")
    page.fact("inside", None if step.parent is None else f"step {step.parent}")
    if reply is not None and reply.usage is not None:
        page.fact("tokens", f"{_told(reply.usage.input)} in, {_told(reply.usage.output)} out")
    page.fact("cost", notes.cost)
    page.fact("finish", None if reply is None else reply.finish)
    page.fact("breaks on", "; ".join(notes.breaks) or None, "yellow")


def _told(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)


def _compared(page: Page, mine: Interaction, other: Side, right: int, *, same_call: bool) -> None:
    theirs = other.step(right)
    page.heading(f"differs from step {theirs.step} of {other.name}", "yellow")
    if mine.call.kind == "model":
        changes = leaf_changes(_said(theirs), _said(mine))
    elif same_call:
        changes = leaf_changes(_result(theirs), _result(mine))
    else:
        changes = leaf_changes(dict(theirs.call.arguments), dict(mine.call.arguments))
    page.changes(changes, "reference", "this trial")


def _result(step: Interaction) -> Any:
    """What came back as data, so that its parts can be compared; a text that holds JSON is taken apart, too."""
    outcome = step.outcome
    if not isinstance(outcome, Value):
        return outcome_told(outcome)
    return _parsed(outcome.result) if isinstance(outcome.result, str) else outcome.result


def _said(step: Interaction) -> dict[str, Any]:
    """What a model answered, as data."""
    reply = step.reply
    if reply is None:
        return {"answer": outcome_told(step.outcome)}
    calls = [{"name": tool.name, "arguments": _parsed(tool.arguments)} for tool in reply.tool_calls]
    return {"text": reply.text, "calls": calls}


def _asked_and_answered(page: Page, side: Side, place: int) -> None:
    step = side.step(place)
    reply = step.reply
    if step.call.kind != "model":
        page.heading("asked")
        page.value(dict(step.call.arguments))
    for message in side.view.cassette.new_messages(step.step):
        if isinstance(message, dict) and message.get("role") == "user":
            page.heading("heard")
            _message(page, message)
    wrong = failed(step.outcome)
    missed = step.origin.verdict in {"missed", "stale", "refused"}
    page.heading("missed, because" if wrong and missed else "raised" if wrong else "answered", "red" if wrong else "")
    if reply is None or (isinstance(step.outcome, Stream) and not step.outcome.complete):
        _outcome(page, step)
    if reply is None:
        return
    if reply.text:
        page.text(reply.text)
    for tool in reply.tool_calls:
        page.text(f"→ {tool.name}", "bold")
        page.value(_parsed(tool.arguments))
    for word, told in (("refused", reply.refusal), ("error", reply.error)):
        if told:
            page.text(f"{word}: {told}", "red")


def _outcome(page: Page, step: Interaction) -> None:
    result = step.outcome.result if isinstance(step.outcome, Value) else None
    if not isinstance(step.outcome, Value):
        page.text(outcome_told(step.outcome), "red" if failed(step.outcome) else "")
    elif isinstance(result, str) and isinstance(parsed := _parsed(result), dict | list):
        page.text("(a text that holds JSON, laid out)", "dim")
        page.value(parsed)
    else:
        page.value(result)


def messages_page(side: Side, place: int, before: int | None) -> Page:
    """Exactly what the model saw at a step; new messages are marked, and reading begins there.

    Args:
        side: the trial.
        place: of a model call.
        before: of the model call before it by the same actor, if there is one.
    """
    page, step = Page(), side.step(place)
    call = step.call
    messages = messages_of(call)
    known = 0 if before is None else _common(messages, messages_of(side.step(before).call))
    page.heading(f"step {step.step}: {len(messages)} messages to {call.name}, {len(messages) - known} new")
    for number, message in enumerate(messages):
        new = number >= known
        if number == known:
            page.start = len(page.lines) + 1 if number else 0  # its heading, behind an empty line
        page.heading(
            f"{'*' if new else ' '} {number} {_role(message)}{'  new' if new else ''}", "green" if new else "dim"
        )
        _message(page, message)
    rest = {name: item for name, item in call.arguments.items() if name != call.history}
    page.heading("the rest of the request")
    page.value(rest)
    return page


def _common(messages: Sequence[Any], before: Sequence[Any]) -> int:
    pairs = zip(messages, before, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a is not b and a != b), min(len(messages), len(before)))


def _role(message: Any) -> str:
    return str(message.get("role") or message.get("type") or "?") if isinstance(message, dict) else "?"


def _message(page: Page, message: Any) -> None:
    if not isinstance(message, dict):
        page.value(message)
        return
    content = message.get("content")
    if isinstance(content, str):
        page.text(content)
    rest = {
        name: item
        for name, item in message.items()
        if name not in _ORDINARY or (name == "content" and not isinstance(content, str) and content is not None)
    }
    if rest:
        page.value(rest)


def state_page(view: View, step: Interaction) -> Page:
    """What a step changed in the tracked state, and the state after it."""
    page = Page()
    page.heading(f"step {step.step}: what it changed")
    if step.patch is None:
        page.text("nothing in the tracked state" if view.tracks_state else "unknown: the trial tracked no state")
    else:
        page.changes(_patched(step.patch), "before", "after")
    page.heading(f"the state after step {step.step}")
    try:
        page.value(view.state(step=step.step), _MOST_STATE)
    except BadInput:
        page.text("unknown: the trial tracked no state; trial.track(state) does, while recording", "yellow")
    except TrialtapeError as error:
        page.text(str(error), "red")
    return page


def _patched(patch: Patch) -> Iterable[LeafChange]:
    for path, old, new in patch.changes:
        where = "".join(f".{part}" if isinstance(part, str) else f"[{part!r}]" for part in path).removeprefix(".")
        left = ABSENT if old is None else unpack(old)
        right = ABSENT if new is None else unpack(new)
        for change in leaf_changes(left, right):
            dotted = (
                f"{where}.{change.path}" if change.path and not change.path.startswith("[") else where + change.path
            )
            yield LeafChange(dotted, change.left, change.right)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
