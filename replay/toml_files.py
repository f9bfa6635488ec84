"""Files of TOML that users write."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from cassettes.errors import BadInput

__all__ = ["read_toml"]


def read_toml(path: Path, example: str) -> dict[str, Any]:
    """What a file says; ``example`` tells what stands in such a file, where there is none.

    Raises:
        BadInput: there is no such file, or it is no TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}; a TOML file with {example} is needed") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is no TOML: {error}") from error
