"""Who speaks: the name that a label carries."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from cassettes.errors import BadInput

__all__ = ["Author", "find_author"]


@frozen
class Author:
    """A person, and where the name is from."""

    name: str
    source: str


def find_author(given: str | None, environ: Mapping[str, str] = os.environ, folder: Path | None = None) -> Author:
    """The author that was named, else git's ``user.name``, else ``$USER``.

    Args:
        given: by the user; None if nobody was named.
        environ: where ``USER`` is looked for.
        folder: whose git configuration counts; None is the working folder.

    Raises:
        BadInput: the name given is empty, or there is none anywhere.
    """
    if given is not None:
        name, source = given, "--author"
    elif configured := _git_name(folder):
        name, source = configured, "git's user.name"
    else:
        name, source = environ.get("USER", ""), "$USER"
    name = " ".join(name.split())
    if not name:
        raise BadInput("who says so? git knows no user.name and $USER is empty: name the author by --author NAME")
    return Author(name, source)


def _git_name(folder: Path | None) -> str:
    try:
        asked = subprocess.run(
            ["git", "config", "user.name"], cwd=folder, capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip()
