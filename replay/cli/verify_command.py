"""``trialtape verify``: is anything different when everything is frozen?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
from attrs import asdict
from rich.progress import track

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.home import Home
from replay.ignoring import checked_rules
from replay.loading import load_object
from replay.runs import load_run
from replay.selection import find_trial
from replay.suite import Suite
from replay.verify import Checked, check_file, verify_trial

from .output import echo_json, json_option, messages

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
@json_option
@click.pass_obj
def command(
    home: str | None,
    what: tuple[str, ...],
    suite_file: str | None,
    ignore: tuple[str, ...],
    files: bool,  # noqa: FBT001  # click's way
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Replay trials with everything frozen, and tell each that is different; all are checked.

    No model is asked and no tool runs: the recordings answer. Exit code 1 if a trial differs, 4 if a file is damaged.
    """
    place = Home.find(home)
    rules = checked_rules(ignore)
    checked = [
        result for text in what for result in _verify(text, place, suite_file, rules, files=files, quiet=as_json)
    ]
    counts = Counter(result.status for result in checked)
    if as_json:
        echo_json({"counts": dict(counts), "trials": [asdict(result) for result in checked]})
    else:
        _tell_different(checked)
        _tell_skipped(checked)
        word = "intact" if files else "identical"
        told = ", ".join(f"{n} {word if s == 'identical' else s}" for s, n in counts.most_common())
        click.echo(f"{len(checked)} trials: {told}")
    if counts["damaged"]:
        sys.exit(4)
    if counts["differs"] or not checked:
        sys.exit(1)


def _verify(
    text: str, home: Home, suite_file: str | None, rules: tuple[str, ...], *, files: bool, quiet: bool
) -> Iterator[Checked]:
    trials = _trials(text, home)
    suite = None if files else _suite(load_run(home, trials[0][0].run).about.get("suite"), suite_file, text)
    tasks = {} if suite is None else {task.id: task for task in suite.tasks}
    shown = track(
        trials, description=text, console=messages(), transient=True, disable=quiet or not sys.stderr.isatty()
    )
    for identity, path in shown:
        view = check_file(identity, path, home)
        if isinstance(view, Checked):
            yield view
        elif suite is None:
            yield Checked(str(identity), "identical")
        elif view.task.id not in tasks:
            yield Checked(str(identity), "not replayed", "the suite has no such task any more")
        else:
            yield verify_trial(view, home, tasks[view.task.id], suite.agent, rules, suite.redact)


def _trials(text: str, home: Home) -> list[tuple[TrialId, Path]]:
    if text.startswith("@") or "#" in text or text.endswith(".cassette"):
        view = find_trial(text, home)
        return [(view.id, view.path)]
    load_run(home, text)
    trials = list(home.trials(text))
    if not trials:
        raise BadInput(f"run {text!r} has no trial yet")
    return trials


def _suite(recorded: str | None, given: str | None, run: str) -> Suite:
    spec = given or recorded
    if spec is None:
        raise BadInput(
            f"{run!r} names no suite, so there is no agent to replay; give one with --suite SUITE.py, "
            "or check the files alone with --files"
        )
    suite = load_object(spec, "suite")
    if not isinstance(suite, Suite):
        raise BadInput(f"{spec} names a {type(suite).__name__}; a tt.Suite is needed")
    return suite


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


def _tell_skipped(checked: list[Checked]) -> None:
    reasons = Counter(result.why for result in checked if result.status == "not replayed")
    for why, number in reasons.most_common():
        messages().print(f"{number} not replayed: {why}", markup=False)
