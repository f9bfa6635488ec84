"""Where the noise of a run comes from: trials nested in recorded worlds, and users nested in those."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, frozen

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.runs import load_run
from replay.stats import (
    Components,
    NoiseShare,
    components_nested,
    components_nested3,
    half_width_without,
    noise_shares,
    outside_share,
)
from replay.store import Store
from replay.view import View

from .outcomes import outcomes_of, refuse_unanswered
from .reliability import Errors, TrialOutcome, count
from .residual import Residual
from .said_again import UserSeen, user_seen

__all__ = ["Noise", "UserApart", "noise_of"]

_COVERAGE = "SELECT coverage FROM trials WHERE run = ?"
_OWN, _LENT, _LACKING = ("own", "repeated"), ("borrowed", "extended"), ("missed", "stale")
_Z95 = 1.959964

Cells = Sequence[Sequence[Sequence[tuple[int, int]]]]
"""Of each task, of each world, of each of its users the passed trials and the trials."""


@frozen
class UserApart:
    """The simulated user, told apart from the model.

    Attributes:
        variance: between users inside a world; of a scripted user 0.
        share: of the noise of a rerun, with the user's interactions with the outside; None without noise.
        model: what is left of the noise: the model's share, with all its interactions.
        half_width: 95% half-width of pass^1 in a rerun if the user were one that repeats itself.
    """

    variance: float
    share: NoiseShare
    model: NoiseShare
    half_width: float | None


@frozen
class Noise:
    """The noise of a run by source.

    Attributes:
        worlds: recorded worlds over all tasks that have counted trials.
        trials: counted trials.
        components: variance of a verdict by source; its ``rest`` is of model and user together.
        share: the outside's share of the noise of a rerun: at least so much, as worlds share answers.
        shared: share of the frozen answers that worlds have in common (borrowed or extended), 0 to 1.
        extended: frozen calls answered by what was called live after the recordings were made: where such a tool
            drifts, its world is of two times.
        lacking: frozen calls without an exact answer; with any, the shares may be off in either direction.
        half_width: 95% half-width of pass^1 in a rerun of this suite with as many trials, everything live.
        half_width_frozen: the same with the outside frozen.
        user: what the recordings show of the simulated user.
        apart: the user and the model; None where they cannot be told apart.
        residual: what came of replaying the trials with everything frozen; None if they were not replayed.
    """

    run: str
    score: str
    tasks: int
    worlds: int
    trials: int
    components: Components
    share: NoiseShare
    shared: float | None
    extended: int
    lacking: int
    half_width: float
    half_width_frozen: float | None
    user: UserSeen
    apart: UserApart | None = None
    residual: Residual | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


def noise_of(store: Store, run: str, *, score: str | None = None, errors: Errors = "exclude", seed: int = 0) -> Noise:
    """Split the noise of a run whose trials are nested in recorded worlds.

    Args:
        store: an index that is up to date.
        run: frozen, with several worlds and several trials in each; which world a trial had, and which user if trials
            share users, stands in its cassette.
        score: which score counts; None takes the primary one.
        errors: the convention for trials without a verdict.
        seed: of the bootstrap.

    Raises:
        BadInput: no trial is frozen in a world; too few worlds, users, trials or tasks; too many trials unanswered.
        CassetteError: a cassette cannot be read.
    """
    found = outcomes_of(store, load_run(store.home, run), score)
    helps = "let reads extend their worlds, or record more trials in the source run"
    refuse_unanswered(found, errors, f"the noise of the others is not that of all: {helps}")
    views = {trial: View(store.home.cassette(TrialId.parse(trial)), store.home) for trial in found.trials}
    cells = _cells(views, found.trials, errors)
    user = user_seen(views.values())
    shares = any("user_seed" in view.cassette.header.config for view in views.values())
    try:
        components, share, apart = _split(cells, user, seed, shares_users=shares)
    except ValueError as error:
        raise BadInput(
            f"run {run!r}: {error}; the noise is split from several worlds of each task with several trials in each"
        ) from error
    trials = sum(n for worlds in cells for users in worlds for _, n in users)
    noise = max(components.outside + components.rest, 0.0)
    half = _Z95 * math.sqrt(noise / trials)  # of a mean over as many trials, each in a world of its own
    verdicts = Counter[str]()
    for row in store.rows(_COVERAGE, [run]):
        verdicts.update(json.loads(row["coverage"] or "{}"))
    own, lent = (sum(verdicts[name] for name in names) for names in (_OWN, _LENT))
    return Noise(
        run=run,
        score=found.score,
        tasks=len(cells),
        worlds=sum(map(len, cells)),
        trials=trials,
        components=components,
        share=share,
        shared=lent / (own + lent) if own + lent else None,
        extended=verdicts["extended"],
        lacking=sum(verdicts[name] for name in _LACKING),
        half_width=half,
        half_width_frozen=_without(half, share),
        user=user,
        apart=None if apart is None else UserApart(*apart, half_width=_without(half, apart[1])),
    )


def _cells(views: Mapping[str, View], outcomes: Mapping[str, TrialOutcome], errors: Errors) -> Cells:
    """Counts by task, world and user; where trials share no users, each world has one that all its trials share."""
    nested: dict[str, dict[int, dict[int | None, list[TrialOutcome]]]] = {}
    for trial, outcome in outcomes.items():
        config = views[trial].cassette.header.config
        if not isinstance(config.get("world"), int):
            raise BadInput(
                f"{trial} is not frozen in a recorded world, so its noise cannot be split: freeze the outside in "
                "several worlds with several trials in each"
            )
        of_task = nested.setdefault(outcome.task, {}).setdefault(config["world"], {})
        of_task.setdefault(config.get("user_seed"), []).append(outcome)
    tasks = []
    for worlds in nested.values():
        counted = [
            [(sum(one.successes), sum(one.trials)) for one in (count(o, errors) for o in users.values()) if one.tasks]
            for _, users in sorted(worlds.items())
        ]
        if any(counted):
            tasks.append([users for users in counted if users])
    return tasks


Parts = tuple[float, NoiseShare, NoiseShare]
"""The user's variance and share, and the model's share."""


def _split(
    cells: Cells, user: UserSeen, seed: int, *, shares_users: bool
) -> tuple[Components, NoiseShare, Parts | None]:
    """Variances, the outside's share, and where they can be told apart user and model.

    Where trials share users, pairs of a world with the same user tell nothing of the outside: they are left out of it.
    """
    apart: Parts | None = None
    if shares_users:
        three, shares = components_nested3(cells), noise_shares(cells, seed=seed)
        found, outside = Components(three.task, three.outside, three.user + three.rest, three.total), shares.outside
        if user.kind == "seeded":
            apart = (three.user, shares.user, shares.rest)
    else:
        flat = [[(sum(c for c, _ in users), sum(n for _, n in users)) for users in worlds] for worlds in cells]
        found, outside = components_nested(flat), outside_share(flat, seed=seed)
    if user.kind == "scripted":
        apart = (0.0, *_of_script(outside))
    return found, outside, apart


def _of_script(outside: NoiseShare) -> tuple[NoiseShare, NoiseShare]:
    """The shares of a user that makes no noise, and of the model: all that the outside leaves."""
    if outside.estimate is None:
        return outside, outside
    low, high = (None if end is None else 1 - end for end in (outside.high, outside.low))
    return NoiseShare(0.0, 0.0, 0.0, outside.level), NoiseShare(1 - outside.estimate, low, high, outside.level)


def _without(half_width: float, share: NoiseShare) -> float | None:
    return None if share.estimate is None else half_width_without(half_width, share.estimate)
