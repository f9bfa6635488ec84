"""The scorers that a user names: one of our own, or what a Python file defines."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from cassettes.errors import BadInput
from replay.orchestration.loading import load_object
from replay.scoring import OWN, Scorer, as_scorer
from replay.scoring.judge import Judge

__all__ = ["scorer_named", "scorers_named"]


def scorer_named(text: str) -> Scorer:
    """The scorer that ``NAME`` (one of our own) or ``FILE.py:NAME`` names.

    Raises:
        BadInput: there is none.
    """
    if text in OWN:
        return OWN[text]
    if ".py" not in text:
        raise BadInput(f"{text!r} is no scorer; give FILE.py:NAME, or one of {', '.join(OWN)}")
    return as_scorer(load_object(text, "scorer"))


def scorers_named(texts: Sequence[str], grades: int | None = None) -> list[Scorer]:
    """All of them, each once.

    Args:
        texts: as for `scorer_named`.
        grades: how many times judges grade; None leaves it to them.

    Raises:
        BadInput: one is none, or two different ones have the same name and version.
    """
    found: dict[str, Scorer] = {}
    for text in dict.fromkeys(texts):
        made = scorer_named(text)
        if grades is not None and isinstance(made, Judge):
            made = evolve(made, grades=grades)
        known = found.setdefault(made.id, made)
        if known.function is not made.function:
            raise BadInput(f"two scorers are called {made.id}; give one another name or version")
    return list(found.values())
