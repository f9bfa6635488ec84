"""Under which settings a run was made, as far as its file, the index and its cassettes tell."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from attrs import frozen

from cassettes.canonical import digest
from cassettes.errors import BadInput, UnkeepableValue
from cassettes.model import Call, TrialId
from replay.runs import RunFile
from replay.store import Store
from replay.view import View, messages_of

__all__ = [
    "DECISIVE",
    "GIVEN",
    "SETTINGS",
    "SettingChange",
    "benchmark_of",
    "caps_of",
    "changed_settings",
    "refuse_unnamed",
    "served_models",
    "settings_of",
]

GIVEN: Final = ("settings", "agent", "env")
"""What the agent was given (see `replay.orchestration.variant`)."""

DECISIVE: Final = (
    *GIVEN,
    "model",
    "user-model",
    "other-models",
    "parameters",
    "benchmark",
    "mode",
    "dialogue",
    "caps",
    "scorer",
    "freezing",
)
"""Settings that must be the same in both runs, unless a difference in them is what is being tried."""

SETTINGS: Final = (*DECISIVE, "prompt", "tools", "seed", "git", "packages", "suite")
"""All settings, in the order in which they are told."""

_MODELS = """
SELECT DISTINCT i.actor, i.name, i.arguments FROM trials t JOIN interactions i ON i.trial = t.id
WHERE t.run = ? AND i.kind = 'model'
"""
_FIRST_ASKED = """
SELECT t.task, t.id, MIN(i.step) AS step FROM trials t JOIN interactions i ON i.trial = t.id
WHERE t.run = ? AND t.idx = (SELECT MIN(idx) FROM trials o WHERE o.run = t.run AND o.task = t.task)
  AND i.kind = 'model' AND i.actor = 'agent'
GROUP BY t.task, t.id
"""
_BENCHMARK = (
    "domain",
    "domain_commit",
    "ablation",
    "agent",
    "user",
    "user_guidelines",
    "retrieval",
    "retrieval_args",
    "speech_complexity",
    "voice",
)
_CAPS = ("timeout", "caps", "max_steps")
_NO_PARAMETERS = {"model", "stream", "stream_options", "user", "metadata", "seed"}  # who asks, how it travels, and luck
_ACTIONS = ("freeze", "live", "emulate", "refuse", "catch_up")
_DECIDED = (*_ACTIONS, "on_miss", "ignore", "ignore_fields", "effects", "emulator", "policy")
_FREEZING = (*_DECIDED, "source", "worlds", "user_seeds", "fork")
_PLAIN_MODES = {None, "record", "import", "freeze"}  # what "freeze" freezes is told beside it
_ALONE = "no-user"  # how the modes of a dialogue begin that have no user
_SYSTEM_ARGUMENTS = ("system", "instructions", "system_instruction", "systemInstruction")
_SYSTEM_ROLES = {"system", "developer"}


@frozen
class SettingChange:
    """One setting that differs between two runs.

    Attributes:
        name: one of `SETTINGS`.
        a: what it was in the first run, in short.
        b: what it was in the second.
        named: the user said that it was changed on purpose.
    """

    name: str
    a: str
    b: str
    named: bool

    @property
    def refused(self) -> bool:
        """True if nobody said that this was meant, and it alone could make the difference."""
        return self.name in DECISIVE and not self.named

    def __str__(self) -> str:
        return f"{self.name}: {self.a} → {self.b}"


def settings_of(store: Store, file: RunFile, score: str, tasks: Collection[str]) -> dict[str, Any]:
    """The settings of a run, by name.

    Args:
        store: an index that is up to date.
        file: of the run.
        score: ``name@version`` that counts.
        tasks: prompts and tools are those of the first trial of each of these.

    Raises:
        CassetteError: a cassette cannot be read.
    """
    models: dict[str, set[str]] = {}
    parameters: dict[str, set[str]] = {}
    for row in store.rows(_MODELS, [file.name]):
        models.setdefault(row["actor"], set()).add(row["name"])
        parameters.setdefault(row["actor"], set()).add(_parameters(row["arguments"]))
    prompts, tools = _prompts_and_tools(store, file.name, tasks)
    config, about = file.config, file.about
    dialogue = config.get("dialogue") or {}
    freezing = {name: config[name] for name in _FREEZING if config.get(name)}
    if isinstance(config.get("policy"), str):  # of a benchmark: what the agent was told, and nothing of freezing
        del freezing["policy"]
    if config.get("mode") not in _PLAIN_MODES:
        freezing["mode"] = config["mode"]
    return {
        "settings": config.get("settings") or {},
        "agent": None if config.get("mode") == "import" else config.get("agent"),  # imported: a part of the benchmark
        "env": config.get("env") or {},
        "model": sorted(models.get("agent", ())),
        "user-model": sorted(models.get("user", ())),
        "other-models": sorted(
            name for actor, used in models.items() if actor not in {"agent", "user"} for name in used
        ),
        "parameters": {actor: sorted(used) for actor, used in sorted(parameters.items()) if used - {"{}"}},
        "mode": dialogue.get("mode"),
        "dialogue": {name: value for name, value in dialogue.items() if name != "mode"},
        "benchmark": benchmark_of(config),
        "caps": caps_of(config),
        "scorer": score,
        "freezing": {**freezing, "recordings": digest(dict(file.pool))[:8]} if freezing else {},
        "prompt": prompts,
        "tools": tools,
        "seed": config.get("seed"),
        "git": about.get("git"),
        "packages": about.get("packages", {}),
        "suite": about.get("suite"),
    }


def benchmark_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Which task set of which version an imported run tried, in which mode: what makes numbers of it comparable."""
    if config.get("mode") != "import":
        return {}
    told = {name: config[name] for name in _BENCHMARK if config.get(name) is not None}
    return told | ({"policy": config["policy"]} if isinstance(config.get("policy"), str) else {})


