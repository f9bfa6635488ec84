"""The command ``trialtape``: a group that imports a subcommand only when it is called."""

from __future__ import annotations

import io
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from .lazy import HOME_HELP, LazyCommands

__all__ = ["main"]

_COMMANDS = {
    "run": "Run a suite's tasks n times each, and record every trial.",
    "record": "Run any Python program, unchanged, and record each run as a trial.",
    "import": "Turn recordings of other tools into cassettes.",
    "stats": "pass^k and pass@k of a run, with their noise.",
    "compare": "Does one run differ from another by more than luck, and where?",
    "gate": "Is a run good enough, or no worse than a baseline? PASS, FAIL or UNDECIDED.",
    "score": "Score recorded trials again, without calling any API.",
    "debug": "Step through a trial on the terminal, with a passing one beside it.",
    "fork": "Go on from a step of a recorded trial, or find the step that lost it.",
    "report": "Write a run as one page of HTML: numbers, map, and every trial's steps.",
    "ls": "List runs, or the trials of a run.",
    "show": "Show one trial, step by step.",
    "diff": "Two trials side by side, and the write where they part.",
    "search": "Find the steps of all trials that hold some words.",
    "label": "Say whose fault it was that a trial failed.",
    "export": "Write a trial in another format.",
    "verify": "Replay recorded trials with everything frozen: is anything different?",
    "new": "Make a task of a recorded session or trial.",
    "doctor": "What is installed, what would be patched, and where recordings go.",
    "lab": "Plan, forecast, and measure what recordings can tell beyond one number.",
    "store": "Look after the recordings: are they whole, do they hold secrets, and which are old?",
}
_FIRST = 10  # of them are enough for most days


class LazyGroup(LazyCommands):
    """The outermost group: errors of ours become one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; our own errors become one line on stderr and their exit code."""
        for stream in (sys.stdout, sys.stderr):  # a recorded text may hold half a surrogate pair, which has no UTF-8
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
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


def _version() -> str:
    try:
        return version("trialtape")
    except PackageNotFoundError:
        return "of a plain checkout"


@click.command(
    cls=LazyGroup,
    table=_COMMANDS,
    first=_FIRST,
    module_of=lambda name: f"{__name__}.{name}_command",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(_version(), prog_name="trialtape")
@click.option("--home", metavar="DIR", envvar="TRIALTAPE_HOME", help=HOME_HELP)
@click.pass_context
def main(ctx: click.Context, home: str | None) -> None:
    """Record an agent's trials once; then find out what was luck, and which step lost it.

    A trial is named run/task#index, @last or @last-fail.
    """
    ctx.obj = home
