"""A cassette of vcrpy as one trial."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput
from cassettes.model import Ending, Interaction, TrialId
from cassettes.reader import Cassette
from replay.home import Home
from replay.runs import RunFile, open_run, packages

from .formats import format_named
from .keeping import Done, Keeper

__all__ = ["import_vcr"]


def import_vcr(home: Home, trial: TrialId, path: Path) -> tuple[Done, list[Interaction]]:
    """Write the exchanges of a vcrpy cassette as ``trial``, in the file's order.

    Raises:
        BadInput: the file is missing, no cassette of vcrpy, or empty; or the trial exists, made from another file.
        CassetteError: the trial's cassette is damaged, or cannot be written.
    """
    interactions = [
        Interaction(step, call, outcome, started=2 * step + 1, ended=2 * step + 2, reply=reply)
        for step, (call, outcome, reply) in enumerate(format_named("vcr").read(path))
    ]
    if not interactions:
        raise BadInput(f"{path} holds no exchange: there is nothing to import")
    about = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "packages": packages()}
    run = {"mode": "import", "format": "vcr"}
    open_run(home, RunFile(trial.run, run, about))
    config = {**run, "file": digest_bytes(path.read_bytes())}
    done, _ = Keeper(home).keep(trial, interactions, Ending("completed"), config=config)
    if done == "kept" and Cassette(home.cassette(trial)).header.config.get("file") != config["file"]:
        raise BadInput(f"{trial} exists already, imported from another file; choose another --task or --run")
    return done, interactions
