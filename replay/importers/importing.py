"""What was found in files of another tool as a run: cassettes, scores and labels, each written once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, field, frozen

from cassettes.errors import BadInput, UnkeepableValue
from cassettes.model import Ending, Interaction, TrialId
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.labelling.labels import Label, append_label, read_labels
from replay.runs import RunFile, open_run, packages
from replay.scores.blindness import keep_blindness
from replay.scores.scorefile import KeptScore, append_scores, read_scores
from replay.scoring import Score, Scorer

from .findings import Findings, FoundTrial, Remark
from .keeping import Keeper
from .reading import storable

__all__ = ["Imported", "import_findings"]


@frozen
class Imported:
    """What an import did.

    Attributes:
        done: trials by what was done: ``written``, ``replaced``, ``kept`` (whole already).
        endings: trials by ending and reason.
        verdicts: trials by the primary score's verdict: ``passed``, ``failed``, ``unscored``.
        scores: trials with a value, by score (``name@version``).
        labels: how many labels the file holds for the run's trials.
        tools: tool calls with a result: ``known`` effect, ``unknown`` effect.
        models: model calls.
        remarks: about trials that cannot be kept.
    """

    run: str
    done: Counter[str] = field(factory=Counter)
    endings: Counter[tuple[str, str | None]] = field(factory=Counter)
    verdicts: Counter[str] = field(factory=Counter)
    scores: Counter[str] = field(factory=Counter)
    labels: Counter[str] = field(factory=Counter)
    tools: Counter[str] = field(factory=Counter)
    models: Counter[str] = field(factory=Counter)
    remarks: list[Remark] = field(factory=list)

    @property
    def trials(self) -> int:
        """Trials of the file that the run now holds."""
        return self.done.total()

    @property
    def changed(self) -> bool:
        """False if everything was there already."""
        return self.done["kept"] < self.trials


def import_findings(
    home: Home, run: str, source: Path, findings: Findings, progress: Callable[[], None] = lambda: None
) -> Imported:
    """Write the trials that the run does not hold yet, and their scores and labels.

    Args:
        home: where the run lies, or is made.
        run: the run's name.
        source: the file or folder, for the record.
        findings: its content; nothing is written if it has no trial.
        progress: called after each trial.

    Raises:
        BadInput: the run exists already, made from another file or in another way.
        CassetteError: a cassette of the run is damaged, or cannot be written.
    """
    imported = Imported(run)
    if not findings.trials:
        return imported
    redactor = Redactor(home.redaction_key(), secrets_of(os.environ))
    config = redactor.value(storable(dict(findings.config)), Counter())
    about: dict[str, Any] = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "file": os.fsencode(source).decode("utf-8", "backslashreplace"),
        "fidelity": asdict(findings.fidelity),
        "packages": packages(),
    }
    open_run(home, RunFile(run, config, about, primary=findings.primary))
    keeper = Keeper(home)
    digests: dict[TrialId, str] = {}
    kept: list[FoundTrial] = []
    for trial in findings.trials:
        identity = TrialId(run, trial.task, trial.index)
        own = {**config, **storable(dict(trial.config)), "record": trial.record}
        try:
            done, digests[identity] = keeper.keep(
                identity, trial.events, _ending(trial), config=own, definition=storable(trial.definition)
            )
        except (BadInput, UnkeepableValue) as error:
            imported.remarks.append(Remark(trial.record, trial.task, trial.index, str(error), imported=False))
        else:
            kept.append(trial)
            imported.done[done] += 1
            _count(imported, trial, findings.primary)
        progress()
    keep_blindness(home, run, [_scorer(*score, blind) for score, blind in findings.blind_to.items()])
    _keep_scores(home, run, kept, digests)
    _keep_labels(home, run, kept, digests, redactor)
    return imported


def _count(imported: Imported, trial: FoundTrial, primary: str | None) -> None:
    imported.endings[trial.ending.status, storable(trial.ending.reason)] += 1
    passed = next((s.score.passed for s in trial.scores if f"{s.scorer}@{s.version}" == primary), None)
    imported.verdicts["unscored" if passed is None else "passed" if passed else "failed"] += 1
    imported.scores.update(f"{s.scorer}@{s.version}" for s in trial.scores if s.score.value is not None)
    imported.labels.update(label.fault or "no fault" for label in trial.labels)
    for event in trial.events:
        if isinstance(event, Interaction) and event.call.kind == "tool":
            imported.tools["unknown" if event.call.effect == "unknown" else "known"] += 1
        elif isinstance(event, Interaction):
            imported.models[event.call.actor] += 1


def _scorer(name: str, version: str, blind_to: tuple[str, ...]) -> Scorer:
    """What made a score of the file: it cannot be run here."""
    return Scorer(name, version, lambda _view: None, blind_to=blind_to)


def _ending(trial: FoundTrial) -> Ending:
    return evolve(trial.ending, reason=storable(trial.ending.reason))


def _storable_score(score: Score) -> Score:
    return evolve(score, evidence=storable(dict(score.evidence)))


def _keep_scores(home: Home, run: str, trials: Iterable[FoundTrial], digests: Mapping[TrialId, str]) -> None:
    """Append the scores that are not kept yet for these very cassettes."""
    known = {(s.trial, s.digest, s.scorer, s.version) for s in read_scores(home, run)}
    scores: list[KeptScore] = []
    for trial in trials:
        identity = TrialId(run, trial.task, trial.index)
        scores.extend(
            KeptScore.of(identity, rated.scorer, rated.version, _storable_score(rated.score), digests[identity])
            for rated in trial.scores
            if (str(identity), digests[identity], rated.scorer, rated.version) not in known
        )
    append_scores(home, run, scores)


def _keep_labels(
    home: Home, run: str, trials: Iterable[FoundTrial], digests: Mapping[TrialId, str], redactor: Redactor
) -> None:
    """Append the labels that their authors have not given, or taken back, before."""
    known = {(label.trial, label.author, label.digest) for label in read_labels(home, run)[0]}
    for trial in trials:
        identity = TrialId(run, trial.task, trial.index)
        for found in trial.labels:
            label = Label(
                trial=str(identity),
                author=" ".join(storable(found.author).split()) or "unknown",
                fault=found.fault,
                source=found.source,
                user_error=found.user_error,
                type=_cleaned(found.type, redactor),
                step=found.step,
                note=_cleaned(found.note, redactor),
                digest=digests[identity],
            )
            if (label.trial, label.author, label.digest) not in known:
                append_label(home, label if found.at is None else evolve(label, at=storable(found.at)))


def _cleaned(text: str | None, redactor: Redactor) -> str | None:
    return None if text is None else redactor.text(storable(text), Counter())
