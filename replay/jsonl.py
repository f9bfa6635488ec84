"""Files of JSON lines that are only appended to, by several processes, any of which may be killed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from .home import writing

__all__ = ["append_lines"]


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Append lines to a file; what a crash left of its last line is removed first.

    Raises:
        RecordingFailed: the file cannot be written.
    """
    if not lines:
        return
    with writing(path), path.open("a+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _drop_torn_line(file)
        data = memoryview(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
        while data:
            data = data[file.write(data) :]


def _drop_torn_line(file: IO[bytes]) -> None:
    """Remove what a crash left of a line: it was never acknowledged, and would damage the next."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return
    file.seek(0)
    whole = file.read().rfind(b"\n") + 1
    if whole < size:
        file.truncate(whole)
