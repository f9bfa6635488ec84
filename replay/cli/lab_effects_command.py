"""``trialtape lab effects``: what the tools of a run seem to do, with the evidence."""

from __future__ import annotations

from pathlib import Path

import click
from attrs import asdict
from rich.text import Text

from cassettes.errors import BadInput
from replay.home import Home
from replay.proposing import effects_text, proposals
from replay.sources import recordings_of

from .options import json_option
from .output import console, echo_json, messages, say

__all__ = ["command"]

_STYLES = {"read": "cyan", "pure": "cyan", "write": "magenta", "unknown": "yellow"}


@click.command("effects")
@click.argument("run", metavar="RUN")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write an effects file, evidence as comments.",
)
@json_option
@click.pass_obj
def command(home: str | None, run: str, output: Path | None, as_json: bool) -> None:  # noqa: FBT001  # click's way
    """Propose what each tool of RUN does (read, write, pure or unknown), with the evidence in its recordings.

    Check the proposals before you use them: `trialtape run --effects FILE`, `trialtape lab worlds --effects FILE`.
    """
    recordings = [recording for task in recordings_of(Home.find(home), run).values() for recording in task]
    found = proposals(recordings)
    if output is not None:
        if output.exists():
            raise BadInput(f"{output} exists, and may hold what you declared by hand; name another file")
        output.write_text(effects_text(found), encoding="utf-8")
        messages().print(f"{output}: {len(found)} tools; check each before you use it", markup=False)
    if as_json:
        echo_json([asdict(proposal) for proposal in found])
        return
    if output is not None:
        return
    out = console()
    for proposal in found:
        line = Text(f"{proposal.effect:<8}", _STYLES[proposal.effect]) + Text(f"{proposal.name}", "bold")
        say(out, line + Text(f"   by {_BASES[proposal.basis]}", "dim"))
        for told in proposal.evidence:
            say(out, Text(f"        {told}", "dim"))


_BASES = {
    "observed": "what was seen",
    "name": "its name",
    "method": "its method",
    "declared": "its own word",
    "none": "nothing: neither its name nor what was seen tells",
}
