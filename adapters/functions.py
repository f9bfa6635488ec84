"""`tool`: plain Python functions as tools, sync or async, methods too."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, get_args, overload

from attrs import frozen

from cassettes.again import Repeatable
from cassettes.model import Call, Changed, Effect
from cassettes.recorder import aperform, current, passed_by, perform
from cassettes.templates import Template

from .binding import Binder
from .changes import changed, redo, snapshot

__all__ = ["ToolSpec", "tool"]

F = TypeVar("F", bound=Callable[..., Any])
Resources = str | tuple[str, ...] | None

_EFFECTS: Final[tuple[str, ...]] = get_args(Effect)


@frozen
class ToolSpec:
    """What was declared of a tool; found on it as ``__trialtape__``."""

    name: str
    effect: Effect = "unknown"
    external: bool = True
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    effect: Effect = "unknown",
    external: bool = True,
    name: str | None = None,
    reads: Resources = None,
    writes: Resources = None,
    ignore: Iterable[str] = (),
) -> Callable[[F], F]: ...


def tool(
    function: Any = None,
    /,
    *,
    effect: Effect = "unknown",
    external: bool = True,
    name: str | None = None,
    reads: Resources = None,
    writes: Resources = None,
    ignore: Iterable[str] = (),
) -> Any:
    """Declare a function as a tool: its calls are recorded, and can be answered from recordings.

    Outside a trial the function is called as if it were not decorated. An argument that the function changes in place
    is changed again in replay.

    Args:
        function: a function, a method, a `functools.partial` or an object with ``__call__``.
        effect: ``read`` changes nothing, ``pure`` depends on its arguments alone, ``write`` changes something;
            ``unknown`` counts as a write.
        external: False if it acts on the trial's own tracked state only.
        name: the tool's name, if not the function's.
        reads: the resources that it reads, such as ``"order:{order_id}"`` (of its arguments); None: any.
        writes: the resources that it writes, likewise.
        ignore: parameters that do not belong to the call, such as a context object or a connection.

    Raises:
        ValueError: an unknown effect, or a name that is no parameter.
        TypeError: a generator, or nothing that can be called.
    """

    def decorate(target: Any) -> Any:
        # A classmethod stands outermost for Python; so it does here, whatever the order of the decorators.
        if isinstance(target, classmethod | staticmethod):
            return type(target)(decorate(target.__func__))
        inner = _innermost(target)
        _check(target, inner)
        given = name or getattr(inner, "__name__", None) or type(inner).__name__
        spec = ToolSpec(given, effect, external, _tuple(reads), _tuple(writes), _tuple(ignore) or ())
        return _wrapped(target, spec, is_async=_is(inspect.iscoroutinefunction, inner))

    if effect not in _EFFECTS:
        raise ValueError(f"effect {effect!r} is none of {', '.join(_EFFECTS)}")
    return decorate if function is None else decorate(function)


def _wrapped(function: Callable[..., Any], spec: ToolSpec, *, is_async: bool) -> Any:
    binder = Binder(function)
    call_of = _caller(binder, spec)

    def told() -> str:
        return f"tool {spec.name}"

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None:
            passed_by(told)
            return function(*args, **kwargs)
        call = call_of(args, kwargs)
        if call is None:  # with arguments that do not fit, Python's own error comes out
            return function(*args, **kwargs)

        def live() -> Any:
            before = snapshot(call.arguments)
            return _with_changes(function(*args, **kwargs), before, call.arguments)

        return _undone(perform(recorder, call, live, _once_more(binder, args, kwargs)), call)

    async def async_wrapper(*args: Any, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None:
            passed_by(told)
            return await function(*args, **kwargs)
        call = call_of(args, kwargs)
        if call is None:
            return await function(*args, **kwargs)

        async def live() -> Any:
            before = snapshot(call.arguments)
            return _with_changes(await function(*args, **kwargs), before, call.arguments)

        return _undone(await aperform(recorder, call, live, _awaited_once_more(binder, args, kwargs)), call)

    chosen = functools.wraps(function)(async_wrapper if is_async else wrapper)
    chosen.__trialtape__ = spec  # type: ignore[attr-defined]
    return chosen


def _once_more(binder: Binder, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Repeatable:
    """How the function is called with other copies of the arguments that belong to the call."""

    def again(arguments: Mapping[str, Any]) -> Any:
        places, names = binder.exchanged(args, kwargs, arguments)
        before = snapshot(arguments)
        return _with_changes(binder.function(*places, **names), before, arguments)

    return again


def _awaited_once_more(binder: Binder, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Repeatable:
    """The same for an async function."""

    async def again(arguments: Mapping[str, Any]) -> Any:
        places, names = binder.exchanged(args, kwargs, arguments)
        before = snapshot(arguments)
        return _with_changes(await binder.function(*places, **names), before, arguments)

    return again


def _with_changes(result: Any, before: Mapping[str, bytes], arguments: Mapping[str, Any]) -> Any:
    """What the tool returned, with those of its arguments that it changed meanwhile."""
    changes = before and changed(before, arguments)
    return Changed(result, changes) if changes else result


def _undone(outcome: Any, call: Call) -> Any:
    """The tool's own result; what it changed in its arguments is changed (live, it already is)."""
    if type(outcome) is not Changed:
        return outcome
    redo(outcome, call.arguments)
    return outcome.result


def _caller(binder: Binder, spec: ToolSpec) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Call | None]:
    """Makes the Call of given arguments; None if they do not fit."""
    unknown = [name for name in spec.ignore if name not in binder.names and not binder.open]
    if unknown:
        raise ValueError(f"{spec.name}: ignore names {', '.join(unknown)}, which is no parameter")
    reads = _templates(spec.reads, binder)
    writes = _templates(spec.writes, binder)

    def call_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call | None:
        arguments = binder.bind(args, kwargs)
        if arguments is None:
            return None
        return Call(
            kind="tool",
            name=spec.name,
            arguments={k: v for k, v in arguments.items() if k not in spec.ignore} if spec.ignore else arguments,
            effect=spec.effect,
            external=spec.external,
            reads=None if reads is None else tuple(template.fill(arguments) for template in reads),
            writes=None if writes is None else tuple(template.fill(arguments) for template in writes),
        )

    return call_of


def _templates(resources: tuple[str, ...] | None, binder: Binder) -> list[Template] | None:
    if resources is None:
        return None
    return [Template(text, binder.names, open_ended=binder.open) for text in resources]


def _innermost(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _check(target: Any, inner: Any) -> None:
    shown = getattr(inner, "__qualname__", repr(inner))
    if not callable(target) or isinstance(target, type):
        raise TypeError(f"@tool: {shown} is no function")
    if _is(inspect.isgeneratorfunction, inner) or _is(inspect.isasyncgenfunction, inner):
        raise TypeError(f"@tool: {shown} is a generator, which is not supported yet; return a list instead")


def _is(test: Callable[[Any], bool], function: Any) -> bool:
    """The same question for a function and for an object with ``__call__``."""
    return test(function) or test(getattr(type(function), "__call__", None))  # noqa: B004 - not whether, but which


def _tuple(value: str | Iterable[str] | None) -> tuple[str, ...] | None:
    return value if value is None else (value,) if isinstance(value, str) else tuple(value)
