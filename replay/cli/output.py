"""How commands speak: data on stdout, everything else on stderr.

What is said holds names that users gave, so no text is read as rich's markup or emoji codes: style is in `Text` alone.
"""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.text import Text

__all__ = ["console", "echo_json", "messages", "say"]


def console() -> Console:
    """For data, on stdout; plain when it is no terminal."""
    made = _literal()
    return made if made.is_terminal else _literal(width=120, no_color=True)


def say(out: Console, line: str | Text) -> None:
    """One line of prose: wrapped between words on a terminal, whole where a program reads it."""
    out.print(line if isinstance(line, Text) else Text(line), soft_wrap=not out.is_terminal)


def messages() -> Console:
    """For messages and progress, on stderr; never wrapped where no person looks."""
    made = _literal(stderr=True)
    return made if made.is_terminal else _literal(stderr=True, width=10_000, no_color=True)


def _literal(**options: Any) -> Console:
    return Console(highlight=False, markup=False, emoji=False, **options)


def echo_json(document: Any) -> None:
    """Print a JSON document on stdout."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=1, default=repr))
