"""Writing a cassette: one writer, append only; what has been appended survives the process."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgpack
import zstandard

from . import codec, frames
from .cleaned import cleaned_ending, cleaned_header, cleaned_interaction, cleaned_mark
from .errors import AlreadyRecorded, RecordingFailed, UnkeepableValue
from .model import Ending, Header, Interaction, Mark
from .redact import Redactor
from .syncing import unwatch, watch
from .table import Table
from .values import pack, unpack

__all__ = ["CassetteWriter"]

LEVEL: Final = 3
RESTART_EVERY: Final = 64  # frames; a step opens by decompressing at most this many
RESTART_BYTES: Final = 1 << 22  # the same in plain bytes, so that a stretch stays far below what a reader allows
MAX_INTERACTION: Final = frames.MAX_PLAIN >> 1


class CassetteWriter:
    """Appends interactions and marks to a new file; safe to use from many threads.

    Args:
        path: the file to create; it must not exist.
        header: what is known when the trial begins.
        redactor: removes secrets before anything is written.

    Raises:
        AlreadyRecorded: the file exists already.
        RecordingFailed: the file cannot be created or written.
    """

    def __init__(self, path: Path, header: Header, redactor: Redactor) -> None:
        self.path = path
        self.redacted: Counter[str] = Counter()
        self._redactor = redactor
        self._lock = threading.Lock()
        self._messages: dict[bytes, int] = {}
        self._previous: dict[tuple[str, str], tuple[list[bytes], list[int]]] = {}
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._stream: Any = None
        self._since_restart = RESTART_EVERY
        self._plain_since_restart = 0
        self._offset = 0
        self._hash = blake2b(digest_size=16)
        self._counts: Counter[str] = Counter()
        self._table = Table()
        self._dirty = False
        self._unbroken = _Unbroken(self._release)
        header = cleaned_header(header, redactor, self.redacted)
        (plain,) = self._redact([pack(codec.header_plain(header))], self.redacted, redactor.basic)
        self._fd = _create(path)
        self._write(frames.head())
        self._frame(frames.HEADER, 0, self._compressor.compress(plain), len(plain))
        watch(self)

    @property
    def size(self) -> int:
        """The bytes written so far."""
        return self._offset

    def append(self, interaction: Interaction, snapshot: codec.Snapshot) -> None:
        """Write an interaction; when this returns it survives the process.

        Args:
            interaction: the facts and the outcome.
            snapshot: its arguments as they were when the call began.

        Raises:
            UnkeepableValue: the outcome has no lossless form; nothing was written.
            RecordingFailed: the file cannot be written.
        """
        counts: Counter[str] = Counter()
        facts = pack(codec.facts_of(cleaned_interaction(interaction, self._redactor, counts)))
        snapshot = self._at_paths(snapshot, counts)
        outcome = pack(codec.outcome_plain(self._redactor.outcome(interaction.outcome, counts)))
        actor = interaction.call.actor
        with self._lock:
            new: dict[bytes, int] = {}
            arguments = snapshot.plain
            if snapshot.lists:
                numbers = self._numbers(actor, snapshot.lists, new)
                arguments = codec.with_references(arguments, numbers)
            *messages, facts, arguments, outcome = self._redact_all(facts, [*new, arguments, outcome], counts)
            plain = b"".join([*map(msgpack.packb, messages), facts, arguments, outcome])
            _check_size(plain)
            with self._unbroken:
                self._steps(plain, interaction.step)
                if snapshot.lists:
                    self._messages |= new
                    self._previous |= {(actor, name): (items, numbers[name]) for name, items in snapshot.lists.items()}
            self._counts[interaction.call.kind] += 1
            self._counts[f"origin {interaction.origin.verdict}"] += 1
            if interaction.injected is not None:
                self._counts["injected"] += 1
            if counts:
                self.redacted.update(counts)

    def mark(self, mark: Mark) -> None:
        """Write a mark.

        Raises:
            UnkeepableValue: its data has no lossless form.
            RecordingFailed: the file cannot be written.
        """
        counts: Counter[str] = Counter()
        packed = pack(codec.mark_plain(cleaned_mark(mark, self._redactor, counts)))
        with self._lock:
            (cleaned,) = self._redact([packed], counts, self._redactor.basic)
            _check_size(cleaned)
            with self._unbroken:
                self._steps(cleaned, None)
            self._counts[f"mark {mark.kind}"] += 1
            self.redacted.update(counts)

    def close(self, ending: Ending) -> str:
        """Write the footer, sync and close the file; returns the content's digest.

        Raises:
            RecordingFailed: the file cannot be written.
        """
        packed = pack(codec.ending_plain(cleaned_ending(ending, self._redactor, self.redacted)))
        with self._lock:
            digest = self._hash.hexdigest()
            (cleaned,) = self._redact([packed], self.redacted, self._redactor.basic)
            footer = {
                "ending": unpack(cleaned),
                "counts": dict(self._counts),
                "redacted": dict(self.redacted),
                "digest": digest,
                "messages": len(self._messages),
                **self._table.pack(),
            }
            plain = pack(footer)
            offset = self._offset
            self._frame(frames.FOOTER, 0, self._compressor.compress(plain), len(plain))
            self._write(frames.trailer(offset))
            try:
                os.fsync(self._fd)
            except OSError as error:
                raise RecordingFailed(f"{self.path} cannot be synced: {error.strerror}") from error
            finally:
                self._release()
        return digest

    def abandon(self) -> None:
        """Close the file as it is: the trial stays `incomplete`."""
        with self._lock:
            self._release()

    def forget(self) -> None:
        """In a forked child: the file is the parent's, whose threads may have held the lock."""
        self._lock = threading.Lock()
        self.abandon()

    def sync(self) -> None:
        """Push what was written to the disk, without holding up the next append.

        Raises:
            RecordingFailed: the disk did not take it; nothing more is written.
        """
        with self._lock:
            if self._fd < 0 or not self._dirty:
                return
            self._dirty = False
            copy = os.dup(self._fd)
        try:
            os.fsync(copy)
        except OSError as error:
            self.abandon()
            raise RecordingFailed(f"{self.path} cannot be synced: {error.strerror}") from error
        finally:
            os.close(copy)

    def _numbers(self, actor: str, lists: dict[str, list[bytes]], new: dict[bytes, int]) -> dict[str, list[int]]:
        """The numbers of the messages in each list; ``new`` gets those that are not stored yet."""
        found: dict[str, list[int]] = {}
        for name, items in lists.items():
            known, numbers = self._previous.get((actor, name), ([], []))
            # Comparing packed bytes keeps 1, True and 1.0 apart; a growing history is equal up to its tail.
            same = 0
            for old, item in zip(known, items, strict=False):
                if old != item:
                    break
                same += 1
            found[name] = numbers[:same]
            for item in items[same:]:
                number = self._messages.get(item)
                if number is None:
                    number = new.setdefault(item, len(self._messages) + len(new))
                found[name].append(number)
        return found

    def _at_paths(self, snapshot: codec.Snapshot, counts: Counter[str]) -> codec.Snapshot:
        """The arguments less what stands at the user's paths."""
        if not self._redactor.has_paths:
            return snapshot
        plain, found = self._redactor.arguments(snapshot.plain)
        counts.update(found)
        lists: dict[str, list[bytes]] = {}
        for name, items in snapshot.lists.items():
            lists[name], found = self._redactor.items(name, items)
            counts.update(found)
        return codec.Snapshot(plain, lists)

    def _redact_all(self, facts: bytes, parts: list[bytes], counts: Counter[str]) -> list[bytes]:
        """New messages, facts, arguments and outcome less their secrets; the user's rules do not concern the facts."""
        *messages, arguments, outcome = parts
        if self._redactor.basic is self._redactor:
            return self._redact_call([*messages, facts, arguments, outcome], counts)
        (facts,) = self._redact([facts], counts, self._redactor.basic)
        *messages, arguments, outcome = self._redact_call(parts, counts)
        return [*messages, facts, arguments, outcome]

    def _redact_call(self, parts: list[bytes], counts: Counter[str]) -> list[bytes]:
        """The same of packed values of which the last is an outcome."""
        if not self._redactor.suspects(b"".join(parts)):
            return parts
        *others, outcome = parts
        cleaned = [*map(self._redactor.packed, others), self._redactor.packed_outcome(outcome)]
        for _, found in cleaned:
            counts.update(found)
        return [part for part, _ in cleaned]

    def _redact(self, parts: list[bytes], counts: Counter[str], redactor: Redactor) -> list[bytes]:
        """Packed values less their secrets; one look at all of them is the rule."""
        if not redactor.suspects(b"".join(parts)):
            return parts
        cleaned = [redactor.packed(part) for part in parts]
        for _, found in cleaned:
            counts.update(found)
        return [part for part, _ in cleaned]

    def _steps(self, plain: bytes, step: int | None) -> None:
        flags = 0
        if self._since_restart >= RESTART_EVERY or self._plain_since_restart >= RESTART_BYTES:
            self._stream = self._compressor.compressobj()
            self._since_restart = self._plain_since_restart = 0
            flags = frames.RESTART
        payload = self._stream.compress(plain) + self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        offset = self._offset
        self._frame(frames.STEPS, flags, payload, len(plain))
        self._table.add(offset, step, len(self._messages), restart=bool(flags))
        self._since_restart += 1
        self._plain_since_restart += len(plain)

    def _frame(self, kind: int, flags: int, payload: bytes, plain: int) -> None:
        self._write(frames.encode(self._offset, kind, flags, payload, plain))

    def _write(self, data: bytes) -> None:
        if self._fd < 0:
            raise RecordingFailed(f"{self.path} is closed: a call ended after its trial, or an earlier write failed")
        try:
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            # What stands behind a torn frame could not be read, so nothing more is written.
            self._release()
            raise RecordingFailed(f"{self.path} cannot be written: {error.strerror}") from error
        self._hash.update(data)
        self._offset += len(data)
        self._dirty = True

    def _release(self) -> None:
        fd, self._fd = self._fd, -1  # in this order: a process forked in between must not close another file
        if fd >= 0:
            os.close(fd)
        unwatch(self)


class _Unbroken:
    """Written and remembered as a whole, or the file is closed: nothing can follow what an interrupt has cut short."""

    __slots__ = ("_release",)

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release

    def __enter__(self) -> None:
        """Begin to write."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._release()


def _check_size(plain: bytes) -> None:
    if len(plain) > MAX_INTERACTION:
        raise UnkeepableValue("value", f"its {len(plain)} bytes are more than a cassette keeps of one call")


def _create(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingFailed(f"{path.parent} cannot be created: {error.strerror}") from error
    try:
        return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except FileExistsError as error:
        raise AlreadyRecorded(f"{path} exists already; a cassette is never written twice") from error
    except OSError as error:
        raise RecordingFailed(f"{path} cannot be created: {error.strerror}") from error
