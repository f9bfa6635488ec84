"""``trialtape lab drift``: are the recorded answers still what the tools say?"""

from __future__ import annotations

import sys
from typing import Any

import click
from rich.progress import track

from cassettes.errors import BadInput
from replay.effects import read_effects
from replay.home import Home
from replay.ignoring import checked_rules
from replay.report.drift_text import drift_lines
from replay.reruns.drift import Drift, TrialDrift
from replay.reruns.rerunning import Terms, named_writes, rerun
from replay.verify import Checked, check_file

from .options import json_option
from .output import console, echo_json, messages, say
from .recorded import recorded_suite, recorded_trials

__all__ = ["command"]


@click.command("drift")
@click.argument("run", metavar="RUN|TRIAL")
@click.option("--suite", "suite_file", metavar="SUITE.py[:NAME]", help="The agent (default: the suite the run names).")
@click.option("--allow-live", multiple=True, metavar="SEL", help="A tool that may write, called for real, by name.")
@click.option("--effects", metavar="FILE", help="What tools do, declared in a file.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="[SEL:]PATH",
    help="An argument that does not count, besides those that the run ignores.",
)
@click.option("--ignore-field", multiple=True, metavar="[SEL:]PATH", help="A field of an answer that does not count.")
@json_option
@click.pass_obj
def command(home: str | None, /, run: str, suite_file: str | None, *, as_json: bool, **options: Any) -> None:
    """Ask the tools again what they were asked in RUN, with the model frozen: what do they answer now?

    Reads and pure tools are live, and tools on the tracked state, on a fresh one. What may write is answered from the
    recording unless --allow-live names it, and so is a read that may notice such a write. Models are answered by their
    place, whatever they are told. Exit code 1 if an answer is another, or a trial parts from its recording.
    """
    place = Home.find(home)
    terms = Terms(
        named_writes(options["allow_live"]),
        read_effects(options["effects"]),
        checked_rules(options["ignore"]),
        checked_rules(options["ignore_field"]),
    )
    trials = recorded_trials(run, place)
    suite = recorded_suite(place, trials, suite_file)
    shown = track(
        trials, description=run, console=messages(), transient=True, disable=as_json or not sys.stderr.isatty()
    )
    found = []
    for identity, path in shown:
        view = check_file(identity, path, place)
        if isinstance(view, Checked):
            found.append(TrialDrift(view.trial, left_out=view.why))
        else:
            found.append(rerun(view, place, suite, terms))
    drift = Drift(tuple(found))
    if as_json:
        echo_json({"run": run, **drift.to_dict()})
    else:
        out = console()
        for line in drift_lines(drift):
            say(out, line)
    if not drift.asked and not drift.parted:
        raise BadInput(
            f"nothing of {run!r} could be asked again, so nothing is known of its drift: declare which tools only read "
            "(--effects FILE), or name those that may write and are harmless (--allow-live tool:NAME)"
        )
    sys.exit(drift.changed)
