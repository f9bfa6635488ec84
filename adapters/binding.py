"""A call's arguments by name: one canonical form, however they were passed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any, Final

__all__ = ["Binder"]

_POSITIONAL: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class Binder:
    """Binds arguments to the parameters of one function; the signature is read once.

    Defaults are applied, ``self`` and ``cls`` are left out, ``*args`` is a list under its name, ``**kwargs`` are merged
    by name. Of a `functools.partial` the arguments given before count like the others.

    Attributes:
        function: the one that is called, without its partials.
        names: the parameters; ``open`` if any other name may come in ``**kwargs``.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._before: tuple[Any, ...] = ()
        self._keywords: dict[str, Any] = {}
        while isinstance(function, functools.partial):
            self._before = function.args + self._before
            self._keywords = {**function.keywords, **self._keywords}
            function = function.func
        self.function = function
        self._signature = inspect.signature(function)
        parameters = list(self._signature.parameters.values())
        self._positional = [p.name for p in parameters if p.kind in _POSITIONAL]
        self._owner = self._positional[0] if self._positional and self._positional[0] in {"self", "cls"} else None
        self._defaults = {p.name: p.default for p in parameters if p.default is not Parameter.empty}
        self._star = next((p.name for p in parameters if p.kind is Parameter.VAR_POSITIONAL), None)
        self._double_star = next((p.name for p in parameters if p.kind is Parameter.VAR_KEYWORD), None)
        self.names = tuple(p.name for p in parameters if p.name != self._owner)
        self.open = self._double_star is not None
        simple = all(p.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY} for p in parameters)
        self._all = frozenset(self._signature.parameters) if simple else None

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name, in the order of the parameters; None if the function cannot be called so."""
        if self._before or self._keywords:
            args, kwargs = self._before + args, {**self._keywords, **kwargs}
        if self._all is None or len(args) > len(self._positional):
            return self._bind_by_signature(args, kwargs)
        # `inspect.Signature.bind` takes longer than all the rest of recording a call; this is the common case of it.
        bound = {**self._defaults, **dict(zip(self._positional, args, strict=False)), **kwargs}
        if kwargs and (kwargs.keys() - self._all or kwargs.keys() & set(self._positional[: len(args)])):
            return None
        try:
            return {name: bound[name] for name in self.names}
        except KeyError:
            return None

    def exchanged(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What `function` is called with once more: ``arguments``, as `bind` names them, in the place of the old ones.

        What they do not name (``self``, what does not belong to the call) stays.
        """
        bound = self._signature.bind(*self._before, *args, **{**self._keywords, **kwargs})
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name == self._double_star:
                given = arguments.get(name)
                found = given if isinstance(given, Mapping) and given.keys() == value.keys() else arguments
                bound.arguments[name] = {key: found.get(key, old) for key, old in value.items()}
            elif name in arguments and name != self._owner:
                bound.arguments[name] = tuple(arguments[name]) if name == self._star else arguments[name]
        return bound.args, bound.kwargs

    def _bind_by_signature(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            return None
        bound.apply_defaults()
        named = {name: value for name, value in bound.arguments.items() if name != self._owner}
        if self._star is not None:
            named[self._star] = list(named[self._star])
        if self._double_star is not None:
            extra = named.pop(self._double_star)
            # A positional-only parameter and a keyword may share a name; then the keywords stay together.
            named.update({self._double_star: extra} if named.keys() & extra.keys() else extra)
        return named
