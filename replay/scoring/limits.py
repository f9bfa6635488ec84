"""How a trial ended, and what it took: caps, terminations, calls, tokens, seconds, money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from cassettes.errors import BadInput
from replay.prices import Price, PriceList
from replay.spending import priced, spent_by
from replay.view import View

from .score import Score, Scorer, configured, scorer

__all__ = ["calls_within", "cost_within", "ended_by", "not_capped", "seconds_within", "tokens_within"]

_BLIND: Final = ("whether the task was done", "what the agent said and did")


@scorer(name="not_capped", version="1", blind_to=_BLIND)
def not_capped(view: View) -> Score:
    """The trial came to an end of its own."""
    ending = view.ending
    return Score(float(ending.status == "completed"), evidence={"ending": ending.status, "reason": ending.reason})


def ended_by(*reasons: str) -> Scorer:
    """A scorer: the trial completed, for one of these reasons, such as ``user_stop``.

    Raises:
        BadInput: there is none.
    """
    if not reasons:
        raise BadInput("ended_by needs a reason, such as ended_by('user_stop')")

    def check(view: View) -> Score:
        ending = view.ending
        good = ending.status == "completed" and ending.reason in reasons
        return Score(float(good), evidence={"ending": ending.status, "reason": ending.reason})

    return configured(check, name="ended_by", version="1", settings={"reasons": list(reasons)}, blind_to=_BLIND)


def calls_within(most: int, kinds: Iterable[str] = ("model", "tool")) -> Scorer:
    """A scorer: the agent made at most this many calls of these kinds."""
    counted = tuple(kinds)

    def check(view: View) -> Score:
        calls = sum(step.call.actor == "agent" and step.call.kind in counted for step in view.steps)
        return Score(float(calls <= most), evidence={"calls": calls, "most": most})

    return configured(check, name="calls_within", version="1", settings=_settings(most, counted), blind_to=_BLIND)


def tokens_within(most: int, actor: str = "agent") -> Scorer:
    """A scorer: the model calls of one side took at most this many tokens, in and out, answers from recordings too.

    Unscored if a call does not tell its usage, unless the others exceed the limit alone.
    """

    def check(view: View) -> Score:
        calls = [step for step in view.steps if step.call.kind == "model" and step.call.actor == actor]
        usages = [step.reply.usage if step.reply is not None else None for step in calls]
        told = sum((usage.input or 0) + (usage.output or 0) for usage in usages if usage is not None)
        untold = sum(usage is None or usage.input is None or usage.output is None for usage in usages)
        evidence = {"tokens": told, "most": most, "calls that do not tell": untold}
        return _within(told, most, unknown=bool(untold), evidence=evidence)

    return configured(check, name="tokens_within", version="1", settings=_settings(most, actor), blind_to=_BLIND)


def seconds_within(most: float) -> Scorer:
    """A scorer: from the first call's start to the last one's end it took at most this long, in seconds.

    Unscored if the recording holds no times, as imported ones do.
    """

    def check(view: View) -> Score:
        ends = [step.interaction.at + step.interaction.duration for step in view.steps]
        if not any(ends):
            return Score(None, evidence={"why": "the recording holds no times"})
        seconds = max(ends) - min(step.interaction.at for step in view.steps)
        return Score(float(seconds <= most), evidence={"seconds": round(seconds, 3), "most": most})

    return configured(check, name="seconds_within", version="1", settings=_settings(most), blind_to=_BLIND)


def cost_within(most: float, prices: Mapping[str, Price] | None = None) -> Scorer:
    """A scorer: the trial's live model calls cost at most this much, in USD or in the currency of your own prices.

    Unscored if a price or a usage is not known, unless what is known exceeds the limit alone.

    Args:
        most: the limit.
        prices: by model; they win over the table that comes with trialtape.
    """
    known = PriceList(prices or {})

    def check(view: View) -> Score:
        cost = priced(spent_by(step.interaction for step in view.steps), known)
        evidence: dict[str, Any] = {"cost": cost.amount, "most": most, "calls": cost.calls}
        if cost.unknown:
            evidence |= {"at least": cost.at_least, "unknown": dict(cost.unknown)}
        return _within(cost.at_least or 0.0, most, unknown=cost.amount is None, evidence=evidence)

    own = {name: [p.input, p.output, p.cached, p.written] for name, p in (prices or {}).items()}
    return configured(check, name="cost_within", version="1", settings=_settings(most, own), blind_to=_BLIND)


def _within(found: float, most: float, *, unknown: bool, evidence: dict[str, Any]) -> Score:
    if found > most:
        return Score(0.0, evidence=evidence)
    return Score(None if unknown else 1.0, evidence=evidence)


def _settings(most: float, of: Any = None) -> dict[str, Any]:
    return {"most": most, "of": list(of) if isinstance(of, tuple) else of}
