"""``trialtape lab noise``: how much of the noise comes from outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import click

from replay.home import Home
from replay.noise import Noise, noise_of
from replay.runs import load_run
from replay.store import Store

from .ls_command import tell_troubles
from .options import errors_option, json_option, score_option
from .output import console, echo_json, say

__all__ = ["command"]


@click.command("noise")
@click.argument("run", metavar="RUN")
@score_option
@errors_option
@json_option
@click.pass_obj
def command(
    home: str | None,
    run: str,
    score: str | None,
    errors: Literal["exclude", "fail"],
    as_json: bool,  # noqa: FBT001  # click's way
) -> None:
    """Split the noise of RUN into what comes from outside and what from model and user.

    RUN is frozen in several recorded worlds, with several trials in each.
    """
    place = Home.find(home)
    load_run(place, run)
    with Store(place) as store:
        tell_troubles(store.refresh([run]))
        found = noise_of(store, run, score=score, errors=errors)
    if as_json:
        echo_json(found.to_dict())
        return
    out = console()
    for line in _lines(found):
        say(out, line)


def _lines(found: Noise) -> Iterator[str]:
    yield (
        f"{found.run}: {found.tasks} tasks, {found.worlds} recorded worlds, {found.trials} trials counted, "
        f"score {found.score}"
    )
    parts = found.components
    yield ""
    yield f"variance of one verdict      {parts.total:.4f}"
    for name, value in (
        ("between tasks", parts.task),
        ("outside, between worlds", parts.outside),
        ("model and user, in a world", parts.rest),
    ):
        yield f"  {name:<27}{value:+.4f}"
    yield ""
    share = found.share
    if share.estimate is None:
        yield "there is no noise to split: each task ended alike throughout"
        return
    ends = "" if share.low is None or share.high is None else f", 95% [{share.low:.0%}, {share.high:.0%}]"
    least = "at least " if found.shared else ""
    yield f"the outside makes {least}{share.estimate:.0%} of a rerun's variance{ends}; model and user make the rest"
    if found.shared:
        yield f"at least, because {found.shared:.0%} of the frozen answers are shared between worlds"
    if found.half_width_frozen is not None:
        each = f"{found.trials / found.tasks:.3g}"
        yield (
            f"in a rerun with {each} trials of each task, freezing the outside would bring the 95% half-width of "
            f"pass^1 from {100 * found.half_width:.1f} to {100 * found.half_width_frozen:.1f} points"
        )
    if found.lacking:
        yield f"{found.lacking} frozen calls had no exact answer: the shares may be off in either direction"
    yield "estimates are unbiased, so one may fall below 0; variances add, points do not"
