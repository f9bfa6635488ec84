from __future__ import annotations

from pathlib import Path

import pytest

from cassettes.canonical import canonical
from cassettes.errors import NewerFormat
from cassettes.reader import Cassette
from tests.factories import same
from tests.golden.make import ENDING, HEADER, INTERACTIONS, MARKS

GOLDEN = Path(__file__).parent.parent / "golden"


def test_a_cassette_of_format_1_reads_as_it_was_written():
    view = Cassette(GOLDEN / "v1.cassette")
    view.check()
    assert view.problem is None
    assert canonical([view.header.config, view.header.task_definition]) == canonical(
        [HEADER.config, HEADER.task_definition]
    )
    assert view.header == HEADER
    assert str(view.header.id) == "baseline/exchange/1#a#3"
    assert view.ending == ENDING
    assert view.marks() == MARKS
    assert view.counts == {
        "model": 2, "tool": 2, "http": 1, "clock": 1, "origin live": 4, "origin borrowed": 1, "origin extended": 1,
        "mark message": 1, "mark state": 1,
    }  # fmt: skip
    assert len(view) == len(INTERACTIONS)
    for read, written in zip(view, INTERACTIONS, strict=True):
        assert same(read, written), written.step


def test_the_errors_of_a_cassette_of_format_1_have_their_fields():
    view = Cassette(GOLDEN / "v1.cassette")
    assert view.step(2).outcome.error.args == ("no such order", 17)
    assert view.step(3).outcome.error.errno == 104
    assert type(view.step(3).outcome.error) is ConnectionResetError


def test_a_cassette_of_the_far_future_is_refused_with_advice():
    with pytest.raises(NewerFormat, match="format 999, this version reads up to 1; upgrade trialtape"):
        Cassette(GOLDEN / "v999.cassette")
