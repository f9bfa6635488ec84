"""The noise of a run as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from replay.analysis.noise import Noise, UserApart
from replay.analysis.residual import Residual
from replay.plural import number
from replay.stats import NoiseShare, half_width_without

__all__ = ["noise_lines"]


def noise_lines(found: Noise) -> Iterator[str]:
    """All of it: the variances, the shares, what they mean for a rerun, and how far they are to be trusted."""
    yield (
        f"{found.run}: {number(found.tasks, 'task')}, {number(found.worlds, 'recorded world')}, "
        f"{number(found.trials, 'trial')} counted, score {found.score}"
    )
    yield ""
    yield f"variance of one verdict      {found.components.total:.4f}"
    for name, value in _variances(found):
        yield f"  {name:<27}{value:+.4f}"
    yield ""
    if found.share.estimate is None:
        yield "there is no noise to split: each task ended alike throughout"
    else:
        yield from _shares(found)
        yield from _half_widths(found)
        yield "estimates are unbiased, so one may fall below 0; variances add, points do not"
    yield from _residual(found.residual)


def _variances(found: Noise) -> Iterator[tuple[str, float]]:
    parts = found.components
    yield "between tasks", parts.task
    yield "outside, between worlds", parts.outside
    if found.apart is None:
        yield "model and user, in a world", parts.rest
    else:
        yield "user, in a world", found.apart.variance
        yield "model, with one user", parts.rest - found.apart.variance


def _shares(found: Noise) -> Iterator[str]:
    least = "at least " if found.shared else ""
    rest = "; model and user make the rest" if found.apart is None else ""
    yield f"the outside makes {least}{_told(found.share)} of a rerun's variance{_ends(found.share)}{rest}"
    if found.apart is not None:
        yield f"the user makes {_told(found.apart.share)}{_ends(found.apart.share)}"
        yield f"the model makes the rest, {_told(found.apart.model)}{_ends(found.apart.model)}"
    compared = f" ({found.user.compared} replies compared)" if found.user.kind is not None else ""
    yield f"{found.user.why}{compared}"
    if found.shared:
        yield f"at least, because {found.shared:.0%} of the frozen answers are shared between worlds"
    if found.extended:
        yield (
            f"{found.extended} answers were called live after the recordings were made: where such a tool drifts, its "
            "worlds mix two times"
        )
    if found.lacking:
        yield f"{found.lacking} frozen calls had no exact answer: the shares may be off in either direction"


def _half_widths(found: Noise) -> Iterator[str]:
    if found.half_width_frozen is None:
        return
    yield (
        f"in a rerun with {found.trials / found.tasks:.3g} trials of each task, freezing the outside would bring the "
        f"95% half-width of pass^1 from {100 * found.half_width:.2f} to {100 * found.half_width_frozen:.2f} points"
    )
    if found.apart is not None and found.user.kind == "seeded":
        yield from _without_user(found, found.apart)


def _without_user(found: Noise, apart: UserApart) -> Iterator[str]:
    assert apart.half_width is not None
    assert found.share.estimate is not None
    assert apart.share.estimate is not None
    both = half_width_without(found.half_width, found.share.estimate + apart.share.estimate)
    yield (
        f"a user that always says the same would bring it to {100 * apart.half_width:.2f} points, both together to "
        f"{100 * both:.2f}"
    )


def _residual(found: Residual | None) -> Iterator[str]:
    yield ""
    if found is None:
        yield "not checked whether a replay with everything frozen ends the same, as it must: --replay does it"
        return
    what = (
        "trajectories and verdicts"
        if found.verdicts
        else "trajectories (without a scorer that gives the verdicts again)"
    )
    told = f"replayed with everything frozen, {number(found.replayed, 'trial')}, {what} compared"
    for why, times in found.left_out.items():
        yield f"{times} not replayed: {why}"
    if found.is_none:
        yield f"{told}: nothing differs, so the residual is 0"
        return
    yield f"{told}: {len(found.differing)} differ, a residual variance of up to {found.at_most:.4f}"
    yield found.why if found.differing[0] in found.why else f"{found.differing[0]}: {found.why}"
    yield "the shares above are NOT to be trusted: the same answers do not make the agent do the same"
    yield "next: trialtape verify tells every trial that differs"


def _told(share: NoiseShare) -> str:
    return f"{share.estimate:.0%}"


def _ends(share: NoiseShare) -> str:
    if share.low is None or share.high is None or share.low == share.high:
        return ""
    return f", 95% [{share.low:.0%}, {share.high:.0%}]"
