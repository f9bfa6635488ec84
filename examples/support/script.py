"""How the stand-in decides: plans of weighted moves, read against the conversation so far.

The provider keeps no memory of a conversation, as a real one does not. Every request holds the whole of it,
so the place in the plan is found again from the calls and messages that it holds.
"""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs

T = TypeVar("T")
Message = dict[str, Any]

REFERENCE_TEMPERATURE = 0.7  # the temperature at which the weights of a plan are its probabilities


@attrs.frozen
class Call:
    """A tool call that the model makes."""

    name: str
    arguments: dict[str, Any]


@attrs.frozen
class Move:
    """What the model does next: calls, or a text (a template over results); neither skips the step."""

    calls: tuple[Call, ...] = ()
    text: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tools; a text is the tool named nothing."""
        return tuple(call.name for call in self.calls) or (("",) if self.text else ())


@attrs.frozen
class Dice:
    """Sampling, for one request.

    Attributes:
        rng: The source of chance.
        temperature: 0 takes the most likely branch; above that, branches get more even as it rises.
        drift: Multiplies the weight of every branch but the most likely: a provider that changed its model.
    """

    rng: random.Random
    temperature: float
    drift: float = 1.0

    def pick(self, options: Sequence[tuple[float, T]]) -> T:
        """Draw one of some weighted options."""
        best = max(range(len(options)), key=lambda i: options[i][0])
        if self.temperature <= 0:
            return options[best][1]
        power = REFERENCE_TEMPERATURE / self.temperature
        weights = [(weight if i == best else weight * self.drift) ** power for i, (weight, _) in enumerate(options)]
        return self.rng.choices([option for _, option in options], weights)[0]

    def word(self, words: Sequence[str]) -> str:
        """Draw one of some equally good wordings."""
        return words[0] if self.temperature <= 0 else self.rng.choice(words)

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.pick(((1 - probability, False), (probability, True)))


class Guess:
    """Stands for a figure that no tool gave: the model makes one up."""

    def __getitem__(self, key: str) -> "Guess":
        return self

    def __format__(self, spec: str) -> str:
        return "9.90"


class Result(dict[str, Any]):
    """A tool's result in a template; what it lacks is made up."""

    def __missing__(self, key: str) -> Guess:
        return Guess()


@attrs.frozen
class History:
    """One moment of a conversation: the moves of the agent so far, and the last result of each tool."""

    moves: tuple[Move, ...]
    results: Result

    def did(self, name: str, count: int = 1) -> bool:
        """Whether a tool was called at least so often."""
        return sum(move.names.count(name) for move in self.moves) >= count

    def said(self, fragment: str) -> bool:
        """Whether the agent said something that contains a fragment."""
        return any(fragment in move.text for move in self.moves)

    def result(self, name: str) -> Result:
        """The last result of a tool, empty if there is none."""
        found = self.results.get(name)
        return found if isinstance(found, Result) else Result()


def read_history(messages: Sequence[Message]) -> list[History]:
    """Read a conversation from a request: the moment before each of the moves, and the present one last."""
    moves: list[Move] = []
    names: dict[str, str] = {}
    results = Result()
    moments = []
    for message in messages:
        if message["role"] == "assistant":
            moments.append(History(tuple(moves), Result(results)))
            calls = []
            for call in message.get("tool_calls") or []:
                names[call["id"]] = call["function"]["name"]
                calls.append(Call(call["function"]["name"], json.loads(call["function"]["arguments"])))
            moves.append(Move(tuple(calls), message.get("content") or ""))
        elif message["role"] == "tool":
            results[names[message["tool_call_id"]]] = _result(message["content"])
    return [*moments, History(tuple(moves), results)]


def _result(content: str) -> Any:
    """What a tool returned; nothing of one that failed, which is told as a text."""
    try:
        value = json.loads(content)
    except ValueError:
        return Result()
    return Result(value) if isinstance(value, dict) else value


@attrs.frozen
class Step:
    """One step of a plan: weighted moves, and when it applies.

    A step that stays is not left behind by making its move: the model may repeat itself.
    """

    options: tuple[tuple[float, Move], ...]
    when: Callable[[History], bool] = lambda _: True
    stays: bool = False

    def makes(self, names: tuple[str, ...]) -> bool:
        """Whether one of its moves calls just these tools."""
        return any(move.names == names for _, move in self.options)


def step(
    usual: Move,
    *slips: tuple[float, Move],
    when: Callable[[History], bool] = lambda _: True,
    stays: bool = False,
) -> Step:
    """Write a step: the usual move gets the weight that the slips leave."""
    rest = 1.0 - sum(weight for weight, _ in slips)
    return Step(((rest, usual), *slips), when, stays)


def next_move(plan: Sequence[Step], messages: Sequence[Message], dice: Dice) -> Move:
    """Choose what the model does now, with its text filled in."""
    *moments, now = read_history(messages)
    position = 0
    for moment, move in zip(moments, now.moves, strict=True):
        for i in range(position, len(plan)):
            if plan[i].when(moment) and plan[i].makes(move.names):
                position = i if plan[i].stays else i + 1
                break
    for candidate in plan[position:]:
        if candidate.when(now):
            move = dice.pick(candidate.options)
            if move.names:
                return attrs.evolve(move, text=move.text.format_map(now.results))
    return Move(text="That is all from my side. Have a nice day.")
