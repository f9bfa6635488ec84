"""The outcome of a step as a text to edit, and the user's editor on it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cassettes.errors import BadInput
from cassettes.model import Interaction, Stream, Value

__all__ = ["editable", "edited_by_hand", "given_as_file"]


def editable(interaction: Interaction) -> str:
    """What ``trialtape fork --edit`` takes: a tool's result, the body of a response, or the text of a stream.

    JSON is laid out; a text is left as it is. Where nothing came back, there is ``null`` to begin with.
    """
    match interaction.outcome:
        case Stream(_, chunks):
            return "".join(
                piece.data.decode("utf-8", "replace") if isinstance(piece.data, bytes) else str(piece.data)
                for piece in chunks
            )
        case Value({"status": int(), "body": body}) if interaction.call.kind in {"model", "http"}:
            return _laid_out(body)
        case Value() as returned:
            result = returned.result
            return result if isinstance(result, str) else _json(result)
        case _:
            return "null\n"


def _laid_out(body: object) -> str:
    if not isinstance(body, str):
        return _json(body)
    try:
        return _json(json.loads(body))
    except (ValueError, RecursionError):
        return body


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=repr) + "\n"


def edited_by_hand(text: str) -> str:
    """Open the user's editor (``VISUAL``, ``EDITOR``, else vi) on a text; returns what was saved.

    Raises:
        BadInput: the editor cannot be started, or ended with an error.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with given_as_file(text) as path:
        assert path is not None
        try:
            done = subprocess.run([*command, str(path)], check=False)
        except OSError as error:
            raise BadInput(f"the editor {command[0]!r} cannot be started: {error.strerror}; set EDITOR") from error
        if done.returncode:
            raise BadInput(f"the editor {command[0]!r} ended with {done.returncode}; nothing was changed")
        return path.read_text(encoding="utf-8", errors="replace")


@contextmanager
def given_as_file(text: str | None) -> Iterator[Path | None]:
    """The text as a file that only its owner can read, for as long as the block lasts; None stays None."""
    if text is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="trialtape-") as folder:
        path = Path(folder, "outcome.json")
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        yield path
