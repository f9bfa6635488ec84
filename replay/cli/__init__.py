"""The command ``trialtape``: a group that imports a subcommand only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

__all__ = ["main"]

_COMMANDS = {
    "run": "Run a suite's tasks n times each, and record every trial.",
    "import": "Turn recordings of other tools into cassettes.",
    "stats": "pass^k and pass@k of a run, with their noise.",
    "score": "Score recorded trials again, without calling any API.",
    "show": "Show one trial, step by step.",
    "verify": "Replay recorded trials with everything frozen: is anything different?",
    "ls": "List runs, or the trials of a run.",
    "export": "Write a trial in another format.",
    "new": "Make a task of a recorded session or trial.",
    "store": "Look after the recordings: are they whole, do they hold secrets, and which are old?",
    "doctor": "What is installed, what would be patched, and where recordings go.",
}


_HOME_HELP = "Where recordings lie (default: ./.trialtape)."


class LazyGroup(click.Group):
    """Knows its commands by name and one line of help; their modules are imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The names, most used first."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's
        """Import the command's module, ``replay.cli.<name>_command``."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name}_command").command
        _accept_home(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's
        """The list in the help text, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; our own errors become one line on stderr and their exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("trialtape: interrupted; the same command goes on where this one stopped", err=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.exit(0)
        except Exception as error:
            code = getattr(error, "exit_code", None)
            if code is None or isinstance(error, click.ClickException | click.exceptions.Exit):
                raise
            click.echo(f"trialtape: {error}", err=True)
            sys.exit(code)


def _accept_home(command: click.Command) -> None:
    """``--home`` is taken behind the command's name, too."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _accept_home(inner)
    elif not any(parameter.name == "home" for parameter in command.params):
        command.params.append(
            click.Option(["--home"], metavar="DIR", expose_value=False, callback=_set_home, help=_HOME_HELP)
        )


def _set_home(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.obj = value


def _version() -> str:
    try:
        return version("trialtape")
    except PackageNotFoundError:
        return "of a plain checkout"


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), prog_name="trialtape")
@click.option("--home", metavar="DIR", envvar="TRIALTAPE_HOME", help=_HOME_HELP)
@click.pass_context
def main(ctx: click.Context, home: str | None) -> None:
    """Record an agent's trials once; then find out what was luck, and which step lost it.

    A trial is named run/task#index, @last or @last-fail.
    """
    ctx.obj = home
