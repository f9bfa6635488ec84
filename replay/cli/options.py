"""Options that several commands take, each said once."""

from __future__ import annotations

import math
from typing import Any

import click

__all__ = [
    "FiniteFloat",
    "FiniteRange",
    "alpha_option",
    "catch_up_option",
    "errors_option",
    "ignored_fields_option",
    "json_option",
    "margin_option",
    "score_of_each_option",
    "score_option",
    "undecided_option",
]


class FiniteFloat(click.types.FloatParamType):
    """A number, and neither NaN nor infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        return _finite(self, super().convert(value, param, ctx), param, ctx)


class FiniteRange(click.FloatRange):
    """A number within a range, and neither NaN nor infinite: as click compares, NaN is outside no range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        return _finite(self, super().convert(value, param, ctx), param, ctx)


def _finite(
    kind: click.ParamType[float], number: float, param: click.Parameter | None, ctx: click.Context | None
) -> float:
    if not math.isfinite(number):
        kind.fail(f"{number} is no finite number.", param, ctx)
    return number


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")

errors_option = click.option(
    "--errors",
    type=click.Choice(["exclude", "fail"]),
    default="exclude",
    show_default=True,
    help="Leave trials without a verdict out, or count them as failed.",
)

score_option = click.option(
    "--score", metavar="NAME[@VERSION]", help="Which score counts (default: the run's primary one)."
)

score_of_each_option = click.option(
    "--score", metavar="NAME[@VERSION]", help="Which score counts (default: the primary one of each run)."
)

margin_option = click.option(
    "--margin", type=FiniteRange(0, 1, max_open=True), help="How much worse is still good, as 0.05."
)

alpha_option = click.option(
    "--alpha",
    type=FiniteRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Chance of a wrong PASS, and of a wrong FAIL, at most.",
)

undecided_option = click.option(
    "--undecided", type=click.Choice(["pass", "fail"]), help="Which exit code UNDECIDED has, 0 or 1 (default: 6)."
)

catch_up_option = click.option(
    "--catch-up",
    multiple=True,
    metavar="tool:NAME",
    help="Such frozen writes are carried out before a live call that would notice their absence.",
)

ignored_fields_option = click.option(
    "--ignore-field",
    "ignore_fields",
    multiple=True,
    metavar="[SEL:]PATH",
    help="A field of the outcome of what --catch-up carries out that does not count.",
)
