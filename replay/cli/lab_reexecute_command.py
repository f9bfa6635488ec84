"""``trialtape lab reexecute``: does a real environment still answer what was recorded?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from cassettes.errors import BadInput
from replay.home import Home
from replay.ignoring import checked_rules
from replay.report.reexecution_text import known_lines, reexecution_lines
from replay.reruns.reexecuting import Manner, reexecuted
from replay.reruns.reexecution import MODES, Mode, Reexecution
from replay.reruns.reexecution_file import keep_reexecution, known_reexecutions

from .bars import counting_bar
from .options import json_option
from .output import console, echo_json, say
from .recorded import recorded_trials

__all__ = ["command"]


@click.command("reexecute")
@click.argument("run", metavar="RUN|TRIAL")
@click.option("--env", "environment", metavar="FACTORY", help="FILE.py:NAME, MODULE:NAME, or one that is offered.")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="report",
    show_default=True,
    help="What counts: nothing (all is told), the content of answers, or each byte of them.",
)
@click.option("--with", "scorer", metavar="NAME|FILE.py:NAME", help="A scorer that looks at the final state of now.")
@click.option("--score", metavar="NAME[@VERSION]", help="The recorded score beside it (default: the primary one).")
@click.option("--ignore-field", multiple=True, metavar="[SEL:]PATH", help="A field of an answer that does not count.")
@click.option("--ignore-state", multiple=True, metavar="PATH", help="A part of the state that does not count.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    environment: str | None,
    mode: Mode,
    scorer: str | None,
    score: str | None,
    ignore_field: tuple[str, ...],
    ignore_state: tuple[str, ...],
    jobs: int,
    *,
    as_json: bool,
) -> None:
    """Make the recorded tool calls of RUN again in a real environment, a fresh one per trial, and compare the outputs.

    All calls are made for real, writes too: FACTORY must make an environment that may be changed. No model is asked.
    What is found is kept beside the run; without --env it is shown again. With --mode lenient the exit code is 1 if an
    output, a state or a verdict differs, 6 if something could not be compared; with --mode strict it is 1 if anything
    is not byte for byte the same, and a trial stops there.
    """
    place = Home.find(home)
    trials = recorded_trials(run, place)
    if environment is None:
        _show_again(place, trials[0][0].run, as_json=as_json)
        return
    manner = Manner(mode, checked_rules(ignore_field), checked_rules(ignore_state), score=score)
    with counting_bar(run, len(trials), quiet=as_json) as advance:
        done = reexecuted(
            place, trials, environment, manner, scorer=scorer, processes=min(jobs, len(trials)), progress=advance
        )
    at = datetime.now(UTC).isoformat(timespec="seconds")
    found = Reexecution(
        trials[0][0].run, run, environment, mode, at, tuple(done), (*manner.ignore, *manner.ignore_state)
    )
    if all(trial.left_out is not None and not trial.damaged for trial in done):
        raise BadInput(f"nothing of {run!r} was carried out: {done[0].left_out}")
    document = keep_reexecution(place, found)
    if as_json:
        echo_json(document)
    else:
        _tell(reexecution_lines(document))
    sys.exit(found.exit_code)


def _show_again(home: Home, run: str, *, as_json: bool) -> None:
    known = known_reexecutions(home, run)
    if not known:
        raise BadInput(f"{run!r} was never carried out again; name a real environment: --env FILE.py:FACTORY")
    if as_json:
        echo_json(known[-1])
        return
    _tell(known_lines(known[:-1]))
    _tell(reexecution_lines(known[-1]))


def _tell(lines: Iterator[str]) -> None:
    out = console()
    for line in lines:
        say(out, line)
