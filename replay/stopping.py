"""Opening the developer's debugger in the frame of their own code that made a call."""

from __future__ import annotations

import ast
import bdb
import contextlib
import os
import pdb  # noqa: T100  # opening it is what this module is for
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Final

from cassettes.model import Call

from .difference import shortened

__all__ = ["agents_frame", "stop_here"]

CALL: Final = "_call"  # the name under which the debugger has the call
_HOOK: Final = "_breakpointhook"
_OURS: Final = ("cassettes", "adapters", "replay", "trialtape")
_LOOP: Final = "replay.orchestration.dialogue"


def stop_here(call: Call, step: int) -> None:
    """Open the debugger that ``breakpoint()`` opens, in the agent's own frame.

    Raises:
        bdb.BdbQuit: the user quit the debugger.
    """
    frame = agents_frame(sys._getframe(1))  # noqa: SLF001  # frames are what a debugger works on
    if _is_plain_pdb():
        _Debugger(call, step).stop_in(frame)
    elif os.environ.get("PYTHONBREAKPOINT") != "0" or sys.breakpointhook is not sys.__breakpointhook__:
        sys.stderr.write(f"{_told(call, step)}\n")
        _stand_in_for(frame, call)


def _is_plain_pdb() -> bool:
    """True if ``breakpoint()`` opens Python's own debugger; pytest, for one, puts another `pdb.set_trace` there."""
    chosen = os.environ.get("PYTHONBREAKPOINT", "")
    untouched = sys.breakpointhook is sys.__breakpointhook__ and pdb.set_trace.__module__ == "pdb"
    return untouched and chosen in {"", "pdb.set_trace"}


def _told(call: Call, step: int) -> str:
    actor = "" if call.actor == "agent" else f"{call.actor}'s "
    return f"trialtape: before step {step}, {actor}{call.kind} {call.name} {shortened(dict(call.arguments))} ({CALL})"


# -- the frame ---------------------------------------------------------------------------------------------------------


def agents_frame(frame: FrameType) -> FrameType:
    """The innermost frame of the user's own code around ``frame``.

    Own code is neither of this project, nor of Python's library, nor installed. If there is none, the innermost that
    is not of this project counts: the agent is an installed package. A `Dialogue` stands for the loop that the user
    would have written, so its frames are own code.
    """
    nearest: FrameType | None = None
    inner: FrameType | None = frame
    while inner is not None:
        if not _is_ours(inner):
            if not _is_installed(inner):
                return inner
            nearest = nearest or inner
        inner = inner.f_back
    return nearest or frame


def _is_called_by_us(frame: FrameType) -> bool:
    inner: FrameType | None = frame
    while inner is not None:
        if _is_ours(inner):
            return True
        if not _is_installed(inner):
            return False
        inner = inner.f_back
    return False


def _is_ours(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in _OURS and name != _LOOP


def _is_installed(frame: FrameType) -> bool:
    if frame.f_globals.get("__name__") == _LOOP:
        return False
    return frame.f_code.co_filename.startswith(("<frozen", *_installed()))


@cache
def _installed() -> tuple[str, ...]:
    """The folders of what is installed."""
    paths = sysconfig.get_paths()
    bases = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {str(Path(os.__file__).parent)}
    return tuple(sorted(f"{base}{os.sep}" for base in bases))


# -- Python's own debugger ---------------------------------------------------------------------------------------------


class _Debugger(pdb.Pdb):
    """Opens at once in a frame further out; `pdb.set_trace` would stop there only after the call."""

    def __init__(self, call: Call, step: int) -> None:
        super().__init__()
        self._call = call
        self._step = step

    def stop_here(self, frame: FrameType) -> bool:
        """Stop nowhere inside of what this project calls, unless it is the user's own code again, such as a tool."""
        return not _is_called_by_us(frame) and super().stop_here(frame)

    def stop_in(self, frame: FrameType) -> None:
        """Take commands in ``frame``, then let the program go on as they say.

        Raises:
            bdb.BdbQuit: the user quit.
        """
        self.reset()
        outer: FrameType | None = frame
        while outer is not None:
            outer.f_trace = self.trace_dispatch
            self.botframe = outer
            outer = outer.f_back
        self.set_step()
        self.message(_told(self._call, self._step))
        shadowed = frame.f_locals.get(CALL, self)
        frame.f_locals[CALL] = self._call
        try:
            self.interaction(frame, None)
        finally:
            if shadowed is self:
                with contextlib.suppress(KeyError, ValueError, TypeError):  # the locals of a function may not shrink
                    del frame.f_locals[CALL]
            else:
                frame.f_locals[CALL] = shadowed
        if self.quitting:
            sys.settrace(None)
            raise bdb.BdbQuit
        goes_on = self.stopframe is self.botframe and self.stoplineno == -1
        if not goes_on or self.breaks:
            sys.settrace(self.trace_dispatch)


# -- any other debugger ------------------------------------------------------------------------------------------------


def _stand_in_for(frame: FrameType, call: Call) -> None:
    """Call the hook from a frame that looks like ``frame``: its file, line and function, its globals, its values.

    A hook stops in the frame that calls it, which would be ours, and cannot be given another.
    """
    line = frame.f_lineno
    first = line if sys.version_info >= (3, 13) else max(1, line - 1)  # before, a debugger stops at the next line
    tree = ast.parse(f"{_HOOK}()\n{_HOOK} = None")
    for statement, number in zip(tree.body, (first, line), strict=True):
        for part in ast.walk(statement):
            if isinstance(part, ast.stmt | ast.expr):
                part.lineno = part.end_lineno = number
    code = compile(tree, frame.f_code.co_filename, "exec")
    code = code.replace(co_name=frame.f_code.co_name, co_qualname=frame.f_code.co_qualname)
    exec(code, frame.f_globals, {**frame.f_locals, CALL: call, _HOOK: sys.breakpointhook})  # noqa: S102  # two lines of ours