def caps_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """What ended trials from outside."""
    return {name: config[name] for name in _CAPS if config.get(name) is not None}


def served_models(store: Store, run: str) -> tuple[str, ...]:
    """The models that answered the agent, as their replies name them: of the first call of each task's first trial.

    A name such as ``gpt-4o`` may be answered by another model every month; replies tell which.

    Raises:
        CassetteError: a cassette cannot be read.
    """
    found = set()
    for row in store.rows(_FIRST_ASKED, [run]):
        trial = TrialId.parse(row["id"])
        asked = View(store.home.cassette(trial), store.home).cassette.step(row["step"])
        found.add((None if asked.reply is None else asked.reply.model) or asked.call.name)
    return tuple(sorted(found))


def changed_settings(
    a: Mapping[str, Any], b: Mapping[str, Any], named: Collection[str] = ()
) -> tuple[SettingChange, ...]:
    """The settings that differ, in the order of `SETTINGS`; that a mode without a user has none is one difference."""
    if a["mode"] != b["mode"] and any(str(side["mode"]).startswith(_ALONE) for side in (a, b)):
        a, b = _less_the_user(a), _less_the_user(b)
    return tuple(
        SettingChange(name, *_shortly(name, a[name], b[name]), name in named) for name in SETTINGS if a[name] != b[name]
    )


def _less_the_user(settings: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {actor: used for actor, used in settings["parameters"].items() if actor != "user"}
    dialogue = {name: value for name, value in settings["dialogue"].items() if name not in {"user", "opening"}}
    return {**settings, "user-model": [], "parameters": parameters, "dialogue": dialogue}


def refuse_unnamed(
    runs: tuple[str, str], changes: Iterable[SettingChange], named: Collection[str], purpose: str
) -> None:
    """See that two runs differ in nothing decisive but what was named.

    Args:
        runs: their names.
        changes: as of `changed_settings`.
        named: what is meant to differ.
        purpose: what a difference may be, such as ``what you want to try``.

    Raises:
        BadInput: they do.
    """
    refused = [change for change in changes if change.refused]
    if refused:
        names = ",".join([*named, *(change.name for change in refused)])
        raise BadInput(
            f"runs {runs[0]!r} and {runs[1]!r} differ in more than luck: {'; '.join(map(str, refused))}. If that is "
            f"{purpose}, say so: --changed {names}"
        )


def _shortly(name: str, a: Any, b: Any) -> tuple[str, str]:
    if name == "git":
        return _commit(a), _commit(b)
    if name in {"prompt", "tools"}:
        other = sum(a.get(task) != b.get(task) for task in {*a, *b})
        return f"as of {len(a)} tasks", f"another for {other} of them"
    if isinstance(a, dict) and isinstance(b, dict):
        differing = [key for key in sorted({*a, *b}) if a.get(key) != b.get(key)]
        return (
            ", ".join(f"{key} {_short(side.get(key))}" for key in differing[:4])
            + (", ..." if len(differing) > 4 else "")
            for side in (a, b)
        )  # type: ignore[return-value]
    return _short(a), _short(b)


def _short(value: Any) -> str:
    if value is None or value in ([], {}):
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _commit(state: Any) -> str:
    if not state:
        return "unknown"
    return f"{state['commit'][:10]}{' with changes' if state.get('changed') else ''}"


def _parameters(arguments: str | None) -> str:
    try:
        found = json.loads(arguments or "{}")
    except ValueError:  # cut at the length of a column
        return "{}"
    if not isinstance(found, dict):
        return "{}"
    return json.dumps({name: found[name] for name in sorted(found) if name not in _NO_PARAMETERS})


def _prompts_and_tools(store: Store, run: str, tasks: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    prompts: dict[str, str] = {}
    tools: dict[str, str] = {}
    for row in store.rows(_FIRST_ASKED, [run]):
        if row["task"] not in tasks:
            continue
        trial = TrialId.parse(row["id"])
        call = View(store.home.cassette(trial), store.home).cassette.step(row["step"]).call
        prompts[row["task"]] = _digest(_system_prompt(call))
        tools[row["task"]] = _digest(call.arguments.get("tools"))
    return prompts, tools


def _system_prompt(call: Call) -> list[Any]:
    given = [call.arguments[name] for name in _SYSTEM_ARGUMENTS if call.arguments.get(name)]
    return given + [m for m in messages_of(call) if isinstance(m, Mapping) and m.get("role") in _SYSTEM_ROLES]


def _digest(value: Any) -> str:
    try:
        return digest(value)
    except UnkeepableValue:  # something that only its name is known of
        return digest(repr(value))
