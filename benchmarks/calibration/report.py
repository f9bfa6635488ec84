"""The cells as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from .measures import Cell
from .spreads import HELD_OUT, SPREADS

__all__ = ["markdown", "picture"]

_PREAMBLE = (
    "Worlds of which the truth is known, simulated. A promise is missed if the measured share is off by more than two",
    "standard errors of the simulation; of hundreds of cells a few are by luck. Cells without a promise stand apart:",
    "pass^k below 0.03 (fixed), and k = n with pass^k of about 0.006 or less (population). Spreads that had no part in",
    "the choice of the methods are held out: nothing was promised for them, and this is what they gave.",
    "",
)


def markdown(cells: Sequence[Cell], command: str) -> str:
    """All tables, shortest first: what was promised, what was measured, and each promise that was missed."""
    lines = ["# Calibration", "", *_PREAMBLE, f"By `{command}`, seed 0.", ""]
    lines += [
        "| | promised | cells | worst | mean | mean width | missed | nothing promised (worst) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for table, of_table in _tables(cells).items():
        held = [cell for cell in of_table if cell.at_least is not None]
        free = [cell for cell in of_table if cell.at_least is None]
        worst = min if not held or held[0].at_least else max
        widths = [cell.width for cell in of_table if cell.width is not None]
        sign = "" if not held else ("at least " if held[0].at_least else "at most ") + f"{held[0].promised:g}"
        lines.append(
            f"| {table} | {sign} | {len(of_table)} | {_share(worst(c.measured for c in held)) if held else ''} "
            f"| {_share(sum(c.measured for c in of_table) / len(of_table))} "
            f"| {_share(sum(widths) / len(widths)) if widths else ''} "
            f"| {sum(cell.broken for cell in held)} "
            f"| {f'{len(free)} ({_share(min(c.measured for c in free))})' if free else ''} |"
        )
    broken = [cell for cell in cells if cell.broken]
    lines += ["", "## Missed promises", ""]
    lines += [f"- {c.table}: {c.where}: {_share(c.measured)} in {c.reps} simulations" for c in broken] or ["None."]
    lines += ["", "## Spreads", "", "| | tasks' chances to pass |", "|---|---|"]
    lines += [f"| {letter} | {spread.name} |" for letter, spread in (SPREADS | HELD_OUT).items()]
    lines += ["", "## Every cell", "", "| | where | measured | simulations |", "|---|---|---|---|"]
    lines += [f"| {c.table} | {c.where} | {_share(c.measured)} | {c.reps} |" for c in cells]
    return "\n".join(lines) + "\n"


def picture(cells: Sequence[Cell]) -> str:
    """Coverage of both intervals, one dot per cell, as SVG."""
    tables = [table for table in _tables(cells) if table.startswith("intervals")]
    width, row, left, top = 760, 26, 190, 44
    least = 0.80
    height = top + row * len(SPREADS) * len(tables) + 46 * len(tables)

    def place(share: float) -> float:
        return left + (max(share, least) - least) / (1 - least) * (width - left - 30)

    size = f'width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    y = top
    for table in tables:
        promised = 0.93 if table.endswith("population") else 0.91
        parts.append(f'<text x="10" y="{y - 14}" font-weight="bold">{table}: coverage at 95%</text>')
        bottom = y + row * len(SPREADS)
        for share, colour in ((promised, "#c60"), (0.95, "#888")):
            x = place(share)
            parts.append(f'<line x1="{x:.1f}" y1="{y - 6}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>')
            parts.append(f'<text x="{x:.1f}" y="{bottom + 13}" fill="{colour}" text-anchor="middle">{share:g}</text>')
        for letter, spread in SPREADS.items():
            parts.append(f'<text x="10" y="{y + 12}" font-size="10">{letter}  {spread.name[:32]}</text>')
            for cell in _tables(cells)[table]:
                if cell.where.startswith(f"{letter} "):
                    colour = "#bbb" if cell.at_least is None else "#c00" if cell.broken else "#06c"
                    dot = f'cx="{place(cell.measured):.1f}" cy="{y + 8}" r="3.5"'
                    parts.append(
                        f'<circle {dot} fill="{colour}" fill-opacity="0.55">'
                        f"<title>{cell.where}: {cell.measured:.3f}</title></circle>"
                    )
            y += row
        y += 46
    return "\n".join([*parts, "</svg>"]) + "\n"


def _tables(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.table, []).append(cell)
    return found


def _share(share: float) -> str:
    return f"{share:.3f}"
