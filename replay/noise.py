"""Where the noise of a run comes from: trials nested in recorded worlds."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from cassettes.model import TrialId

from .outcomes import outcomes_of
from .reliability import Errors, TrialOutcome, count
from .runs import load_run
from .stats import (
    Components,
    NoiseShare,
    components_nested,
    half_width_without,
    outside_share,
)
from .store import Store
from .view import View

__all__ = ["Noise", "noise_of"]

_COVERAGE = "SELECT coverage FROM trials WHERE run = ?"
_OWN, _LENT, _LACKING = ("own", "repeated"), ("borrowed", "extended"), ("missed", "stale")
_Z95 = 1.959964


@frozen
class Noise:
    """The noise of a run by source.

    Attributes:
        worlds: recorded worlds over all tasks that have counted trials.
        trials: counted trials.
        components: variance of a verdict by source.
        share: the outside's share of the noise of a rerun: at least so much, as worlds share answers.
        shared: share of the frozen answers that worlds have in common (borrowed or extended), 0 to 1.
        lacking: frozen calls without an exact answer; with any, the shares may be off in either direction.
        half_width: 95% half-width of pass^1 in a rerun of this suite with as many trials, everything live.
        half_width_frozen: the same with the outside frozen.
    """

    run: str
    score: str
    tasks: int
    worlds: int
    trials: int
    components: Components
    share: NoiseShare
    shared: float | None
    lacking: int
    half_width: float
    half_width_frozen: float | None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def noise_of(store: Store, run: str, *, score: str | None = None, errors: Errors = "exclude", seed: int = 0) -> Noise:
    """Split the noise of a run whose trials are nested in recorded worlds.

    Args:
        store: an index that is up to date.
        run: frozen, with several worlds and several trials in each; which world a trial had stands in its cassette.
        score: which score counts; None takes the primary one.
        errors: the convention for trials without a verdict.
        seed: of the bootstrap.

    Raises:
        BadInput: no trial is frozen in a world; too few worlds, trials or tasks.
        CassetteError: a cassette cannot be read.
    """
    found = outcomes_of(store, load_run(store.home, run), score)
    worlds: dict[str, dict[int, list[TrialOutcome]]] = {}
    for trial, outcome in found.trials.items():
        config = View(store.home.cassette(TrialId.parse(trial))).cassette.header.config
        if not isinstance(config.get("world"), int):
            raise BadInput(
                f"{trial} is not frozen in a recorded world, so its noise cannot be split: freeze the outside in "
                "several worlds with several trials in each"
            )
        worlds.setdefault(outcome.task, {}).setdefault(config["world"], []).append(outcome)
    nested = []
    for of_task in worlds.values():
        counts = [count(outcomes, errors) for _, outcomes in sorted(of_task.items())]
        cells = [(sum(one.successes), sum(one.trials)) for one in counts if one.tasks]
        if cells:
            nested.append(cells)
    try:
        components, share = components_nested(nested), outside_share(nested, seed=seed)
    except ValueError as error:
        raise BadInput(
            f"run {run!r}: {error}; the noise is split from several worlds of each task with several trials in each"
        ) from error
    trials = sum(n for cells in nested for _, n in cells)
    noise = max(components.outside + components.rest, 0.0)
    half = _Z95 * math.sqrt(noise / trials)  # of a mean over as many trials, each in a world of its own
    verdicts = Counter[str]()
    for row in store.rows(_COVERAGE, [run]):
        verdicts.update(json.loads(row["coverage"] or "{}"))
    own, lent = (sum(verdicts[name] for name in names) for names in (_OWN, _LENT))
    return Noise(
        run=run,
        score=found.score,
        tasks=len(nested),
        worlds=sum(map(len, nested)),
        trials=trials,
        components=components,
        share=share,
        shared=lent / (own + lent) if own + lent else None,
        lacking=sum(verdicts[name] for name in _LACKING),
        half_width=half,
        half_width_frozen=None if share.estimate is None else half_width_without(half, share.estimate),
    )
