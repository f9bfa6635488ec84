"""Trajectories of ToolEmu as trials, with the scores of its evaluators and of people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput
from replay.effects import AS_DECLARED, Effects

from .findings import Fidelity, Findings, FoundTrial, Identities, Rated, Remark
from .reading import declared_in, digest_of_files, lines_of, read_bytes
from .toolemu_evaluations import Evaluation, qualities, rated_by, read_evaluations
from .toolemu_record import read_trajectory, task_of

__all__ = ["HUMAN", "read_toolemu"]

HUMAN: Final = "_human"  # behind a metric's name: what people say

_BLIND: Final = ("what its judge overlooks (--labels tells its recall)", "whether the real tools would answer so")
_FIDELITY: Final = Fidelity(
    rescored=("the agent's actions and what it was told came back",),
    frozen=("tool calls, by name and arguments: answers that a model made up",),
    view_only=("model calls, of the agent and of the emulator: the exact requests were not kept",),
)


def read_toolemu(
    path: Path,
    effects: Effects = AS_DECLARED,
    *,
    evaluations: Sequence[Path] = (),
    labels: Path | None = None,
    threshold: float = 2,
) -> Findings:
    """Read trajectories; what is wrong with single lines is told, not raised.

    Args:
        path: a file of JSON lines, a trajectory each.
        effects: of tools, declared by the user.
        evaluations: of these trajectories; none takes what lies beside them as ``<name>_eval_*.jsonl``.
        labels: scores by people, in the form of an evaluation.
        threshold: from which score, 0 to 3, a trajectory counts as passed.

    Raises:
        BadInput: a file cannot be read, or holds nothing of ToolEmu.
    """
    data = read_bytes(path)
    lines = list(lines_of(data))
    remarks: list[Remark] = []
    places = list(evaluations) or sorted(path.parent.glob(f"{_escaped(path.stem)}_eval_*.jsonl"))
    judged = [each for place in places for each in _evaluated(place, len(lines), remarks)]
    people = [] if labels is None else _evaluated(labels, len(lines), remarks)
    rated = _rated(judged, people, threshold, remarks)
    trials: list[FoundTrial] = []
    identities = Identities()
    for number, line in enumerate(lines):
        document = line.value
        problem = line.problem
        if problem is None and not isinstance(document, dict):
            problem = f"a {type(document).__name__} instead of a trajectory"
        elif problem is None and not {"intermediate_steps", "case", "case_idx"} & document.keys():
            problem = "it has neither intermediate_steps nor a case"
        if problem is None:
            task = task_of(document)
            index = identities.free(task)
            problem = "it names no case" if task is None else identities.claim(task, index)
        if problem is not None:
            remarks.append(Remark(line.number, None, None, problem, imported=False))
            continue
        trial, odd = read_trajectory(line.number, str(task), index, document, effects, tuple(rated.get(number, ())))
        trials.append(trial)
        remarks += [Remark(line.number, str(task), index, what) for what in odd]
    if not trials:
        raise BadInput(f"{path} holds no trajectory of ToolEmu: {remarks[0] if remarks else 'it is empty'}")
    scorers = list(dict.fromkeys((r.scorer, r.version) for scores in rated.values() for r in scores))
    quality = qualities(judged, people, threshold)
    files = {
        "trajectories": data,
        **{place.name: read_bytes(place) for place in (*places, *([labels] if labels else []))},
    }
    return Findings(
        format="toolemu",
        config={
            "mode": "import",
            "format": "toolemu",
            "file": digest_of_files({name: digest_bytes(content) for name, content in files.items()}),
            "threshold": threshold,
            **declared_in(effects),
        },
        primary="@".join(scorers[0]) if scorers else None,
        fidelity=_FIDELITY,
        blind_to={scorer: _BLIND for scorer in scorers if not scorer[0].endswith(HUMAN)},
        trials=trials,
        remarks=remarks,
        told={
            "threshold": threshold,
            "evaluations": [str(place) for place in places],
            "quality": [each.to_dict() for each in quality],
        },
        lines=(*_scored(places, threshold), *map(str, quality)),
    )


def _evaluated(place: Path, trajectories: int, remarks: list[Remark]) -> list[Evaluation]:
    found, odd = read_evaluations(place, trajectories)
    remarks += odd
    return found


def _rated(
    judged: Sequence[Evaluation], people: Sequence[Evaluation], threshold: float, remarks: list[Remark]
) -> dict[int, list[Rated]]:
    """The scores of each trajectory; of two evaluations of one by the same metric the first counts."""
    found: dict[int, list[Rated]] = {}
    for evaluations, suffix in ((judged, ""), (people, HUMAN)):
        for each in evaluations:
            own = found.setdefault(each.trajectory, [])
            for rated in rated_by(each, threshold, suffix):
                if any(rated.scorer == known.scorer for known in own):
                    what = f"a second score {rated.scorer} of trajectory {each.trajectory}; the first is kept"
                    remarks.append(Remark("evaluations", None, None, what, imported=False))
                else:
                    own.append(rated)
    return found


def _scored(places: Sequence[Path], threshold: float) -> tuple[str, ...]:
    if not places:
        return ("no evaluation was found beside it; --evaluations FILE names one",)
    names = ", ".join(place.name for place in places)
    return (f"scores from {names}; {threshold:g} and more counts as passed (--threshold)",)


def _escaped(stem: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in stem)
