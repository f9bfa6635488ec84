"""Where results of tau2-bench lie: in one file, or in a folder with a file for each simulation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from cassettes.canonical import digest_bytes
from cassettes.errors import BadInput

from .findings import Remark
from .reading import as_dict, as_list, digest_of_files, json_in, read_bytes, text_in

__all__ = ["Tau2File", "read_file"]

_META: Final = "results.json"
_FOLDER: Final = "simulations"
_COMPARED: Final = ("task_id", "trial", "termination_reason")


@frozen
class Tau2File:
    """The content, not yet interpreted.

    Attributes:
        form: ``file`` or ``folder``.
        digest: of all bytes that were read.
        meta: everything but the simulations.
        simulations: each with its place in the list, or the name of its file.
    """

    form: str
    digest: str
    meta: Mapping[str, Any]
    simulations: list[tuple[int | str, Any]] = field(factory=list)
    remarks: list[Remark] = field(factory=list)


def read_file(path: Path) -> Tau2File:
    """Read results in either form; a file of a simulation that cannot be read is told, not raised.

    Raises:
        BadInput: there are no results of tau2-bench at this place.
    """
    place = path / _META if path.is_dir() else path
    data = read_bytes(place)
    meta = _meta(place, data)
    folder = place.parent / _FOLDER
    inside = meta.get("simulations")
    if isinstance(inside, list) and (inside or not folder.is_dir()):
        found = Tau2File("file", digest_of_files({_META: digest_bytes(data)}), _without(meta), list(enumerate(inside)))
        if folder.is_dir():
            what = f"holds its simulations, so the folder {_FOLDER} beside it is not read (tau2 itself would read that)"
            found.remarks.append(Remark(place.name, None, None, what))
        return found
    if not folder.is_dir():
        raise BadInput(
            f"{place} is no results file of tau2-bench: it holds no simulations, nor has it a {_FOLDER} folder"
        )
    return _folder(folder, data, meta)


def _meta(place: Path, data: bytes) -> dict[str, Any]:
    try:
        meta = json_in(data)
    except ValueError as error:
        raise BadInput(f"{place} is no results file of tau2-bench: it is {error}") from error
    if not isinstance(meta, dict) or not {"simulations", "info", "tasks"} & meta.keys():
        raise BadInput(f"{place} is no results file of tau2-bench: it has neither simulations, nor info, nor tasks")
    return meta


def _without(meta: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name != "simulations"}


def _folder(folder: Path, data: bytes, meta: dict[str, Any]) -> Tau2File:
    digests = {_META: digest_bytes(data)}
    read: list[tuple[int | str, Any]] = []
    remarks: list[Remark] = []
    for file in sorted(folder.glob("*.json")):
        try:
            content = read_bytes(file)
            digests[file.name] = digest_bytes(content)
            read.append((file.name, json_in(content)))
        except (BadInput, ValueError) as error:
            remarks.append(Remark(file.name, None, None, f"the file is unreadable: {error}", imported=False))
    index = meta.get("simulation_index")
    if index is not None:
        remarks += _against(as_list(index), dict(read), {file.stem for file in folder.glob("*.json")})
    return Tau2File("folder", digest_of_files(digests), _without(meta), read, remarks)


def _against(index: list[Any], read: Mapping[int | str, Any], there: set[str]) -> list[Remark]:
    """What the index and the folder say differently; tau2 itself refuses to load such a folder."""
    remarks = []
    named = {name: entry for entry in map(as_dict, index) if (name := text_in(entry, "id")) is not None}
    for name, entry in named.items():
        task, trial = entry.get("task_id"), entry.get("trial")
        known = (str(task) if isinstance(task, str | int) else None, trial if isinstance(trial, int) else None)
        if name not in there:
            remarks.append(
                Remark(f"{name}.json", *known, "named in the index, but there is no such file", imported=False)
            )
            continue
        simulation = as_dict(read.get(f"{name}.json"))
        differing = [part for part in _COMPARED if part in entry and simulation.get(part) != entry[part]]
        if simulation and differing:
            remarks.append(Remark(f"{name}.json", *known, f"the index has another {', '.join(differing)}"))
    remarks += [Remark(f"{name}.json", None, None, "not in the index") for name in sorted(there - named.keys())]
    return remarks
