"""The state of an environment in which a trial was carried out again, and what checks say of it now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from cassettes.canonical import canonical, without
from cassettes.errors import BadInput, UnkeepableValue
from cassettes.redact import Redactor
from cassettes.values import pack, unpack
from replay.home import Home
from replay.leaves import leaf_changes
from replay.plain import plain
from replay.runs import load_run
from replay.scores.scorefile import KeptScore, read_scores
from replay.scoring import Score, Scorer, score_trial
from replay.scoring.states import normal
from replay.view import View

from .answer_changes import flat
from .environments import Environment
from .reexecution import StateAgain, VerdictAgain

__all__ = ["RecordedScores", "compared_state", "judged_again", "recorded_scores"]

_NONE_RECORDED: Final = "the recording holds no state"
_BY_ITSELF: Final = "when it was recorded, something other than a tool changed it too"


@frozen
class RecordedScores:
    """What was said of one recorded trial.

    Attributes:
        primary: the run's primary score, ``name@version``.
        by_id: the newest score of each ``name@version``.
    """

    primary: str | None = None
    by_id: Mapping[str, KeptScore] = field(factory=dict)

    def of_cassette(self, digest: str | None) -> RecordedScores:
        """Those of the cassette with this digest, as against one that it took the place of."""
        return evolve(self, by_id={name: kept for name, kept in self.by_id.items() if kept.digest in {None, digest}})

    def named(self, name: str | None) -> KeptScore | None:
        """The score ``NAME[@VERSION]``, the newest version if it is not said; None takes the primary one."""
        wanted = self.primary if name is None else name
        fitting = [kept for name, kept in self.by_id.items() if wanted in {name, kept.scorer}]
        return fitting[-1] if fitting else None


_NO_SCORES: Final = RecordedScores()


def recorded_scores(home: Home, runs: Iterable[str]) -> dict[str, RecordedScores]:
    """The scores of runs, by trial.

    Raises:
        CorruptCassette: a file of scores is damaged.
    """
    found: dict[str, RecordedScores] = {}
    for run in runs:
        known = (home.run(run) / "run.json").exists()
        primary = load_run(home, run).primary if known else None
        by_trial: dict[str, dict[str, KeptScore]] = {}
        for kept in read_scores(home, run):
            of_trial = by_trial.setdefault(kept.trial, {})
            of_trial.pop(f"{kept.scorer}@{kept.version}", None)  # the newest stands last
            of_trial[f"{kept.scorer}@{kept.version}"] = kept
        found |= {trial: RecordedScores(primary, scores) for trial, scores in by_trial.items()}
    return found


# -- states ------------------------------------------------------------------------------------------------------------


def compared_state(
    view: View,
    environment: Environment,
    redactor: Redactor,
    *,
    ignore: Sequence[str] = (),
    at_start: bool = False,
    scores: RecordedScores = _NO_SCORES,
    skipped: int | None = None,
) -> StateAgain:
    """The state of now beside the recorded one.

    Args:
        view: the recorded trial.
        environment: as it is now.
        redactor: removes secrets.
        ignore: paths below the state that do not count (see `cassettes.canonical.without`).
        at_start: the initial state is meant.
        scores: the recorded ones: those of a benchmark may hold a digest of the state.
        skipped: a step that may have changed it and was not carried out.

    Raises:
        CassetteError: the recorded state cannot be read.
    """
    if skipped is not None:
        return StateAgain("unknown", why=f"step {skipped} may have changed it, and was not carried out")
    if view.tracks_state:
        return _whole(view, environment, redactor, ignore, at_start=at_start)
    return StateAgain("unknown", why=_NONE_RECORDED) if at_start else _by_hash(environment, scores)


def _whole(
    view: View, environment: Environment, redactor: Redactor, ignore: Sequence[str], *, at_start: bool
) -> StateAgain:
    show = getattr(environment, "state", None)
    if not callable(show):
        return StateAgain("unknown", why="the environment shows no state")
    try:
        cleaned, _ = redactor.packed(pack(show()))
    except UnkeepableValue as error:
        return StateAgain("unknown", why=f"the state of now cannot be compared: {error}")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the user's code: what it raises is told
        return StateAgain("unknown", why=f"state() raised {type(error).__name__}: {error}")
    states = view.state(-1 if at_start else None), unpack(cleaned)
    recorded, now = (normal(without(flat(plain(state)), ignore)) for state in states)
    if canonical(recorded) == canonical(now):
        return StateAgain("same", "whole")
    by_itself = "" if at_start or not any(mark.kind == "changed" for mark in view.marks) else _BY_ITSELF
    return StateAgain.of(leaf_changes(recorded, now), by_itself)


def _by_hash(environment: Environment, scores: RecordedScores) -> StateAgain:
    """As benchmarks do it: they keep the digest of the expected state, and whether the final one was the same."""
    expected, was_right = _recorded_hash(scores)
    if expected is None:
        return StateAgain("unknown", why=_NONE_RECORDED)
    show = getattr(environment, "state_hash", None)
    if not callable(show):
        return StateAgain("unknown", why="the recording holds a digest of the state, the environment gives none")
    try:
        now = str(show())
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the user's code: what it raises is told
        return StateAgain("unknown", why=f"state_hash() raised {type(error).__name__}: {error}")
    if was_right:
        return StateAgain("same" if now == expected else "differs", "hash")
    if now == expected:
        return StateAgain("differs", "hash", why="it is the expected one now, and was another when it was recorded")
    return StateAgain("unknown", why="recorded is only that it was not the expected one, and it is not now either")


def _recorded_hash(scores: RecordedScores) -> tuple[str | None, bool]:
    for kept in scores.by_id.values():
        info = json.loads(kept.evidence).get("info") if '"gt_data_hash"' in kept.evidence else None
        if isinstance(info, dict) and isinstance(info.get("gt_data_hash"), str) and "r_actions" in info:
            return info["gt_data_hash"], bool(info["r_actions"])
    return None, False


# -- verdicts ----------------------------------------------------------------------------------------------------------


class _Now(View):
    """The recorded trial with the final state of now."""

    def __init__(self, path: Path, home: Home | None, environment: Environment) -> None:
        super().__init__(path, home)
        self._environment = environment

    @property
    def tracks_state(self) -> bool:
        """True if the environment shows a state."""
        return callable(getattr(self._environment, "state", None))

    def state(self, step: int | None = None) -> Any:
        """The final state of now; before the first step (-1) the recorded one; of other steps nothing is known."""
        if step == -1:
            return super().state(-1)
        if step is not None or not self.tracks_state:
            raise BadInput(f"{self.id} was carried out again, and only a final state of that is known, if at all")
        return unpack(pack(self._environment.state()))  # type: ignore[attr-defined]


def judged_again(
    view: View,
    environment: Environment,
    scores: RecordedScores,
    scorer: Scorer | None,
    score: str | None,
) -> tuple[VerdictAgain, ...]:
    """What a scorer, or else the environment's own check, says of the state of now, beside the recorded scores.

    Args:
        view: the recorded trial.
        environment: in which it was carried out again.
        scores: the recorded ones.
        scorer: None: the environment's ``verdict``, if it has one.
        score: which recorded score stands beside it; None: the scorer's own if there is one, else the primary one.
    """
    now = _Now(view.path, view._home, environment)  # noqa: SLF001  # another view of the same cassette
    if scorer is not None:
        own = scorer.id if scorer.id in scores.by_id else None
        return (_beside(scores, score or own, scorer.id, score_trial(now, scorer)),)
    check = getattr(environment, "verdict", None)
    if not callable(check):
        return ()
    by = "the environment"
    try:
        said = check(now)
        if isinstance(said, Mapping):
            return tuple(_beside(scores, name, by, _score(now, verdict)) for name, verdict in said.items())
        return (_beside(scores, score, by, _score(now, said)),)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the user's code: what it raises is told
        return (_beside(scores, score, by, Score(None, evidence={"error": f"{type(error).__name__}: {error}"})),)


def _score(now: View, said: Any) -> Score:
    """A verdict as a score, as if a scorer had said it."""
    return score_trial(now, Scorer("verdict()", "now", lambda _view: said))


def _beside(scores: RecordedScores, name: str | None, by: str, now: Score) -> VerdictAgain:
    kept = scores.named(name)
    error = now.evidence.get("error", now.evidence.get("why", "")) if now.passed is None else ""
    return VerdictAgain(
        score=name if kept is None else f"{kept.scorer}@{kept.version}",
        by=by,
        recorded=None if kept is None else kept.passed,
        now=now.passed,
        recorded_value=None if kept is None else kept.value,
        now_value=now.value,
        why=str(error),
    )
