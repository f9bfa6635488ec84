"""Does a run's simulated user say the same again? Only then can its noise be told from the model's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from attrs import frozen

from cassettes.canonical import digest
from cassettes.model import Call
from replay.ignoring import matching_key
from replay.view import Step, View

__all__ = ["UserKind", "UserSeen", "user_seen"]

UserKind = Literal["scripted", "seeded"]

_TOLD_APART: Final = "model and user cannot be told apart"
_SHARE: Final = "hand `trial.user_seed` to the user, and run with --user-seeds"


@frozen
class UserSeen:
    """What the recordings of a run show of its simulated user.

    Attributes:
        kind: ``scripted``: in all trials of a task it says the same when it heard the same. ``seeded``: it does so in
            trials that share its seed. None: neither is so, or it cannot be seen.
        why: in words.
        compared: how many of its replies stand beside one to the same, in an earlier trial.
    """

    kind: UserKind | None
    why: str
    compared: int = 0


@frozen
class _Reply:
    """Something that a user said.

    Attributes:
        heard: a digest of all that it knew.
        modelled: a model said it.
        seeded: the request held the user's seed.
    """

    heard: str
    said: str
    modelled: bool = False
    seeded: bool = False


def user_seen(views: Iterable[View]) -> UserSeen:
    """See whether the user of these trials, which are of one run, repeats itself.

    Raises:
        CassetteError: a cassette cannot be read.
    """
    of_task, of_seed = _Repeats(), _Repeats()
    modelled, unseeded, shares = False, False, False
    for view in views:
        seed: int | None = view.cassette.header.config.get("user_seed")
        shares = shares or seed is not None
        for reply in _replies(view, seed):
            of_task.add((view.id.task,), reply)
            of_seed.add((view.id.task, seed), reply)
            modelled = modelled or reply.modelled
            unseeded = unseeded or (reply.modelled and not reply.seeded)
    if modelled and (unseeded or not shares):
        why = "the user is a model without a seed" + ("" if shares else " that trials share")
        return UserSeen(None, f"{why}: {_TOLD_APART} ({_SHARE})")
    if not of_task.first:
        return UserSeen(None, f"no user is seen in the recordings: if there is one, {_TOLD_APART}")
    if of_task.compared and not of_task.differing and not modelled:
        return UserSeen("scripted", "the user says the same whenever it heard the same", of_task.compared)
    if not shares:
        return UserSeen(
            None, f"the user draws what it says, and no two trials share its seed: {_TOLD_APART} ({_SHARE})"
        )
    if of_seed.differing or not of_seed.compared:
        why = (
            f"given the same seed and words, the user says something else in {of_seed.differing} of "
            f"{of_seed.compared} places"
        )
        return UserSeen(None, f"{why}: {_TOLD_APART}", of_seed.compared)
    return UserSeen("seeded", "given the same seed and words, the user says the same", of_seed.compared)


class _Repeats:
    """Replies to the same, in one group of trials: how many there are beside the first, and how many differ from it."""

    def __init__(self) -> None:
        self.first: dict[tuple[Any, ...], str] = {}
        self.compared = 0
        self.differing = 0

    def add(self, group: tuple[Any, ...], reply: _Reply) -> None:
        key = (*group, reply.heard)
        if key not in self.first:
            self.first[key] = reply.said
            return
        self.compared += 1
        self.differing += self.first[key] != reply.said


def _replies(view: View, seed: int | None) -> Iterator[_Reply]:
    """What the user said: of a model's user as its calls show it, of another as the conversation does."""
    asked = [step for step in view.steps if step.call.kind == "model" and step.call.actor == "user"]
    if asked:
        rules = view.cassette.header.config.get("ignore", ())
        yield from (_of_model(step, rules, seed) for step in asked if step.reply is not None)
        return
    heard: list[Any] = []
    for turn in view.conversation:
        if turn.who == "user":
            yield _Reply(digest(heard), turn.text)
        heard.append([turn.who, turn.text])


def _of_model(step: Step, rules: Sequence[str], seed: int | None) -> _Reply:
    assert step.reply is not None
    calls = [[request.name, request.arguments] for request in step.reply.tool_calls]  # their ids are new each time
    return _Reply(
        matching_key(step.call, rules),
        digest([step.reply.text, step.reply.refusal, calls]),
        modelled=True,
        seeded=seed is not None and _is_in(seed, _settings(step.call)),
    )


def _settings(call: Call) -> dict[str, Any]:
    return {name: value for name, value in call.arguments.items() if name != call.history}


def _is_in(seed: int, value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_is_in(seed, part) for part in value.values())
    if isinstance(value, list | tuple):
        return any(_is_in(seed, part) for part in value)
    return value == seed and not isinstance(value, bool)
