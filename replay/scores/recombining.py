"""A reward made anew from kept scores and their components: nothing is run, and no cassette is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.home import Home
from replay.scoring import Rule, rule_of

from .scorefile import KeptScore, read_scores

__all__ = ["components_of", "named_rule", "recombined"]


def named_rule(text: str) -> tuple[str, Rule]:
    """``NAME=RULE``.

    Raises:
        BadInput: it is something else.
    """
    name, equals, rule = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise BadInput(f"{text!r} is no NAME=RULE, such as reward2=final_state*outputs")
    return name.strip(), rule_of(rule)


def components_of(scores: Iterable[KeptScore]) -> dict[str, float | None]:
    """What a rule may name, of one trial's scores, oldest first.

    ``scorer`` and ``scorer@version`` are values of scores (of several versions the one made last), ``scorer.component``
    is a number among the components that a score tells, or a score's own value in its evidence.
    """
    found: dict[str, float | None] = {}
    for score in scores:
        values = {"": score.value, **_numbers(json.loads(score.evidence).get("components"))}
        for component, value in values.items():
            for name in (score.scorer, f"{score.scorer}@{score.version}"):
                found[f"{name}.{component}" if component else name] = value
    return found


def recombined(home: Home, run: str, name: str, rule: Rule) -> list[KeptScore]:
    """The reward of each trial of a run that has scores; a trial's latest cassette counts.

    Args:
        home: where the run lies.
        run: its name.
        name: of the reward.
        rule: how it is made.

    Raises:
        BadInput: no score of the run has a component that the rule names.
        CorruptCassette: the file of scores is damaged.
    """
    of_trial: dict[tuple[str, str | None], list[KeptScore]] = {}
    last: dict[str, str | None] = {}
    for score in read_scores(home, run):
        of_trial.setdefault((score.trial, score.digest), []).append(score)
        last[score.trial] = score.digest
    values = {trial: components_of(of_trial[trial, digest]) for trial, digest in last.items()}
    unheard = [wanted for wanted in rule.names if not any(wanted in found for found in values.values())]
    if unheard:
        known = sorted({name for found in values.values() for name in found if "@" not in name})
        raise BadInput(
            f"run {run!r} has no score or component {', '.join(unheard)} (known: {', '.join(known) or 'none'})"
        )
    return [
        KeptScore.of(TrialId.parse(trial), name, rule.version, rule.apply(found), last[trial])
        for trial, found in values.items()
    ]


def _numbers(components: object) -> Mapping[str, float]:
    kept = components if isinstance(components, dict) else {}
    return {str(name): float(value) for name, value in kept.items() if isinstance(value, int | float)}
