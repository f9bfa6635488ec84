"""One trial, drawn for a terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from cassettes.model import Cancelled, Error, Interaction, Outcome, Stream, Value
from cassettes.values import Opaque
from replay.conversation import speaker_of, unreplied
from replay.plain import plain
from replay.view import Step, View, messages_of

__all__ = ["caught_up_lines", "caught_up_text", "ending_lines", "outcome_text", "overview", "step_lines", "step_text"]

_SIGNS = {"model": "●", "tool": "▸", "http": "◦", "clock": "·", "random": "·"}
_INJECTED_WIDTH = 60
_STYLES = {"read": "cyan", "pure": "cyan", "write": "magenta", "unknown": "yellow"}


def overview(view: View) -> Iterator[Text]:
    """Id, task, ending, how frozen calls were answered."""
    ending = view.ending
    style = {"completed": "green", "capped": "yellow"}.get(ending.status, "red")
    told = (ending.reason or "").splitlines()
    reason = f": {_line(told[0], 200).rstrip(':')}" if told and ending.status != "completed" else ""
    cause = f" ({ending.cause})" if ending.cause else ""
    yield Text(str(view.id), "bold") + Text("   ") + Text(f"{ending.status}{cause}{reason}", style)
    fork = view.cassette.header.config.get("fork")
    if isinstance(fork, dict):
        edited = f", with another outcome of step {fork['at'] - 1}" if fork.get("edited") else ""
        yield Text(f"fork: goes on from step {fork['at']} of {fork['parent']}{edited}")
    if view.task.instruction:
        yield Text(f"task: {_line(view.task.instruction, 300)}", "dim")
    for problem in view.problems:
        yield Text(f"problem: {problem}", "yellow")
    if view.cassette.problem:
        yield Text(f"the file is {view.cassette.problem}; what stands before it is shown", "red")
    if view.coverage:
        yield Text("frozen calls: " + ", ".join(f"{n} {name}" for name, n in view.coverage.items()))
    counts = Counter(done["name"] for done in view.caught_up)
    for line in caught_up_lines(counts):
        yield Text(line)
    if view.unattributed:
        names = ", ".join(f"{n} x {name}" for name, n in view.unattributed.items())
        yield Text(f"not recorded, as it belongs to no trial: {names}", "yellow")
    if view.cassette.redacted:
        names = ", ".join(f"{n} {name}" for name, n in sorted(view.cassette.redacted.items()))
        yield Text(f"redacted before it was written (a replay gets placeholders): {names}", "yellow")


def step_lines(view: View, width: int) -> Iterator[Text]:
    """A line for each step: who was asked what, and what came back."""
    marked = [m.data["content"] for m in view.marks if m.kind == "message"]
    known = {view.task.instruction, *marked}
    said = [m.data for m in unreplied(view.marks, (s.interaction for s in view.steps)) if "step" in m.data]
    done_before = view.caught_up
    for step in view.steps:
        while said and said[0]["step"] <= step.number:
            yield _said(said.pop(0), width)
        if step.call.kind == "model" and step.call.actor == "agent":
            for message in _new_from_user(view, step):
                if message["content"] not in known:
                    yield _said(message, width)
        elif step.text:
            known.add(step.text)  # what the simulated user said stands on its own line already
        yield from (_caught_up(done) for done in done_before if done["before"] == step.number)
        yield step_text(step, width)
    for left in said:
        yield _said(left, width)


def caught_up_lines(counts: Counter[str]) -> Iterator[str]:
    """Which frozen writes were carried out, and how often."""
    if counts:
        names = ", ".join(f"{count} x {name}" for name, count in counts.most_common())
        yield f"frozen writes carried out before live calls: {names}"


def caught_up_text(done: Mapping[str, Any]) -> str:
    """One of `replay.view.View.caught_up`."""
    told = "the same outcome" if done["other"] is None else f"another outcome: {done['other']}"
    return f"{done['name']} (step {done['step']}) carried out → {told}"


def _caught_up(done: Mapping[str, Any]) -> Text:
    return Text(f"     ↻ {caught_up_text(done)}", "dim" if done["other"] is None else "red")


def ending_lines(view: View) -> list[str]:
    """Why a trial did not complete, where more than one line was said."""
    told = (view.ending.reason or "").splitlines()
    return told if len(told) > 1 and view.ending.status != "completed" else []


def _new_from_user(view: View, step: Step) -> list[dict[str, Any]]:
    new = [m for m in view.cassette.new_messages(step.number) if isinstance(m, dict) and m.get("role") == "user"]
    return [{"role": "user", "content": text} for text in map(_content, new) if text]


def step_text(step: Step, width: int) -> Text:
    """One step on one line."""
    call, interaction = step.call, step.interaction
    indent = "  " if interaction.parent is not None else ""
    line = Text(f"{step.number:>4} {indent}")
    if call.kind == "model":
        line.append(f"{_SIGNS['model']} {call.actor:<6} ", "blue" if call.actor == "agent" else "green")
        line.append(_line(_reply(step), width))
    else:
        line.append(f"{_SIGNS[call.kind]} ", _STYLES[call.effect])
        if call.actor != "agent":  # the user's own tools, in a dialogue
            line.append(f"{call.actor}: ", "green")
        line.append(call.name, _STYLES[call.effect])
        line.append(f" {_line(json.dumps(dict(call.arguments), ensure_ascii=False, default=repr), width * 2 // 5)}")
        failed = isinstance(step.outcome, Error)
        unanswered = failed and step.origin.verdict in {"stale", "missed"}
        came = "no recorded answer" if unanswered else _line(outcome_text(step.outcome), width // 2)
        line.append(" → ", "red" if failed else "dim")
        if interaction.injected is not None:  # before the result, which may be cut
            line.append(f"[{_line(str(interaction.injected), _INJECTED_WIDTH)}] ", "bold red")
        line.append(came, "red" if failed else "dim")
    if not step.origin.live:
        line.append(f"  [{step.origin.verdict}]", "yellow")
    return line


def outcome_text(outcome: Outcome) -> str:
    """What came back, as text; of an exception its class and text, also of a class that is not loaded."""
    match outcome:
        case Value() as returned:
            return _plain(returned.result)
        case Error(Opaque() as unknown):
            return f"{unknown.name.rpartition(':')[2]}: {_arguments(unknown.fields)}"
        case Error(error):
            return f"{type(error).__name__}: {error}"
        case Cancelled():
            return "cancelled by the caller"
        case Stream(_, chunks, complete, error):
            end = "" if complete else ", cut short" + (f" by {type(error).__name__}" if error else " by the consumer")
            return f"stream of {len(chunks)} chunks{end}"


def _arguments(fields: Any) -> str:
    """What an exception was made of: recorded as its arguments, and what was set on it."""
    match fields:
        case [tuple() as arguments, *_]:
            return ", ".join(map(str, arguments))
        case _:
            return _plain(plain(fields))


def evidence_lines(evidence: dict[str, Any], name: str = "") -> Iterator[str]:
    """What a verdict rests on, a line for each part that says something."""
    for key, item in evidence.items():
        where = f"{name}: {key}" if name else key
        if isinstance(item, dict) and "passed" in item:
            yield from evidence_lines({k: v for k, v in item.items() if k != "passed"}, key)
        elif isinstance(item, list):
            yield from (f"{where}: {_line(_told(part), 300)}" for part in item)
        elif item not in (None, {}):
            yield f"{where}: {_line(_told(item), 300)}"


def _told(item: Any) -> str:
    if isinstance(item, dict):
        return ", ".join(f"{key} {_plain(value)}" for key, value in item.items())
    return _plain(item)


def step_document(view: View, interaction: Interaction, *, raw: bool, cost: str | None = None) -> list[tuple[str, str]]:
    """One step as headed texts; of a model call the messages that are new in it, or all of it if ``raw``."""
    call, reply = interaction.call, interaction.reply
    facts = {
        "kind": call.kind,
        "actor": call.actor,
        "name": call.name,
        "effect": call.effect if call.kind != "model" else None,
        "external": call.external if call.kind != "model" else None,
        "reads": call.reads,
        "writes": call.writes,
        "at": f"{interaction.at:.3f} s, took {interaction.duration * 1e3:.1f} ms",
        "answered by": interaction.origin.verdict
        + (f", {interaction.origin.trial} step {interaction.origin.step}" if interaction.origin.trial else ""),
        "injected": None if interaction.injected is None else ", ".join(interaction.injected.by),
        "inside": None if interaction.parent is None else f"step {interaction.parent}",
        "tokens": None if reply is None or reply.usage is None else f"{reply.usage.input} in, {reply.usage.output} out",
        "cost": cost,
        "finish": None if reply is None else reply.finish,
    }
    told = "\n".join(f"{name + ':':12} {value}" for name, value in facts.items() if value is not None)
    sections = [(f"step {interaction.step}", told), *_asked(view, interaction, raw=raw)]
    if raw:
        sections.append(("answered", raw_text(interaction.outcome)))
    elif reply is not None:
        answer = [reply.text or ""] + [f"calls {t.name} {t.arguments}" for t in reply.tool_calls]
        sections.append(("answered", "\n".join(part for part in answer if part) or str(reply.error or reply.refusal)))
    else:
        sections.append(("answered", outcome_text(interaction.outcome)))
    if interaction.injected is not None:
        sections.append(("before something was injected", outcome_text(interaction.injected.returned)))
    return sections


def raw_text(outcome: Outcome) -> str:
    """What came back, whole, as it came."""
    match outcome:
        case Value(value):
            body = value.get("body") if isinstance(value, dict) and "status" in value else None
            if isinstance(body, str):
                return f"{_json({k: v for k, v in value.items() if k != 'body'})}\n{body}"
            return _json(value)
        case Stream(head, chunks, _, _):
            pieces = [c.data.decode("utf-8", "replace") if isinstance(c.data, bytes) else str(c.data) for c in chunks]
            timed = "".join(f"+{c.at:.4f} s  {piece.rstrip()}\n" for c, piece in zip(chunks, pieces, strict=True))
            return f"{_json(head)}\n{timed}{outcome_text(outcome)}"
        case _:
            return outcome_text(outcome)


def _asked(view: View, interaction: Interaction, *, raw: bool) -> list[tuple[str, str]]:
    call = interaction.call
    if raw or call.kind != "model" or call.history is None:
        return [("asked", _json(dict(call.arguments)))]
    plain = {name: item for name, item in call.arguments.items() if name not in {call.history, "tools"}}
    tools = [name for tool in call.arguments.get("tools") or [] for name in _tool_names(tool)]
    if tools:
        plain["tools"] = f"{len(tools)}: {', '.join(tools)}"
    messages = messages_of(call)
    new = [message for message in view.cassette.new_messages(interaction.step) if message in messages]
    if not isinstance(call.arguments.get(call.history), list):
        new = messages
    heading = f"messages ({len(new)} new of {len(messages)}; --raw shows all)"
    return [("asked", _json(plain)), (heading, "\n".join(_message(message) for message in new))]


def _tool_names(tool: Any) -> list[str]:
    """The names in a tool's declaration, in the shapes of the known protocols."""
    if not isinstance(tool, dict):
        return ["?"]
    declared = tool.get("functionDeclarations") or [tool.get("function") or tool.get("toolSpec") or tool]
    return [str(part.get("name") or part.get("type") or "?") for part in declared if isinstance(part, dict)]


