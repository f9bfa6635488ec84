"""Options that several commands take, each said once."""

from __future__ import annotations

import click

__all__ = ["errors_option", "json_option", "score_of_each_option", "score_option"]

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
