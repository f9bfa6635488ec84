"""Writing a cassette: one writer, append only; what has been appended survives the process."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgpack
import zstandard

from . import codec, frames
from .errors import BadInput, RecordingFailed
from .model import Ending, Header, Interaction, Mark
from .redact import Redactor
from .table import Table
from .values import pack

__all__ = ["CassetteWriter"]

LEVEL: Final = 3
RESTART_EVERY: Final = 64  # frames; a step opens by decompressing at most this many
SYNC_SECONDS: Final = 1.0


class CassetteWriter:
    """Appends interactions and marks to a new file; safe to use from many threads.

    Args:
        path: the file to create; it must not exist.
        header: what is known when the trial begins.
        redactor: removes secrets before anything is written.

    Raises:
        BadInput: the file exists already.
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
        self._offset = 0
        self._hash = blake2b(digest_size=16)
        self._counts: Counter[str] = Counter()
        self._table = Table()
        self._dirty = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except FileExistsError as error:
            raise BadInput(f"{path} exists already; a cassette is never written twice") from error
        except OSError as error:
            raise RecordingFailed(f"{path} cannot be created: {error.strerror}") from error
        plain = self._redact(pack(codec.header_plain(header)))
        self._write(frames.head())
        self._frame(frames.HEADER, 0, self._compressor.compress(plain), len(plain))
        _open_writers.add(self)
        _start_syncing()

    def append(self, interaction: Interaction, snapshot: codec.Snapshot) -> None:
        """Write an interaction; when this returns it survives the process.

        Args:
            interaction: the facts and the outcome.
            snapshot: its arguments as they were when the call began.

        Raises:
            UnkeepableValue: the outcome has no lossless form; nothing was written.
            RecordingFailed: the file cannot be written.
        """
        facts = self._redact(pack(codec.facts_of(interaction)))
        outcome = self._redact(pack(codec.outcome_plain(interaction.outcome)))
        with self._lock:
            first = len(self._messages)
            new: list[bytes] = []
            arguments = snapshot.plain
            if snapshot.lists:
                arguments = self._with_references(interaction.call.actor, snapshot, new)
            plain = b"".join([*new, facts, self._redact(arguments), outcome])
            self._counts[interaction.call.kind] += 1
            self._counts[f"origin {interaction.origin.verdict}"] += 1
            self._steps(plain, interaction.step, first)

    def mark(self, mark: Mark) -> None:
        """Write a mark.

        Raises:
            UnkeepableValue: its data has no lossless form.
            RecordingFailed: the file cannot be written.
        """
        plain = self._redact(pack(codec.mark_plain(mark)))
        with self._lock:
            self._counts[f"mark {mark.kind}"] += 1
            self._steps(plain, None, len(self._messages))

    def close(self, ending: Ending) -> str:
        """Write the footer, sync and close the file; returns the content's digest.

        Raises:
            RecordingFailed: the file cannot be written.
        """
        with self._lock:
            digest = self._hash.hexdigest()
            footer = {
                "ending": codec.ending_plain(ending),
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

    def sync(self) -> None:
        """Push what was written to the disk, without holding up the next append."""
        with self._lock:
            if self._fd < 0 or not self._dirty:
                return
            self._dirty = False
            copy = os.dup(self._fd)
        try:
            os.fdatasync(copy)
        finally:
            os.close(copy)

    def _with_references(self, actor: str, snapshot: codec.Snapshot, new: list[bytes]) -> bytes:
        """The packed arguments, lists replaced by references; messages not yet stored are added to ``new``."""
        arguments = msgpack.unpackb(
            snapshot.plain, strict_map_key=False, unicode_errors="surrogatepass", ext_hook=msgpack.ExtType
        )
        for name, items in snapshot.lists.items():
            known, numbers = self._previous.get((actor, name), ([], []))
            # Comparing packed bytes keeps 1, True and 1.0 apart; a growing history is equal up to its tail.
            same = 0
            for old, item in zip(known, items, strict=False):
                if old != item:
                    break
                same += 1
            numbers = numbers[:same]
            for item in items[same:]:
                number = self._messages.get(item)
                if number is None:
                    number = self._messages[item] = len(self._messages)
                    new.append(msgpack.packb(self._redact(item)))
                numbers.append(number)
            self._previous[actor, name] = (items, numbers)
            arguments[name] = codec.references(numbers)
        packed: bytes = msgpack.packb(arguments, unicode_errors="surrogatepass")
        return packed

    def _redact(self, data: bytes) -> bytes:
        cleaned, counts = self._redactor.packed(data)
        if counts:
            self.redacted.update(counts)
        return cleaned

    def _steps(self, plain: bytes, step: int | None, first_message: int) -> None:
        flags = 0
        if self._since_restart >= RESTART_EVERY:
            self._stream = self._compressor.compressobj()
            self._since_restart = 0
            flags = frames.RESTART
        self._since_restart += 1
        payload = self._stream.compress(plain) + self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        self._table.add(self._offset, step, first_message, restart=bool(flags))
        self._frame(frames.STEPS, flags, payload, len(plain))

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
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        _open_writers.discard(self)


_open_writers: weakref.WeakSet[CassetteWriter] = weakref.WeakSet()
_syncing = threading.Event()


def _start_syncing() -> None:
    if not _syncing.is_set():
        _syncing.set()
        threading.Thread(target=_sync_for_ever, name="trialtape-sync", daemon=True).start()


def _sync_for_ever() -> None:
    while True:
        time.sleep(SYNC_SECONDS)
        for writer in list(_open_writers):
            writer.sync()


def _after_fork() -> None:
    """A forked child must not write into its parent's cassettes, and has no syncing thread."""
    _syncing.clear()
    for writer in list(_open_writers):
        writer._lock = threading.Lock()  # noqa: SLF001  # the inherited lock may be held by a thread that is not here
        writer.abandon()


os.register_at_fork(after_in_child=_after_fork)
