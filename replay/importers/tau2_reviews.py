"""Reviews by a model and notes by people of a tau2 simulation, as labels of judges and of people.

An author has one label on a trial. A review that names several errors gives one: the first critical one, else the
first; its note tells all of them, and the whole review stands in the cassette. Whether the user erred is told also by
a review that finds no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from replay.labelling.labels import Fault, UserError

from .findings import FoundLabel
from .reading import as_dict, as_list, text_in

__all__ = ["ANNOTATIONS", "note_label", "review_labels"]

ANNOTATIONS: Final = (
    "review",
    "user_only_review",
    "hallucination_check",
    "auth_classification",
    "effect_timeline",
    "info",
    "agent_usage",
    "speech_environment",
)
"""The parts of a simulation that are about it; they are kept whole."""

_FAULTS: Final[Mapping[str, Fault]] = {"agent": "agent", "user": "user", "system": "infrastructure"}


@frozen
class _Reviewer:
    """One of tau2's reviews.

    Attributes:
        side: whose errors it tells, if it tells one side's only.
        whole: it looks for every error of the user.
    """

    field: str
    author: str
    side: Fault | None = None
    whole: bool = True


_REVIEWERS: Final = (
    _Reviewer("review", "tau2 review"),
    _Reviewer("user_only_review", "tau2 user-only review", "user"),
    _Reviewer("hallucination_check", "tau2 hallucination check", "user", whole=False),
)


def review_labels(
    simulation: Mapping[str, Any], step_of: Callable[[Mapping[str, Any]], int | None]
) -> tuple[list[FoundLabel], list[str]]:
    """The labels that the reviews of a simulation give, and what is odd about them.

    Args:
        simulation: as the file holds it.
        step_of: the step of an error, from its ``turn_idx`` or ``tick_start``.
    """
    labels: list[FoundLabel] = []
    remarks: list[str] = []
    for reviewer in _REVIEWERS:
        review = as_dict(simulation.get(reviewer.field))
        errors = [as_dict(error) for error in as_list(review.get("errors"))]
        blamed = [(fault, error) for error in errors if (fault := reviewer.side or _fault(error.get("source")))]
        if len(blamed) < len(errors):
            count = len(errors) - len(blamed)
            remarks.append(f"{reviewer.field} names nobody for {count} of {len(errors)} errors: no label for these")
        all_named = isinstance(review.get("errors"), list) and len(blamed) == len(errors)
        of_user = [error for fault, error in blamed if fault == "user"]
        erred = _user_error(of_user, all_named=all_named) if reviewer.whole else None
        if not blamed and erred is not None:
            labels.append(FoundLabel(reviewer.author, None, "judge", erred, note="it found no error"))
        if blamed:
            fault, error = min(blamed, key=lambda pair: not _severity(pair[1]).startswith("critical"))
            labels.append(
                FoundLabel(
                    author=reviewer.author,
                    fault=fault,
                    source="judge",
                    user_error=erred,
                    type=_type(error, reviewer.field),
                    step=step_of(error),
                    note=" | ".join(_note(whose, each) for whose, each in blamed),
                )
            )
    return labels, remarks


def note_label(note: Mapping[str, Any]) -> FoundLabel | None:
    """The label that a note gives; None if it blames nobody."""
    fault = _fault(note.get("error_source"))
    if fault is None:
        return None
    return FoundLabel(
        author=text_in(note, "author_email") or "tau2 note",
        fault=fault,
        type=text_in(note, "error_type"),
        note=text_in(note, "note"),
        at=text_in(note, "created_at"),
    )


def _fault(source: Any) -> Fault | None:
    return _FAULTS.get(source) if isinstance(source, str) else None


def _user_error(errors: Sequence[Mapping[str, Any]], *, all_named: bool) -> UserError | None:
    """Whether the user erred; None if that, or how badly, is not told of all errors."""
    found = [severity for error in errors if (severity := _severity(error))]
    if any(severity.startswith("critical") for severity in found):
        return "critical"
    if not all_named or len(found) < len(errors):
        return None
    return "minor" if errors else "none"


def _severity(error: Mapping[str, Any]) -> str:
    return text_in(error, "severity") or ""


def _type(error: Mapping[str, Any], field: str) -> str | None:
    """How bad, and of which kind: ``critical_hindered content_error``."""
    kind = "hallucination" if field == "hallucination_check" else text_in(error, "error_type")
    return " ".join(part for part in (_severity(error), kind) if part) or None


def _note(fault: Fault, error: Mapping[str, Any]) -> str:
    tags = _words(as_list(error.get("error_tags")))
    head = " ".join(part for part in (fault, _severity(error), f"[{tags}]" if tags else "") if part)
    better = text_in(error, "correct_behavior")
    return f"{head}: {text_in(error, 'reasoning') or 'no reason given'}{f' (better: {better})' if better else ''}"


def _words(tags: Iterable[Any]) -> str:
    return ", ".join(tag for tag in tags if isinstance(tag, str))
