"""``trialtape export``: one trial in another format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from attrs import frozen

from cassettes.errors import BadInput
from replay.home import Home
from replay.importers.formats import format_named
from replay.report.html.build import make_trial_page
from replay.report.html.writing import write_page
from replay.selection import find_trial
from replay.store import Store
from replay.trial_document import document_of
from replay.view import View

from .export_pytest import write_test
from .output import messages

__all__ = ["command"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@frozen
class _Wanted:
    """What the user asked for; ``suite`` and ``freeze`` are of a test."""

    view: View
    home: Home
    output: Path | None
    suite: str | None
    freeze: tuple[str, ...]


def _to_vcr(wanted: _Wanted) -> None:
    if wanted.output is None:
        raise BadInput("--to vcr needs -o FILE, ending in .yaml or .json")
    written, left_out = format_named("vcr").write(wanted.output, wanted.view.cassette)
    skipped = f"; {left_out} left out: no whole exchange over HTTP (tools, clocks, errors)" if left_out else ""
    messages().print(f"{wanted.output}: {written} exchanges written{skipped}", markup=False, soft_wrap=True)


def _to_json(wanted: _Wanted) -> None:
    view, output = wanted.view, wanted.output
    text = json.dumps(document_of(view), ensure_ascii=False, indent=1)
    # Half of a surrogate pair has no UTF-8; its escape is the same JSON.
    text = _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    if output is None:
        click.echo(text)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror}; name another place") from error
    messages().print(f"{output}: {len(view.cassette)} steps written", markup=False, soft_wrap=True)


def _to_html(wanted: _Wanted) -> None:
    if wanted.output is None:
        raise BadInput("--to html needs -o FILE")
    with Store(wanted.home) as store:
        store.refresh()
        size = write_page(wanted.output, make_trial_page(store, wanted.view))
    messages().print(f"{wanted.output}: {size / 1000:.0f} kB", markup=False, soft_wrap=True)


def _to_pytest(wanted: _Wanted) -> None:
    write_test(wanted.view, wanted.home, wanted.output, wanted.suite, wanted.freeze)


_FORMATS: Final[dict[str, Callable[[_Wanted], None]]] = {
    "html": _to_html,
    "json": _to_json,
    "pytest": _to_pytest,
    "vcr": _to_vcr,
}


@click.command("export")
@click.argument("trial", metavar="TRIAL")
@click.option("--to", "form", type=click.Choice(list(_FORMATS)), required=True, help="The format.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where to: a file, or of pytest a folder (json: default stdout).",
)
@click.option("--suite", metavar="SUITE.py[:NAME]", help="pytest: the agent (default: the suite the run names).")
@click.option(
    "--freeze",
    multiple=True,
    metavar="SEL",
    help="pytest: what the cassette answers (default: model, user and external).",
)
@click.pass_obj
def command(
    home: str | None, trial: str, form: str, output: Path | None, suite: str | None, freeze: tuple[str, ...]
) -> None:
    """Write TRIAL in another format.

    html is one page to look at, or to send. json is one readable document of the whole trial. vcr is a cassette of
    vcrpy, with what went over HTTP. pytest is a test that lets the agent's code, as it is now, try the trial again,
    with a copy of the cassette beside it.
    """
    if form != "pytest" and (suite is not None or freeze):
        raise BadInput("--suite and --freeze go with --to pytest")
    place = Home.find(home)
    _FORMATS[form](_Wanted(find_trial(trial, place), place, output, suite, freeze))
