"""Trials in other people's runners: a trial is opened around each call of the function that runs one.

The function is wrapped when its module is imported, so neither the runner nor the agent is changed.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from attrs import asdict, evolve, field, frozen

from cassettes.errors import BadInput
from replay.block import trial
from replay.trial import Trial

__all__ = ["READY_MADE", "Boundary", "wrap_boundary"]

_VARIABLE: Final = "TRIALTAPE_BOUNDARY"


@frozen
class Boundary:
    """The function of a runner that runs one trial.

    Attributes:
        module, function: where it is found; ``Class.method`` for a method.
        task_from: which argument names the task, such as ``task_id`` or ``sample.id``.
        trial_from: which argument is the index of the trial; None takes the first that is free.
        options: for `tt.trial`: run, home, and what is frozen.
        first: the number that the runner gives the first trial of a task.
    """

    module: str
    function: str
    task_from: str
    trial_from: str | None
    options: Mapping[str, Any] = field(factory=dict)
    first: int = 0

    @classmethod
    def parse(cls, text: str, task_from: str | None, trial_from: str | None, options: Mapping[str, Any]) -> Boundary:
        """Read ``MODULE:FUNCTION``, or the name of a ready-made one.

        Raises:
            BadInput: it has another form, or names no argument.
        """
        if text in READY_MADE:
            known = READY_MADE[text]
            return evolve(
                known,
                task_from=task_from or known.task_from,
                trial_from=trial_from or known.trial_from,
                first=known.first if trial_from is None else 0,
                options=dict(options),
            )
        module, colon, function = text.partition(":")
        if not (module and colon and function):
            raise BadInput(f"{text!r} is no boundary: MODULE:FUNCTION is needed, or one of {', '.join(READY_MADE)}")
        if task_from is None:
            raise BadInput(f"--task-from is needed: which argument of {function} names the task, such as task.id")
        return cls(module, function, task_from, trial_from, options)

    def to_environ(self) -> dict[str, str]:
        """As a variable of the environment, for the process that runs the runner."""
        return {_VARIABLE: json.dumps(asdict(self))}

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Boundary | None:
        """The inverse of `to_environ`; None if there is none."""
        text = environ.get(_VARIABLE)
        return None if not text else cls(**json.loads(text))


READY_MADE: Final = {
    "inspect": Boundary(
        "inspect_ai.solver._plan", "Plan.__call__", task_from="state.sample_id", trial_from="state.epoch", first=1
    ),
    "pytest": Boundary("_pytest.python", "pytest_pyfunc_call", task_from="pyfuncitem.nodeid", trial_from=None),
}
"""Boundaries of known runners."""


def wrap_boundary(environ: Mapping[str, str]) -> None:
    """Wrap the function that the environment names, now or when its module is imported.

    Raises:
        BadInput: its module is imported already and has no such function.
    """
    boundary = Boundary.from_environ(environ)
    if boundary is None:
        return
    if boundary.module in sys.modules:
        _wrap_in(sys.modules[boundary.module], boundary)
    else:
        sys.meta_path.insert(0, _Finder(boundary))


class _Finder(MetaPathFinder):
    """Finds one module as everybody else would, and wraps the function when it has been executed."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  # as asked
        target: ModuleType | None = None,  # noqa: ARG002  # as asked
    ) -> ModuleSpec | None:
        if fullname != self._boundary.module:
            return None
        sys.meta_path.remove(self)  # found once, by those behind
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._boundary)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Any, boundary: Boundary) -> None:
        self._loader = loader
        self._boundary = boundary

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _wrap_in(module, self._boundary)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _wrap_in(module: ModuleType, boundary: Boundary) -> None:
    *owners, name = boundary.function.split(".")
    owner: Any = module
    for part in owners:
        owner = getattr(owner, part, None)
    function = getattr(owner, name, None)
    if not callable(function):
        raise BadInput(f"the boundary {boundary.module}:{boundary.function} is no function of that module")
    setattr(owner, name, _wrapped(function, boundary))


def _wrapped(function: Callable[..., Any], boundary: Boundary) -> Callable[..., Any]:
    signature = inspect.signature(function)

    def opened(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        task = _found(given.arguments, boundary.task_from, boundary)
        index = None if boundary.trial_from is None else _found(given.arguments, boundary.trial_from, boundary)
        return trial(**boundary.options, task=str(task), index=None if index is None else int(index) - boundary.first)

    def around(*args: Any, **kwargs: Any) -> Any:
        with opened(args, kwargs):
            return function(*args, **kwargs)

    async def async_around(*args: Any, **kwargs: Any) -> Any:
        async with opened(args, kwargs):
            return await function(*args, **kwargs)

    return functools.wraps(function)(async_around if inspect.iscoroutinefunction(function) else around)


def _found(arguments: Mapping[str, Any], path: str, boundary: Boundary) -> Any:
    """What ``path`` names: an argument, then attributes or keys of it."""
    name, *rest = path.split(".")
    if name not in arguments:
        known = ", ".join(arguments) or "none"
        raise BadInput(f"{boundary.function} has no argument {name!r} to take from; it has {known}")
    value = arguments[name]
    for part in rest:
        try:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
        except (KeyError, AttributeError):
            raise BadInput(f"{path} of {boundary.function}: {type(value).__name__} has no {part!r}") from None
    return value
