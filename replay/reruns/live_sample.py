"""Which recorded reads of the outside are asked again, where a few are enough."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from cassettes.errors import BadInput
from cassettes.model import TrialId
from replay.resources import touches
from replay.sources import recording_of
from replay.view import View

__all__ = ["sampled_reads"]


def sampled_reads(views: Sequence[View], share: float, seed: int) -> dict[TrialId, set[int]]:
    """A seeded sample of the recorded reads of the outside, by trial: their steps.

    Reads that may notice an earlier write to the outside are left out: the outside is not as it was then.

    Args:
        views: of the trials.
        share: of the reads, above 0 and at most 1; at least one read is taken, if there is any.
        seed: the same one takes the same reads.

    Raises:
        BadInput: the share is another number, or nothing can be asked.
    """
    if not 0 < share <= 1:
        raise BadInput(f"a sample is above 0% and at most 100% of the reads, not {share:.4g}")
    places = [(view.id, step) for view in views for step in _reads(view)]
    if not places:
        raise BadInput(
            "no recorded read of the outside can be asked again: no tool is declared a read, or all of them come after "
            "a write that they may notice; declare effect and resources of the tools"
        )
    number = min(len(places), max(1, round(share * len(places))))
    found: dict[TrialId, set[int]] = {}
    for trial, step in random.Random(seed).sample(places, number):  # noqa: S311  # a sample, no secret
        found.setdefault(trial, set()).add(step)
    return found


def _reads(view: View) -> Iterable[int]:
    writes = []
    for entry in recording_of(view, ()).entries:
        call = entry.interaction.call
        if call.may_write:
            writes.append(call)
        is_read = call.kind in {"tool", "http"} and call.external and call.effect == "read"
        if is_read and not any(touches(write, call) for write in writes):
            yield entry.interaction.step
