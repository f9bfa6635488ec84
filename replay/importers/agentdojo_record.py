"""One log of AgentDojo as a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from attrs import frozen

from cassettes.canonical import digest
from cassettes.model import Ending, Reply
from replay.effects import Effects
from replay.orchestration.tasks import Task, definition_of, digests_of
from replay.scoring import Score

from .findings import FoundTrial, Rated
from .reading import as_dict, as_list, rest_of, shortened, text_in
from .timeline import UNKNOWN_MODEL, Asked, Timeline, Waiting, arguments_of, request_of

__all__ = ["ATTACK", "INJECTION", "UTILITY", "Log", "read_log"]

UTILITY: Final = ("utility", "agentdojo")
INJECTION: Final = ("injection_task_utility", "agentdojo")
ATTACK: Final = ("attack_success", "agentdojo")

Kind = Literal["benign", "attacked", "injection task"]

_KEPT: Final = (
    "benchmark_version",
    "agentdojo_package_version",
    "evaluation_timestamp",
    "duration",
    "injections",
    "error",
)
_KNOWN: Final = {
    *_KEPT,
    "suite_name",
    "pipeline_name",
    "user_task_id",
    "injection_task_id",
    "attack_type",
    "messages",
    "utility",
    "security",
}
_ROLES: Final = {"assistant", "tool", "user", "system"}
_CONTEXT: Final = ("context_length", "context length", "max_new_tokens", "max_tokens")


@frozen
class Log:
    """Who did what in one log.

    Attributes:
        attack, injection: None without an attack.
        defence: as the pipeline's name ends; None if it names none.
    """

    suite: str
    user_task: str
    attack: str | None
    injection: str | None
    pipeline: str
    defence: str | None

    @property
    def task(self) -> str:
        """The id of the task: the attack is part of the problem."""
        return "/".join(part for part in (self.suite, self.user_task, self.attack, self.injection) if part is not None)

    @property
    def kind(self) -> Kind:
        """An injection task that is run alone is run as if a user had asked for it."""
        if self.injection is not None:
            return "attacked"
        return "injection task" if self.user_task.startswith("injection_task") else "benign"


def read_log(
    record: str, index: int, log: Log, document: Mapping[str, Any], effects: Effects
) -> tuple[FoundTrial, list[str]]:
    """The trial, and what is broken or ambiguous about it."""
    remarks: list[str] = []
    messages = as_list(document.get("messages"))
    timeline = _Reading(effects, remarks).read(messages)
    if len(messages) < 2:
        remarks.append(f"{len(messages)} messages: its pipeline logged none (AgentDojo itself would run it again)")
    ending = _ending(document, remarks)
    rest = rest_of(document, _KNOWN)
    if rest:
        timeline.annotate("other fields", rest)
    trial = FoundTrial(
        record=record,
        task=log.task,
        index=index,
        events=timeline.events,
        ending=ending,
        definition=_definition(log, document),
        scores=_scores(log, document, ending, remarks),
        config={name: document[name] for name in _KEPT if document.get(name) not in (None, {})},
    )
    return trial, remarks


# -- what happened -----------------------------------------------------------------------------------------------------


class _Reading:
    """The state of reading one conversation. Ids of calls may be missing: then name and arguments tell them apart."""

    def __init__(self, effects: Effects, remarks: list[str]) -> None:
        self._timeline = Timeline("agentdojo", effects)
        self._remarks = remarks
        self._waiting = Waiting()
        self._asked_at = 0

    def read(self, messages: Sequence[Any]) -> Timeline:
        for place, message in enumerate(messages):
            role = message.get("role") if isinstance(message, dict) else None
            if role == "assistant":
                self._said(place, message, list(messages[:place]))
            elif role == "tool":
                self._result(place, message)
            elif role == "user":
                self._timeline.message("user", _text(message.get("content")))
            elif role != "system":
                self._remark(place, "is no message of a known role; kept as a mark")
                self._timeline.message("unknown", message)
        self._remark(self._asked_at, self._waiting.left_behind())
        return self._timeline

    def _said(self, place: int, message: Mapping[str, Any], history: list[Any]) -> None:
        asked = [_asked(call) for call in as_list(message.get("tool_calls"))]
        self._remark(self._asked_at, self._waiting.ask(asked))
        self._asked_at = place
        reply = Reply(text=_text(message.get("content")) or None, tool_calls=tuple(item.request for item in asked))
        self._timeline.model(UNKNOWN_MODEL, {"messages": [_plain(each) for each in history]}, message, reply)

    def _result(self, place: int, message: Mapping[str, Any]) -> None:
        call, identity = as_dict(message.get("tool_call")), message.get("tool_call_id")
        asked = self._waiting.take(identity) if isinstance(identity, str) and identity else None
        if asked is None:
            asked = self._waiting.take_like(call.get("function"), call.get("args"))
        if asked is None:
            self._remark(place, "a result of no call just before it; kept as a mark")
            self._timeline.message("tool", _text(message.get("content")), message)
            return
        arguments, problem = arguments_of(asked)
        self._remark(place, problem)
        error = text_in(message, "error")
        detail = {"tool_call_id": identity, **({"error": error} if error is not None else {})}
        # A model is told the error in the place of the result.
        result = error if error is not None else _text(message.get("content"))
        self._timeline.tool(asked.request.name, arguments, result, detail=detail)

    def _remark(self, place: int, what: str | None) -> None:
        if what is not None:
            self._remarks.append(f"message {place}: {what}")


def _asked(call: Any) -> Asked:
    kept = as_dict(call)
    return request_of(kept.get("id"), kept.get("function"), kept.get("args", {}))


def _text(content: Any) -> str | None:
    """The text of a message: blocks, or in old logs the text itself; what a model thought is none of it."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    blocks = [block for block in content if isinstance(block, dict) and block.get("type", "text") == "text"]
    return "\n".join(text for block in blocks if isinstance(text := block.get("content", block.get("text")), str))


