"""Groups of commands whose modules are imported only when they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["HOME_HELP", "LazyCommands", "accept_home"]

HOME_HELP = "Where recordings lie (default: ./.trialtape)."


class LazyCommands(click.Group):
    """Knows its commands by name and one line of help.

    Args:
        table: one line of help by name, in the order of the help text.
        module_of: the full name of the module whose ``command`` it is, from the command's name.
        first: how many stand in the first part of the help text; None for all.
    """

    def __init__(
        self,
        *args: Any,
        table: Mapping[str, str],
        module_of: Callable[[str], str],
        first: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._first = first
        self._table = table
        self._module_of = module_of

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The names, most used first."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's
        """Import the command's module."""
        if cmd_name not in self._table:
            return None
        command: click.Command = import_module(self._module_of(cmd_name)).command
        accept_home(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's
        """The list in the help text, without importing anything."""
        told = list(self._table.items())
        with formatter.section("Commands"):
            formatter.write_dl(told[: self._first])
        if self._first is not None:
            with formatter.section("More commands"):
                formatter.write_dl(told[self._first :])


def accept_home(command: click.Command) -> None:
    """``--home`` is taken behind the command's name, too."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            accept_home(inner)
    elif not any(parameter.name == "home" for parameter in command.params):
        command.params.append(
            click.Option(["--home"], metavar="DIR", expose_value=False, callback=_set_home, help=HOME_HELP)
        )


def _set_home(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.obj = value
