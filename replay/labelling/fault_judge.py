"""A model as judge of faults: asked about a trial once or several times, its calls kept beside the trial's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from cassettes.errors import BadInput
from cassettes.recorder import unwatched
from replay.scoring.beside import asked_beside, path_beside
from replay.spending import Spent, spent_by
from replay.view import View

from .fault_prompt import Verdict, fault_messages, read_verdict

__all__ = ["AskMessages", "FaultJudge", "Judged", "fault_judge"]

AskMessages = Callable[[list[dict[str, str]]], str]
"""Asks a model: from messages with ``role`` and ``content`` to the text of its reply."""

_KIND: Final = "faults"  # before the judge's name, so that a scorer of the same name has files of its own


@frozen
class Judged:
    """What a judge said of one trial.

    Attributes:
        verdict: on which more than half of its answers agree in fault and user error; None if there is none.
        said: each answer as it came.
        answers: what was read in it; None where it had not the form that was asked for.
        alike: of pairs of answers, the share that agree in fault and user error; None with one answer.
        live: how many of the answers were asked for now, and not before; ``spent`` is what they used.
    """

    verdict: Verdict | None
    said: tuple[str, ...]
    answers: tuple[Verdict | None, ...]
    alike: float | None
    live: int
    spent: tuple[Spent, ...] = ()


@frozen
class FaultJudge:
    """A judge of faults; see `fault_judge`.

    Attributes:
        grades: how many times it is asked about each trial.
    """

    name: str
    version: str
    ask: AskMessages
    guidance: str = ""
    grades: int = field(default=1)

    @grades.validator
    def _at_least_one(self, _attribute: Any, value: int) -> None:
        if value < 1:
            raise BadInput(f"a judge is asked about a trial once or more, not {value} times")

    @property
    def id(self) -> str:
        """``name@version``: the author of its labels."""
        return f"{self.name}@{self.version}"

    def __call__(self, view: View, told: Mapping[str, Any]) -> Judged:
        """Judge one trial: from recorded answers where there are some, else by asking.

        Args:
            view: of the trial.
            told: what is known of it besides: ``passed``, ``score``, ``evidence``, ``rules``.

        Raises:
            Exception: whatever asking raises.
            CassetteError: a cassette cannot be read or written.
            Divergence: something else is asked than is recorded under this version.
        """
        found = [self._grade(view, told, number) for number in range(self.grades)]
        answers = tuple(answer for _, answer, _ in found)
        paths = [self._path(view, number) for number, (_, _, live) in enumerate(found) if live]
        keys = [None if answer is None else answer.key for answer in answers]
        pairs = list(combinations(keys, 2))
        most, times = Counter(keys).most_common(1)[0]
        return Judged(
            verdict=answers[keys.index(most)] if most is not None and times > len(keys) / 2 else None,
            said=tuple(text for text, _, _ in found),
            answers=answers,
            alike=sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
            live=len(paths),
            spent=tuple(spent_by(step.interaction for path in paths for step in View(path).steps)),
        )

    def _path(self, view: View, number: int) -> Path:
        return path_beside(view, f"{_KIND}.{self.id}", number)

    def _grade(self, view: View, told: Mapping[str, Any], number: int) -> tuple[str, Verdict | None, bool]:
        def ask(known: Mapping[str, Any]) -> str:
            if known["passed"] != told["passed"]:
                then, now = (f"{'passed' if it['passed'] else 'failed'} by {it['score']}" for it in (known, told))
                raise BadInput(f"it was judged as one that {then}, and {now}: give the judge another version")
            text = self.ask(fault_messages(view, known, self.guidance))
            if not isinstance(text, str):
                raise BadInput(f"judge {self.id} returned {type(text).__name__}; the text of the reply is needed")
            return text

        with unwatched():
            text, live = asked_beside(view, self._path(view, number), self.id, ask, dict(told))
        return text, read_verdict(text, view, passed=bool(told["passed"])), live


def fault_judge(
    ask: AskMessages, *, name: str | None = None, version: str, guidance: str = "", grades: int = 1
) -> FaultJudge:
    """A judge that asks a model whose fault a trial was.

    The first time, the model is asked live, and its calls are recorded beside the trial's cassette. From then on they
    are answered from there. What is asked, and what form the answer has, is fixed: see ``trialtape lab faults``.

    Args:
        ask: sends messages (``role`` and ``content`` each) to a model, through a client that trialtape sees, and
            returns the text of its reply.
        name: default: the function's. With the version it is the author of the labels.
        version: raise it whenever the model or the guidance changes.
        guidance: what the judge should know of the domain, such as a policy; it is added to the prompt.
        grades: how many times each trial is judged; more than half must agree.

    Raises:
        BadInput: ``grades`` is less than 1.
    """
    return FaultJudge(name or str(getattr(ask, "__name__", "judge")), version, ask, guidance, grades)
