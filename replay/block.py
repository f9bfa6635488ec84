"""``tt.trial``: one trial, outside a suite, as a block of the user's code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from cassettes.errors import BadInput
from cassettes.given import given_rules
from cassettes.model import TrialId

from .home import Home
from .ignoring import checked_rules
from .playback import Playback
from .policy import RECORD, REPLAY, OnMiss, Policy
from .policy import freeze as freezing
from .recording import Recording
from .runs import RunFile, open_run, packages
from .setup import Setup
from .sources import pool_of, world_of
from .tasks import Task
from .trial import Trial
from .view import open_trial
from .worlds import World

__all__ = ["trial"]


def trial(
    *,
    run: str,
    task: str | Task,
    index: int | None = None,
    freeze: str | Iterable[str] | None = None,
    source: str | None = None,
    world: int | None = None,
    replay: str | None = None,
    on_miss: OnMiss = "fail",
    ignore: str | Iterable[str] = (),
    redact: Any = (),
    pace: bool = False,
    home: str | Path | None = None,
    seed: int = 0,
) -> Trial:
    """A trial, to be used as a block: ``with tt.trial(run="baseline", task="exchange-1") as trial: ...``.

    Args:
        run: the run it belongs to.
        task: the task, or its id.
        index: which trial of the task; None takes the first that is free.
        freeze: selectors such as ``"external"``: these calls are answered from ``source``.
        source: the run whose trials of this task are the recorded worlds.
        world: which of them comes first; None takes the one with this trial's index.
        replay: a trial's id or path: everything is answered from it.
        on_miss: what happens where no recording answers: ``fail``, ``live`` (reads only) or ``error``.
        ignore: paths of arguments that do not count in a match, such as ``metadata.request_id``, of all calls or of
            those that a selector means: ``tool:charge:idempotency_key``.
        redact: more that is removed before anything is written: paths below ``arguments`` or ``result``, texts,
            compiled patterns, functions from text to text; one, several, or a map of names to rules.
        pace: hand recorded streams out as slowly as they came, not at once; for ``replay``.
        home: the home folder; None takes ``TRIALTAPE_HOME`` or ``./.trialtape``.
        seed: the run's seed, from which ``trial.seed`` is made.

    Raises:
        BadInput: the arguments do not go together, or name what does not exist.
    """
    place = Home.find(home)
    made = task if isinstance(task, Task) else Task(id=task)
    _check(index, freeze, source, world, replay)
    if pace and replay is None:
        raise BadInput("pace goes with replay: it says how fast recorded streams are handed out")
    ignored = checked_rules(ignore)
    rules = given_rules(redact)
    identity = TrialId(run, made.id, index if index is not None else _free_index(place, run, made.id))
    if replay is not None:
        answers = _replayed(place, replay, ignored, seed)
    elif freeze is not None and source is not None:
        selectors = [freeze] if isinstance(freeze, str) else list(freeze)
        policy = freezing(selectors, on_miss=on_miss, ignore=ignored)
        number = identity.index if world is None else world
        answers = _frozen(place, identity.task, policy, selectors, source, number, seed)
    else:
        answers = _Answers(RECORD, {"mode": "record", "seed": seed})
    if ignored:
        answers = evolve(answers, config={**answers.config, "ignore": list(ignored)})
    if rules:
        answers = evolve(answers, config={**answers.config, "redact": [rule.name for rule in rules]})
    created = datetime.now(UTC).isoformat(timespec="seconds")
    open_run(place, RunFile(run, config=answers.config, about={"created": created, "packages": packages()}))
    return Trial(
        Setup(
            id=identity,
            path=place.cassette(identity),
            home=place,
            policy=answers.policy,
            task=made,
            source=answers.source,
            config={**answers.config, **answers.drawn_from},
            environ=os.environ,
            index_is_free=index is None and world is None and freeze is None,
            seed_of=answers.seed_of,
            redact=rules,
            pace=pace,
        )
    )


@frozen
class _Answers:
    """How the calls of a trial are answered.

    Attributes:
        config: of the run.
        drawn_from: what this trial's config says besides.
    """

    policy: Policy
    config: Mapping[str, Any]
    source: Playback | World | None = None
    drawn_from: Mapping[str, Any] = field(factory=dict)
    seed_of: TrialId | None = None


def _check(
    index: int | None,
    freeze: str | Iterable[str] | None,
    source: str | None,
    world: int | None,
    replay: str | None,
) -> None:
    if replay is not None and (freeze is not None or source is not None or world is not None):
        raise BadInput("replay answers everything from one trial: freeze, source and world do not go with it")
    if (freeze is None) != (source is None):
        raise BadInput("freeze and source go together: what is frozen, and from which run it is answered")
    if index is not None and index < 0:
        raise BadInput(f"the index of a trial is 0 or more, not {index}")


def _replayed(home: Home, replay: str, ignore: tuple[str, ...], seed: int) -> _Answers:
    view = open_trial(replay, home)
    return _Answers(
        evolve(REPLAY, ignore=ignore),
        config={"mode": "replay", "seed": view.cassette.header.config.get("seed", seed)},
        source=Playback(Recording(view.id, view.cassette, ignore)),
        drawn_from={"pool": {}, "replay": replay},
        seed_of=view.id,
    )


def _frozen(
    home: Home, task: str, policy: Policy, selectors: list[str], source: str, world: int, seed: int
) -> _Answers:
    pool = pool_of(home, source, task, policy.ignore)
    return _Answers(
        policy,
        config={
            "mode": "freeze",
            "freeze": selectors,
            "source": source,
            "on_miss": policy.on_miss,
            "seed": seed,
        },
        source=world_of(pool, world),
        drawn_from={"pool": {str(recording.trial): digest for recording, digest in pool}, "replay": None},
    )


def _free_index(home: Home, run: str, task: str) -> int:
    taken = [identity.index for identity, _ in home.trials(run) if identity.task == task]
    return max(taken, default=-1) + 1
