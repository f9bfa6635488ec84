"""Where things lie below the home folder. Paths only, and the few files that belong to no run."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import zstandard
from attrs import frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput, CorruptCassette, RecordingFailed
from cassettes.model import TrialId

__all__ = ["Home", "writing"]

_INDEX = re.compile(r"(\d+)\.cassette")
_MOST_LETTERS = 240  # file systems take 255
_ATTEMPT = re.compile(r"(\d+)\.attempt-(\d+)\.cassette")


@frozen
class Home:
    """The folder that holds recordings, states, the redaction key and the index.

    Attributes:
        root: ``--home``, else ``TRIALTAPE_HOME``, else ``./.trialtape``.
    """

    root: Path

    @classmethod
    def find(cls, root: str | os.PathLike[str] | None = None) -> Home:
        """The home folder that was asked for, by argument, environment or default.

        Raises:
            BadInput: it is a file.
        """
        path = Path(root or os.environ.get("TRIALTAPE_HOME") or ".trialtape")
        if path.exists() and not path.is_dir():
            raise BadInput(f"{path} is no place for a home folder: it is a file")
        return cls(path)

    @property
    def index(self) -> Path:
        """The SQLite index; it owns nothing and may be deleted."""
        return self.root / "trialtape.db"

    @property
    def cassettes(self) -> Path:
        """The folder of all runs."""
        return self.root / "cassettes"

    def run(self, name: str) -> Path:
        """The folder of one run."""
        if not name or "/" in name or "\n" in name:
            raise BadInput(f"{name!r} is no name for a run: it may not be empty or hold a slash or a line break")
        return self.cassettes / _element(name, "run")

    def task(self, run: str, task: str) -> Path:
        """The folder of one task's trials in a run."""
        if not task or task.startswith("#"):
            raise BadInput(f"{task!r} is no id for a task")
        return self.run(run) / _element(task, "task")

    def cassette(self, trial: TrialId) -> Path:
        """The file of a trial."""
        return self.task(trial.run, trial.task) / f"{trial.index}.cassette"

    def next_attempt(self, trial: TrialId) -> Path:
        """Where a cassette that is replaced is set aside: the first free ``<index>.attempt-<n>.cassette``."""
        folder = self.task(trial.run, trial.task)
        taken = [int(m[2]) for p in folder.iterdir() if (m := _ATTEMPT.fullmatch(p.name)) and int(m[1]) == trial.index]
        return folder / f"{trial.index}.attempt-{max(taken, default=0) + 1}.cassette"

    def runs(self) -> list[str]:
        """The names of all runs, sorted."""
        if not self.cassettes.is_dir():
            return []
        return sorted(TrialId.from_path(p.name) for p in self.cassettes.iterdir() if p.is_dir())

    def trials(self, run: str) -> Iterator[tuple[TrialId, Path]]:
        """The trials of a run with their files, by task and index; replaced attempts are left out."""
        folder = self.run(run)
        if not folder.is_dir():
            return
        for place in sorted(p for p in folder.iterdir() if p.is_dir()):
            task = TrialId.from_path(place.name)
            found = [(int(m[1]), p) for p in place.iterdir() if (m := _INDEX.fullmatch(p.name))]
            for index, path in sorted(found):
                yield TrialId(run, task, index), path

    def attempts(self, run: str) -> int:
        """How many replaced attempts a run has."""
        return sum(1 for path in self.recordings(run) if _ATTEMPT.fullmatch(path.name))

    def recordings(self, run: str) -> list[Path]:
        """The files of a run's trials, replaced attempts too."""
        found = self.run(run).glob("*/*.cassette")
        return sorted(p for p in found if _INDEX.fullmatch(p.name) or _ATTEMPT.fullmatch(p.name))

    def redaction_key(self) -> bytes:
        """The key that tells different secrets apart; made on first use, readable by its owner only."""
        path = self.root / "redaction.key"
        if path.exists():
            return _read_key(path)
        temporary = path.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}")
        with writing(path):
            self.root.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(secrets.token_hex(32).encode())
            with contextlib.suppress(FileExistsError):  # another trial was first: its key counts
                os.link(temporary, path)  # whole or not at all
            temporary.unlink()
        return _read_key(path)

    def keep_state(self, packed: bytes) -> str:
        """Store a packed state once; returns its digest."""
        digest = digest_bytes(packed)
        path = self.root / "states" / digest
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}")
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_bytes(zstandard.ZstdCompressor(level=3).compress(packed))
                temporary.replace(path)
        return digest

    def state(self, digest: str) -> bytes:
        """The packed state with this digest.

        Raises:
            CorruptCassette: it is missing or damaged.
        """
        path = self.root / "states" / digest
        try:
            packed = zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=1 << 30)
        except (OSError, zstandard.ZstdError) as error:
            raise CorruptCassette(f"the initial state {path} cannot be read: {error}") from error
        if digest_bytes(packed) != digest:
            raise CorruptCassette(f"the initial state {path} is not what its name says")
        return packed


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the system says against writing ``path`` in this block becomes one of our errors.

    Raises:
        RecordingFailed: the disk is full, the folder is not ours, or the like.
    """
    try:
        yield
    except OSError as error:
        raise RecordingFailed(f"{path} cannot be written: {error.strerror}") from error


def _element(name: str, what: str) -> str:
    element = TrialId.to_path(name)
    if len(element) > _MOST_LETTERS:
        raise BadInput(f"the name of the {what} {name[:40]!r}... is too long for a folder")
    return element


def _read_key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) < 32:
        raise BadInput(f"{path} is no redaction key; delete it to make a new one (old placeholders will not match)")
    return key
