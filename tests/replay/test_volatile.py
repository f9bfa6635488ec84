from __future__ import annotations

from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from replay.volatile import looks_volatile

TEXT = "3f5bd6e8-8df7-4e03-bee2-ae14b524d225"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (TEXT, "a UUID"),
        (UUID(int=7), "a UUID"),
        (UUID(TEXT).hex, "a UUID"),
        ("2026-11-29T23:01:39Z", "a time"),
        ("2026-11-29 23:01:39.123456+00:00", "a time"),
        (datetime(2026, 1, 1, tzinfo=UTC), "a time"),
        (date(2026, 1, 1), "a time"),
        (1_780_000_000, "an epoch number"),
        (1_780_000_000.25, "an epoch number"),
        (1_780_000_000_123, "an epoch number"),
        ("1780000000", "an epoch number"),
        ("3f5bd6e8", "a random id"),
        ("req_3f5bd6e8a0b1c2d3", "a random id"),
    ],
)
def test_what_is_new_each_time_is_told(value, told):
    assert looks_volatile(value) == told


@pytest.mark.parametrize(
    "value",
    [None, True, 7, 0.5, 5_000_000_000, "", "W1", "10115", "12345678", "deadbeef", "2026-11-29", "hello", [TEXT],
     f"the id is {TEXT}", "fade"],
)  # fmt: skip
def test_what_may_mean_something_is_not(value):
    assert looks_volatile(value) is None
