"""Logs of AgentDojo as trials: a folder of runs, or a part of one, or a single log; the old format too.

AgentDojo has no trials: one file per pipeline, suite, user task, attack and injection task. Several folders of the same
pipeline are repetitions: the first is trial 0 of each task, the second trial 1, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput
from replay.effects import AS_DECLARED, Effects

from .agentdojo_metrics import Verdicts, measure
from .agentdojo_record import ATTACK, INJECTION, UTILITY, Log, read_log
from .findings import Fidelity, Findings, FoundTrial, Identities, Remark
from .reading import as_list, declared_in, digest_of_files, json_in, number_in, read_bytes, text_in

__all__ = ["read_agentdojo"]

_FIDELITY: Final = Fidelity(
    rescored=("messages, tool calls and their results as text",),
    frozen=("tool calls, by name and arguments",),
    view_only=(
        "model calls: the exact requests were not kept",
        "the environment before and after: the logs do not hold it, so AgentDojo's own checks cannot be run again",
    ),
)
_BLIND: Final = {
    UTILITY: ("what else was done on the way", "whether an attack succeeded"),
    INJECTION: ("what else was done on the way",),
    ATTACK: ("harm beyond the goal of the injection", "whether the user's task was solved"),
}
_DEFENCES: Final = ("tool_filter", "transformers_pi_detector", "spotlighting_with_delimiting", "repeat_user_prompt")
_LOADABLE_FROM: Final = 2  # messages; AgentDojo's loader refuses fewer, but of one old model
_EXCEPTED: Final = "claude-3-opus"


@frozen
class _Read:
    """A log file that is one."""

    record: str
    index: int
    log: Log
    document: Mapping[str, Any]
    digest: str


def read_agentdojo(paths: Sequence[Path], effects: Effects = AS_DECLARED, pipeline: str | None = None) -> Findings:
    """Read logs; what is wrong with single ones is told, not raised.

    Args:
        paths: folders, or single logs; each is one repetition.
        effects: of tools, declared by the user.
        pipeline: only this one; needed if there are several.

    Raises:
        BadInput: there is no log at one of these places, or there are logs of several pipelines.
    """
    remarks: list[Remark] = []
    read = []
    for index, path in enumerate(paths):
        before = f"{path}/" if len(paths) > 1 else ""
        read += list(_logs(path, index, before, remarks))
    chosen = _chosen(sorted({each.log.pipeline for each in read}), pipeline)
    read = [each for each in read if each.log.pipeline == chosen]
    trials: list[FoundTrial] = []
    verdicts: list[Verdicts] = []
    identities = Identities()
    for each in read:
        why = identities.claim(each.log.task, each.index)
        if why is not None:
            remarks.append(Remark(each.record, each.log.task, each.index, why, imported=False))
            continue
        trial, odd = read_log(each.record, each.index, each.log, each.document, effects)
        trials.append(trial)
        remarks += [Remark(each.record, each.log.task, each.index, what) for what in odd]
        verdicts.append(_verdicts(each))
    measured = measure(verdicts)
    defence = _defence(chosen)
    versions = sorted({str(v) for each in read if (v := each.document.get("benchmark_version")) is not None})
    return Findings(
        format="agentdojo",
        config={
            "mode": "import",
            "format": "agentdojo",
            "file": digest_of_files({f"{each.index}/{each.digest}": each.digest for each in read}),
            "pipeline": chosen,
            "defence": defence,
            "benchmark_versions": versions,
            **declared_in(effects),
        },
        primary="@".join(UTILITY),
        fidelity=_FIDELITY,
        blind_to=_BLIND,
        trials=trials,
        remarks=remarks,
        told={"pipeline": chosen, "defence": defence, "benchmark_versions": versions, "metrics": measured.to_dict()},
        lines=measured.lines(),
    )


def _logs(path: Path, index: int, before: str, remarks: list[Remark]) -> Iterator[_Read]:
    """The logs below a place; other JSON files are told. ``before`` stands before their names in what is told.

    Raises:
        BadInput: there is none.
    """
    if not path.exists():
        raise BadInput(f"{path} does not exist; a folder of AgentDojo's logs, or one of them, is needed")
    places = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    found = False
    for place in places:
        inside = place.relative_to(path).as_posix() if path.is_dir() else place.name
        record = before + inside
        try:
            data = read_bytes(place)
            document = json_in(data)
            log = _log_in(document)
        except (BadInput, ValueError, TypeError) as error:
            remarks.append(Remark(record, None, None, str(error), imported=False))
            continue
        remarks.extend(Remark(record, log.task, index, what) for what in _misplaced(log, place))
        found = True
        yield _Read(record, index, log, document, digest_bytes(data))
    if not found:
        why = remarks[-1] if places else "no file that ends in .json"
        raise BadInput(f"{path} holds no log of AgentDojo: {why}")


def _log_in(document: Any) -> Log:
    """Who did what in a log.

    Raises:
        TypeError: it is no object.
        ValueError: it is no log.
    """
    if not isinstance(document, dict):
        raise TypeError(f"a {type(document).__name__} instead of a log")
    suite, user, pipeline = (text_in(document, name) for name in ("suite_name", "user_task_id", "pipeline_name"))
    if suite is None or user is None or pipeline is None:
        raise ValueError("no log of AgentDojo: suite_name, user_task_id and pipeline_name are needed")
    attack, injection = (_named(document, name) for name in ("attack_type", "injection_task_id"))
    return Log(suite, user, attack, injection, pipeline, _defence(pipeline))


def _named(document: Mapping[str, Any], name: str) -> str | None:
    """AgentDojo writes null or "none" for nothing."""
    value = text_in(document, name)
    return None if value == "none" else value


def _misplaced(log: Log, place: Path) -> Iterator[str]:
    """Where a log says something else than its path, if it lies in a folder of runs."""
    told = [log.pipeline.replace("/", "_"), log.suite, log.user_task, log.attack or "none", log.injection or "none"]
    *folders, name = place.resolve().parts[-5:]
    there = [*folders, place.stem] if name else []
    if len(there) == len(told) and there[-5] == told[0] and there != told:
        yield f"it lies at {'/'.join(there)}, but says {'/'.join(told)}; what it says counts"


def _defence(pipeline: str) -> str | None:
    """AgentDojo names a pipeline by its model, a dash and its defence."""
    return next((name for name in _DEFENCES if pipeline.endswith(f"-{name}")), None)


def _chosen(names: Sequence[str], wanted: str | None) -> str:
    """The one pipeline that is imported.

    Raises:
        BadInput: there are several, or not the one that is wanted.
    """
    if wanted is None and len(names) == 1:
        return names[0]
    told = ", ".join(names)
    if wanted is None:
        raise BadInput(f"there are logs of several pipelines ({told}): a run holds one; name it by --pipeline")
    if wanted not in names:
        raise BadInput(f"there is no log of a pipeline {wanted!r}; there are {told}")
    return wanted


def _verdicts(each: _Read) -> Verdicts:
    document = each.document
    utility, security = (v if isinstance(v := document.get(name), bool) else None for name in ("utility", "security"))
    enough = len(as_list(document.get("messages"))) >= _LOADABLE_FROM or _EXCEPTED in each.log.pipeline
    whole = utility is not None and security is not None and number_in(document, "duration") is not None
    return Verdicts(
        suite=each.log.suite,
        kind=each.log.kind,
        attack=each.log.attack,
        utility=utility,
        security=security,
        error=text_in(document, "error") is not None,
        loadable=enough and whole,
    )
