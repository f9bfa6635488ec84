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

from .branching.editing import UNEDITED
from .branching.forking import Wish, fork_of
from .effects import Effects
from .given_policy import GivenPolicy, settled
from .home import Home
from .orchestration.tasks import Task
from .orchestration.variant import as_recorded
from .playback import Playback
from .policy import RECORD, REPLAY, Policy
from .readings import ambient_kinds
from .runs import RunFile, open_run, packages
from .setup import Setup, seeded_by, user_seed_in
from .sources import extensions_of, pool_of, recording_of, world_of
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
    fork: str | None = None,
    at: int | None = None,
    edit: Any = UNEDITED,
    allow_live: str | Iterable[str] = (),
    on_miss: str | Iterable[str] | None = None,
    offline: bool = False,
    catch_up: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    ignore_fields: str | Iterable[str] = (),
    redact: Any = (),
    pace: bool = False,
    ambient: str | Iterable[str] = (),
    effects: str | Path | Effects | None = None,
    policy: str | Path | GivenPolicy | None = None,
    emulator: str | None = None,
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
        fork: a trial's id or path: the steps before ``at`` are answered from it, and from there on calls are live;
            with ``freeze``, such calls are answered from the same trial, by key and context.
        at: the step at which to fork.
        edit: another outcome for the step before ``at``: a tool's result, or the body of a model's reply.
        allow_live: selectors: such calls after the fork may reach the real thing, though it never saw a write before
            the fork that they may notice.
        on_miss: what happens where no recording answers (see `replay.on_miss`): ``ACTION`` or ``SELECTOR=ACTION``,
            several of them too. By default reads are called live and extend the world, writes end the trial.
        offline: no frozen call goes live, whatever is missed.
        catch_up: selectors of tools, each by its name: such frozen writes are carried out before a live call that would
            notice their absence, and their outcomes compared.
        ignore: paths of arguments that do not count in a match, such as ``metadata.request_id``, of all calls or of
            those that a selector means: ``tool:charge:idempotency_key``.
        ignore_fields: paths below the outcomes of what ``catch_up`` carries out, such as ``tool:pay:made_at``: fields
            that do not count when they are compared.
        redact: more that is removed before anything is written: paths below ``arguments`` or ``result``, texts,
            compiled patterns, functions from text to text; one, several, or a map of names to rules.
        pace: hand recorded streams out as slowly as they came, not at once; for ``replay``.
        ambient: what else is recorded: ``clock``, ``random`` or both, as ``"clock,random"``. A replay hands out again
            what was recorded; ``freeze`` takes ``clock`` and ``random`` as selectors. A trial that records or freezes
            ``random`` must be alone in its process.
        effects: what tools do, declared in a file (see `replay.effects`), besides what they say themselves.
        policy: all of freeze, on_miss, offline, ignore and effects in one file or value, and what is live or refused
            (see `replay.given_policy`). What both the policy and an argument say is refused.
        emulator: the model that plays tools where on-miss is ``emulate``, asked by the openai SDK.
        home: the home folder; None takes ``TRIALTAPE_HOME`` or ``./.trialtape``.
        seed: the run's seed, from which ``trial.seed`` is made.

    Raises:
        BadInput: the arguments do not go together, or name what does not exist.
    """
    place = Home.find(home)
    made = task if isinstance(task, Task) else Task(id=task)
    if fork is not None or at is not None:
        _check_fork(fork, at, source, world, replay)
    frozen_ones = () if freeze is None else _texts(freeze)
    if freeze is not None and not frozen_ones:
        raise BadInput("nothing to freeze: name at least one selector, such as external, tool or model")
    options = GivenPolicy(
        freeze=frozen_ones,
        on_miss=on_miss,
        offline=offline,
        catch_up=catch_up,
        ignore=ignore,
        ignore_fields=ignore_fields,
        effects=effects,
        emulator=emulator,
    )
    given = settled(policy, options)
    told = {} if policy is None else given.told
    if fork is None and at is None:
        _check(given, source, world, replay, forks=edit is not UNEDITED or bool(allow_live))
    if index is not None and index < 0:
        raise BadInput(f"the index of a trial is 0 or more, not {index}")
    if pace and replay is None:
        raise BadInput("pace goes with replay: it says how fast recorded streams are handed out")
    rules = given_rules(redact)
    observed = ambient_kinds(ambient)
    identity = TrialId(run, made.id, index if index is not None else _free_index(place, run, made.id))
    forked = None
    if fork is not None and at is not None:
        wish = Wish(given, _texts(allow_live), edit, told)
        parent = open_trial(fork, place)
        if not isinstance(task, Task):  # what is put into results after the fork is what was put into those before
            made = evolve(made, injections=parent.task.injections, attack_goal=parent.task.attack_goal)
        forked = fork_of(parent, at, wish)
        answers = _Answers(RECORD, {**forked.config, **as_recorded(parent.cassette.header)})
    elif replay is not None:
        answers = _replayed(place, replay, given.ignore, seed)
    elif source is not None:
        answers = _frozen(place, identity, given, source, identity.index if world is None else world, seed)
    else:
        answers = _Answers(given.policy, {"mode": "record", "seed": seed})
    said = {
        "ignore": list(given.ignore) if forked is None else [],  # a fork's has them, with those of its trial
        "ignore_fields": list(given.ignore_fields),
        "redact": [rule.name for rule in rules],
        "effects": given.effects.to_dict(),
        "ambient": list(observed),
        "live": list(given.live),
        "emulate": list(given.emulate),
        "refuse": list(given.refuse),
        "catch_up": list(given.catch_up),
        "emulator": given.emulator,
        "policy": told,
    }
    answers = evolve(answers, config={**answers.config, **{name: value for name, value in said.items() if value}})
    created = datetime.now(UTC).isoformat(timespec="seconds")
    open_run(place, RunFile(run, config=answers.config, about={"created": created, "packages": packages()}))
    setup = Setup(
        id=identity,
        path=place.cassette(identity),
        home=place,
        policy=answers.policy,
        task=made,
        source=answers.source,
        config={**answers.config, **answers.drawn_from},
        environ=os.environ,
        index_is_free=index is None and world is None and (source is None or fork is not None),
        seed_of=answers.seed_of,
        redact=rules,
        pace=pace,
        ambient=observed,
        emulator=given.emulator,
    )
    return Trial(setup if forked is None else forked.applied(setup))


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
    given: GivenPolicy,
    source: str | None,
    world: int | None,
    replay: str | None,
    *,
    forks: bool,
) -> None:
    if forks:
        raise BadInput("edit and allow_live go with fork: there is nothing to edit, or to let through, without one")
    decided = given.freeze or given.live or given.emulate or given.refuse
    if replay is not None and (decided or source is not None or world is not None):
        raise BadInput(
            "replay answers everything from one trial: freeze, source and world, and a policy that decides about "
            "calls, do not go with it"
        )
    if bool(given.freeze) != (source is not None):
        raise BadInput("freeze and source go together: what is frozen, and from which run it is answered")
    if given.catch_up and not given.freeze:
        raise BadInput("catch_up carries out frozen writes: it goes with freeze or fork")


def _check_fork(fork: str | None, at: int | None, source: str | None, world: int | None, replay: str | None) -> None:
    if fork is None or at is None:
        raise BadInput("fork and at go together: which trial is forked, and at which step")
    if source is not None or world is not None or replay is not None:
        raise BadInput("a fork is answered from one trial: replay, source and world do not go with it")


def _texts(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _replayed(home: Home, replay: str, ignore: tuple[str, ...], seed: int) -> _Answers:
    view = open_trial(replay, home)
    header = view.cassette.header
    return _Answers(
        evolve(REPLAY, ignore=ignore),
        config={"mode": "replay", "seed": header.config.get("seed", seed)},
        source=Playback(recording_of(view, ignore)),
        drawn_from={
            "pool": {},
            "replay": replay,
            "seed_of": str(seeded_by(header)),
            **as_recorded(header),
            **user_seed_in(header),
        },
        seed_of=seeded_by(header),
    )


def _frozen(home: Home, identity: TrialId, given: GivenPolicy, source: str, world: int, seed: int) -> _Answers:
    policy = given.policy
    pool = pool_of(home, source, identity.task, policy.ignore, effects=policy.effects)
    number = world % len(pool)
    return _Answers(
        policy,
        config={
            "mode": "freeze",
            "freeze": list(given.freeze),
            "source": source,
            "on_miss": policy.on_miss.to_list(),
            "seed": seed,
        },
        source=world_of(pool, number, extensions_of(home, identity, number, policy, [identity.run])),
        drawn_from={
            "pool": {str(recording.trial): digest for recording, digest in pool},
            "world": number,
            "replay": None,
        },
    )


def _free_index(home: Home, run: str, task: str) -> int:
    taken = [identity.index for identity, _ in home.trials(run) if identity.task == task]
    return max(taken, default=-1) + 1