def _message(message: Any) -> str:
    if not isinstance(message, dict):
        return _plain(message)
    calls = [call.get("function", {}) for call in message.get("tool_calls") or [] if isinstance(call, dict)]
    told = [f"→ {call.get('name', '?')}({call.get('arguments', '')})" for call in calls]
    role = message.get("role") or message.get("type") or "?"
    return f"{role}: " + " ".join(part for part in (_content(message), *told) if part)


def _content(message: dict[str, Any]) -> str:
    """The text of a message; parts that are no text are shown as they are."""
    content = message.get("content", message.get("parts", message.get("output")))
    if not isinstance(content, list):
        return "" if content is None else _plain(content)
    return " ".join(part["text"] if isinstance(part, dict) and "text" in part else _plain(part) for part in content)


def _reply(step: Step) -> str:
    reply = step.reply
    if reply is None:
        return outcome_text(step.outcome)
    if reply.error:
        return f"error: {reply.error}"
    calls = ", ".join(f"{tool.name}({tool.arguments})" for tool in reply.tool_calls)
    return " ".join(part for part in (reply.text, f"→ {calls}" if calls else None) if part)


def _said(data: dict[str, Any], width: int) -> Text:
    return Text(f"     ○ {speaker_of(data['role']):<6} ", "green") + Text(_line(data["content"] or "", width))


def _line(text: str, width: int) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= width else joined[: max(1, width - 1)] + "…"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=repr)
