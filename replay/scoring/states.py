"""The final state held against an expected one: by the keys that matter, or as a whole.

An expectation is plain data, so that it lies in the cassette. Lists are compared item by item in their order, unless
the expectation says otherwise::

    {"tags": as_set(["fragile", "gift"])}             neither order nor repetition counts
    {"refunds": unordered([25, 25])}                  the order does not count
    {"orders": by_key("id", [{"id": 7, "paid": 1}])}  items are found by a key; those that are not named do not count
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from cassettes.canonical import canonical, digest
from replay.leaves import leaf_changes
from replay.view import View

from .score import Score, Scorer, configured, scorer

__all__ = ["as_set", "by_key", "exact_state", "normal", "same", "state_digest", "state_is", "unordered", "wrong"]

_SET: Final = "$set"
_UNORDERED: Final = "$unordered"
_KEY: Final = "$key"
_ITEMS: Final = "$items"
_MOST: Final = 10

_BLIND: Final = ("what the agent said", "the way to the state (calls, order, consent)")


def as_set(items: Iterable[Any]) -> dict[str, Any]:
    """An expected list of which neither order nor repetition counts."""
    return {_SET: list(items)}


def unordered(items: Iterable[Any]) -> dict[str, Any]:
    """An expected list of which the order does not count, but how often each item is there does."""
    return {_UNORDERED: list(items)}


def by_key(key: str, items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Expected items of a list of maps, each found by its value of ``key``; other items of the list do not count."""
    return {_KEY: key, _ITEMS: [dict(item) for item in items]}


def wrong(expected: Any, found: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Each place where ``found`` lacks what is expected there; what is not expected does not count."""
    if not isinstance(expected, Mapping):
        if not same(expected, found):
            yield {"path": path, "expected": expected, "found": found}
        return
    if expected.keys() in ({_SET}, {_UNORDERED}):
        yield from _wrong_items(expected, found, path)
        return
    if expected.keys() == {_KEY, _ITEMS}:
        yield from _wrong_keyed(expected[_KEY], expected[_ITEMS], found, path)
        return
    for key, value in expected.items():
        where = f"{path}.{key}" if path else str(key)
        if (isinstance(found, Mapping) and key in found) or (
            isinstance(found, list) and isinstance(key, int) and key < len(found)
        ):
            yield from wrong(value, found[key], where)
        elif not isinstance(found, Mapping | list) and isinstance(key, str) and hasattr(found, key):
            yield from wrong(value, getattr(found, key), where)
        else:
            yield {"path": where, "expected": value, "missing": True}


def same(expected: Any, found: Any) -> bool:
    """Equal values; 25 and 25.0 are the same amount, True and 1 are not."""
    if isinstance(expected, list | tuple) and type(expected) is type(found):
        return len(expected) == len(found) and all(same(a, b) for a, b in zip(expected, found, strict=True))
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return expected.keys() == found.keys() and all(same(item, found[key]) for key, item in expected.items())
    if type(expected) in {int, float} and type(found) in {int, float}:
        return bool(expected == found)
    return canonical(expected) == canonical(found)


def normal(value: Any) -> Any:
    """``value`` with one form for each number: 25.0 becomes 25, -0.0 becomes 0; what is no list or map stays."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, tuple):
        return tuple(normal(item) for item in value)
    return value


def state_digest(state: Any) -> str:
    """The digest of a whole state, 32 hex digits; the order of keys and the form of numbers do not count.

    Raises:
        UnkeepableValue: something in it has no lossless form.
    """
    return digest(normal(state))


@scorer(name="exact_state", version="1", blind_to=_BLIND)
def exact_state(view: View) -> Score:
    """The final state is what the task expects, as a whole: nothing else is there either."""
    expected = view.task.expected
    if expected is None:
        return Score(None, evidence={"why": "the task expects no state"})
    if not view.tracks_state:
        return Score(None, evidence={"why": "the trial tracked no state"})
    left, right = normal(dict(expected)), normal(view.state())
    digests = {"expected": digest(left), "found": digest(right)}
    if digests["expected"] == digests["found"]:
        return Score(1.0, evidence={"digests": digests})
    differ = [
        {("expected" if name == "left" else "found" if name == "right" else name): v for name, v in c.to_dict().items()}
        for c in leaf_changes(left, right)
    ]
    return Score(0.0, evidence={"digests": digests, "differ": differ[:_MOST], "places": len(differ)})


def state_is(wanted: str) -> Scorer:
    """A scorer: the final state has this digest (see `state_digest`), as of one that was checked by hand."""

    def check(view: View) -> Score:
        if not view.tracks_state:
            return Score(None, evidence={"why": "the trial tracked no state"})
        found = state_digest(view.state())
        return Score(float(found == wanted), evidence={"digests": {"expected": wanted, "found": found}})

    return configured(check, name="state_is", version="1", settings={"digest": wanted}, blind_to=_BLIND)


def _wrong_items(expected: Mapping[str, Any], found: Any, path: str) -> Iterator[dict[str, Any]]:
    (kind, items), *_ = expected.items()
    if not isinstance(found, list | tuple | set | frozenset):
        yield {"path": path, "expected": items, "found": found}
        return
    forms = [Counter(_form(item) for item in side) for side in (items, found)]
    if kind == _SET:
        forms = [Counter(dict.fromkeys(side, 1)) for side in forms]
    lacks, extra = forms[0] - forms[1], forms[1] - forms[0]
    if lacks or extra:
        yield {
            "path": path,
            "lacks": [item for item in items if _taken(lacks, item)],
            "extra": [item for item in found if _taken(extra, item)],
        }


def _wrong_keyed(key: str, items: list[Any], found: Any, path: str) -> Iterator[dict[str, Any]]:
    if not isinstance(found, list | tuple):
        yield {"path": path, "expected": items, "found": found}
        return
    for item in items:
        where = f"{path}[{key}={item.get(key)!r}]"
        fitting = [other for other in found if isinstance(other, Mapping) and same(item.get(key), other.get(key))]
        if not fitting:
            yield {"path": where, "expected": item, "missing": True}
        elif len(fitting) > 1:
            yield {"path": where, "expected": item, "found": f"{len(fitting)} items with this {key}"}
        else:
            yield from wrong(item, fitting[0], where)


def _form(value: Any) -> bytes:
    return canonical(normal(value))


def _taken(left: Counter[bytes], item: Any) -> bool:
    form = _form(item)
    left[form] -= 1
    return left[form] >= 0
