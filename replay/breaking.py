"""``tt.break_at``: stop an agent that is answered from recordings in the debugger, before one of its calls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Self

from attrs import frozen

from cassettes.errors import BadInput
from cassettes.model import Call

from .policy import Selector
from .stopping import stop_here

__all__ = ["Breakpoint", "break_at", "may_stop", "stop_before"]


@frozen
class _Point:
    """Where to stop; every part that is given must hold."""

    step: int | None
    selector: Selector | None
    tool: str | None
    condition: Callable[[Call], object] | None

    def holds(self, call: Call, step: int) -> bool:
        """True if this is the call to stop before."""
        return (
            (self.step is None or self.step == step)
            and (self.selector is None or self.selector.matches(call))
            and (self.tool is None or (call.kind == "tool" and fnmatchcase(call.name, self.tool)))
            and (self.condition is None or self._asked(call, step))
        )

    def _asked(self, call: Call, step: int) -> bool:
        assert self.condition is not None
        try:
            return bool(self.condition(call))
        except Exception as error:
            raise BadInput(
                f"the condition of break_at raised {type(error).__name__}: {error} at step {step}, {call.kind} "
                f"{call.name}; it is asked before every call, so let it look at call.kind and call.name first"
            ) from error


class Breakpoint:
    """A place to stop at, from when it is made until it is removed; as a block, until the block's end."""

    def __init__(self, point: _Point) -> None:
        self._point = point
        _add(point)

    def remove(self) -> None:
        """Stop there no longer; doing so twice does nothing."""
        _drop(self._point)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()


def break_at(where: int | str | Callable[[Call], object] | None = None, /, *, tool: str | None = None) -> Breakpoint:
    """Stop in the debugger before a call, in trials that are answered from recordings: replays, forks, frozen ones.

    The debugger opens in the agent's own code, at the line that makes the call, and is the one that ``breakpoint()``
    opens (``PYTHONBREAKPOINT``, ``sys.breakpointhook``, ``pytest --pdb``). The call is there as ``_call``. The rest of
    the trial stands still meanwhile; going on, the agent is answered as if it had not stopped. Trials that are only
    recorded, and sessions, never stop.

    Args:
        where: a step; a selector such as ``"tool:cancel_*"`` or ``"model"``; or a function that is asked of every
            `Call` whether to stop, such as ``lambda call: call.name == "pay" and call.arguments["id"] == "7"``.
        tool: a tool's name or pattern, such as ``"cancel_*"``; with ``where``, both must hold.

    Returns:
        the breakpoint: call its ``remove()``, or use it as a block: ``with tt.break_at(12): ...``.

    Raises:
        BadInput: there is no condition, or a selector has another form.
    """
    if where is None and tool is None:
        raise BadInput(
            'break_at needs a place: a step, tool="...", a selector such as "model", or a function of a call'
        )
    if isinstance(where, bool) or (isinstance(where, int) and where < 0):
        raise BadInput(f"a step is 0 or more, not {where!r}")
    return Breakpoint(
        _Point(
            step=where if isinstance(where, int) else None,
            selector=Selector.parse(where) if isinstance(where, str) else None,
            tool=tool,
            condition=where if callable(where) else None,
        )
    )


_points: tuple[_Point, ...] = ()
_lock = threading.Lock()


def _add(point: _Point) -> None:
    global _points  # noqa: PLW0603  # breakpoints are the process's, as those of a debugger
    with _lock:
        _points = (*_points, point)


def _drop(point: _Point) -> None:
    global _points  # noqa: PLW0603  # the same
    with _lock:
        _points = tuple(other for other in _points if other is not point)


def may_stop() -> bool:
    """True if a breakpoint is set in this process."""
    return bool(_points)


def stop_before(call: Call, step: int) -> None:
    """Open the debugger if a breakpoint wants to stop before this call.

    Raises:
        BadInput: the condition of a breakpoint raised.
        bdb.BdbQuit: the user quit the debugger.
    """
    if any(point.holds(call, step) for point in _points):
        stop_here(call, step)
