"""``trialtape import``: recordings of other tools as cassettes."""

from __future__ import annotations

import click

from .lazy import LazyCommands

__all__ = ["command"]

_FORMATS = {  # a format is one line here, and `command` in replay/cli/import_<name>.py
    "taubench": "Results files of tau-bench.",
    "tau2": "Results of tau2-bench: one file, or a folder; text and voice.",
    "agentdojo": "Logs of AgentDojo: utility, and whether attacks succeeded.",
    "toolemu": "Trajectories of ToolEmu, with their evaluations.",
    "jsonl": "Conversations in the OpenAI format, one per line.",
    "vcr": "Cassettes of vcrpy.",
}


@click.group("import", cls=LazyCommands, table=_FORMATS, module_of=lambda name: f"{__package__}.import_{name}")
def command() -> None:
    """Turn recordings of other tools into cassettes."""
