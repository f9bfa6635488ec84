"""Results of tau2-bench (tau3) as trials, in both of its forms, text and voice.

What the files do not say stays unknown: the exact requests, the databases, and whatever a model is called by no name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from cassettes.canonical import digest
from cassettes.errors import BadInput
from cassettes.model import Effect
from replay.effects import AS_DECLARED, Effects

from .findings import Fidelity, Findings, FoundLabel, FoundTrial, Identities, Remark
from .reading import as_dict, as_list, declared_in, json_in, lines_of, read_bytes, text_in
from .tau2_file import Tau2File, read_file
from .tau2_metrics import Ended, conventions
from .tau2_record import Setting, read_simulation
from .tau2_reviews import note_label
from .tau2_reward import REWARD
from .taubench_tools import EFFECTS

__all__ = ["read_tau2"]

_FIDELITY: Final = Fidelity(
    rescored=(
        "messages, tool calls and their results; the reward, recombined from its components",
        "of voice the timing of speech",
    ),
    frozen=("tool calls, by name and arguments, the user's apart from the agent's",),
    view_only=(
        "model calls: the exact requests were not kept",
        "both databases: only whether they were right",
        "reviews and notes; sound is kept by reference",
    ),
)
_BLIND: Final = (
    "the way to the state (calls, order, consent)",
    "what was said beyond the texts and assertions of its basis",
    "faults of the simulated user",
)
_TYPES: Final[Mapping[str, Effect]] = {"read": "read", "write": "write", "think": "pure"}
_SHARED_DOMAINS: Final = {"airline", "retail"}  # tau2 has tau-bench's tools there
_MODES: Final = {
    ("llm_agent", "user_simulator"): "default",
    ("llm_agent_solo", "dummy_user"): "no-user",
    ("llm_agent_gt", "user_simulator"): "oracle-plan",
}

Notes = dict[tuple[str, int] | str, list[FoundLabel]]


def read_tau2(path: Path, effects: Effects = AS_DECLARED, notes: Path | None = None) -> Findings:
    """Read results; what is wrong with single simulations is told, not raised.

    Args:
        path: ``results.json``, or the folder that holds it.
        effects: of tools, declared by the user.
        notes: a file of tau2's simulation notes, as a JSON list or JSON lines.

    Raises:
        BadInput: there are no results of tau2-bench at this place, or a file cannot be read.
    """
    file = read_file(path)
    info = as_dict(file.meta.get("info"))
    setting = _setting(info, file, effects)
    remarks = list(file.remarks)
    known_notes = _notes(file, notes, remarks)
    trials: list[FoundTrial] = []
    ended: list[Ended] = []
    for record, simulation, task, index in _identified(file, remarks):
        own = [*known_notes.pop(str(simulation.get("id")), ()), *known_notes.pop((task, index), ())]
        trial, odd = read_simulation(record, task, index, simulation, setting, own)
        trials.append(trial)
        remarks += [Remark(record, task, index, what) for what in odd]
        reason = text_in(simulation, "termination_reason")
        ended.append(Ended(task, reason, trial.scores[0].score.passed))
    remarks += [
        Remark("notes", None, None, f"{len(found)} note(s) of {name}, which is not here")
        for name, found in known_notes.items()
    ]
    both = conventions(ended)
    return Findings(
        format="tau2",
        config=_config(info, file, setting),
        primary="@".join(REWARD),
        fidelity=_FIDELITY,
        blind_to={REWARD: _BLIND},
        trials=trials,
        remarks=remarks,
        told={
            "form": file.form,
            "domain": setting.domain,
            "agent_model": setting.agent,
            "user_model": setting.user,
            "conventions": [convention.to_dict() for convention in both],
        },
        lines=(*map(str, both), *_differing(ended)),
    )


def _differing(ended: Iterable[Ended]) -> list[str]:
    """Where ``trialtape stats`` counts differently from tau2."""
    others = sum(each.reason in {"user_error", "unexpected_error"} for each in ended)
    return (
        [f"{others} ended by the user's or an unexpected error: stats leaves them out, tau2 does not"] if others else []
    )


def _identified(file: Tau2File, remarks: list[Remark]) -> Iterable[tuple[int | str, dict[str, Any], str, int]]:
    """The simulations that can be trials; the others are told. Those without a number get one, after all others."""
    identities = Identities()
    unnumbered = [pair for pair in file.simulations if as_dict(pair[1]).get("trial") is None]
    numbered = [pair for pair in file.simulations if as_dict(pair[1]).get("trial") is not None]
    for record, simulation in (*numbered, *unnumbered):
        if not isinstance(simulation, dict):
            what = f"a {type(simulation).__name__} instead of a simulation"
            remarks.append(Remark(record, None, None, what, imported=False))
            continue
        task, told = simulation.get("task_id"), simulation.get("trial")
        index = identities.free(task) if told is None else told
        why = identities.claim(task, index)
        if why is not None:
            remarks.append(Remark(record, *_known(task, told), why, imported=False))
            continue
        if told is None:
            remarks.append(Remark(record, str(task), index, f"it has no trial number; taken as {index}"))
        yield record, simulation, str(task), index


def _known(task: Any, index: Any) -> tuple[str | None, int | None]:
    told = str(task) if isinstance(task, str) or (isinstance(task, int) and abs(task) < 1 << 63) else None
    return told, index if isinstance(index, int) and abs(index) < 1 << 63 else None


def _setting(info: Mapping[str, Any], file: Tau2File, effects: Effects) -> Setting:
    domain = text_in(as_dict(info.get("environment_info")), "domain_name")
    tasks = {
        str(task["id"]): task for task in as_list(file.meta.get("tasks")) if isinstance(task, dict) and "id" in task
    }
    shared: Mapping[str, Effect] = EFFECTS if domain in _SHARED_DOMAINS else {}
    return Setting(
        domain=domain,
        agent=text_in(as_dict(info.get("agent_info")), "llm"),
        user=text_in(as_dict(info.get("user_info")), "llm"),
        tasks=tasks,
        known={**shared, **_typed(file.simulations)},
        effects=effects,
    )


def _typed(simulations: Iterable[tuple[int | str, Any]]) -> dict[str, Effect]:
    """What tau2 itself says of its tools, where it checked calls of them."""
    found: dict[str, Effect] = {}
    for _, simulation in simulations:
        checks = as_list(as_dict(as_dict(simulation).get("reward_info")).get("action_checks"))
        for check in map(as_dict, checks):
            name, kind = text_in(as_dict(check.get("action")), "name"), text_in(check, "tool_type")
            if name is not None and kind is not None and kind in _TYPES:
                found[name] = _TYPES[kind]
    return found


def _config(info: Mapping[str, Any], file: Tau2File, setting: Setting) -> dict[str, Any]:
    agent, user = as_dict(info.get("agent_info")), as_dict(info.get("user_info"))
    policy = text_in(as_dict(info.get("environment_info")), "policy")
    names = (text_in(agent, "implementation"), text_in(user, "implementation"))
    told = {
        "agent": names[0],
        "agent_args": agent.get("llm_args"),
        "user": names[1],
        "user_model": setting.user,
        "user_args": user.get("llm_args"),
        "user_guidelines": _digest_of(user.get("global_simulation_guidelines")),
        "ablation": _MODES.get((names[0] or "", names[1] or "")),
        "policy": _digest_of(policy),
        "domain_commit": info.get("git_commit"),
        "caps": {name: info[name] for name in ("max_steps", "max_errors") if info.get(name) is not None} or None,
        "seed": info.get("seed"),
        "trials": info.get("num_trials"),
        "retrieval": info.get("retrieval_config"),
        "retrieval_args": info.get("retrieval_config_kwargs"),
        "speech_complexity": info.get("speech_complexity"),
        "voice": info.get("audio_native_config"),
    }
    return {
        "mode": "import",
        "format": "tau2",
        "file": file.digest,
        "domain": setting.domain,
        "agent_model": setting.agent,
        **{name: value for name, value in told.items() if value is not None},
        **declared_in(setting.effects),
    }


def _digest_of(text: Any) -> str | None:
    return None if text is None else digest(text)


def _notes(file: Tau2File, place: Path | None, remarks: list[Remark]) -> Notes:
    """Notes by the simulation's id, or by task and trial; those that blame nobody are told."""
    given = [*as_list(file.meta.get("notes")), *(() if place is None else _read_notes(place))]
    found: Notes = {}
    for number, note in enumerate(given):
        label = note_label(as_dict(note))
        simulation = text_in(as_dict(note), "simulation_id")
        task, index = as_dict(note).get("task_id"), as_dict(note).get("trial")
        if label is None:
            remarks.append(Remark("notes", None, None, f"note {number} names no source of the error: no label"))
        elif simulation is not None:
            found.setdefault(simulation, []).append(label)
        elif isinstance(task, str | int) and isinstance(index, int):
            found.setdefault((str(task), index), []).append(label)
        else:
            remarks.append(Remark("notes", None, None, f"note {number} names no simulation", imported=False))
    return found


def _read_notes(place: Path) -> list[Any]:
    data = read_bytes(place)
    try:
        whole = json_in(data)
    except ValueError:
        lines = list(lines_of(data))
        broken = [line for line in lines if line.problem is not None]
        if not lines or broken:
            why = f"line {broken[0].number + 1}: {broken[0].problem}" if broken else "it is empty"
            raise BadInput(f"{place} holds no notes: neither a JSON list nor JSON lines ({why})") from None
        return [line.value for line in lines]
    return whole if isinstance(whole, list) else [whole]
