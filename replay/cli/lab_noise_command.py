"""``trialtape lab noise``: how much of the noise comes from outside, from the user, and from the model."""

from __future__ import annotations

import sys
from typing import Literal

import click
from attrs import evolve

from cassettes.errors import BadInput
from replay.analysis.noise import noise_of
from replay.analysis.outcomes import outcomes_of
from replay.analysis.residual import Residual, other_verdict, residual_of
from replay.home import Home
from replay.ignoring import checked_rules
from replay.report.noise_text import noise_lines
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .options import errors_option, json_option, score_option
from .output import console, echo_json, say
from .recorded import recorded_suite, recorded_trials
from .verifying import verified

__all__ = ["command"]


@click.command("noise")
@click.argument("run", metavar="RUN")
@score_option
@errors_option
@click.option("--replay", "replays", is_flag=True, help="Replay every trial with everything frozen: none may differ.")
@click.option("--suite", metavar="SUITE.py[:NAME]", help="With --replay: the agent (default: the suite the run names).")
@click.option(
    "--ignore",
    multiple=True,
    metavar="[SEL:]PATH",
    help="With --replay: an argument that does not count, as in verify.",
)
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    score: str | None,
    errors: Literal["exclude", "fail"],
    suite: str | None,
    ignore: tuple[str, ...],
    *,
    replays: bool,
    as_json: bool,
) -> None:
    """Split the noise of RUN into what comes from outside, from the user and from the model.

    RUN is frozen in several recorded worlds, with several trials in each. The user is told from the model where it is
    scripted, or seeded with `run --user-seeds`. With --replay exit code 1 if a replay differs: no share can be trusted
    then.
    """
    if not replays and (suite is not None or ignore):
        raise BadInput("--suite and --ignore say how trials are replayed: they go with --replay")
    place = Home.find(home)
    load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh([run]))
        found = noise_of(store, run, score=score, errors=errors)
        if replays:
            found = evolve(
                found, residual=_replayed(store, run, found.score, suite, checked_rules(ignore), quiet=as_json)
            )
    if as_json:
        echo_json(found.to_dict())
    else:
        out = console()
        for line in noise_lines(found):
            say(out, line)
    if found.residual is not None and not found.residual.is_none:
        sys.exit(1)


def _replayed(
    store: Store, run: str, score: str, given: str | None, ignore: tuple[str, ...], *, quiet: bool
) -> Residual:
    """The residual of the run's trials.

    Raises:
        BadInput: there is no agent, or nothing can be replayed.
        CorruptCassette: a cassette is damaged.
    """
    trials = recorded_trials(run, store.home)
    suite = recorded_suite(store.home, trials, given)
    looked_at = other_verdict(outcomes_of(store, load_run(store.home, run), score), suite.scorers)
    checked = verified(run, trials, store.home, suite, ignore, quiet=quiet, looked_at=looked_at)
    return residual_of(checked, verdicts=looked_at is not None)
