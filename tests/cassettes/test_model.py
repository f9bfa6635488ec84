from __future__ import annotations

import pytest

from cassettes.model import VERDICTS, Chunk, Origin, Paced, Stream, Value, paced
from tests.factories import call, header


@pytest.mark.parametrize(
    ("kind", "effect", "may_write"),
    [
        ("tool", "write", True),
        ("tool", "unknown", True),
        ("http", "write", True),
        ("tool", "read", False),
        ("tool", "pure", False),
        ("model", "unknown", False),
        ("clock", "unknown", False),
    ],
)
def test_a_call_may_write_unless_it_says_otherwise(kind, effect, may_write):
    assert call(kind, effect=effect).may_write is may_write


def test_only_the_real_thing_is_live():
    assert [verdict for verdict in VERDICTS if Origin(verdict).live] == ["extended", "live"]


def test_a_header_knows_the_id_of_its_trial():
    assert str(header(run="r", task="t/1", index=4).id) == "r/t/1#4"


def test_a_stream_can_be_paced_and_nothing_else():
    error = ConnectionError("gone")
    stream = Stream({"status": 200}, (Chunk(0.5, b"a"),), complete=False, error=error)
    slow = paced(stream)
    assert type(slow) is Paced
    assert (slow.head, slow.chunks, slow.complete, slow.error) == (stream.head, stream.chunks, False, error)
    assert paced(Value(1)) == Value(1)
