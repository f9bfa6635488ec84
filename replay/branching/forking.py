"""A fork: going on from step N of a recorded trial, in a new cassette. What it is made of, without doing it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import evolve, field, frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput, TrialtapeError
from cassettes.model import Error, Interaction, TrialId
from replay.given_policy import GivenPolicy
from replay.ignoring import checked_rules
from replay.policy import Policy, Selector
from replay.readings import readings_of
from replay.recording import Recording
from replay.rereading import reread
from replay.setup import Setup, seeded_by, user_seed_in
from replay.view import View
from replay.worlds import World

from .editing import UNEDITED, Edit, edited
from .prefix import Prefix, readings_before

__all__ = ["Fork", "Wish", "fork_name", "fork_of", "length_of"]

_MOST_LETTERS: Final = 120  # of a task's part in a run's name
_ODD: Final = re.compile(r"[^A-Za-z0-9_.=@-]+")


@frozen
class Wish:
    """What a fork is asked for besides its trial and its step.

    Attributes:
        given: how calls after the fork are answered; what it freezes is answered from the trial itself, as a world of
            one recording. What it ignores does not count in a match, besides what the trial itself ignores.
        allow_live: selectors: such calls may reach the real thing though it never saw a frozen write that they may
            notice.
        edit: the outcome of the step before the fork, if it is to be another.
        policy_told: the name, digest and content of the policy that was given as one, if one was.
    """

    given: GivenPolicy = field(factory=GivenPolicy)
    allow_live: tuple[str, ...] = ()
    edit: Any = UNEDITED
    policy_told: Mapping[str, Any] = field(factory=dict)


@frozen
class Fork:
    """Going on from step ``at`` of a recorded trial.

    Attributes:
        parent: the trial.
        digest: of its cassette.
        at: the first step that is not answered by its place in the recording.
        recording: the trial, with the edited outcome in its place.
        world: the trial as the world from which calls after the fork are answered; None if none is frozen.
        policy: how calls after the fork are answered.
        config: what the run and the cassettes say of it.
        seed_of: the trial whose seed its agent gets, so that it does before the fork what it did then.
    """

    parent: TrialId
    digest: str
    at: int
    recording: Recording
    world: Recording | None
    policy: Policy
    allow_live: tuple[Selector, ...]
    seed: int
    seed_of: TrialId
    edit: Edit | None = None
    config: Mapping[str, Any] = field(factory=dict)

    def prefix(self) -> Prefix:
        """The answers before the fork, made ready for one trial."""
        return Prefix(self.recording, self.at, None if self.edit is None else self.edit.step, self.allow_live)

    def applied(self, setup: Setup) -> Setup:
        """The setup of a trial that forks here."""
        return evolve(
            setup,
            policy=self.policy,
            source=None if self.world is None else World([self.world]),
            prefix=self.prefix(),
            config={**setup.config, **self.config, "seed_of": str(self.seed_of)},
            seed_of=self.seed_of,
        )


def length_of(view: View) -> int:
    """How many steps a trial has, with those that had not ended when the recording did."""
    numbers = view.cassette.step_numbers
    return numbers[-1] + 1 if numbers else 0


def fork_of(view: View, at: int, wish: Wish | None = None) -> Fork:
    """The fork at step ``at`` of a trial.

    Raises:
        BadInput: there is no such step, a step before it has no outcome, or what is asked for does not go together.
        CassetteError: a step cannot be read.
    """
    wish = wish or Wish()
    last = length_of(view)
    if not 0 <= at <= last:
        raise BadInput(
            f"{view.id} has no step {at} to fork at: 0 is before its first call, {last} after its last "
            f"(`trialtape show {view.id}` lists its steps)"
        )
    interactions = list(view.cassette)
    _check_outcomes(view, [i for i in interactions if i.step < at], at)
    header = view.cassette.header
    given = wish.given
    ignore = checked_rules([*header.config.get("ignore", ()), *given.ignore])
    policy = evolve(given.policy, ignore=ignore)
    edit = None if wish.edit is UNEDITED else _edit(view, interactions, at, wish.edit)
    changed = interactions if edit is None else [edit.interaction if i.step == edit.step else i for i in interactions]
    readings = readings_of(view.marks)
    before = readings_before(readings, interactions, at, policy.ambient)
    digest = view.cassette.digest or digest_bytes(view.path.read_bytes())
    world = None
    if policy.frozen:
        # What it answered after an edited write, it answered after another one: the world keeps what was recorded.
        wrote = edit is not None and edit.interaction.call.may_write
        world = Recording(view.id, interactions if wrote else changed, ignore, readings, given.effects)
    return Fork(
        parent=view.id,
        digest=digest,
        at=at,
        recording=Recording(view.id, changed, ignore, before, given.effects),
        world=world,
        policy=policy,
        allow_live=tuple(Selector.parse(text) for text in wish.allow_live),
        seed=header.config.get("seed", 0),
        seed_of=seeded_by(header),
        edit=edit,
        config=_config(view, digest, at, edit, wish, ignore),
    )


def _config(
    view: View, digest: str, at: int, edit: Edit | None, wish: Wish, ignore: tuple[str, ...]
) -> Mapping[str, Any]:
    """What run and cassettes say of a fork; two forks with the same are the same."""
    edited_to = None if edit is None else edit.digest
    config: dict[str, Any] = {
        "mode": "fork",
        "seed": view.cassette.header.config.get("seed", 0),
        **user_seed_in(view.cassette.header),
        "fork": {"parent": str(view.id), "digest": digest, "at": at, "edited": edited_to},
    }
    if wish.given.freeze:
        config |= {"freeze": list(wish.given.freeze), "on_miss": wish.given.missed.to_list()}
    if wish.allow_live:
        config |= {"allow_live": list(wish.allow_live)}
    if ignore:
        config |= {"ignore": list(ignore)}
    return config


def fork_name(parent: TrialId, at: int, wish: Wish, edit: Edit | None) -> str:
    """The name of the run in which such forks are kept unless another is given."""
    task = _ODD.sub("-", parent.task)
    if len(task) > _MOST_LETTERS:
        task = f"{task[:_MOST_LETTERS]}-{digest_bytes(parent.task.encode())[:6]}"
    parts = [f"{parent.run}.fork-{task}-{parent.index}-at{at}"]
    if edit is not None:
        parts.append(f"edit-{edit.digest[:6]}")
    if wish.policy_told:
        parts.append(f"policy-{wish.policy_told['digest'][:6]}")
    elif wish.given.freeze:
        parts.append(f"freeze-{_joined(wish.given.freeze)}")
    if wish.allow_live:
        parts.append(f"live-{_joined(wish.allow_live)}")
    if wish.given.catch_up and not wish.policy_told:
        parts.append(f"catch-up-{_joined(wish.given.catch_up)}")
    return "-".join(parts)


def _joined(selectors: Iterable[str]) -> str:
    return "+".join(_ODD.sub("=", selector) for selector in selectors)


def _check_outcomes(view: View, before: list[Interaction], at: int) -> None:
    found = {interaction.step for interaction in before}
    missing = next((step for step in range(at) if step not in found), None)
    if missing is not None:
        raise BadInput(
            f"step {missing} of {view.id} had not ended when the recording did, so it has no outcome to go on from; "
            f"fork at step {missing} or before"
        )
    for interaction in before:
        outcome = interaction.outcome
        if isinstance(outcome, Error) and isinstance(outcome.error, TrialtapeError):
            raise BadInput(
                f"step {interaction.step} of {view.id} got no answer ({type(outcome.error).__name__}); fork at step "
                f"{interaction.step} or before"
            )


def _edit(view: View, interactions: list[Interaction], at: int, value: Any) -> Edit:
    if at == 0:
        raise BadInput(
            "there is nothing to edit before step 0: an edit changes the outcome of the step before the fork"
        )
    matched = {interaction.step for interaction in Recording(view.id, interactions).matched}
    if at - 1 not in matched:
        before = max((step for step in matched if step < at - 1), default=None)
        hint = "" if before is None else f"; step {before} is the last before it, so fork at {before + 1}"
        raise BadInput(
            f"step {at - 1} of {view.id} is a part of another step, or a tool that made calls of its own: it is not "
            f"answered by itself, and cannot be edited{hint}"
        )
    interaction = next(interaction for interaction in interactions if interaction.step == at - 1)
    return edited(interaction, value, reread)
