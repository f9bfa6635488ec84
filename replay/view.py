"""A recorded trial as a reader sees it: lazy, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from cassettes.errors import BadInput, CorruptCassette
from cassettes.model import Call, Ending, Interaction, Mark, Origin, Outcome, Reply, TrialId
from cassettes.reader import Cassette
from cassettes.values import unpack

from .conversation import Turn, turns_of
from .home import Home
from .orchestration.tasks import Task, task_from
from .state import patched

__all__ = ["Step", "View", "coverage_of", "messages_of", "open_trial"]

_EXACT = ("own", "borrowed", "repeated")
_ANSWERED = (*_EXACT, "raced", "extended", "emulated")
_ASKED = (*_ANSWERED, "stale", "missed", "refused")


def messages_of(call: Call) -> list[Any]:
    """The messages of a model call; some protocols also take a single one, as text or as a map."""
    sent = call.arguments.get(call.history or "")
    return list(sent) if isinstance(sent, list) else [] if sent is None else [sent]


def coverage_of(counts: dict[str, int]) -> dict[str, int]:
    """Verdicts of the calls that were looked up in recordings, from a cassette's counts; live ones left out."""
    return {v: counts[f"origin {v}"] for v in _ASKED if counts.get(f"origin {v}")}


class Step:
    """One interaction of a view."""

    def __init__(self, interaction: Interaction) -> None:
        self.interaction = interaction

    @property
    def number(self) -> int:
        """Its 0-based place in start order."""
        return self.interaction.step

    @property
    def call(self) -> Call:
        """What was asked."""
        return self.interaction.call

    @property
    def outcome(self) -> Outcome:
        """What came back."""
        return self.interaction.outcome

    @property
    def origin(self) -> Origin:
        """Who answered."""
        return self.interaction.origin

    @property
    def reply(self) -> Reply | None:
        """Of a model call, the reply read from the protocol."""
        return self.interaction.reply

    @property
    def text(self) -> str | None:
        """Of a model call, the text of its reply."""
        return None if self.reply is None else self.reply.text


