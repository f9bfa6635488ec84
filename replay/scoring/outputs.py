"""What had to be told: texts and numbers in what was said, by a chosen side, by a stated rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal

from cassettes.errors import BadInput
from replay.view import View

from .score import Score, Scorer, configured, scorer

__all__ = ["Scope", "outputs", "plain_text", "said_by", "tau_outputs"]

Scope = Literal["agent", "user", "anyone"]

_SCOPES: Final = ("agent", "user", "anyone")
_SEPARATOR: Final = re.compile(r"(?<=\d)[,_'’\u00a0\u202f ](?=\d{3}(?!\d))")
_BLIND: Final = ("what the agent did", "whether what was said is true", "whether the text was meant so")


@scorer(name="tau_outputs", version="1", blind_to=_BLIND)
def tau_outputs(view: View) -> Score:
    """tau-bench's r_output: each output of the task stands in one message of the agent, which is read without commas.

    Upper and lower case do not count. An output that has a comma itself can never be found: that is the benchmark's
    rule (``envs/base.py``). A task without outputs is worth 1.
    """
    said = [text.lower().replace(",", "") for text in view.agent_messages]
    missing = [text for text in view.task.outputs if not any(text.lower() in message for message in said)]
    return Score(float(not missing), evidence={"missing": missing, "outputs": len(view.task.outputs)})


def outputs(*texts: str, scope: Scope = "agent", whole: bool = False) -> Scorer:
    """A scorer: each text was said; numbers count with and without thousands separators.

    Args:
        texts: what must have been said; none means the task's ``outputs``.
        scope: who must have said it. With ``anyone`` it passes if only the user did.
        whole: the text must not stand inside a longer word or number: ``5`` is not in ``15`` or ``5.20``.

    Raises:
        BadInput: there is no such scope.
    """
    if scope not in _SCOPES:
        raise BadInput(f"scope is {scope!r}; one of {', '.join(_SCOPES)} is needed")
    is_in = _whole_in if whole else _in

    def check(view: View) -> Score:
        wanted = texts or view.task.outputs
        if not wanted:
            return Score(None, evidence={"why": "nothing had to be said"})
        missing = _missing(wanted, said_by(view, scope), is_in)
        return Score(float(not missing), evidence={"missing": missing, "scope": scope})

    settings: dict[str, Any] = {"texts": list(texts), "scope": scope, "whole": whole}
    return configured(check, name="outputs", version="1", settings=settings, blind_to=_BLIND)


def said_by(view: View, scope: Scope) -> list[str]:
    """What one side, or both, said, in order."""
    if scope == "agent":
        return view.agent_messages
    return [turn.text for turn in view.conversation if scope in {turn.who, "anyone"}]


def plain_text(text: str) -> str:
    """Lower case, each run of white space one space, numbers without thousands separators."""
    return " ".join(_SEPARATOR.sub("", text.lower()).split())


def _missing(wanted: tuple[str, ...], said: list[str], is_in: Callable[[str, str], bool]) -> list[str]:
    told = [plain_text(text) for text in said]
    return [text for text in wanted if not any(is_in(plain_text(text), message) for message in told)]


def _in(text: str, message: str) -> bool:
    return text in message


def _whole_in(text: str, message: str) -> bool:
    return re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(text)}(?!\w)(?![.,]\d)", message) is not None
