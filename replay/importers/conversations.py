"""Plain conversations in the OpenAI format as trials: JSON lines, one conversation each.

Nothing beside the messages is guessed: a model, a task, a trial's number or a reward is known if a field holds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput
from cassettes.model import Ending, Reply, Usage
from replay.effects import AS_DECLARED, Effects
from replay.orchestration.tasks import Task, definition_of, digests_of
from replay.scoring import Score

from .findings import Fidelity, Findings, FoundTrial, Identities, Rated, Remark
from .reading import Line, as_dict, as_list, declared_in, lines_of, number_in, read_bytes, rest_of, text_in
from .timeline import UNKNOWN_MODEL, Asked, Timeline, Waiting, arguments_of, request_of

__all__ = ["Fields", "read_conversations"]

_FIDELITY: Final = Fidelity(
    rescored=("messages, tool calls and their results",),
    frozen=("tool calls, by name and arguments",),
    view_only=("model calls: the exact requests were not kept",),
)
_TOOLS: Final = ("tools", "functions", "temperature", "top_p", "seed", "max_tokens", "tool_choice")  # if the line tells
_RESULTS: Final = {"tool", "function"}
_INSTRUCTIONS: Final = {"system", "developer"}


@frozen
class Fields:
    """Which fields of a line tell what.

    Attributes:
        score: a number or a truth value; also the score's name.
    """

    task: str = "task_id"
    trial: str = "trial"
    score: str = "reward"
    model: str = "model"


def read_conversations(path: Path, effects: Effects = AS_DECLARED, fields: Fields = Fields()) -> Findings:  # frozen
    """Read a file of conversations; what is wrong with single lines is told, not raised.

    A line is an object with ``messages``, or the list of messages itself. Without a task it is a task of its own, named
    by its line; without a number it is the next trial of its task.

    Raises:
        BadInput: the file cannot be read, or holds no conversation; a score cannot have the name of its field.
    """
    if not re.fullmatch(r"[^@\s]+", fields.score):
        raise BadInput(f"no score can be named {fields.score!r}: it may not be empty, nor hold @ or blanks")
    data = read_bytes(path)
    remarks: list[Remark] = []
    trials: list[FoundTrial] = []
    identities = Identities()
    for line in lines_of(data):
        trial, odd = _trial(line, fields, effects, identities)
        remarks += odd
        if trial is not None:
            trials.append(trial)
    if not trials:
        raise BadInput(f"{path} holds no conversation: {remarks[0] if remarks else 'it is empty'}")
    scorer = f"{fields.score}@jsonl"
    return Findings(
        format="jsonl",
        config={
            "mode": "import",
            "format": "jsonl",
            "file": digest_bytes(data),
            "fields": [fields.task, fields.trial, fields.score, fields.model],
            **declared_in(effects),
        },
        primary=scorer if any(trial.scores for trial in trials) else None,
        fidelity=_FIDELITY,
        blind_to={(fields.score, "jsonl"): ("whatever made it: the file does not say what that looked at",)},
        trials=trials,
        remarks=remarks,
    )


def _trial(
    line: Line, fields: Fields, effects: Effects, identities: Identities
) -> tuple[FoundTrial | None, list[Remark]]:
    document = {"messages": line.value} if isinstance(line.value, list) else line.value
    if line.problem is not None or not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        what = line.problem or "neither an object with a list of messages, nor such a list"
        return None, [Remark(line.number, None, None, what, imported=False)]
    if not any(text_in(as_dict(message), "role") for message in document["messages"]):
        what = "none of its messages has a role"
        return None, [Remark(line.number, None, None, what, imported=False)]
    task = document.get(fields.task)
    task = f"line-{line.number + 1}" if task is None else task
    index = document.get(fields.trial)
    if index is None:
        index = identities.free(task)
    why = identities.claim(task, index)
    if why is not None:
        return None, [Remark(line.number, None, None, why, imported=False)]
    remarks: list[str] = []
    model = text_in(document, fields.model)
    timeline = _Reading(model, document, effects, remarks).read(document["messages"])
    rest = rest_of(document, {"messages", fields.task, fields.trial, fields.score, fields.model, *_TOOLS})
    if rest:
        timeline.annotate("other fields", rest)
    score = _score(document, fields, remarks)
    trial = FoundTrial(
        record=line.number,
        task=str(task),
        index=index,
        events=timeline.events,
        ending=Ending("completed"),
        definition=_definition(str(task), document["messages"]),
        scores=() if score is None else (score,),
        config={} if model is None else {"agent_model": model},
    )
    return trial, [Remark(line.number, str(task), index, what) for what in remarks]


def _score(document: Mapping[str, Any], fields: Fields, remarks: list[str]) -> Rated | None:
    told = document.get(fields.score)
    if told is None:
        return None
    value = number_in(document, fields.score)
    if value is None:
        remarks.append(f"its {fields.score} is no number; left unscored")
    return Rated(fields.score, "jsonl", Score(value, evidence={fields.score: told}))


def _definition(task: str, messages: Sequence[Any]) -> dict[str, Any]:
    first = next((m for m in map(as_dict, messages) if m.get("role") == "user"), {})
    made = Task(id=task, instruction=_text(first.get("content")) or "")
    return definition_of(made, {**digests_of(made, None), "expected": None})


class _Reading:
    """The state of reading one conversation."""

    def __init__(self, model: str | None, document: Mapping[str, Any], effects: Effects, remarks: list[str]) -> None:
        self._model = model
        self._more = {name: document[name] for name in _TOOLS if document.get(name) is not None}
        self._timeline = Timeline("jsonl", effects)
        self._remarks = remarks
        self._waiting = Waiting()
        self._asked_at = 0

    def read(self, messages: Sequence[Any]) -> Timeline:
        for place, message in enumerate(messages):
            role = message.get("role") if isinstance(message, dict) else None
            if role == "assistant":
                self._said(place, message, list(messages[:place]))
            elif isinstance(role, str) and role in _RESULTS:
                self._result(place, message)
            elif role == "user":
                self._timeline.message("user", message.get("content"))
            elif not isinstance(role, str) or role not in _INSTRUCTIONS:
                self._remark(place, "is no message of a known role; kept as a mark")
                self._timeline.message("unknown", message)
        self._remark(self._asked_at, self._waiting.left_behind())
        return self._timeline

    def _said(self, place: int, message: Mapping[str, Any], history: list[Any]) -> None:
        asked = [_asked(call) for call in as_list(message.get("tool_calls"))]
        old = message.get("function_call")
        if isinstance(old, dict):
            asked.append(request_of(None, old.get("name"), old.get("arguments", "")))
        self._remark(self._asked_at, self._waiting.ask(asked))
        self._asked_at = place
        model = text_in(message, "model") or self._model
        reply = Reply(
            text=_text(message.get("content")),
            tool_calls=tuple(item.request for item in asked),
            refusal=text_in(message, "refusal"),
            model=model,
            usage=_usage(as_dict(message.get("usage"))),
        )
        self._timeline.model(model or UNKNOWN_MODEL, {"messages": history, **self._more}, message, reply)

    def _result(self, place: int, message: Mapping[str, Any]) -> None:
        identity = message.get("tool_call_id")
        asked = self._waiting.take(identity)
        if asked is None and identity is None:
            named = message.get("name")
            asked = self._waiting.take_like(named, None) if named is not None else self._waiting.take_first()
            if asked is not None and message["role"] != "function":
                self._remark(place, f"a result without tool_call_id; taken as that of {asked.request.name}")
        if asked is None:
            self._remark(place, "a result of no call just before it; kept as a mark")
            self._timeline.message("tool", message.get("content"), message)
            return
        arguments, problem = arguments_of(asked)
        self._remark(place, problem)
        self._timeline.tool(asked.request.name, arguments, message.get("content"), detail={"tool_call_id": identity})

    def _remark(self, place: int, what: str | None) -> None:
        if what is not None:
            self._remarks.append(f"message {place}: {what}")


def _asked(call: Any) -> Asked:
    kept = as_dict(call)
    function = as_dict(kept.get("function"))
    return request_of(kept.get("id"), function.get("name"), function.get("arguments", ""))


def _text(content: Any) -> str | None:
    """The text of a message; of parts the texts, one per line."""
    if isinstance(content, str):
        return content
    texts = [part["text"] for part in as_list(content) if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or None


def _usage(told: Mapping[str, Any]) -> Usage | None:
    tokens = [told.get(name) for name in ("prompt_tokens", "completion_tokens")]
    known = [n if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 53 else None for n in tokens]
    return None if known == [None, None] else Usage(input=known[0], output=known[1])
