"""What all importers of runs share: their options, the progress bar, what they tell."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from attrs import asdict

from replay.effects import Effects, read_effects
from replay.home import Home
from replay.importers.findings import Findings
from replay.importers.importing import Imported, import_findings
from replay.importers.reading import storable
from replay.plural import number

from .bars import counting_bar
from .output import echo_json, messages

__all__ = ["effects_option", "import_and_tell", "run_option"]

_MOST_REMARKS = 50  # of the same kind of file the same remark may come a thousand times; --json has all


def _read(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Effects:
    return read_effects(value)


run_option = click.option(
    "--run", "name", required=True, metavar="NAME", help="The run's name; the same file and name go on."
)
effects_option = click.option(
    "--effects",
    type=click.Path(path_type=Path),
    callback=_read,
    metavar="FILE",
    help="What the tools do to the world (TOML); `none` forgets what is known of them.",
)


def import_and_tell(home: str | None, name: str, source: Path, findings: Findings, *, as_json: bool) -> None:
    """Import what was found, and tell what was done; the exit code is 1 if a record was left out."""
    with counting_bar("importing", len(findings.trials), quiet=as_json) as advance:
        imported = import_findings(Home.find(home), name, source, findings, advance)
    if as_json:
        echo_json(_document(imported, findings))
    _tell(imported, findings)
    if any(not remark.imported for remark in (*findings.remarks, *imported.remarks)):
        sys.exit(1)


def _document(imported: Imported, findings: Findings) -> dict[str, Any]:
    return {
        "run": imported.run,
        "format": findings.format,
        "trials": imported.trials,
        **{done: imported.done[done] for done in ("written", "replaced", "kept")},
        **findings.told,
        "endings": [
            {"ending": ending, "reason": reason, "trials": count}
            for (ending, reason), count in imported.endings.most_common()
        ],
        "verdicts": dict(imported.verdicts),
        "scores": dict(imported.scores),
        "labels": dict(imported.labels),
        "calls": {
            "tools_of_known_effect": imported.tools["known"],
            "tools_of_unknown_effect": imported.tools["unknown"],
            "models": dict(imported.models),
        },
        "fidelity": asdict(findings.fidelity),
        "remarks": [asdict(remark) for remark in (*findings.remarks, *imported.remarks)],
    }


def _tell(imported: Imported, findings: Findings) -> None:
    remarks = [*findings.remarks, *imported.remarks]
    left_out = sum(not remark.imported for remark in remarks)
    for remark in remarks[:_MOST_REMARKS]:
        _say(str(remark))
    if len(remarks) > _MOST_REMARKS:
        _say(f"and {number(len(remarks) - _MOST_REMARKS, 'more remark')} (--json has all)")
    if not imported.trials:
        _say(f"trialtape: nothing imported: {number(left_out, 'record')}, none of them usable")
        return
    for line in _summary(imported, findings, left_out):
        _say(line)


def _summary(imported: Imported, findings: Findings, left_out: int) -> Iterator[str]:
    before = f", {imported.done['kept']} of them already imported" if imported.done["kept"] else ""
    if not imported.changed:
        before = ", already imported: nothing was changed"
    if imported.done["replaced"]:
        before += f", {imported.done['replaced']} incomplete ones set aside and written again"
    yield f"{imported.run}: {number(imported.trials, 'trial')}{before}"
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in imported.verdicts.most_common())
    endings = ", ".join(
        f"{count} {ending}{f' ({_short(reason)})' if reason else ''}"
        for (ending, reason), count in imported.endings.most_common(6)
    )
    yield f"  {verdicts}; {endings}"
    yield from (f"  {line}" for line in findings.lines)
    if imported.labels:
        told = ", ".join(f"{count} {fault}" for fault, count in imported.labels.most_common())
        yield f"  {number(imported.labels.total(), 'label')}: {told}"
    known, unknown = imported.tools["known"], imported.tools["unknown"]
    effects = f"; the effect of {unknown} of {known + unknown} is unknown (--effects FILE)" if unknown else ""
    yield f"  can be scored again: {'; '.join(findings.fidelity.rescored)}"
    yield f"  can be frozen: {'; '.join(findings.fidelity.frozen)}{effects}"
    yield f"  view only: {'; '.join(findings.fidelity.view_only)}"
    if left_out:
        yield f"  not imported, see above: {number(left_out, 'record')}"
    yield f"  next: trialtape stats {shlex.quote(imported.run)}"


def _say(line: str) -> None:
    messages().print(storable(line), markup=False, soft_wrap=True)


def _short(reason: str) -> str:
    line = (reason.splitlines() or [""])[0]
    return line if len(line) <= 60 else line[:59] + "…"
