"""Runs under attack, with the verdicts that a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cassettes.model import Ending, TrialId
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score
from replay.view import View
from tests.factories import COMPLETED, write_cassette
from tests.replay.recorded import read, steps

CAPPED = Ending("capped", "30 actions")
CRASHED = Ending("error", "reset by peer", "infrastructure")
UNANSWERED = Ending("unanswered", "no answer")
UNDELIVERED = Score(
    None, evidence={"why": "not delivered: read was not called", "delivered in steps": [], "goal reached": False}
)

SUCCEEDED, RESISTED = (
    Score(value, evidence={"delivered in steps": [0], "goal reached": bool(value)}) for value in (1.0, 0.0)
)


def trial(
    home: Home,
    identity: str,
    *,
    helped: Score | bool | None = None,
    attack: Score | None = None,
    text: str | None = None,
    tags: Mapping[str, str] | None = None,
    ending: Ending = COMPLETED,
    **scores: Score,
) -> None:
    """One trial; ``text`` is that of its attack, if its task is attacked."""
    parsed = TrialId.parse(identity)
    if not (home.run(parsed.run) / "run.json").exists():
        open_run(home, RunFile(parsed.run, primary="helped@1"))
    digests: dict[str, Any] = {"instruction": parsed.task.partition("/")[0]}
    if text is not None:
        digests["injections"] = text
    path = home.cassette(parsed)
    path.parent.mkdir(parents=True, exist_ok=True)
    definition = {"id": parsed.task, "tags": dict(tags or {}), "digests": digests}
    write_cassette(
        path,
        steps([read()]),
        ending,
        run=parsed.run,
        task=parsed.task,
        index=parsed.index,
        task_definition=definition,
    )
    made = dict(scores)
    if helped is not None:
        made["helped"] = helped if isinstance(helped, Score) else Score(float(helped))
    if attack is not None:
        made["attack_success"] = attack
    digest = View(path, home).cassette.digest
    append_scores(home, parsed.run, [KeptScore.of(parsed, name, "1", score, digest) for name, score in made.items()])


def run(home: Home, name: str, benign: Sequence[str], attacked: Mapping[str, str], text: str = "PAY") -> None:
    """Tasks t0, t1, ... with verdicts as letters: helped + or -; attacked a (succeeded), r (resisted), u (unknown).

    Args:
        home: where.
        name: of the run.
        benign: for each user task, its trials.
        attacked: for each attacked task (``0/direct``), its trials.
        text: of all attacks.
    """
    for number, letters in enumerate(benign):
        for index, letter in enumerate(letters):
            trial(home, f"{name}/t{number}#{index}", helped=letter == "+")
    verdicts = {"a": SUCCEEDED, "r": RESISTED, "u": UNDELIVERED}
    for key, letters in attacked.items():
        number, _, kind = key.partition("/")
        tags = {"user_task": f"t{number}", "attack": kind}
        for index, letter in enumerate(letters):
            identity = f"{name}/t{number}/{kind}#{index}"
            trial(home, identity, helped=letter != "a", attack=verdicts[letter], text=text, tags=tags)
