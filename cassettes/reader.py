"""Reading a cassette: lazily, by header, step index and single steps."""

from __future__ import annotations

import os
import weakref
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import zstandard

from . import codec, frames
from .errors import CassetteError, CorruptCassette, NewerFormat, NotACassette
from .model import Ending, Header, Interaction, Mark
from .table import Table
from .values import Opaque, unpack

__all__ = ["Cassette"]

MAX_PLAIN: Final = 1 << 30  # of one stretch of frames: a cassette is untrusted input
_CACHED_STRETCHES: Final = 4


class Cassette:
    """A recorded trial in its file.

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
        self._size = os.fstat(self._fd).st_size
        self._stretches: OrderedDict[int, list[bytes]] = OrderedDict()
        self._messages: dict[int, Any] = {}
        self._opaque: list[Opaque] = []
        self.problem: str | None = None
        self.header, self._first = self._read_header()
        footer = self._read_footer()
        if footer is None:
            footer = self._scan()
        self._table: Table = footer["table"]
        self.ending: Ending = codec.ending_from(footer["ending"])
        self.counts: dict[str, int] = footer["counts"]
        self.redacted: dict[str, int] = footer["redacted"]
        self.digest: str | None = footer["digest"]
        self.number_of_messages: int = footer["messages"]

    def __len__(self) -> int:
        """The number of steps that can be read."""
        return len(self.step_numbers) if self.problem else len(self._table.frames_of_steps)

    @property
    def step_numbers(self) -> list[int]:
        """The steps that can be read, ascending; of an incomplete trial some may be missing."""
        return [step for step, frame in enumerate(self._table.frames_of_steps) if frame >= 0]

    def step(self, number: int) -> Interaction:
        """One interaction, without reading the others.

        Raises:
            IndexError: there is no such step.
            CorruptCassette: the file is damaged there.
        """
        return self._interaction(self._parts(number))

    def __iter__(self) -> Iterator[Interaction]:
        """All interactions by step."""
        for number in self.step_numbers:
            yield self.step(number)

    def new_messages(self, number: int) -> list[Any]:
        """The messages that no step written before this one held."""
        return [unpack(message) for message in self._parts(number).messages]

    def marks(self) -> list[Mark]:
        """All marks, in the order written.

        Raises:
            CorruptCassette: the file is damaged.
        """
        return [codec.mark_from(unpack(codec.split(self._plain(f)).record[0])) for f in self._table.marks]

    def opaque_in(self, number: int) -> list[Opaque]:
        """The values of a step whose class is not loaded here: they cannot be handed to an agent."""
        self._opaque.clear()
        self._messages.clear()
        self.step(number)
        return list(self._opaque)

    def check(self) -> None:
        """Read every byte.

        Raises:
            CorruptCassette: the file is damaged somewhere.
        """
        for frame in range(len(self._table.offsets)):
            codec.split(self._plain(frame))
        for _ in self:
            pass

    # -- frames -------------------------------------------------------------------------------------------------------

    def _read(self, offset: int, size: int) -> bytes:
        return os.pread(self._fd, size, offset)

    def _read_header(self) -> tuple[Header, int]:
        front = self._read(0, frames.HEAD_SIZE + frames.FRAME_SIZE)
        version = frames.format_of(front)
        if version is None:
            raise NotACassette(f"{self.path} is no cassette")
        if version > frames.FORMAT:
            raise NewerFormat(
                f"{self.path} has format {version}, this version reads up to {frames.FORMAT}; upgrade trialtape"
            )
        frame = self._frame(frames.HEAD_SIZE)
        if frame is None or frame.type != frames.HEADER:
            raise NotACassette(f"{self.path}: the header is damaged or cut short")
        return codec.header_from(unpack(_inflate(frame.payload, frame.plain))), frame.end

    def _frame(self, offset: int) -> frames.Frame | None:
        front = self._read(offset, frames.FRAME_SIZE)
        if len(front) < frames.FRAME_SIZE:
            return None
        length = int.from_bytes(front[:4], "little")
        if length > self._size - offset:
            return None
        return frames.decode(front + self._read(offset + frames.FRAME_SIZE, length), 0, offset)

    def _read_footer(self) -> dict[str, Any] | None:
        offset = frames.footer_offset(self._read(max(0, self._size - frames.TRAILER_SIZE), frames.TRAILER_SIZE))
        if offset is None:
            return None
        frame = self._frame(offset)
        if frame is None or frame.type != frames.FOOTER:
            return None
        return _footer(frame)

    def _scan(self) -> dict[str, Any]:
        """The footer's content, found by reading the frames one by one."""
        found = _Scan()
        at = self._first
        for frame in frames.frames(self._read(0, self._size)):
            at = frame.end
            if frame.type == frames.FOOTER:
                return _footer(frame)
            if frame.type == frames.STEPS and not found.add(frame):
                at = frame.offset
                break
        if at < self._size:
            self.problem = f"cut short or damaged at byte {at} of {self._size}"
        return found.footer()

    def _plain(self, number: int) -> bytes:
        """The decompressed content of frame ``number`` of the index."""
        restarts = self._table.restarts
        place = bisect_right(restarts, number) - 1
        if place < 0:
            raise CorruptCassette(f"{self.path}: frame {number} has no beginning of its stream")
        start = restarts[place]
        known = self._stretches.get(start)
        if known is None or len(known) <= number - start:
            stop = number + 1
            if known is not None:  # asked again in the same stretch: the rest is likely wanted too
                stop = restarts[place + 1] if place + 1 < len(restarts) else len(self._table.offsets)
            known = self._stretch(start, stop, number)
            self._stretches[start] = known
            while len(self._stretches) > _CACHED_STRETCHES:
                self._stretches.popitem(last=False)
        self._stretches.move_to_end(start)
        return known[number - start]

    def _stretch(self, start: int, stop: int, wanted: int) -> list[bytes]:
        payloads: list[bytes] = []
        sizes: list[int] = []
        for number in range(start, stop):
            offset = self._table.offsets[number]
            frame = self._frame(offset)
            if frame is None or frame.type != frames.STEPS:
                if number > wanted:
                    break
                raise CorruptCassette(f"{self.path} is damaged at byte {offset}")
            payloads.append(frame.payload)
            sizes.append(frame.plain)
        plain = _inflate(b"".join(payloads), sum(sizes))
        cuts: list[bytes] = []
        at = 0
        for size in sizes:
            cuts.append(plain[at : at + size])
            at += size
        return cuts

    # -- content ------------------------------------------------------------------------------------------------------

    def _parts(self, number: int) -> codec.Parts:
        known = self._table.frames_of_steps
        if not 0 <= number < len(known) or known[number] < 0:
            raise IndexError(f"{self.path} has no step {number}; it has {len(self)} steps, numbered from 0")
        return codec.split(self._plain(known[number]))

    def _interaction(self, parts: codec.Parts) -> Interaction:
        if len(parts.record) != 3:
            raise CorruptCassette(f"{self.path}: an interaction of {len(parts.record)} parts instead of 3")
        facts, arguments, outcome = parts.record
        return codec.interaction_from(
            unpack(facts, self._opaque.append),
            codec.resolve(arguments, self._message, self._opaque.append),
            unpack(outcome, self._opaque.append),
        )

    def _message(self, number: int) -> Any:
        """Message ``number``; steps share it, so nobody may change it."""
        if number not in self._messages:
            frame = bisect_right(self._table.first_messages, number) - 1
            parts = codec.split(self._plain(frame))
            first = self._table.first_messages[frame]
            for place, message in enumerate(parts.messages):
                self._messages[first + place] = unpack(message, self._opaque.append)
            if number not in self._messages:
                raise CorruptCassette(f"{self.path}: message {number} is missing")
        return self._messages[number]


