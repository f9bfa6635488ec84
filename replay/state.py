"""The tracked state of a trial: what a write changed, found by comparing packed rows, and put back by patches.

A row is an item of an item of the state (``db["orders"]["W1"]``), or an item of the state itself if it holds no
others. Rows are compared as packed bytes, so 1, True and 1.0 are different and nothing is copied deeply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgpack
from attrs import frozen

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue
from cassettes.model import Patch
from cassettes.redact import Redactor
from cassettes.values import pack, unpack

__all__ = ["Misfit", "StateTracker", "apply_patch", "patched", "paths_of"]


@frozen
class _Item:
    """One item of the state: packed whole, or by its own items if it is a dict or a list that has some."""

    whole: bytes | None
    rows: dict[Any, bytes]
    form: type

    def pack(self) -> bytes:
        """The item packed whole."""
        if self.whole is not None:
            return self.whole
        packer = msgpack.Packer()
        if self.form is list:
            return b"".join([packer.pack_array_header(len(self.rows)), *self.rows.values()])
        pairs = [part for key, row in self.rows.items() for part in (pack(key), row)]
        return b"".join([packer.pack_map_header(len(self.rows)), *pairs])


Items = dict[Any, _Item]
Change = tuple[tuple[Any, ...], bytes | None, bytes | None]


def items_of(root: Any) -> Items:
    """The packed items of a state.

    Raises:
        UnkeepableValue: a part has no lossless form.
    """
    return {key: _item(key, item) for key, item in _parts(root)}


def _item(key: Any, item: Any) -> _Item:
    if type(item) in {dict, list} and item:
        return _Item(None, {inner: _packed(part, key, inner) for inner, part in _parts(item)}, type(item))
    return _Item(_packed(item, key), {}, type(item))


def _packed(value: Any, *path: Any) -> bytes:
    try:
        return pack(value)
    except UnkeepableValue as error:
        where = "".join(f"[{part!r}]" for part in path)
        raise UnkeepableValue(f"state{where}{error.path.removeprefix('value')}", error.reason) from error


def _parts(container: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(container, dict):
        return list(container.items())
    if isinstance(container, list):
        return list(enumerate(container))
    if hasattr(container, "__dict__"):
        return list(vars(container).items())
    raise UnkeepableValue(
        "state", f"a {type(container).__name__} cannot be tracked; use a dict, a list or an object with attributes"
    )


def difference(old: Items, new: Items) -> Patch:
    """What turns ``old`` into ``new``."""
    # Parts of a list go from its end and come at its end, so that places stay right while a patch is applied.
    changes: list[Change] = [((key,), item.pack(), None) for key, item in reversed(old.items()) if key not in new]
    for key, item in new.items():
        before = old.get(key)
        if before is None:
            changes.append(((key,), None, item.pack()))
        elif before.form is not item.form or not before.rows or not item.rows:
            if before != item:
                changes.append(((key,), before.pack(), item.pack()))
        else:
            gone = [row for row in before.rows if row not in item.rows]
            changes += [((key, row), before.rows[row], None) for row in reversed(gone)]
            changes += [
                ((key, row), before.rows.get(row), packed)
                for row, packed in item.rows.items()
                if before.rows.get(row) != packed
            ]
    return Patch(tuple(changes))


def apply_patch(root: Any, patch: Patch, redactor: Redactor | None = None) -> bool:
    """Change ``root`` in place as recorded: all of the patch or, if it does not fit, nothing.

    Args:
        root: the state.
        patch: what to change; recorded, so its old values hold no secrets.
        redactor: removes the secrets of the state before they are compared.

    Returns:
        False if the state holds another old value anywhere.
    """
    if not all(_holds(root, path, old, redactor) for path, old, _ in patch.changes) or not _ends_fit(root, patch):
        return False
    for path, _, new in patch.changes:
        container = root if len(path) == 1 else _get(root, path[0])
        if new is None:
            _delete(container, path[-1])
        else:
            _set(container, path[-1], unpack(new))
    return True


_ABSENT = object()


def without_secrets(path: tuple[Any, ...], packed: bytes, redactor: Redactor) -> bytes:
    """A packed part of a state less its secrets; the name under which it stands counts, too."""
    key = pack(path[-1])
    one_item_map = b"\x81"
    cleaned, counts = redactor.packed(one_item_map + key + packed)
    if not counts:
        return packed
    unpacker = msgpack.Unpacker(strict_map_key=False, unicode_errors="surrogatepass", max_buffer_size=len(cleaned))
    unpacker.feed(cleaned[1:])
    unpacker.skip()
    return cleaned[1 + unpacker.tell() :]


def _holds(root: Any, path: tuple[Any, ...], old: bytes | None, redactor: Redactor | None) -> bool:
    """True if ``old`` stands at ``path`` (None: nothing does); the order of keys does not count."""
    value = root
    for part in path:
        value = _get(value, part)
        if value is _ABSENT:
            return old is None
    if old is None:
        return False
    here = value if redactor is None else unpack(without_secrets(path, pack(value), redactor))
    return canonical(here) == canonical(unpack(old))


def _ends_fit(root: Any, patch: Patch) -> bool:
    """True if every list that the patch makes longer or shorter ends here where it ended then."""
    ends: dict[tuple[Any, ...], Any] = {}
    for path, old, new in patch.changes:
        *above, place = path
        if old is None:
            ends.setdefault(tuple(above), place)  # the first part that came, came at the old end
        elif new is None and isinstance(place, int):
            ends.setdefault(tuple(above), place + 1)  # the first part that went, was the last
    containers = ((root if not above else _get(root, above[0]), end) for above, end in ends.items())
    return all(len(container) == end for container, end in containers if isinstance(container, list))


def _get(container: Any, key: Any) -> Any:
    if isinstance(container, list):
        return container[key] if isinstance(key, int) and key < len(container) else _ABSENT
    if isinstance(container, dict):
        return container.get(key, _ABSENT)
    # Not getattr: a default of the class is nothing that was recorded, and a property may compute.
    return getattr(container, "__dict__", {}).get(key, _ABSENT)


def _set(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, list) and key == len(container):
        container.append(value)
    elif isinstance(container, dict | list):
        container[key] = value
    else:
        setattr(container, key, value)


def _delete(container: Any, key: Any) -> None:
    if isinstance(container, dict | list):
        del container[key]
    else:
        delattr(container, key)


class Misfit(Exception):
    """A recorded change does not fit the state.

    Attributes:
        patch: the change.
    """

    def __init__(self, patch: Patch) -> None:
        super().__init__(patch)
        self.patch = patch


class StateTracker:
    """Follows one state through a trial.

    Args:
        root: a dict, a list or an object with attributes; it is read after each write and changed by patches.
        redactor: removes secrets from what is recorded; the state itself keeps them.

    Raises:
        UnkeepableValue: something in it has no lossless form.
    """

    def __init__(self, root: Any, redactor: Redactor) -> None:
        self.root = root
        self._redactor = redactor
        self._items = items_of(root)

    def change(self) -> Patch | None:
        """What changed since the last call, less its secrets; None if nothing did."""
        items = items_of(self.root)
        changes = difference(self._items, items).changes
        self._items = items
        return self._told(changes) if changes else None

    def apply(self, patches: Sequence[Patch]) -> Patch:
        """Repeat recorded changes, one after the other, and tell them as one.

        Raises:
            Misfit: one does not fit the state, which is left as the ones before it made it.
        """
        before = self._items
        for patch in patches:
            if not apply_patch(self.root, patch, self._redactor):
                raise Misfit(patch)
        self._items = items_of(self.root)
        return patches[0] if len(patches) == 1 else self._told(difference(before, self._items).changes)

    def _told(self, changes: Iterable[Change]) -> Patch:
        """The changes less their secrets."""
        return Patch(tuple((path, self._kept(path, old), self._kept(path, new)) for path, old, new in changes))

    def _kept(self, path: tuple[Any, ...], packed: bytes | None) -> bytes | None:
        return None if packed is None else without_secrets(path, packed, self._redactor)


def patched(root: Any, patches: Iterable[Patch]) -> Any:
    """``root`` after the patches, changed in place.

    Raises:
        UnkeepableValue: a patch does not fit: the recording of the state is not whole.
    """
    for patch in patches:
        if not apply_patch(root, patch):
            raise UnkeepableValue("state", "a recorded change does not fit the state before it")
    return root


def paths_of(patch: Patch) -> Iterator[str]:
    """The changed paths, for people."""
    for path, _, _ in patch.changes:
        yield "".join(f"[{part!r}]" for part in path)
