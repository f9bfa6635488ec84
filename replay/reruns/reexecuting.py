"""The tool calls of a recorded trial, made again in a real environment in the order in which they were made."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from cassettes.errors import BadInput, CassetteError, UnkeepableValue, UnknownTool
from cassettes.model import Cancelled, Error, Interaction, Outcome, TrialId, Value
from cassettes.recorder import unwatched
from cassettes.redact import Redactor, secrets_of
from cassettes.values import pack, unpack
from replay.home import Home
from replay.scores.scorer_names import scorer_named
from replay.scoring import Scorer
from replay.scoring.tools import went_wrong
from replay.sources import recording_of
from replay.spread import Spread
from replay.view import Step, View

from .environments import Environment, Factory, environment_factory, facts_of, ignored_by_environment, known_of, made_by
from .reexecution import CallAgain, Mode, TrialAgain
from .same_answer import compared, holds_placeholder
from .state_again import RecordedScores, compared_state, judged_again, recorded_scores

__all__ = ["Job", "Manner", "Reexecutor", "reexecute", "reexecuted"]

Job = tuple[TrialId, Path]

_UNANSWERED = {"stale", "missed", "refused"}


@frozen
class Manner:
    """How trials are carried out again.

    Attributes:
        mode: ``strict`` stops a trial at its first answer that is not byte for byte the recorded one.
        ignore: fields of answers that do not count (see `replay.ignoring`).
        ignore_state: paths below the state that do not count (see `cassettes.canonical.without`).
        scorer: looks at the final state of now; None: the environment's own check, if it has one.
        score: which recorded score is held against that; None takes the run's primary one.
    """

    mode: Mode = "report"
    ignore: tuple[str, ...] = ()
    ignore_state: tuple[str, ...] = ()
    scorer: Scorer | None = None
    score: str | None = None


@frozen
class Reexecutor:
    """Carries recorded trials out again; one for each process.

    Attributes:
        scores: the recorded ones, by trial.
    """

    home: Home
    factory: Factory
    manner: Manner
    scores: Mapping[str, RecordedScores] = field(factory=dict)
    _seen: list[Environment] = field(factory=list)  # the last one, alive, so that its id is not given again

    def __call__(self, job: Job) -> TrialAgain:
        """Carry one trial out again; whatever goes wrong with it is in the result.

        Raises:
            BadInput: the factory gave one environment twice.
        """
        with redirect_stdout(sys.stderr):  # what tools print is no part of what the command tells
            return self._carried_out(*job)

    def _carried_out(self, trial: TrialId, path: Path) -> TrialAgain:
        try:
            view = View(path, self.home)
            view.cassette.check()
            environment = self._fresh(view)
        except CassetteError as error:
            return TrialAgain(str(trial), left_out=str(error), damaged=True)
        except _Unmade as error:
            return TrialAgain(str(trial), left_out=str(error))
        redactor = Redactor(self.home.redaction_key(), secrets_of(os.environ))
        with unwatched():
            scores = self.scores.get(str(trial), RecordedScores()).of_cassette(view.cassette.digest)
            return reexecute(view, environment, redactor, self.manner, scores)

    def _fresh(self, view: View) -> Environment:
        try:
            made = made_by(self.factory, known_of(view, self.home))
        except BadInput as error:
            raise _Unmade(str(error)) from error
        if any(made is other for other in self._seen):
            raise BadInput("the factory gave the same environment for two trials; each needs a fresh one")
        self._seen[:] = [made]
        return made


class _Unmade(Exception):
    """There is no environment for a trial."""


def reexecute(
    view: View,
    environment: Environment,
    redactor: Redactor,
    manner: Manner,
    scores: RecordedScores,
) -> TrialAgain:
    """Make the tool calls of a trial again, one after the other, and compare what comes.

    Args:
        view: the recorded trial.
        environment: a fresh one.
        redactor: removes secrets from what comes, as they were removed from the recording.
        manner: how.
        scores: the recorded ones.

    Raises:
        CassetteError: the cassette cannot be read.
    """
    fields, below = ignored_by_environment(environment)
    below = (*manner.ignore_state, *below)
    start = compared_state(view, environment, redactor, ignore=below, at_start=True)
    calls: list[CallAgain] = []
    recorded = _tool_calls(view)
    for interaction in recorded:
        calls.append(_again(view, interaction, environment, redactor, (*manner.ignore, *fields)))
        if manner.mode == "strict" and not (calls[-1].verdict == "identical" or _is_refused_still(calls[-1])):
            facts, unmade = facts_of(environment), len(recorded) - len(calls)
            return TrialAgain(str(view.id), facts, tuple(calls), start, stopped=interaction.step, unmade=unmade)
    left = (call.step for call in calls if call.verdict == "not carried out")
    skipped = next((step for step in left if view.cassette.step(step).call.may_write), None)
    state = compared_state(view, environment, redactor, ignore=below, scores=scores, skipped=skipped)
    verdicts = judged_again(view, environment, scores, manner.scorer, manner.score) if skipped is None else ()
    return TrialAgain(str(view.id), facts_of(environment), tuple(calls), start, state, verdicts)


def _is_refused_still(call: CallAgain) -> bool:
    return call.verdict == "unknown tool" and call.refused


def _tool_calls(view: View) -> list[Interaction]:
    """The tool calls in start order: of agents that are tools those inside, and no repeated try."""
    return [
        interaction
        for interaction in recording_of(view, ()).matched
        if interaction.call.kind == "tool" and interaction.call.actor in {"agent", "user"}
    ]


def _again(
    view: View, interaction: Interaction, environment: Environment, redactor: Redactor, ignore: Sequence[str]
) -> CallAgain:
    call = interaction.call
    made = CallAgain(interaction.step, call.name, call.actor, "not carried out", refused=went_wrong(Step(interaction)))
    why = _reason_against(view, interaction, environment)
    if why is not None:
        return evolve(made, why=why)
    ask = environment.call if call.actor == "agent" else environment.call_user  # type: ignore[attr-defined]
    arguments = unpack(pack(dict(call.arguments)))  # its own copy: a tool may change what it is given
    try:
        now: Outcome = Value(ask(call.name, arguments))
    except UnknownTool as error:
        refused = made.refused or _told(interaction.outcome) == str(error)
        return evolve(made, verdict="unknown tool", why=str(error), refused=refused)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # what a tool raises is its outcome
        now = Error(error)
    tier, changes = compared(call, interaction.outcome, _kept(now, redactor), ignore)
    return evolve(made, verdict=tier, changes=changes)


def _told(outcome: Outcome) -> Any:
    """What an agent was told of a call that went wrong: the answer, or what stands in it as its ``error``."""
    result = outcome.result if isinstance(outcome, Value) else None
    return result.get("error") if isinstance(result, Mapping) else result


def _reason_against(view: View, interaction: Interaction, environment: Environment) -> str | None:
    """Why a call cannot be made again as it was made."""
    call = interaction.call
    if interaction.origin.verdict in _UNANSWERED:
        return "it was never answered when it was recorded"
    if isinstance(interaction.outcome, Cancelled):
        return "it was cancelled when it was recorded: nobody knows whether it took effect"
    if call.arguments.keys() == {"unparsed"} and view.cassette.header.config.get("mode") == "import":
        return "its arguments were no JSON object"
    if holds_placeholder(dict(call.arguments)):
        return "its arguments held a secret, which is not in the recording"
    if call.actor == "user" and not callable(getattr(environment, "call_user", None)):
        return "it is a tool of the user, and the environment has none (call_user)"
    return None


def _kept(outcome: Outcome, redactor: Redactor) -> Outcome:
    """What came, less its secrets, as a recording would hold it; nothing that a later call changes changes it."""
    if not isinstance(outcome, Value):
        return outcome
    try:
        cleaned, _ = redactor.packed(pack(outcome.value))
    except UnkeepableValue:
        return outcome
    return Value(unpack(cleaned))


# -- many trials -------------------------------------------------------------------------------------------------------


@frozen
class _Told:
    """What a process is told once; names, since what they name cannot be sent."""

    home: Home
    environment: str
    manner: Manner
    scorer: str | None
    scores: Mapping[str, RecordedScores]


def _made(told: _Told) -> Callable[[Job], TrialAgain]:
    scorer = None if told.scorer is None else scorer_named(told.scorer)
    manner = evolve(told.manner, scorer=scorer)
    return Reexecutor(told.home, environment_factory(told.environment), manner, told.scores)


def _died(job: Job) -> TrialAgain:
    return TrialAgain(str(job[0]), left_out="the process that carried it out died")


def reexecuted(
    home: Home,
    jobs: Sequence[Job],
    environment: str,
    manner: Manner,
    *,
    scorer: str | None = None,
    processes: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> list[TrialAgain]:
    """Carry trials out again, in this process or in several.

    Args:
        home: where they lie.
        jobs: the trials with their files.
        environment: names the factory (see `replay.reruns.environments`); each process loads it itself.
        manner: how; its scorer is the one that ``scorer`` names.
        scorer: as for `replay.scores.scorer_names.scorer_named`.
        processes: how many.
        progress: called after each trial.

    Raises:
        BadInput: the factory or the scorer cannot be loaded, or gives one environment twice; or no trial has the score.
    """
    scores = recorded_scores(home, {trial.run for trial, _ in jobs})
    _check_score(manner.score, scores)
    told = _Told(home, environment, manner, scorer, scores)
    work = _made(told)  # here too: what is wrong with a name is told once
    spread = Spread(_made, (told,), _died, processes)
    found: list[TrialAgain] = []
    for one in map(work, jobs) if processes == 1 else spread.over(jobs):
        found.append(one)
        progress()
    places = {str(trial): place for place, (trial, _) in enumerate(jobs)}
    return sorted(found, key=lambda one: places[one.trial])


def _check_score(name: str | None, scores: Mapping[str, RecordedScores]) -> None:
    if name is not None and all(of_trial.named(name) is None for of_trial in scores.values()):
        known = ", ".join(sorted({score for of_trial in scores.values() for score in of_trial.by_id})) or "none"
        raise BadInput(f"no trial has a recorded score {name!r} (known: {known})")
