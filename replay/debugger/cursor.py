"""Moving through rows: pure functions of how many there are, where the cursor stands, and what is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["ahead", "clamped", "first", "place_asked", "round_trip"]


def clamped(row: int, count: int) -> int:
    """The nearest row that exists; 0 if there is none."""
    return max(0, min(row, count - 1))


def ahead(here: int, count: int, *, forward: bool) -> range:
    """The rows behind the cursor's, nearest first: towards the end, or towards the beginning."""
    return range(here + 1, count) if forward else range(min(here, count) - 1, -1, -1)


def round_trip(here: int, count: int, *, forward: bool) -> Iterator[int]:
    """The same, going on at the other end up to the cursor's own row, which comes last."""
    yield from ahead(here, count, forward=forward)
    if 0 <= here < count:
        yield from range(here + 1) if forward else range(count - 1, here - 1, -1)


def first(rows: Iterable[int], wanted: Callable[[int], bool]) -> int | None:
    """The first row that is wanted, or None; rows behind it are not looked at."""
    return next((row for row in rows if wanted(row)), None)


def place_asked(text: str, numbers: Sequence[int]) -> int | None:
    """The place of the step that a person typed, such as ``12``, ``$`` (the last) or ``-1`` (the last, too).

    Args:
        text: what was typed.
        numbers: the trial's step numbers, ascending.

    Returns:
        None if the text is no number, or no such step exists.
    """
    typed = text.strip()
    if typed == "$":
        return len(numbers) - 1 if numbers else None
    try:
        number = int(typed)
    except ValueError:
        return None
    if number < 0:
        return len(numbers) + number if -number <= len(numbers) else None
    if isinstance(numbers, range):
        return number if number in numbers else None
    return next((place for place, known in enumerate(numbers) if known == number), None)
