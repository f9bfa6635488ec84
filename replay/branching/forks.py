"""The forks of a trial that were carried out, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import TrialtapeError
from cassettes.model import TrialId
from replay.analysis.reliability import Counted, TrialOutcome, count
from replay.home import Home
from replay.orchestration.leftovers import ending_in
from replay.runs import RunFile, load_run
from replay.scores.scorefile import read_scores
from replay.view import View
from replay.writes import DivergentWrite, first_divergent_write

from .blame import Bar, bar_of
from .fork_points import stretches

__all__ = ["ForkRun", "bars_of", "blame_of", "counted_in", "forks_of", "parting"]


@frozen
class ForkRun:
    """A run of continuations of one trial from one step.

    Attributes:
        name: the run's.
        at: the step.
        edited: the digest of the edited outcome, if there is one.
        freeze: what is frozen after the fork.
        policy: the digest of the policy that decides about calls after it, if it was given as one.
        agent: what tells one agent from another.
        created: when the run was begun.
    """

    name: str
    parent: str
    at: int
    edited: str | None
    freeze: tuple[str, ...]
    policy: str | None
    agent: str | None
    created: str

    @property
    def is_plain(self) -> bool:
        """True if nothing was edited, and no policy was given as one: such forks are counted together."""
        return self.edited is None and self.policy is None

    @classmethod
    def of(cls, file: RunFile) -> ForkRun | None:
        """What the run's file says; None if it is no fork."""
        told = file.config.get("fork")
        if not isinstance(told, dict):
            return None
        return cls(
            name=file.name,
            parent=told["parent"],
            at=told["at"],
            edited=told.get("edited"),
            freeze=tuple(file.config.get("freeze", ())),
            policy=file.config.get("policy", {}).get("digest"),
            agent=told.get("agent"),
            created=str(file.about.get("created", "")),
        )


def forks_of(home: Home, view: View) -> list[ForkRun]:
    """The forks of a trial, as it is now, by step and name; runs that cannot be read are passed over."""
    digest = view.cassette.digest or digest_bytes(view.path.read_bytes())
    found: list[ForkRun] = []
    for name in home.runs():
        try:
            file = load_run(home, name)
        except TrialtapeError:
            continue  # a run that is being made, or damaged: `store check` tells of it
        fork = ForkRun.of(file)
        if fork is not None and fork.parent == str(view.id) and file.config["fork"].get("digest") == digest:
            found.append(fork)
    return sorted(found, key=lambda fork: (fork.at, fork.name))


def parting(home: Home, view: View, runs: Iterable[str]) -> tuple[TrialId, DivergentWrite] | None:
    """Where the trial's writes part from those of the first of these continuations that passed; None if nowhere."""
    for run in runs:
        scores = _verdicts(home, run)
        for trial, path in home.trials(run):
            one = View(path, home)
            if one.ending.status == "completed" and scores.get((str(trial), one.cassette.digest)):
                found = first_divergent_write(view, one)
                return None if found is None else (trial, found)
    return None


def _verdicts(home: Home, run: str) -> dict[tuple[str, str | None], bool | None]:
    """By trial and digest of its cassette, the verdict of the run's primary score."""
    primary = load_run(home, run).primary
    return {(s.trial, s.digest): s.passed for s in read_scores(home, run) if f"{s.scorer}@{s.version}" == primary}


def counted_in(home: Home, runs: Iterable[str]) -> Counted:
    """What the continuations of these runs count as, by each run's primary score (`replay.analysis.reliability`)."""
    outcomes: list[TrialOutcome] = []
    for run in runs:
        scores = _verdicts(home, run)
        for trial, path in home.trials(run):
            ending = ending_in(path)
            passed = scores.get((str(trial), View(path).cassette.digest)) if ending.status != "incomplete" else None
            outcomes.append(TrialOutcome(trial.task, len(outcomes), ending.status, ending.cause, passed))
    return count(outcomes)


def bars_of(home: Home, view: View, runs: Mapping[int, Iterable[str]]) -> list[Bar]:
    """A bar for each step, from the runs that continue from there."""
    points = sorted(runs)
    bars: list[Bar] = []
    for stretch in stretches(points, view):
        counted = counted_in(home, runs[stretch.start])
        bars.append(
            bar_of(
                stretch.start,
                stretch.label,
                sum(counted.successes),
                sum(counted.trials),
                counted.left_out,
                stretch.steps,
            )
        )
    return bars


def blame_of(home: Home, trial: TrialId | View, freeze: Iterable[str] = ()) -> list[Bar]:
    """The bars of a trial, from all its forks: unedited ones, of one agent, with the same part frozen.

    Of several agents the one that was forked last counts. Forks under a policy that was given as one are left out: they
    are not the same experiment.

    Args:
        home: where the runs lie.
        trial: the trial that was forked.
        freeze: what was frozen after the fork.

    Returns:
        a bar for each step that was forked at, in order; none if it never was.

    Raises:
        BadInput: there is no such trial.
        CassetteError: a cassette cannot be read.
    """
    view = trial if isinstance(trial, View) else View(home.cassette(trial), home)
    wanted = tuple(freeze)
    plain = (fork for fork in forks_of(home, view) if fork.is_plain)
    found = [fork for fork in plain if fork.freeze == wanted]
    if not found:
        return []
    newest = max(found, key=lambda fork: fork.created).agent
    runs: dict[int, list[str]] = {}
    for fork in found:
        if fork.agent == newest:
            runs.setdefault(fork.at, []).append(fork.name)
    return bars_of(home, view, runs)
