"""The parts of the debugger's screen; ``debugger.tcss`` says where they stand."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Input, Static

from .steps_list import Draw, StepsList
from .text_pane import TextPane

__all__ = ["parts"]


def parts(draw: Draw) -> ComposeResult:
    """All parts; none of them reads markup.

    Args:
        draw: makes the line of a row of the list.
    """
    yield Static(id="title", markup=False)
    yield Static(id="verdict", markup=False)
    yield Static(id="alert", markup=False)
    with Horizontal(id="body"):
        with Vertical(id="left"):
            yield Static(id="columns", markup=False)
            yield StepsList(draw, id="steps")
        with Vertical(id="right"):
            yield Static(id="tabs", markup=False)
            yield TextPane(id="page")
    with Vertical(id="fork"):
        yield Static(id="fork-title", markup=False)
        yield TextPane(id="fork-steps")
    with Horizontal(id="bottom"):
        yield Static(id="status", markup=False)
        yield Static(id="question", markup=False)
        yield Input(id="prompt", compact=True)
    yield Footer(show_command_palette=False)
