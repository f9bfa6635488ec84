"""A recording becomes a task: a Python file with its instruction, initial state, expected result and cassette."""

from __future__ import annotations

import ast
import json
import pprint
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from cassettes.canonical import canonical
from cassettes.errors import BadInput, UnkeepableValue
from cassettes.model import Call
from cassettes.values import pack
from replay.home import writing
from replay.view import View, messages_of

__all__ = ["Stub", "default_path", "expected_of", "instruction_of", "write_stub"]

MOST_INLINE: Final = 2000  # letters of a state that stands in the Python file itself
MOST_OF_A_WRITE: Final = 300  # letters of a write that is told in a comment


@frozen
class Stub:
    """What was written.

    Attributes:
        path: the Python file.
        others: what lies beside it: the cassette, and a state that is too large for the file.
        task: the task's id.
    """

    path: Path
    task: str
    others: tuple[Path, ...] = field(factory=tuple)


def write_stub(view: View, path: Path) -> Stub:
    """Write a task made from a recording, with what it needs beside it. Nothing is overwritten.

    Raises:
        BadInput: a file is there already, the name is none that Python imports, or the state cannot be written down.
        RecordingFailed: the folder cannot be written.
    """
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise BadInput(f"{path} is no name for a suite: Python must be able to import it, such as incident_17.py")
    task = view.id.task if view.cassette.header.task_definition else f"{view.id.task}-{view.id.index}"
    cassette = path.with_suffix(".cassette")
    beside = _Beside(path)
    text = "\n".join(_lines(view, task, cassette, beside)) + "\n"
    for other in (path, cassette, *beside.files):
        if other.exists():
            raise BadInput(f"{other} exists already; name another file by -o")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for other, data in beside.files.items():
            other.write_bytes(data)
        shutil.copyfile(view.path, cassette)
        path.write_text(text, encoding="utf-8")
    return Stub(path, task, (cassette, *beside.files))


def instruction_of(view: View) -> str:
    """What the user wanted: the task's instruction, else the first thing that the user said."""
    if view.task.instruction:
        return view.task.instruction
    for mark in view.marks:
        if mark.kind == "message" and mark.data["role"] == "user":
            return str(mark.data["content"])
    for step in view.steps:
        if step.call.kind == "model" and step.call.actor == "agent":
            for message in messages_of(step.call):
                text = _user_text(message)
                if text:
                    return text
    return ""


def _user_text(message: Any) -> str | None:
    """The text of a user's message in any of the protocols; None of any other."""
    if isinstance(message, str):
        return message
    if not isinstance(message, Mapping) or message.get("role", "user") != "user":
        return None
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


# -- the file ----------------------------------------------------------------------------------------------------------


def _lines(view: View, task: str, cassette: Path, beside: _Beside) -> Iterator[str]:
    initial = view.state(-1) if view.tracks_state else None
    state = None if initial is None else beside.source(initial, "state")
    expected, gone = (None, []) if initial is None else expected_of(view)
    wanted = None if expected is None else beside.source(expected, "expected")
    told = str(view.id).replace("\\", "\\\\").replace('"', "'")
    yield f'"""A task made from {told}, which ended {view.ending.status!r}."""'
    yield ""
    yield from sorted({"from pathlib import Path", *beside.imports}, key=lambda line: (line.startswith("from"), line))
    yield ""
    yield "import trialtape as tt"
    yield from beside.own_imports
    yield ""
    yield "# The recording, copied because sessions are deleted after a while: `trialtape show` prints it, and"
    yield "# tt.trial(..., replay=str(CASSETTE)) answers your agent from it."
    yield f"CASSETTE = Path(__file__).with_name({cassette.name!r})"
    yield ""
    yield ""
    if state is not None:
        yield "def make_state():"
        yield '    """The state as it was when the recording began, made anew for each trial."""'
        yield f"    return {_indented(state)}"
        yield ""
        yield ""
    if "{secret:" in f"{initial}{expected}{instruction_of(view)}":
        yield "# Personal data and secrets stand as {secret:...}, the same one always as the same text."
    yield "task = tt.Task("
    yield f"    id={task!r},"
    yield f"    instruction={instruction_of(view)!r},"
    if state is not None:
        yield "    state=make_state,"
    yield from _expected_lines(view, wanted, gone)
    yield "    outputs=[],  # texts that the agent must tell the user; the recording cannot say which ones matter"
    yield ")"
    yield ""
    yield ""
    yield "def agent(trial):"
    yield '    """Call your agent here: trial.task.instruction is what the user wants, trial.state the state."""'
    yield '    raise NotImplementedError("call your agent in agent(trial)")'
    yield ""
    yield ""
    yield "suite = tt.Suite(tasks=[task], agent=agent)"


