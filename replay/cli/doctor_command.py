"""``trialtape doctor``: is everything in place?"""

from __future__ import annotations

import importlib.util
import site
import sys
from importlib.metadata import distributions, entry_points
from pathlib import Path
from typing import Any

import click

from cassettes.errors import BadInput
from replay.home import Home
from replay.patching import adapters, ambient_adapters, patched
from replay.readings import AMBIENT
from replay.runs import packages

from .options import json_option
from .output import echo_json

__all__ = ["command"]

_OURS = ("cassettes", "adapters", "replay")
_START_FILE = "trialtape.pth"  # see `replay.at_start`


@click.command("doctor")
@json_option
@click.pass_obj
def command(home: str | None, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Tell where the three packages come from, which SDKs are seen, and what is patched during a trial."""
    place = Home.find(home)
    found = {
        "packages": _origins(),
        "versions": packages(),
        "adapters": _adapters(),
        "ambient": _ambient(),
        "excluded": _excluded(),
        "isolated": _start_file(),
        "formats": sorted(entry.name for entry in entry_points(group="trialtape.cassette_formats")),
        "environments": sorted(entry.name for entry in entry_points(group="trialtape.environments")),
        "home": {"path": str(place.root), "exists": place.root.is_dir(), "runs": len(place.runs())},
    }
    found["problems"] = _problems(found)
    if as_json:
        echo_json(found)
    else:
        _tell(found)
    if found["problems"]:
        sys.exit(1)


def _origins() -> dict[str, str | None]:
    origins: dict[str, str | None] = {}
    for name in _OURS:
        spec = importlib.util.find_spec(name)
        origins[name] = None if spec is None or spec.origin is None else str(Path(spec.origin).parent)
    return origins


def _adapters() -> list[dict[str, Any]]:
    try:
        loaded = adapters()
    except BadInput as error:
        return [{"name": "?", "error": str(error), "versions": {}, "patches": []}]
    with patched():
        return [{"name": a.name, "versions": a.versions(), "patches": a.patched()} for a in loaded]


def _start_file() -> str | None:
    """What Python runs at its start also where it ignores PYTHONPATH; None if it is not installed here."""
    folders = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return next((str(file) for folder in folders if (file := Path(folder) / _START_FILE).is_file()), None)


def _excluded() -> list[str]:
    """What the adapters let pass unseen, also while calls are frozen."""
    try:
        loaded = adapters()
    except BadInput:
        return []
    return list(dict.fromkeys(rule for adapter in loaded for rule in getattr(adapter, "excluded", ())))


def _ambient() -> list[dict[str, Any]]:
    """What is patched only for trials that record or freeze it."""
    found: list[dict[str, Any]] = []
    for kind in AMBIENT:
        try:
            (adapter,) = ambient_adapters((kind,))
        except BadInput as error:
            found.append({"name": kind, "missing": str(error), "versions": {}, "patches": []})
            continue
        with patched((kind,)):
            found.append({"name": kind, "versions": adapter.versions(), "patches": adapter.patched()})
    return found


def _problems(found: dict[str, Any]) -> list[str]:
    problems = []
    here = Path(__file__).resolve().parents[2]
    for name, origin in found["packages"].items():
        if origin is None or Path(origin).resolve() != here / name:
            problems.append(f"package {name} comes from {origin or 'nowhere'}, not from {here}: something shadows it")
    for dist in distributions():
        name = dist.metadata["Name"]
        if name != "trialtape" and any(file.parts[0] in _OURS for file in dist.files or [] if len(file.parts) > 1):
            problems.append(
                f"distribution {name} installs a package of the same name as ours; they overwrite each other"
            )
    problems += [adapter["error"] for adapter in found["adapters"] if "error" in adapter]
    if not found["adapters"]:
        problems.append("no adapter is registered: reinstall trialtape (pip install -e . in a checkout)")
    return problems


def _isolated_told(file: str | None) -> str:
    if file is None:
        return f"no {_START_FILE} is installed: programs of python -I and -E are not recorded; install trialtape again"
    return f"programs of python -I and -E are recorded, too: {file}"


def _tell(found: dict[str, Any]) -> None:
    click.echo("packages")
    for name, origin in found["packages"].items():
        click.echo(f"  {name:12} {origin}")
    click.echo("versions")
    for name, number in found["versions"].items():
        click.echo(f"  {name:12} {number}")
    click.echo("adapters (patched while a trial is active, restored with the last)")
    for adapter in found["adapters"]:
        seen = ", ".join(f"{name} {number}" for name, number in adapter["versions"].items()) or "not installed"
        click.echo(f"  {adapter['name']:12} {seen}")
        for name in adapter["patches"]:
            click.echo(f"               patches {name}")
    click.echo("ambient (patched only for trials that record or freeze it)")
    for adapter in found["ambient"]:
        seen = ", ".join(f"{name} {number}" for name, number in adapter["versions"].items())
        click.echo(f"  {adapter['name']:12} {seen or adapter['missing']}")
        if adapter["patches"]:
            click.echo(f"               patches {', '.join(adapter['patches'])}")
    click.echo("excluded (telemetry, never recorded or matched)")
    for rule in found["excluded"]:
        click.echo(f"  {rule}")
    click.echo(f"isolated     {_isolated_told(found['isolated'])}")
    click.echo(f"formats      {', '.join(found['formats'])}")
    click.echo(f"environments {', '.join(found['environments']) or 'none'}")
    click.echo(f"home         {found['home']['path']} ({found['home']['runs']} runs)")
    for problem in found["problems"]:
        click.echo(f"problem: {problem}", err=True)
    if not found["problems"]:
        click.echo("no problem found")
