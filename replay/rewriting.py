"""A cassette written again: the same trial, less secrets that the redactor of its time did not know."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from cassettes.codec import snapshot
from cassettes.reader import Cassette
from cassettes.redact import Redactor
from cassettes.writer import CassetteWriter

__all__ = ["redact_file", "secrets_in"]


def secrets_in(path: Path, redactor: Redactor) -> Counter[str]:
    """How many secrets each rule finds in a cassette; the file is not changed.

    Raises:
        CassetteError: the file cannot be read.
    """
    with TemporaryDirectory(prefix="trialtape-scan-") as folder:
        return _write_again(Cassette(path), Path(folder) / "copy.cassette", redactor)


def redact_file(path: Path, redactor: Redactor, replacing: Callable[[Cassette, Cassette], None]) -> Counter[str]:
    """Remove the secrets from a cassette; the file is replaced whole or not at all, and only if it held any.

    Args:
        path: the file.
        redactor: what finds the secrets.
        replacing: told of the old cassette and the new one before the one takes the other's place.

    Raises:
        CassetteError: the file cannot be read, or the new one not be written; the old one is left as it is.
    """
    copy = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        old = Cassette(path)
        found = _write_again(old, copy, redactor)
        if found:
            replacing(old, Cassette(copy))
            copy.replace(path)
        return found
    finally:
        copy.unlink(missing_ok=True)


def _write_again(source: Cassette, target: Path, redactor: Redactor) -> Counter[str]:
    writer = CassetteWriter(target, source.header, redactor)
    try:
        for interaction in sorted(source, key=lambda interaction: interaction.ended):
            writer.append(interaction, snapshot(interaction.call))
        for mark in source.marks():
            writer.mark(mark)
    except BaseException:
        writer.abandon()
        raise
    if source.ending.status == "incomplete":
        writer.abandon()
    else:
        writer.close(source.ending)
    return Counter(writer.redacted)
