from __future__ import annotations

import pytest
import zstandard
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from cassettes import frames
from cassettes.errors import CorruptCassette
from cassettes.model import Ending, Mark
from cassettes.scan import inflate, inflate_all, read_footer, rebuild_index
from tests.factories import interaction, model_call, write_cassette


@pytest.fixture
def found(tmp_path):
    items = [interaction(step, call=model_call(list(range(step)))) for step in range(70)]
    path = write_cassette(tmp_path / "0.cassette", items, Ending("capped"), marks=[Mark("state", 0.0, "d")])
    return list(frames.frames(path.read_bytes()))


def test_an_index_rebuilt_is_the_index_in_the_footer(found):
    footer, rebuilt = read_footer(found[-1]), rebuild_index(found[1:-1], found[0].end)
    assert vars(rebuilt.table) == vars(footer.table)
    assert (rebuilt.counts, rebuilt.messages, rebuilt.end) == (footer.counts, 69, footer.end)
    assert (footer.ending, rebuilt.ending.status) == (Ending("capped"), "incomplete")


def test_an_index_rebuilt_ends_where_the_first_unreadable_stretch_begins(found):
    steps = [frame for frame in found if frame.type == frames.STEPS]
    rebuilt = rebuild_index([*steps[:64], evolve(steps[64], payload=b"no zstd"), *steps[65:]], found[0].end)
    assert len(rebuilt.table.frames_of_steps) == 64
    assert rebuilt.end == steps[63].end


def test_no_frames_give_an_empty_index():
    index = rebuild_index([], 99)
    assert (index.end, index.counts, index.messages, len(index.table.offsets)) == (99, {}, 0, 0)


@given(st.binary(max_size=300))
def test_what_was_compressed_comes_back(plain):
    assert inflate(zstandard.compress(plain), len(plain)) == plain


@given(st.binary(max_size=300), st.integers(-5, 5).filter(bool))
def test_another_length_than_said_is_refused(plain, difference):
    with pytest.raises(CorruptCassette):
        inflate(zstandard.compress(plain), max(0, len(plain) + difference) if plain else 3)


@given(st.binary(min_size=1, max_size=50))
def test_what_is_not_compressed_is_refused(payload):
    with pytest.raises(CorruptCassette):
        inflate(payload, 1 << 20)


def test_a_length_over_the_limit_is_refused_at_once():
    with pytest.raises(CorruptCassette, match="over the limit"):
        inflate(zstandard.compress(b"x"), frames.MAX_PLAIN + 1)


def test_a_stretch_falls_into_its_frames(found):
    steps = [frame for frame in found if frame.type == frames.STEPS][:5]
    contents = inflate_all(steps)
    assert [len(content) for content in contents] == [frame.plain for frame in steps]
    assert inflate_all(steps[:3]) == contents[:3]
