"""What a score is, and how any Python function gives one."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, overload

from attrs import field, frozen
from attrs.converters import optional

from cassettes.canonical import digest, digest_bytes
from cassettes.errors import BadInput, UnkeepableValue
from replay.view import View

__all__ = ["Score", "Scorer", "as_scorer", "configured", "score_trial", "scorer"]

_ALMOST_ONE = 1 - 1e-6


@frozen
class Score:
    """The verdict of one scorer on one trial.

    Attributes:
        value: from 0 to 1, or any number that the scorer means; None if the trial cannot be scored.
        passed: True from 1 - 1e-6 on, unless the scorer says otherwise; None if unscored.
        evidence: what the verdict rests on.
    """

    value: float | None = field(converter=optional(float))
    passed: bool | None = field(converter=optional(bool))
    evidence: Mapping[str, Any] = field(factory=dict)

    @passed.default
    def _passed(self) -> bool | None:
        return None if self.value is None else self.value >= _ALMOST_ONE


@frozen
class Scorer:
    """A function of a trial's view with the name and the version under which its scores are kept.

    Attributes:
        blind_to: what the verdict cannot see, each in a few words; it is told on every report.
    """

    name: str
    version: str
    function: Callable[[View], Any]
    blind_to: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """``name@version``."""
        return f"{self.name}@{self.version}"

    def __call__(self, view: View) -> Score:
        """Score a trial.

        Raises:
            Exception: whatever the function raises.
            TypeError: it returned something else than a Score, a truth value, a number or None.
        """
        result = self.function(view)
        score = result if isinstance(result, Score) else None
        if result is None or isinstance(result, bool | int | float):
            score = Score(None if result is None else float(result))
        if score is not None:
            finite = score.value is None or math.isfinite(score.value)
            return score if finite else Score(None, evidence={"error": f"the score is {score.value}, no finite number"})
        raise TypeError(f"scorer {self.name} returned {type(result).__name__}; a Score, bool, number or None is needed")


@overload
def scorer(function: Callable[[View], Any], /) -> Scorer: ...
@overload
def scorer(
    *, name: str | None = None, version: str | None = None, blind_to: Iterable[str] = ()
) -> Callable[[Callable[[View], Any]], Scorer]: ...
def scorer(
    function: Callable[[View], Any] | None = None,
    /,
    *,
    name: str | None = None,
    version: str | None = None,
    blind_to: Iterable[str] = (),
) -> Scorer | Callable[[Callable[[View], Any]], Scorer]:
    """Make a scorer of a function; ``version`` names what it does, so that old scores are kept beside new ones.

    Without a version, the first 8 digits of the source's digest serve: another text is another version.

    Args:
        function: of a trial's view.
        name: default: the function's.
        version: of what it does.
        blind_to: what it cannot see, each in a few words, such as "the order of calls".
    """

    def wrap(wrapped: Callable[[View], Any]) -> Scorer:
        return Scorer(name or wrapped.__name__, version or _source_version(wrapped), wrapped, tuple(blind_to))

    return wrap if function is None else wrap(function)


def configured(
    function: Callable[[View], Any],
    *,
    name: str,
    version: str,
    settings: Mapping[str, Any],
    blind_to: Iterable[str] = (),
) -> Scorer:
    """A scorer made for some settings; they are part of its version, so that scores of other ones stay apart.

    Raises:
        BadInput: a setting has no lossless form.
    """
    try:
        told = digest(dict(settings))[:8]
    except UnkeepableValue as error:
        raise BadInput(f"scorer {name}: {error}") from error
    return Scorer(name, f"{version}-{told}", function, tuple(blind_to))


def as_scorer(thing: Any) -> Scorer:
    """A scorer as it is, or any function as one.

    Raises:
        BadInput: it is neither.
    """
    if isinstance(thing, Scorer):
        return thing
    if callable(thing) and hasattr(thing, "__name__"):
        return scorer(thing)
    raise BadInput(f"{thing!r} is no scorer: a function that takes a trial's view is needed")


def score_trial(view: View, by: Scorer) -> Score:
    """The score of a trial; what the scorer raises becomes an unscored verdict that names it."""
    try:
        return by(view)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the user's code: its fault is this score's, and is told
        return Score(None, evidence={"error": f"{type(error).__name__}: {error}"})


def _source_version(function: Callable[..., Any]) -> str:
    try:
        return digest_bytes(inspect.getsource(function).encode())[:8]
    except (OSError, TypeError):
        return "1"