class _Scan:
    """Rebuilds a footer from the frames before it."""

    def __init__(self) -> None:
        self._table = Table()
        self._messages = 0
        self._counts: Counter[str] = Counter()
        self._stream: Any = None

    def add(self, frame: frames.Frame) -> bool:
        """Take the next frame; False if its content cannot be read."""
        if frame.restart:
            self._stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        if self._stream is None or frame.plain > MAX_PLAIN:
            return False
        try:
            plain = self._stream.decompress(frame.payload)
            parts = codec.split(plain)
            step, counted = parts.step, parts.counted
        except (zstandard.ZstdError, CassetteError, ValueError, TypeError, IndexError):
            return False
        if len(plain) != frame.plain:
            return False
        self._table.add(frame.offset, step, self._messages, restart=frame.restart)
        self._messages += len(parts.messages)
        self._counts.update(counted)
        return True

    def footer(self) -> dict[str, Any]:
        """What the footer of these frames would say."""
        return {
            "ending": ["incomplete", "the recording has no end", None],
            "counts": dict(self._counts),
            "redacted": {},
            "digest": None,
            "messages": self._messages,
            "table": self._table,
        }


def _footer(frame: frames.Frame) -> dict[str, Any]:
    footer = unpack(_inflate(frame.payload, frame.plain))
    try:
        return {**footer, "table": Table.unpack(footer)}
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptCassette(f"the footer has an unknown shape: {error}") from error


def _inflate(payload: bytes, size: int) -> bytes:
    """Decompress ``payload``, of which exactly ``size`` bytes are expected.

    Raises:
        CorruptCassette: it is damaged, or longer than it says.
    """
    if size > MAX_PLAIN:
        raise CorruptCassette(f"a stretch of {size} bytes is over the limit of {MAX_PLAIN}")
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(payload) as reader:
            plain = reader.read(size)
    except zstandard.ZstdError as error:
        raise CorruptCassette(f"a compressed stretch is damaged: {error}") from error
    if len(plain) != size:
        raise CorruptCassette(f"a compressed stretch holds {len(plain)} bytes instead of {size}")
    return plain
