"""The measures of voice trials, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from replay.plural import number
from replay.stats import Share
from replay.voice.panel import SOUNDS, Gaps, Panel, Voice

__all__ = ["voice_lines", "voice_table"]

_FEW = 10  # events below which tau2's leaderboard shows no rate
_NAMES = {"backchannel": "S_BC", "vocal tic": "S_VT", "non-directed": "S_ND"}


def voice_table(voice: Voice) -> Table:
    """One line for each measure."""
    table = Table("measure", "value", "95%", "events", "", box=None, pad_edge=False, header_style="bold")
    panel = voice.panel
    table.add_row("L_R response latency", *_gaps(panel.response_latency, "answered turns"))
    table.add_row("L_Y yield latency", *_gaps(panel.yield_latency, "interruptions yielded to"))
    table.add_row("R_R response rate", *_share(panel.response_rate, "user turns"))
    table.add_row("R_Y yield rate", *_share(panel.yield_rate, "interruptions by the user"))
    table.add_row("I_A agent interruptions per turn", *_interruptions(panel))
    for sound in SOUNDS:
        table.add_row(f"{_NAMES[sound]} {sound} ignored", *_share(panel.selectivity[sound], f"{sound} sounds"))
    return table


def voice_lines(voice: Voice) -> Iterator[str]:
    """Seconds of speech, and what is not known."""
    turns = voice.panel.turns
    trials = number(len(voice.trials), "conversation")
    spoken = f"the agent speaks {turns.agent_seconds:.1f} s, the user {turns.user_seconds:.1f} s"
    yield f"{trials}, {turns.seconds:.1f} s: {spoken}"
    yield (
        f"  both at once {turns.overlap_seconds:.1f} s; nobody {turns.silent_seconds:.1f} s, "
        f"at most {turns.longest_silence:.1f} s at a time"
    )
    if voice.without_ticks:
        yield f"not voice: {number(voice.without_ticks, 'trial')} without ticks"
    for trial, why in voice.unknown.items():
        yield f"not measured: {trial}: {why}"
    for trial, what in voice.remarks.items():
        yield f"doubtful: {trial}: {what}"


def _gaps(gaps: Gaps, what: str) -> tuple[str, str, str, str]:
    if gaps.mean is None:
        return "unknown", "", f"0 {what}", ""
    return f"{gaps.mean:.2f} s", "", f"{gaps.of} {what}", f"median {gaps.median:.2f} s{_few(gaps.of, '; ')}"


def _share(share: Share, what: str) -> tuple[str, str, str, str]:
    if share.estimate is None or share.low is None or share.high is None:
        return "unknown", "", f"0 {what}", ""
    return f"{share.estimate:.3f}", f"[{share.low:.3f}, {share.high:.3f}]", f"{share.of} {what}", _few(share.of)


def _interruptions(panel: Panel) -> tuple[str, str, str, str]:
    rate = panel.agent_interruption_rate
    turns = panel.response_rate.of
    told = "unknown" if rate is None else f"{rate:.3f}"
    return told, "", f"{panel.agent_interruptions} in {number(turns, 'user turn')}", _few(turns)


def _few(events: int, before: str = "") -> str:
    return f"{before}few" if events < _FEW else ""
