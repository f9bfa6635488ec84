"""``trialtape verify``: is anything different when everything is frozen?"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
from attrs import asdict

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.home import Home
from replay.ignoring import checked_rules
from replay.orchestration.suite import Suite
from replay.plural import number
from replay.report.drift_text import drift_lines
from replay.reruns.drift import Drift
from replay.reruns.live_sample import sampled_reads
from replay.reruns.rerunning import Terms, rerun
from replay.verify import Checked, check_file
from replay.view import View

from .options import json_option
from .output import echo_json, messages
from .recorded import recorded_suite, recorded_trials
from .verifying import shown, verified

__all__ = ["command"]

_MOST_TOLD = 10


@click.command("verify")
@click.argument("what", nargs=-1, required=True, metavar="RUN|TRIAL...")
@click.option("--suite", "suite_file", metavar="SUITE.py[:NAME]", help="The agent (default: the suite the run names).")
@click.option(
    "--ignore",
    multiple=True,
    metavar="[SEL:]PATH",
    help="An argument that does not count, besides those that the run ignores.",
)
@click.option("--files", is_flag=True, help="Only read every byte of the cassettes; replay nothing.")
@click.option(
    "--live-sample", metavar="SHARE", help="Ask so many of the recorded reads of the outside again, such as 5%."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of that sample.")
@json_option
@click.pass_obj
def command(
    home: str | None,
    what: tuple[str, ...],
    suite_file: str | None,
    ignore: tuple[str, ...],
    *,
    files: bool,
    live_sample: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Replay trials with everything frozen, and tell each that is different; all are checked.

    No model is asked and no tool runs: the recordings answer. With --live-sample some tools that only read are asked
    again after that: do they still answer the same? Exit code 1 if a trial or an answer differs, 4 if a file is
    damaged.
    """
    if files and live_sample is not None:
        raise BadInput("--files replays nothing, so there is no --live-sample of it; leave one of them out")
    share = None if live_sample is None else _share(live_sample)
    place = Home.find(home)
    rules = checked_rules(ignore)
    checked = [
        result for text in what for result in _verify(text, place, suite_file, rules, files=files, quiet=as_json)
    ]
    counts = Counter(result.status for result in checked)
    drift = None if share is None else _asked_again(what, place, suite_file, rules, share, seed)
    if as_json:
        sample = {} if drift is None else {"live_sample": drift.to_dict()}
        echo_json({"counts": dict(counts), "trials": [asdict(result) for result in checked], **sample})
    else:
        _tell_different(checked)
        _tell_skipped(checked)
        word = "intact" if files else "identical"
        told = ", ".join(f"{n} {word if s == 'identical' else s}" for s, n in counts.most_common())
        click.echo(f"{number(len(checked), 'trial')}: {told}")
        _tell_sources(checked)
        for line in () if drift is None else drift_lines(drift):
            click.echo(line)
    if counts["damaged"]:
        sys.exit(4)
    if counts["differs"] or not checked or (drift is not None and drift.changed):
        sys.exit(1)


def _verify(
    text: str, home: Home, suite_file: str | None, rules: tuple[str, ...], *, files: bool, quiet: bool
) -> Iterator[Checked]:
    trials = recorded_trials(text, home)
    if not files:
        return verified(text, trials, home, _suite(home, trials, suite_file), rules, quiet=quiet)
    found = (check_file(identity, path, home) for identity, path in shown(text, trials, quiet=quiet))
    return (one if isinstance(one, Checked) else Checked(str(one.id), "identical") for one in found)


def _suite(home: Home, trials: list[tuple[TrialId, Path]], given: str | None) -> Suite:
    try:
        return recorded_suite(home, trials, given)
    except BadInput as error:
        if given is not None:
            raise
        raise BadInput(f"{error}, or check the files alone with --files") from error


def _share(text: str) -> float:
    """``5%`` or ``0.05``."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise BadInput(f"--live-sample {text!r} is no share; 5% and 0.05 are")
    return share


def _asked_again(
    what: tuple[str, ...], home: Home, suite_file: str | None, rules: tuple[str, ...], share: float, seed: int
) -> Drift:
    """A sample of the recorded reads of the outside, asked again."""
    suites: dict[TrialId, Suite] = {}
    views: list[View] = []
    for text in what:
        trials = recorded_trials(text, home)
        suite = _suite(home, trials, suite_file)
        found = [view for trial, path in trials if isinstance(view := check_file(trial, path, home), View)]
        suites |= {view.id: suite for view in found}
        views += found
    chosen = sampled_reads(views, share, seed)
    terms = Terms(ignore=rules)
    return Drift(tuple(rerun(v, home, suites[v.id], terms, chosen[v.id]) for v in views if v.id in chosen))


def _tell_different(checked: list[Checked]) -> None:
    """Each reason once, with the first trial that shows it: many trials often differ for one reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for result in checked:
        if result.status in {"differs", "damaged"}:
            groups.setdefault((result.status, result.why.replace(result.trial, "it")), []).append(result.trial)
    for (status, why), trials in list(groups.items())[:_MOST_TOLD]:
        more = f" (and {len(trials) - 1} more for the same reason)" if len(trials) > 1 else ""
        click.echo(f"{trials[0]}{more}: {status}: {why}")
    if len(groups) > _MOST_TOLD:
        click.echo(f"... and {len(groups) - _MOST_TOLD} other reasons; --json lists every trial")


def _tell_sources(checked: list[Checked]) -> None:
    """What, that no call goes through, may explain the differences."""
    differing = [result for result in checked if result.status == "differs"]
    sources = Counter(result.report.get("source", "unknown") for result in differing)
    if set(sources) - {"unknown"}:
        names = {"clock": "the clock", "random": "random numbers", "order": "an order", "unknown": "not explained"}
        told = ", ".join(f"{names[source]} {number}" for source, number in sources.most_common())
        click.echo(f"what the {len(differing)} differences look like: {told}")


def _tell_skipped(checked: list[Checked]) -> None:
    reasons = Counter(result.why for result in checked if result.status == "not replayed")
    for why, count in reasons.most_common():
        messages().print(f"{count} not replayed: {why}", markup=False)
