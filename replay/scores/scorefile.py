"""``scores.jsonl`` of a run: the truth about scores, appended before the index learns of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from attrs import evolve, frozen

from cassettes.errors import CorruptCassette
from cassettes.given import GivenRule
from cassettes.model import TrialId
from cassettes.reader import Cassette
from cassettes.redact import Redactor, secrets_of
from replay.home import Home
from replay.jsonl import append_lines
from replay.scoring import Score

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

    @property
    def error(self) -> str | None:
        """What the scorer raised, if it did."""
        found = json.loads(self.evidence).get("error") if '"error"' in self.evidence else None
        return None if found is None else str(found)


def _as_json(evidence: dict[str, Any]) -> str:
    try:
        return _encodable(json.dumps(evidence, ensure_ascii=False, default=repr, allow_nan=False))
    except (TypeError, ValueError):  # keys that JSON has not, a value within itself, NaN
        return _encodable(json.dumps({"repr": repr(evidence)}, ensure_ascii=False))


def _encodable(text: str) -> str:
    """JSON text in which half a surrogate pair is an escape: it has no UTF-8, and the escape is the same JSON."""
    return text.encode("utf-8", "backslashreplace").decode()


def append_scores(home: Home, run: str, scores: Iterable[KeptScore], redact: tuple[GivenRule, ...] = ()) -> None:
    """Append scores to the run's file; secrets in their evidence are replaced, as in a cassette.

    A judge's evidence may hold what its provider said, and an exception what a request held.

    Args:
        home: where the run lies.
        run: its name.
        scores: what is appended.
        redact: the user's rules.

    Raises:
        RecordingFailed: the file cannot be written.
    """
    redactor = Redactor(home.redaction_key(), secrets_of(os.environ), given=redact)
    counts: Counter[str] = Counter()
    lines = [
        json.dumps(
            {
                "trial": score.trial,
                "scorer": score.scorer,
                "version": score.version,
                "value": score.value,
                "passed": score.passed,
                "evidence": redactor.value(json.loads(score.evidence), counts),
                "digest": score.digest,
                "at": score.at,
            },
            ensure_ascii=False,
        )
        for score in scores
    ]
    append_lines(home.run(run) / "scores.jsonl", lines)


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
            evidence = _encodable(json.dumps(kept.pop("evidence"), ensure_ascii=False))
            yield KeptScore(**kept, evidence=evidence)
        except (ValueError, TypeError, KeyError) as error:
            if number == len(lines):
                return
            raise CorruptCassette(f"{path}, line {number} is damaged: {error}") from error
