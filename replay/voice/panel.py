"""The voice trials of a run, and their measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any, Final

from attrs import asdict, field, frozen

from cassettes.errors import BadInput, CassetteError
from replay.home import Home
from replay.runs import load_run
from replay.stats import Share, proportion
from replay.view import View

from .speech import speech_of
from .turns import WINDOWS, Turns, added, turns_of

__all__ = ["SOUNDS", "Gaps", "Panel", "Voice", "panel_of", "voice_of"]

SOUNDS: Final = ("backchannel", "vocal tic", "non-directed")


@frozen
class Gaps:
    """Latencies in seconds; mean and median are None if there is none."""

    of: int
    mean: float | None
    median: float | None


@frozen
class Panel:
    """The measures of one or several conversations; see `replay.voice.turns` for the events.

    Attributes:
        response_latency: L_R: from the end of a user turn to the agent's response.
        yield_latency: L_Y: from the start of a user's interruption until the agent is silent.
        response_rate: R_R: user turns that were answered before the user spoke again.
        yield_rate: R_Y: interruptions to which the agent yielded in time.
        agent_interruptions: how often the agent began while the user spoke.
        agent_interruption_rate: I_A: the same per user turn (may exceed 1); None without a turn.
        selectivity: S_BC, S_VT, S_ND: of sounds that are no turn, the share that the agent ignored.
        turns: what all rests on, and seconds of speech and silence.
    """

    response_latency: Gaps
    yield_latency: Gaps
    response_rate: Share
    yield_rate: Share
    agent_interruptions: int
    agent_interruption_rate: float | None
    selectivity: Mapping[str, Share]
    turns: Turns

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return asdict(self)


@frozen
class Voice:
    """The voice trials of a run.

    Attributes:
        panel: of all of them together.
        trials: of each by id.
        unknown: of trials that cannot be measured, why; those without ticks are not there.
        remarks: by trial, what makes its numbers doubtful.
        without_ticks: how many trials have none.
    """

    run: str
    panel: Panel
    trials: Mapping[str, Panel]
    unknown: Mapping[str, str] = field(factory=dict)
    remarks: Mapping[str, str] = field(factory=dict)
    without_ticks: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-like data."""
        return {
            "run": self.run,
            "windows": dict(WINDOWS),
            "panel": self.panel.to_dict(),
            "trials": {trial: panel.to_dict() for trial, panel in self.trials.items()},
            "unknown": dict(self.unknown),
            "remarks": dict(self.remarks),
            "without_ticks": self.without_ticks,
        }


def panel_of(turns: Turns) -> Panel:
    """The measures of these events."""
    user_turns = len(turns.response_gaps) + turns.unanswered
    interruptions = len(turns.yield_gaps) + turns.kept_on
    return Panel(
        response_latency=_gaps(turns.response_gaps),
        yield_latency=_gaps(turns.yield_gaps),
        response_rate=proportion(len(turns.response_gaps), user_turns),
        yield_rate=proportion(len(turns.yield_gaps), interruptions),
        agent_interruptions=turns.agent_interruptions,
        agent_interruption_rate=turns.agent_interruptions / user_turns if user_turns else None,
        selectivity={
            name: proportion(turns.ignored.get(name, 0), turns.ignored.get(name, 0) + turns.noticed.get(name, 0))
            for name in SOUNDS
        },
        turns=turns,
    )


def voice_of(home: Home, run: str, progress: Callable[[Sequence[Any]], Iterable[Any]] = lambda trials: trials) -> Voice:
    """Measure the voice trials of a run.

    Args:
        home: where the run lies.
        run: its name.
        progress: wraps the trials, to show how far it is.

    Raises:
        BadInput: there is no such run, or no trial of it has ticks that can be measured.
    """
    config = load_run(home, run).config
    found: dict[str, Turns] = {}
    unknown: dict[str, str] = {}
    remarks: dict[str, str] = {}
    without = 0
    for trial, path in progress(list(home.trials(run))):
        name = str(trial)
        try:
            ticks = _ticks_of(View(path, home))
            if ticks is None:
                without += 1
                continue
            speech = speech_of(ticks)
            found[name] = turns_of(speech, _length(ticks, config))
        except (BadInput, CassetteError) as error:
            unknown[name] = str(error)
            continue
        if not speech.tells_turns:
            remarks[name] = "the user's turn taking is not told: its backchannels count as interruptions"
    if not found:
        why = f": {next(iter(unknown.values()))}" if unknown else "; voice simulations of tau2 have them"
        raise BadInput(f"no trial of run {run!r} has ticks that can be measured{why}")
    panels = {name: panel_of(turns) for name, turns in found.items()}
    return Voice(run, panel_of(added(list(found.values()))), panels, unknown, remarks, without)


def _ticks_of(view: View) -> Sequence[Any] | None:
    kept = (mark.data for mark in view.marks if mark.kind == "annotation")
    ticks = next((data["data"] for data in kept if data.get("from") == "ticks"), None)
    return ticks if isinstance(ticks, list) and ticks else None


def _length(ticks: Sequence[Any], config: Mapping[str, Any]) -> float:
    """Seconds of a tick, as the ticks tell it, or the run."""
    told = {tick.get("tick_duration_seconds") for tick in ticks} - {None}
    if not told:
        told = {config.get("voice", {}).get("tick_duration_seconds")} - {None}
    if len(told) != 1 or not isinstance(length := told.pop(), int | float) or not length > 0:
        raise BadInput("how long a tick lasts is not told, or differs: nothing can be said in seconds")
    return float(length)


def _gaps(seconds: Sequence[float]) -> Gaps:
    return Gaps(len(seconds), fmean(seconds) if seconds else None, median(seconds) if seconds else None)
