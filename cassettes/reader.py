"""Reading a cassette: lazily, by header, step index and single steps."""

from __future__ import annotations

import os
import stat
import threading
import weakref
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from . import codec, frames
from .errors import CorruptCassette, NewerFormat, NotACassette
from .model import Ending, Header, Interaction, Mark
from .scan import Index, inflate, inflate_all, read_footer, rebuild_index
from .values import unpack

__all__ = ["Cassette"]

_CACHED_STRETCHES: Final = 4


class Cassette:
    """A recorded trial in its file; safe to use from many threads.

    Args:
        path: the file.

    Raises:
        NotACassette: the file is missing, no cassette, or its header is damaged.
        NewerFormat: a later version wrote it.

    Attributes:
        header: what was known when the trial began.
        ending: how it ended; `incomplete` if the file has no footer.
        counts: interactions by kind, by origin verdict (``origin live``), marks by kind (``mark message``).
        redacted: how many secrets each rule replaced.
        digest: of the content, 32 hex digits; None without a footer.
        problem: what is wrong with the file, if it is cut short or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise NotACassette(f"{path} cannot be opened: {error.strerror}") from error
        weakref.finalize(self, os.close, self._fd)
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            raise NotACassette(f"{path} is no file")
        self._size = status.st_size
        self._lock = threading.RLock()
        self._stretches: OrderedDict[int, list[bytes | codec.Parts]] = OrderedDict()
        self._messages = _Messages(weakref.WeakMethod(self._load))
        self.problem: str | None = None
        self.header, self._first = self._read_header()
        index = self._read_index()
        self._table = index.table
        self._end = index.end
        self.ending: Ending = index.ending
        self.counts: dict[str, int] = index.counts
        self.redacted: dict[str, int] = index.redacted
        self.digest: str | None = index.digest
        self.number_of_messages: int = index.messages

    def __len__(self) -> int:
        """The number of steps that can be read."""
        return len(self.step_numbers)

    @property
    def step_numbers(self) -> Sequence[int]:
        """The steps that can be read, ascending; of calls that had not ended when the recording did, none."""
        frames_of_steps = self._table.frames_of_steps
        if -1 not in frames_of_steps:
            return range(len(frames_of_steps))
        return [step for step, frame in enumerate(frames_of_steps) if frame >= 0]

    def step(self, number: int) -> Interaction:
        """One interaction, without reading the others.

        Raises:
            IndexError: there is no such step.
            CorruptCassette: the file is damaged there.
        """
        with self._lock:
            return self._interaction(self._parts(number))

    def __iter__(self) -> Iterator[Interaction]:
        """All interactions by step."""
        for number in self.step_numbers:
            yield self.step(number)

    def new_messages(self, number: int) -> list[Any]:
        """The messages that no step written before this one held."""
        with self._lock:
            return [unpack(message) for message in self._parts(number).messages]

    def marks(self) -> list[Mark]:
        """All marks, in the order written.

        Raises:
            CorruptCassette: the file is damaged.
        """
        with self._lock:
            return [codec.mark_from(unpack(self._split(frame).record[0])) for frame in self._table.marks]

    def check(self) -> None:
        """Read every byte.

        Raises:
            CorruptCassette: the file is damaged somewhere.
        """
        if self.problem is not None:
            raise CorruptCassette(f"{self.path} is {self.problem}")
        for _ in self:
            pass
        self.marks()
        if self.digest is not None and blake2b(self._read(0, self._end), digest_size=16).hexdigest() != self.digest:
            raise CorruptCassette(f"{self.path} does not have the digest that its footer says")

    # -- frames -------------------------------------------------------------------------------------------------------

    def _read(self, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._fd, size, offset)
        except OSError as error:
            raise CorruptCassette(f"{self.path} cannot be read: {error.strerror}") from error

    def _read_header(self) -> tuple[Header, int]:
        front = self._read(0, frames.HEAD_SIZE + frames.FRAME_SIZE)
        version = frames.format_of(front)
        if version is None or version < 1:
            raise NotACassette(f"{self.path} is no cassette")
        if version > frames.FORMAT:
            raise NewerFormat(
                f"{self.path} has format {version}, this version reads up to {frames.FORMAT}; upgrade trialtape"
            )
        frame = self._frame(frames.HEAD_SIZE)
        if frame is None or frame.type != frames.HEADER:
            raise NotACassette(f"{self.path}: the header is damaged or cut short")
        return codec.header_from(unpack(inflate(frame.payload, frame.plain))), frame.end

    def _frame(self, offset: int) -> frames.Frame | None:
        if offset >= self._size:
            return None
        front = self._read(offset, frames.FRAME_SIZE)
        length = int.from_bytes(front[:4], "little")
        if length > self._size - offset:
            return None
        return frames.decode(front + self._read(offset + frames.FRAME_SIZE, length), 0, offset)

    def _read_index(self) -> Index:
        """The index by the file's last bytes; if they are no trailer, by reading the frames one by one."""
        tail = max(0, self._size - frames.TRAILER_SIZE)
        offset = frames.footer_offset(self._read(tail, frames.TRAILER_SIZE))
        footer = None if offset is None else self._frame(offset)
        if footer is not None and footer.type == frames.FOOTER and footer.end == tail:
            return read_footer(footer)
        found = list(frames.frames(self._read(0, self._size)))
        if found[-1].type == frames.FOOTER:
            self.problem = f"cut short or damaged behind its footer, at byte {found[-1].end} of {self._size}"
            return read_footer(found[-1])
        index = rebuild_index(found, self._first)
        if index.end < self._size:
            self.problem = f"cut short or damaged at byte {index.end} of {self._size}"
        return index

    def _split(self, number: int) -> codec.Parts:
        """The objects in frame ``number`` of the index."""
        restarts, number_of_frames = self._table.restarts, len(self._table.offsets)
        place = bisect_right(restarts, number) - 1
        if place < 0 or number >= number_of_frames or (start := restarts[place]) > number:
            raise CorruptCassette(f"{self.path}: frame {number} has no beginning of its stream")
        known = self._stretches.get(start)
        if known is None or len(known) <= number - start:
            stop = number + 1
            if known is not None:  # asked again in the same stretch: the rest is likely wanted too
                stop = restarts[place + 1] if place + 1 < len(restarts) else number_of_frames
            known = self._stretches[start] = self._stretch(start, stop, number)
            while len(self._stretches) > _CACHED_STRETCHES:
                self._stretches.popitem(last=False)
        self._stretches.move_to_end(start)
        content = known[number - start]
        if isinstance(content, bytes):
            content = known[number - start] = codec.split(content)
        return content

    def _stretch(self, start: int, stop: int, wanted: int) -> list[bytes | codec.Parts]:
        """The content of the frames from ``start`` on, up to ``stop`` or to damage behind the one that is wanted."""
        offsets = self._table.offsets
        first = offsets[start]
        end = min(offsets[stop] if stop < len(offsets) else self._end, self._size)
        data = self._read(first, end - first) if first < end else b""
        found: list[frames.Frame] = []
        for number in range(start, stop):
            offset = offsets[number]
            frame = frames.decode(data, offset - first, offset) if offset >= first else None
            if frame is None or frame.type != frames.STEPS:
                if number > wanted:
                    break
                raise CorruptCassette(f"{self.path} is damaged at byte {offset}")
            found.append(frame)
        return list(inflate_all(found))

    # -- content ------------------------------------------------------------------------------------------------------

    def _parts(self, number: int) -> codec.Parts:
        known = self._table.frames_of_steps
        if not 0 <= number < len(known) or known[number] < 0:
            raise IndexError(f"{self.path} has no step {number}; it has {len(self)} steps, numbered from 0")
        return self._split(known[number])

    def _interaction(self, parts: codec.Parts) -> Interaction:
        if len(parts.record) != 3:
            raise CorruptCassette(f"{self.path}: an interaction of {len(parts.record)} parts instead of 3")
        facts, arguments, outcome = parts.record
        return codec.interaction_from(
            unpack(facts), codec.resolve(arguments, self._messages.__getitem__), unpack(outcome)
        )

    def _load(self, number: int) -> dict[int, Any]:
        """Message ``number`` with those stored in the same frame."""
        frame = bisect_right(self._table.first_messages, number) - 1
        first = self._table.first_messages[frame]
        loaded = {first + place: unpack(message) for place, message in enumerate(self._split(frame).messages)}
        if number not in loaded:
            raise CorruptCassette(f"{self.path}: message {number} is missing")
        return loaded


class _Messages(dict[int, Any]):
    """The messages read so far, by number; others are read when asked for. Steps share them: nobody may change one.

    Its cassette is held weakly: in a cycle it would keep its file open, and all that was read, until a collection.
    """

    def __init__(self, load: weakref.WeakMethod[Callable[[int], dict[int, Any]]]) -> None:
        super().__init__()
        self._load = load

    def __missing__(self, number: int) -> Any:
        load = self._load()
        assert load is not None
        self.update(load(number))
        return self[number]
