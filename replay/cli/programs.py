"""Commands that take a program after ``--``, and hand its exit code on."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from cassettes.errors import BadInput

__all__ = ["NOT_FOUND", "TIMED_OUT", "TakesProgram", "code_of", "found_program"]

NOT_FOUND: Final = 127
TIMED_OUT: Final = 124  # as of `timeout`
_SIGNALLED: Final = 128


class TakesProgram(click.Command):
    """Everything behind ``--`` is the program and its arguments, in ``ctx.meta["program"]``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the program off before click looks at the rest."""
        program: tuple[str, ...] = ()
        if "--" in args:
            place = args.index("--")
            program, args = tuple(args[place + 1 :]), args[:place]
            if not program:
                raise click.UsageError("no program stands behind --", ctx)
        ctx.meta["program"] = program
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """What follows the options, for the help text."""
        return [*super().collect_usage_pieces(ctx), "[--", "PROGRAM", "...]"]


def found_program(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, if the first is a program.

    Raises:
        BadInput: it is none; its exit code is that of a shell.
    """
    if shutil.which(words[0]) is None and not Path(words[0]).is_file():
        error = BadInput(f"{words[0]}: no such program")
        error.exit_code = NOT_FOUND  # type: ignore[misc]  # of this very error
        raise error
    return words


def code_of(codes: Mapping[str, int]) -> int:
    """The first code other than 0 in the order of the trials; of a signal as a shell tells it."""
    first = next((code for _, code in sorted(codes.items()) if code), 0)
    return first if first >= 0 else _SIGNALLED - first
