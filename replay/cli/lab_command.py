"""``trialtape lab``: plans, forecasts and experiments with recordings."""

from __future__ import annotations

import click

from .lazy import LazyCommands

__all__ = ["command"]

_COMMANDS = {  # a command is one line here, and `command` in replay/cli/lab_<name>_command.py
    "plan": "How many tasks and trials does a difference need, and what do they cost?",
    "forecast": "What happens in production: clean days, expected failures, pass^k beyond the trials made.",
    "watchlist": "Few tasks for a small run in CI: guards and flaky ones, each tested on its own.",
    "trend": "Runs over nights, with alarms that stay valid however often one looks.",
    "judge": "How good is a judge against people, and what is the number without its errors?",
    "faults": "Whose fault were the failed trials, by people, by a model as judge, and by rules?",
    "security": "What the user and the attacker got under attack, and what defences change.",
    "noise": "How much of the noise comes from outside, and how much from model and user?",
    "independence": "Are the trials of a run independent of each other? What one shows of another.",
    "effects": "What do the tools of a run seem to do? With the evidence.",
    "reexecute": "Does a real environment still answer what was recorded, writes too?",
    "drift": "Do the tools still answer what they answered when a run was recorded?",
    "voice": "How does a voice agent take turns: latencies, interruptions, what it ignores?",
    "worlds": "How much of a run could its other recordings answer?",
}


@click.group("lab", cls=LazyCommands, table=_COMMANDS, module_of=lambda name: f"{__package__}.lab_{name}_command")
def command() -> None:
    """Plan, forecast, and measure what recordings can tell beyond one number."""