class Steps(Sequence[Step]):
    """The steps of a cassette, each read when asked for."""

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette
        self._numbers = cassette.step_numbers
        self._known: dict[int, Step] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> list[Step]: ...
    def __getitem__(self, place: int | slice) -> Step | list[Step]:
        if isinstance(place, slice):
            return [self._step(number) for number in self._numbers[place]]
        return self._step(self._numbers[place])

    def __iter__(self) -> Iterator[Step]:
        return map(self._step, self._numbers)

    def _step(self, number: int) -> Step:
        """Read once: scorers go over the same steps one after the other."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = Step(self._cassette.step(number))
        return known


class View:
    """A recorded trial, to be read only: its steps are read once, and scorers see the same ones after each other.

    Args:
        path: its cassette.
        home: where its initial state lies; None if only the cassette is at hand.

    Raises:
        CassetteError: the file cannot be read.
    """

    def __init__(self, path: Path, home: Home | None = None) -> None:
        self.path = path
        self.cassette = Cassette(path)
        self._home = home

    @property
    def id(self) -> TrialId:
        """The trial's id."""
        return self.cassette.header.id

    @property
    def ending(self) -> Ending:
        """How it ended."""
        return self.cassette.ending

    @property
    def coverage(self) -> dict[str, int]:
        """Verdicts of the frozen calls, such as ``{"own": 4, "missed": 1}``; empty if everything was live."""
        return coverage_of(self.cassette.counts)

    @cached_property
    def task(self) -> Task:
        """The task as the cassette keeps it."""
        return task_from(self.cassette.header.task_definition, self.cassette.header.task)

    @cached_property
    def steps(self) -> Steps:
        """The steps, each read when asked for."""
        return Steps(self.cassette)

    @cached_property
    def marks(self) -> list[Mark]:
        """What belongs to the trial and is no call: messages, states, problems."""
        return self.cassette.marks()

    @property
    def problems(self) -> list[str]:
        """What the recorder saw going wrong, such as a change of the tracked state that no write explains."""
        return [mark.data for mark in self.marks if mark.kind == "problem"]

    def messages(self, step: int) -> list[Any]:
        """What the model saw at this step, exactly as it was sent.

        Raises:
            BadInput: the step is no model call.
        """
        call = self.cassette.step(step).call
        if call.kind != "model" or call.history is None:
            raise BadInput(f"step {step} of {self.id} is a {call.kind} call: only a model call has messages")
        return messages_of(call)

    @cached_property
    def agent_messages(self) -> list[str]:
        """What the agent said to the user, in order: texts of its model's replies, or the marked messages."""
        marked = [m.data for m in self.marks if m.kind == "message" and m.data["role"] == "assistant"]
        if marked:
            return [m["content"] for m in marked if m["content"]]
        return [s.text for s in self.steps if s.call.kind == "model" and s.call.actor == "agent" and s.text]

    @cached_property
    def conversation(self) -> list[Turn]:
        """What the user and the agent said, in order: who, the text, and before which step."""
        return turns_of(self.marks, (step.interaction for step in self.steps))

    @property
    def unattributed(self) -> dict[str, int]:
        """What happened during the trial and is not in its recording, by name: calls of no trial, processes started."""
        return {name: n for mark in self.marks if mark.kind == "unattributed" for name, n in mark.data["names"].items()}

    @property
    def caught_up(self) -> list[dict[str, Any]]:
        """The frozen writes that were carried out before live calls: ``step``, ``before``, ``name``, ``other``."""
        keys = ("step", "before", "name", "other", "seconds")
        return [{key: mark.data[key] for key in keys} for mark in self.marks if mark.kind == "caught_up"]

    @property
    def tracks_state(self) -> bool:
        """True if the trial tracked a state."""
        return any(m.kind == "state" for m in self.marks)

    def state(self, step: int | None = None) -> Any:
        """The tracked state after ``step`` (None: at the end), made anew at each call.

        Raises:
            BadInput: the trial tracked no state.
            CorruptCassette: the initial state is missing or damaged.
        """
        marks = self.marks
        initial = next((m.data for m in marks if m.kind == "state"), None)
        if initial is None:
            raise BadInput(f"{self.id} tracked no state; call trial.track(state) while recording")
        if self._home is None:
            raise CorruptCassette(f"{self.path}: its initial state lies in a home folder; open it by its trial id")
        root = unpack(self._home.state(initial["digest"]))
        done = (s.interaction for s in self.steps if step is None or s.number <= step)
        changes = sorted(((i.ended, i.patch) for i in done if i.patch is not None), key=lambda change: change[0])
        patched(root, [patch for _, patch in changes])
        if step is None:
            patched(root, [m.data for m in marks if m.kind == "changed"])
        return root


def _parsed(text: str, home: Home) -> TrialId:
    """The id; one whose index was forgotten is answered by the trials of that task."""
    run, slash, task = text.partition("/")
    if slash and "#" not in text:
        known = [str(trial) for trial, _ in home.trials(run) if trial.task == task]
        if known:
            raise BadInput(f"{text!r} names a task; its trials: {', '.join(known[:10])}")
    return TrialId.parse(text)


def open_trial(trial: str | Path, home: Home) -> View:
    """Open a trial by id or by path.

    Raises:
        BadInput: there is no such trial.
        CassetteError: the file cannot be read.
    """
    path = Path(trial)
    if path.suffix == ".cassette":
        if not path.exists():
            raise BadInput(f"{path} does not exist")
        # <home>/cassettes/<run>/<task>/<index>.cassette
        above = path.resolve().parents
        return View(path, Home(above[3]) if len(above) > 3 and above[2].name == "cassettes" else None)
    parsed = _parsed(str(trial), home)
    found = home.cassette(parsed)
    if not found.exists():
        known = [str(t) for t, _ in sorted(home.trials(parsed.run), key=lambda found: found[0].task != parsed.task)]
        hint = f"its trials: {', '.join(known[:5])}{' ...' if len(known) > 5 else ''}" if known else "no such run"
        raise BadInput(f"there is no trial {parsed} in {home.root}; {hint}")
    return View(found, home)