def _expected_lines(view: View, wanted: str | None, gone: Iterable[str]) -> Iterator[str]:
    if wanted is not None:
        yield "    # What the recorded writes left. If the incident is that they were wrong, say here what is right."
        for where in gone:
            yield f"    # The recorded writes deleted {_on_one_line(where)}, which `expected` cannot say."
        yield f"    expected={_indented(wanted)},"
        return
    writes = [step for step in view.steps if step.call.kind == "tool" and step.call.may_write]
    yield "    # No state was tracked, so that there is none to compare."
    if writes:
        yield "    # These calls wrote, or may have written:"
    for step in writes:
        yield f"    #   step {step.number}: {_on_one_line(_told(step.call))}"


def _told(call: Call) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"{call.name}({arguments})"


def _on_one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_OF_A_WRITE else text[: MOST_OF_A_WRITE - 3] + "..."


def _indented(source: str) -> str:
    return source.replace("\n", "\n    ")


# -- states ------------------------------------------------------------------------------------------------------------


def expected_of(view: View) -> tuple[dict[Any, Any], list[str]]:
    """The final values of the rows that changed, nested by key; and the places that are gone."""
    paths: dict[tuple[Any, ...], None] = {}
    patches = [step.interaction.patch for step in view.steps if step.interaction.patch is not None]
    for patch in [*patches, *(mark.data for mark in view.marks if mark.kind == "changed")]:
        paths |= dict.fromkeys(tuple(path) for path, _, _ in patch.changes)
    final = view.state()
    expected: dict[Any, Any] = {}
    gone: list[str] = []
    for key, *rest in paths:
        item = _part(final, key)
        if item is _GONE:
            gone.append(f"[{key!r}]")
        elif not rest or not isinstance(item, dict):
            expected[key] = item  # of a list all of it counts
        elif rest[0] not in item:
            gone.append(f"[{key!r}][{rest[0]!r}]")
        elif isinstance(expected.setdefault(key, {}), dict):
            expected[key][rest[0]] = item[rest[0]]
    return {key: value for key, value in expected.items() if value != {} or _part(final, key) == {}}, gone


_GONE: Final = object()


def _part(state: Any, key: Any) -> Any:
    if isinstance(state, dict):
        return state.get(key, _GONE)
    if isinstance(state, list):
        return state[key] if key < len(state) else _GONE
    return vars(state).get(key, _GONE)


class _Beside:
    """The files beside a stub: what is too large for it, or has no literal.

    Attributes:
        files: their contents.
        imports: the lines that reading them needs, and ``own_imports`` those of this project.
    """

    def __init__(self, path: Path) -> None:
        self.files: dict[Path, bytes] = {}
        self.imports: set[str] = set()
        self.own_imports: list[str] = []
        self._path = path

    def source(self, value: Any, name: str) -> str:
        """A Python expression that gives ``value`` anew.

        Raises:
            BadInput: it has no lossless form.
        """
        literal = pprint.pformat(value, width=110, sort_dicts=False)
        if len(literal) <= MOST_INLINE and _is_literal(literal, value):
            return literal
        text = _json(value)
        if text is not None:
            file = self._path.with_name(f"{self._path.stem}_{name}.json")
            self.files[file] = text.encode()
            self.imports.add("import json")
            return f'json.loads(Path(__file__).with_name({file.name!r}).read_text(encoding="utf-8"))'
        file = self._path.with_name(f"{self._path.stem}_{name}.msgpack")
        try:
            self.files[file] = pack(value)
        except UnkeepableValue as error:
            raise BadInput(f"the {name} cannot be written down: {error}") from error
        self.own_imports = ["from cassettes.values import unpack"]
        return f"unpack(Path(__file__).with_name({file.name!r}).read_bytes())"


def _is_literal(text: str, value: Any) -> bool:
    """True if ``text``, read as a literal, is exactly ``value``."""
    try:
        return canonical(ast.literal_eval(text)) == canonical(value)
    except (ValueError, SyntaxError, RecursionError, UnkeepableValue):
        return False


def _json(value: Any) -> str | None:
    """The value as JSON, if JSON holds exactly it."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1)
        return text if canonical(json.loads(text)) == canonical(value) else None
    except (ValueError, TypeError, RecursionError, UnkeepableValue):
        return None


def default_path(view: View) -> Path:
    """Where a stub goes if nothing else is said."""
    name = re.sub(r"\W+", "_", f"{view.id.run}_{view.id.task}_{view.id.index}").strip("_")
    return Path(f"task_{name}.py")
