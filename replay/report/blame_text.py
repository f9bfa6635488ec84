"""What continuations from each step came to, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

from replay.branching.blame import Bar, Blame

__all__ = ["blame_table", "left_out_text", "share_line", "verdict_lines"]

_WIDTH = 20


def blame_table(blame: Blame, width: int) -> Table:
    """A bar for each step.

    Args:
        blame: the bars.
        width: of the terminal, in columns.
    """
    lost = {step for loss in blame.losses for step in loss.steps}
    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column("from step", justify="right")
    made.add_column("pass")
    made.add_column("", justify="right")
    made.add_column("95%")
    made.add_column("left out" if any(bar.left_out for bar in blame.bars) else "")
    made.add_column("then", overflow="ellipsis", no_wrap=True, max_width=max(20, width - 70))
    for bar in blame.bars:
        here = bool(lost.intersection(bar.steps))
        made.add_row(
            str(bar.step),
            _drawn(bar),
            f"{bar.passed}/{bar.counted}",
            f"[{bar.low:.2f}, {bar.high:.2f}]" if bar.counted else "",
            left_out_text(bar.left_out),
            Text(_then(bar), "bold red" if here else ""),
        )
    return made


def share_line(bar: Bar) -> str:
    """How many continuations passed, with the interval."""
    if not bar.counted:
        return "no continuation can be counted"
    return f"{bar.passed} of {bar.counted} continuations pass   95% [{bar.low:.2f}, {bar.high:.2f}]"


def left_out_text(left_out: Mapping[str, int]) -> str:
    """``2 unanswered, 1 error (refused)``."""
    return ", ".join(f"{number} {reason}" for reason, number in left_out.items())


def verdict_lines(blame: Blame) -> Iterator[Text]:
    """What the bars say."""
    for line in blame.verdict.splitlines():
        yield Text(line, "bold red" if line.startswith("lost") else "bold")


def _drawn(bar: Bar) -> Text:
    """The interval as a line, the rate as a dot on it."""
    if bar.rate is None:
        return Text("?".center(_WIDTH + 1), "dim")
    cells = ["·"] * (_WIDTH + 1)
    for place in range(round(bar.low * _WIDTH), round(bar.high * _WIDTH) + 1):
        cells[place] = "━"
    cells[round(bar.rate * _WIDTH)] = "●"
    style = "green" if bar.low > 0.5 else "red" if bar.high < 0.5 else "yellow"
    return Text("".join(cells), style)


def _then(bar: Bar) -> str:
    numbers = ", ".join(map(str, bar.steps[:3])) + (", ..." if len(bar.steps) > 3 else "")
    return f"{numbers} {bar.label}" if numbers else bar.label
