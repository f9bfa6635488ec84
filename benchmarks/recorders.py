"""What can record and replay the calls of an agent: trialtape, vcrpy and cassetter, each as two blocks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from vcr import VCR

import trialtape as tt

from .peers import MATCH_ON
from .rows import Skipped

__all__ = ["PEERS", "VERSION", "Recorder", "recorders"]

VERSION: Final = "0.16.1"
"""Of cassetter."""

PEERS: Final = Path(__file__).resolve().parents[1] / ".peers"
"""A folder of its own, because cassetter would load itself into every test run as a plugin of pytest."""

_numbers = count()


@frozen
class Recorder:
    """One side.

    Attributes:
        record: a block in which calls are recorded under a name.
        replay: one in which they are answered.
        size: of what was recorded, in bytes.
        unreadable: what it raises if it cannot read what it wrote.
    """

    name: str
    record: Callable[[str], AbstractContextManager[Any]]
    replay: Callable[[str], AbstractContextManager[Any]]
    size: Callable[[str], int]
    unreadable: tuple[type[Exception], ...] = ()


def recorders(folder: Path) -> tuple[Recorder, Recorder, Recorder]:
    """Trialtape, vcrpy and cassetter, all of which match bodies, keeping what they record in ``folder``.

    Raises:
        Skipped: cassetter is not there.
    """
    peer = _cassetter()

    def yaml(kind: str, name: str) -> Path:
        return folder / f"{kind}-{name}.yaml"

    def theirs(name: str, mode: str) -> AbstractContextManager[Any]:
        block: AbstractContextManager[Any] = peer.use_cassette(
            yaml("cassetter", name), record_mode=mode, match_on=["method", "uri", "body"], intercept=["httpx2"]
        )
        return block

    def vcrpy(name: str, mode: str) -> AbstractContextManager[Any]:
        block: AbstractContextManager[Any] = VCR(match_on=MATCH_ON, record_mode=mode).use_cassette(
            str(yaml("vcrpy", name))
        )
        return block

    return (
        Recorder(
            "trialtape",
            lambda name: tt.trial(run="record", task=name, index=0, home=folder),
            lambda name: tt.trial(run=f"replay-{next(_numbers)}", task=name, replay=f"record/{name}#0", home=folder),
            lambda name: (folder / "cassettes" / "record" / name / "0.cassette").stat().st_size,
        ),
        Recorder(
            "vcrpy",
            lambda name: vcrpy(name, "once"),
            lambda name: vcrpy(name, "none"),
            lambda name: yaml("vcrpy", name).stat().st_size,
        ),
        Recorder(
            "cassetter",
            lambda name: theirs(name, "once"),
            lambda name: theirs(name, "none"),
            lambda name: yaml("cassetter", name).stat().st_size,
            (peer.CassetteLoadError,),  # its reader has a limit of nodes that its writer has not
        ),
    )


def _cassetter() -> Any:
    if PEERS.is_dir() and str(PEERS) not in sys.path:
        sys.path.append(str(PEERS))
    try:
        return importlib.import_module("cassetter")
    except ImportError as error:
        raise Skipped(
            f"cassetter is not there; `make bench` gets it, or: pip install --target {PEERS.name} cassetter=={VERSION}"
        ) from error
