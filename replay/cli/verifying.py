"""Trials replayed with everything frozen, one after the other, with a bar where somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from rich.progress import track

from cassettes.model import TrialId
from replay.home import Home
from replay.orchestration.suite import Suite
from replay.verify import Checked, check_file, verify_trial
from replay.view import View

from .output import messages

__all__ = ["shown", "verified"]

Trials = Sequence[tuple[TrialId, Path]]


def shown(name: str, trials: Trials, *, quiet: bool) -> Iterable[tuple[TrialId, Path]]:
    """The trials, with a bar on stderr if that is a terminal."""
    hidden = quiet or not sys.stderr.isatty()
    return track(trials, description=name, console=messages(), transient=True, disable=hidden)


def verified(
    name: str,
    trials: Trials,
    home: Home,
    suite: Suite,
    ignore: tuple[str, ...] = (),
    *,
    quiet: bool,
    looked_at: Callable[[View], str | None] | None = None,
) -> Iterator[Checked]:
    """Each trial checked and replayed (see `replay.verify.verify_trial`)."""
    tasks = {task.id: task for task in suite.tasks}
    for identity, path in shown(name, trials, quiet=quiet):
        view = check_file(identity, path, home)
        if isinstance(view, Checked):
            yield view
        elif view.task.id not in tasks:
            yield Checked(str(identity), "not replayed", "the suite has no such task any more")
        else:
            yield verify_trial(
                view, home, tasks[view.task.id], suite.agent, ignore, suite.redact, suite.settings, looked_at
            )
