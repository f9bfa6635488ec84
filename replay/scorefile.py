"""``scores.jsonl`` of a run: the truth about scores, appended before the index learns of them."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import IO, Any

from attrs import evolve, frozen

from cassettes.errors import CorruptCassette
from cassettes.model import TrialId
from cassettes.reader import Cassette

from .home import Home, writing
from .scoring import Score

__all__ = ["KeptScore", "append_scores", "carry_scores", "read_scores"]


@frozen
class KeptScore:
    """One line of the file.

    Attributes:
        digest: of the cassette that was scored; None if it has none.
        evidence: as JSON text.
    """

    trial: str
    scorer: str
    version: str
    value: float | None
    passed: bool | None
    evidence: str
    digest: str | None
    at: str

    @classmethod
    def of(cls, trial: TrialId, scorer: str, version: str, score: Score, digest: str | None) -> KeptScore:
        """A score made now."""
        evidence = _as_json(dict(score.evidence))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(str(trial), scorer, version, score.value, score.passed, evidence, digest, now)


def _as_json(evidence: dict[str, Any]) -> str:
    try:
        return json.dumps(evidence, ensure_ascii=False, default=repr, allow_nan=False)
    except (TypeError, ValueError):  # keys that JSON has not, a value within itself, NaN
        return json.dumps({"repr": repr(evidence)}, ensure_ascii=False)


def append_scores(home: Home, run: str, scores: Iterable[KeptScore]) -> None:
    """Append scores to the run's file.

    Raises:
        RecordingFailed: the file cannot be written.
    """
    lines = [
        json.dumps(
            {
                "trial": score.trial,
                "scorer": score.scorer,
                "version": score.version,
                "value": score.value,
                "passed": score.passed,
                "evidence": json.loads(score.evidence),
                "digest": score.digest,
                "at": score.at,
            },
            ensure_ascii=False,
        )
        for score in scores
    ]
    if not lines:
        return
    path = home.run(run) / "scores.jsonl"
    with writing(path), path.open("a+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _drop_torn_line(file)
        data = memoryview(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
        while data:
            data = data[file.write(data) :]


def _drop_torn_line(file: IO[bytes]) -> None:
    """Remove what a crash left of a line: it was never acknowledged, and would damage the next."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return
    file.seek(0)
    whole = file.read().rfind(b"\n") + 1
    if whole < size:
        file.truncate(whole)


def carry_scores(home: Home, old: Cassette, new: Cassette) -> None:
    """Keep the scores of a cassette for the one that takes its place and says the same."""
    run = old.header.run
    append_scores(home, run, [evolve(s, digest=new.digest) for s in read_scores(home, run) if s.digest == old.digest])


def read_scores(home: Home, run: str) -> Iterator[KeptScore]:
    """All scores of a run, oldest first; a last line that was cut short by a crash is left out.

    Raises:
        CorruptCassette: another line is damaged.
    """
    path = home.run(run) / "scores.jsonl"
    if not path.exists():
        return
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            kept: dict[str, Any] = json.loads(line)
            evidence = json.dumps(kept.pop("evidence"), ensure_ascii=False)
            yield KeptScore(**kept, evidence=evidence)
        except (ValueError, TypeError, KeyError) as error:
            if number == len(lines):
                return
            raise CorruptCassette(f"{path}, line {number} is damaged: {error}") from error
