"""Writing a page: whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from cassettes.errors import BadInput

__all__ = ["write_page"]


def write_page(path: Path, html: str) -> int:
    """Write the page, and return its size in bytes; a file that was there is replaced once the new one is whole.

    Raises:
        BadInput: it cannot be written there.
    """
    data = html.encode()
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device: nothing there to be replaced
            target.write_bytes(data)
            return len(data)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise BadInput(f"{path} cannot be written: {error.strerror}; name another place") from error
    return len(data)
