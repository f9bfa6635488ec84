"""A recorder for tests of adapters: a list."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Any

from attrs import evolve

from cassettes.canonical import canonical
from cassettes.errors import TrialStopped, Unanswered
from cassettes.model import Call, Cancelled, Chunk, Error, Interaction, Outcome, Stream, Value
from cassettes.recorder import enclosing
from cassettes.values import pack, unpack


def kept(value: Any) -> Any:
    """The value as it comes out of a file: a copy, or an error if it cannot be kept."""
    return unpack(pack(value))


class ListRecorder:
    """Implements the Recorder protocol.

    Args:
        answers: served one after the other, whatever is asked; None lets that call go live.
        source: interactions to serve by key, each once, in recorded order; any other call stops the trial.
        delay: handed out with every ticket.
    """

    def __init__(
        self,
        answers: Iterable[Outcome | None] = (),
        *,
        source: Iterable[Interaction] | None = None,
        delay: float = 0.0,
    ) -> None:
        self.calls: list[Call] = []
        self.recorded: list[Interaction] = []  # in the order in which they ended
        self.escapes: list[str] = []
        self.open = 0
        self.delay = delay
        self.changed = threading.Condition()
        self._answers = deque(answers)
        self._source: dict[bytes, deque[Outcome]] | None = None
        if source is not None:
            self._source = defaultdict(deque)
            for interaction in source:
                self._source[_key(interaction.call)].append(interaction.outcome)

    @property
    def interactions(self) -> list[Interaction]:
        """In start order."""
        return sorted(self.recorded, key=lambda interaction: interaction.step)

    def connecting(self, address: Any) -> None:
        """Any connection will do."""

    def escaped(self, name: str, pid: int | None = None) -> None:
        self.escapes.append(name)

    def invitation(self):
        """Processes are told, not recorded."""

    def begin(self, call: Call) -> ListTicket:
        with self.changed:
            step = len(self.calls)
            self.calls.append(call)
            answer = self._answers.popleft() if self._answers else None
            if self._source is not None:
                queue = self._source[_key(call)]
                if not queue:
                    raise TrialStopped(Unanswered(f"no recording answers {call.name}"))
                answer = queue.popleft()
            if answer is None:
                self.open += 1
        snapshot = evolve(call, arguments=kept(dict(call.arguments)), detail=kept(dict(call.detail)))
        outer = enclosing()
        return ListTicket(self, snapshot, step, answer, None if outer is None else outer.step)

    def wait(self, interactions: int, timeout: float = 20.0) -> bool:
        """Wait until that many interactions were recorded."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.recorded) >= interactions, timeout)


class ListTicket:
    """Records what it is told as an Interaction of its recorder."""

    def __init__(
        self, recorder: ListRecorder, call: Call, step: int, answer: Outcome | None, parent: int | None
    ) -> None:
        self.step = step
        self.answer = answer
        self.delay = recorder.delay
        self.instead = None
        self.plan = ()
        self.chunks: list[bytes] = []
        self._recorder = recorder
        self._call = call
        self._parent = parent
        self._over = False

    def repeatable(self, again, *, is_async):
        """Nothing is carried out again."""

    def done(self, value, reply=None):
        self._end(Value(kept(value)), reply)
        return value

    def failed(self, error):
        self._end(Error(kept(error)))

    def cancelled(self):
        self._end(Cancelled())

    def chunk(self, data):
        assert not self._over, "a chunk after the end"
        with self._recorder.changed:
            self.chunks.append(kept(data))
            self._recorder.changed.notify_all()

    def closed(self, head, *, complete, error=None, decode=None):
        pieces = tuple(Chunk(float(place), data) for place, data in enumerate(self.chunks))
        reply = decode(tuple(self.chunks)) if decode else None
        self._end(Stream(kept(head), pieces, complete, None if error is None else kept(error)), reply)

    def _end(self, outcome, reply=None):
        assert not self._over, "a call ended twice"
        assert self.answer is None, "a frozen call was reported"
        self._over = True
        recorder = self._recorder
        with recorder.changed:
            ended = len(recorder.calls) + len(recorder.recorded)
            recorder.recorded.append(
                Interaction(self.step, self._call, outcome, self.step, ended, parent=self._parent, reply=reply)
            )
            recorder.open -= 1
            recorder.changed.notify_all()


def _key(call: Call) -> bytes:
    return canonical([call.kind, call.name, call.endpoint, dict(call.arguments)])
