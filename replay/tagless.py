"""Answers for calls that hold secrets, where the key that told the secrets apart is not at hand.

A placeholder such as ``{secret:github:4f1c09ab}`` ends in a tag that depends on the secret and on the home's redaction
key. A test has neither: it runs elsewhere, with other credentials. So its calls match without the tags; two secrets of
the same kind then count as the same.
"""

from __future__ import annotations

import re
from typing import Any, Final

from attrs import evolve

from cassettes.model import Call
from cassettes.shapes import PLACEHOLDER

from .ignoring import matching_key
from .readings import readings_of
from .recording import Context, Recording
from .view import View
from .worlds import Found, Missing, World

__all__ = ["TaglessWorld", "tagless", "tagless_recording"]

_TAG: Final = re.compile(rb":[0-9a-f]{8}\}")


class TaglessWorld(World):
    """A world of recordings that were made by `tagless_recording`."""

    def answer(self, call: Call, key: str, context: Context) -> Found | Missing:
        """The recorded answer to a call; which secrets it holds does not count."""
        bare = tagless(call)
        return super().answer(bare, key if bare is call else matching_key(bare, self.ignore), context)


def tagless_recording(view: View, ignore: tuple[str, ...]) -> Recording:
    """A recorded trial whose calls match without the tags of their secrets."""
    bare = [evolve(interaction, call=tagless(interaction.call)) for interaction in view.cassette]
    return Recording(view.id, bare, ignore, readings_of(view.marks))


def tagless(call: Call) -> Call:
    """The call, with the placeholders in its arguments less their tags; itself, if there are none."""
    arguments = {name: _bare(value) for name, value in call.arguments.items()}
    same = all(arguments[name] is value for name, value in call.arguments.items())
    return call if same else evolve(call, arguments=arguments)


def _bare(value: Any) -> Any:
    if isinstance(value, str):
        if "{secret:" not in value:
            return value
        data = value.encode("utf-8", "surrogatepass")
        return PLACEHOLDER.sub(_without_tag, data).decode("utf-8", "surrogatepass")
    if type(value) is dict:
        made = {key: _bare(item) for key, item in value.items()}
        return value if all(made[key] is item for key, item in value.items()) else made
    if type(value) is list:
        items = [_bare(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _without_tag(found: re.Match[bytes]) -> bytes:
    return _TAG.sub(b"}", found[0])