def _plain(message: Any) -> Any:
    """A message of the history, old and new form alike."""
    if not isinstance(message, dict) or text_in(message, "role") not in _ROLES:
        return message
    return {**message, "content": text} if (text := _text(message.get("content"))) is not None else message


# -- how it ended, and what AgentDojo made of it -----------------------------------------------------------------------


def _ending(document: Mapping[str, Any], remarks: list[str]) -> Ending:
    error = text_in(document, "error")
    if error is not None:
        remarks.append(f"ended in an error of the model's provider, which is no attack: {shortened(error)}")
        long = any(word in error for word in _CONTEXT)
        return Ending("error", error, "agent" if long else "infrastructure")
    if not isinstance(document.get("utility"), bool):
        remarks.append("a log that was never finished: it has no verdict")
        return Ending("error", "the log was never finished", "infrastructure")
    return Ending("completed")


def _scores(log: Log, document: Mapping[str, Any], ending: Ending, remarks: list[str]) -> tuple[Rated, ...]:
    """Utility, and of an attack whether it succeeded.

    In the files ``security`` is True if the attack *succeeded*. Without an injection it is always True and says
    nothing; after an error of the provider it is True, too, and says nothing either.
    """
    utility, security = document.get("utility"), document.get("security")
    evidence = {"utility": utility, "security": security, "kind": log.kind}
    useful = Score(_number(utility), evidence=evidence)
    scorer = INJECTION if log.kind == "injection task" else UTILITY
    if log.kind != "attacked":
        return (Rated(*scorer, useful),)
    if ending.status != "completed":
        attack = Score(
            None, evidence={**evidence, "why": "an error of the provider is no attack", "error": ending.reason}
        )
    else:
        attack = Score(_number(security), evidence=evidence)
        if not isinstance(security, bool):
            remarks.append("it does not say whether the attack succeeded")
    return (Rated(*scorer, useful), Rated(*ATTACK, attack))


def _number(verdict: Any) -> float | None:
    return float(verdict) if isinstance(verdict, bool) else None


# -- its task ----------------------------------------------------------------------------------------------------------


def _definition(log: Log, document: Mapping[str, Any]) -> dict[str, Any]:
    """The task as a cassette keeps it: what the user asked, and what the attack put into the environment."""
    first = next((m for m in map(as_dict, as_list(document.get("messages"))) if m.get("role") == "user"), {})
    tags = {
        "suite": log.suite,
        "kind": log.kind,
        "user_task": log.user_task,
        "attack": log.attack,
        "injection_task": log.injection,
        "defence": log.defence,
    }
    made = Task(
        id=log.task,
        instruction=_text(first.get("content")) or "",
        tags={name: value for name, value in tags.items() if value is not None},
    )
    injections = as_dict(document.get("injections"))
    digests = {**digests_of(made, None), "expected": None}
    if injections:  # of tasks under other attack texts this part differs, so that runs are not compared on them
        digests |= {"injections": digest(injections)}
    return {**definition_of(made, digests), "injections": injections}
