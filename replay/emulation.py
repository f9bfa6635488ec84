"""A model plays a tool that no recording answers: from its schema, recorded answers, and what happened so far.

Its model call is made on behalf of the actor ``emulator``, and recorded inside the call that it answers. The answer is
recorded like any other, so a replay hands it out again and asks no model.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

from attrs import evolve

from cassettes.errors import BadInput, TrialtapeError, Unanswered, UnkeepableValue
from cassettes.model import Call, Error, Interaction, Outcome, Value
from cassettes.redact import Redactor
from cassettes.values import pack, unpack

from .plain import plain
from .replies import object_in

__all__ = ["Ask", "EmulatedError", "Emulation", "asking", "prompt"]

Ask = Callable[[str, list[dict[str, str]]], str]
"""Asks a model by its name; returns the text of its reply."""

_MOST_EXAMPLES: Final = 5
_MOST_BEFORE: Final = 20
_MOST_LETTERS: Final = 4000  # of one recorded answer

_SYSTEM: Final = """\
You play a tool that a program calls. Nothing real is behind you: make up the answer that the real tool would most
plausibly give to this call. Keep to the form of the recorded answers, if there are any: the same fields, the same
types. Contradict nothing that the calls before have shown. If the real tool would fail, fail likewise.

Reply with one JSON object and nothing else: {"answer": ...} with what the tool returns, or {"error": "..."} with the
message of its error."""


class EmulatedError(Exception):
    """A tool that a model played has failed."""


class Emulation:
    """Plays tools in one trial.

    Args:
        model: the model's name.
        ask: asks it.
        redactor: removes secrets from what the model is told; recordings hold none.

    Attributes:
        model: the model's name.
    """

    def __init__(self, model: str, ask: Ask, redactor: Redactor) -> None:
        self.model = model
        self._ask = ask
        self._redactor = redactor
        self._before: list[Interaction] = []
        self._offered: dict[str, Any] = {}

    def happened(self, interaction: Interaction) -> None:
        """A call of the trial has ended: what it shows of tools may be needed."""
        call = interaction.call
        if call.kind == "tool":
            with suppress(UnkeepableValue):  # the journal tells it
                self._before = [*self._before, self._less_its_secrets(interaction)][-_MOST_BEFORE:]
        elif call.kind == "model" and call.actor == "agent":
            self._offered.update(_schemas(call.arguments.get("tools")))

    def answer(self, call: Call, examples: Sequence[Interaction]) -> Outcome:
        """What the tool might have answered.

        Args:
            call: of the tool.
            examples: recorded calls of the same tool with their outcomes; those that are most like it are shown.

        Raises:
            Unanswered: the model failed, or what it said is no answer.
        """
        ended = [i for i in examples if isinstance(i.outcome, Value | Error)]
        kept = sorted(ended, key=lambda i: _likeness(i.call, call), reverse=True)[:_MOST_EXAMPLES]
        returned = [i.outcome.result for i in kept if isinstance(i.outcome, Value)]
        if not all(_is_json(value) for value in returned):
            raise Unanswered(
                f"{call.name} cannot be emulated: its recorded answers are no JSON-like data, which is all that a "
                "model can write"
            )
        call = self._redactor.call(call)
        try:
            text = self._ask(self.model, prompt(call, kept, self._offered.get(call.name), self._before))
        except TrialtapeError:
            raise
        except Exception as error:
            why = f"{call.name} cannot be emulated: {self.model} failed: {type(error).__name__}: {error}"
            raise Unanswered(why) from error
        return _read(call, text, as_text=bool(returned) and all(isinstance(value, str) for value in returned))

    def _result(self, outcome: Value) -> Any:
        cleaned = self._redactor.outcome(outcome, Counter())  # by the user's rules, which name paths below the result
        return cleaned.result if isinstance(cleaned, Value) else outcome.result

    def _less_its_secrets(self, interaction: Interaction) -> Interaction:
        counts: Counter[str] = Counter()
        outcome = interaction.returned
        if isinstance(outcome, Value):
            outcome = Value(unpack(self._redactor.packed(pack(self._result(outcome)))[0]))
        elif isinstance(outcome, Error):
            outcome = Error(EmulatedError(self._redactor.text(str(outcome.error), counts)))
        return evolve(interaction, call=self._redactor.call(interaction.call), outcome=outcome, injected=None)


def asking() -> Ask:
    """What asks models, by the openai SDK: with ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, as the SDK reads them.

    Raises:
        BadInput: the SDK is not installed.
    """
    try:
        found: Ask = import_module(f"{__package__}.emulating_openai").ask  # its library is an extra
    except ModuleNotFoundError as error:
        if error.name != "openai":
            raise
        raise BadInput(
            "tools are emulated with the openai SDK, which is not installed: pip install 'trialtape[openai]'"
        ) from error
    return found


def prompt(
    call: Call, examples: Sequence[Interaction], schema: Any, before: Sequence[Interaction]
) -> list[dict[str, str]]:
    """The messages that ask a model to play the tool."""
    parts = [f"The tool: {call.name}"]
    if schema is not None:
        parts.append(f"Its schema, as the program's model is told it:\n{_text(schema)}")
    if examples:
        parts.append("Recorded answers of the real tool:\n" + "\n".join(map(_told, examples)))
    if before:
        parts.append("Calls before this one, in order:\n" + "\n".join(map(_told, before)))
    parts.append(f"The call to answer:\n{call.name}({_text(dict(call.arguments))})")
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}]


def _likeness(recorded: Call, call: Call) -> int:
    """How many arguments are the same."""
    return sum(_text(recorded.arguments.get(name)) == _text(value) for name, value in call.arguments.items())


def _told(interaction: Interaction) -> str:
    match interaction.outcome:
        case Value() as returned:
            came = _text({"answer": returned.result})
        case Error(error):
            came = _text({"error": str(error)})
        case other:
            came = type(other).__name__.lower()
    if len(came) > _MOST_LETTERS:
        came = came[:_MOST_LETTERS] + " ... (cut)"
    return f"{interaction.call.name}({_text(dict(interaction.call.arguments))}) -> {came}"


def _text(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _read(call: Call, text: str, *, as_text: bool) -> Outcome:
    found = object_in(text)
    if isinstance(found, dict) and set(found) == {"error"} and isinstance(found["error"], str):
        return Error(EmulatedError(found["error"]))
    if not isinstance(found, dict) or set(found) != {"answer"}:
        raise Unanswered(
            f'{call.name} cannot be emulated: the model was to reply {{"answer": ...}} or {{"error": "..."}}, and '
            f"replied {text[:200]!r}"
        )
    answer = found["answer"]
    return Value(json.dumps(answer, ensure_ascii=False) if as_text and not isinstance(answer, str) else answer)


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return type(value) is dict and all(type(key) is str and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return type(value) is list and all(map(_is_json, value))
    return type(value) in {str, int, float, bool, type(None)}


def _schemas(offered: Any) -> dict[str, Any]:
    """What a model request says of tools, by name, in whatever protocol it is said."""
    found: dict[str, Any] = {}
    if isinstance(offered, list):
        for item in offered:
            found.update(_schemas(item))
    elif isinstance(offered, Mapping):
        name = offered.get("name")
        if isinstance(name, str):
            found[name] = offered
        for below in ("function", "functionDeclarations", "function_declarations", "toolSpec", "tools"):
            found.update(_schemas(offered.get(below)))
    return found
