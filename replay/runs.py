"""A run's own file: under which configuration its trials were made."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from cassettes.errors import BadInput, CorruptCassette

from .home import Home, writing

__all__ = ["RunFile", "git_state", "load_run", "open_run", "packages", "pool_pinned_by", "refuse_other_run"]

_SEEN = (
    "trialtape",
    "openai",
    "anthropic",
    "google-genai",
    "httpx",
    "httpx2",
    "mcp",
    "langchain-core",
    "openai-agents",
    "pydantic-ai-slim",
    "vcrpy",
)


@frozen
class RunFile:
    """The content of ``run.json``.

    Attributes:
        config: what must be the same for all trials of the run: mode, policy, source, caps, seed, tasks by digest.
        about: what is only told: when, by which packages, from which commit and suite.
        pool: of a frozen run, the digests of the recordings it draws from, by trial.
        primary: the run's primary score, ``name@version``.
    """

    name: str
    config: Mapping[str, Any] = field(factory=dict)
    about: Mapping[str, Any] = field(factory=dict)
    pool: Mapping[str, str] = field(factory=dict)
    primary: str | None = None


def load_run(home: Home, name: str) -> RunFile:
    """The run's file.

    Raises:
        BadInput: there is no such run.
        CorruptCassette: the file is damaged.
    """
    path = home.run(name) / "run.json"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        known = ", ".join(home.runs()[:8]) or "none"
        raise BadInput(f"there is no run {name!r} in {home.root}; the runs there: {known}") from None
    try:
        return RunFile(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise CorruptCassette(f"{path} is damaged: {error}") from error


def pool_pinned_by(home: Home, name: str) -> Mapping[str, str]:
    """The recordings that a frozen run draws on, with their digests; none if there is no such run yet."""
    return load_run(home, name).pool if (home.run(name) / "run.json").exists() else {}


def open_run(home: Home, run: RunFile) -> RunFile:
    """Create the run, or go on with it under the same configuration.

    Raises:
        BadInput: the run exists under another configuration; nothing was changed.
        RecordingFailed: the folder cannot be written.
    """
    path = home.run(run.name) / "run.json"
    text = json.dumps(asdict(run), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    temporary = path.with_name(f"run.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
    try:
        os.link(temporary, path)  # exclusive, and whole or not at all
        return run
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    return _same(load_run(home, run.name), run)


def refuse_other_run(home: Home, run: RunFile) -> None:
    """See that the run does not exist under another configuration; nothing is written.

    Raises:
        BadInput: it does.
    """
    if (home.run(run.name) / "run.json").exists():
        _same(load_run(home, run.name), run)


def _same(known: RunFile, run: RunFile) -> RunFile:
    wanted = json.loads(json.dumps({"config": run.config, "pool": run.pool}))
    found = {"config": dict(known.config), "pool": dict(known.pool)}
    if wanted != found:
        raise BadInput(
            f"run {run.name!r} exists already with another configuration ({_differences(found, wanted)}); "
            "choose another name, or delete its folder"
        )
    return known


def _differences(old: Any, new: Any, path: str = "") -> str:
    told: list[str] = []
    for key in sorted({*old, *new}):
        a, b = old.get(key, "nothing"), new.get(key, "nothing")
        where = f"{path}.{key}" if path else str(key)
        if isinstance(a, dict) and isinstance(b, dict):
            if a != b:
                told.append(_differences(a, b, where))
        elif a != b:
            told.append(f"{where.removeprefix('config.')}: {_short(a)} there, {_short(b)} now")
    return "; ".join(told[:4]) + ("; and more" if len(told) > 4 else "")


def _short(value: Any) -> str:
    text = json.dumps(value) if not isinstance(value, str) else value
    return text if len(text) <= 60 else text[:57] + "..."


def packages() -> dict[str, str]:
    """The versions of what takes part in a recording."""
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in _SEEN:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git_state(folder: Path) -> dict[str, Any] | None:
    """The commit of ``folder`` and whether there are uncommitted changes; None outside a repository."""
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False, timeout=10
        )
        status = subprocess.run(
            ["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if head.returncode != 0:
        return None
    return {"commit": head.stdout.strip(), "changed": bool(status.stdout.strip())}
