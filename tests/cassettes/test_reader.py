from __future__ import annotations

import gc
import random
import resource
import threading
import tracemalloc
import weakref
from uuid import uuid4

import msgpack
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cassettes import codec, frames
from cassettes.errors import CassetteError, CorruptCassette, NewerFormat, NotACassette
from cassettes.model import Ending, Error, Mark, Value
from cassettes.reader import Cassette
from cassettes.table import Table
from cassettes.values import pack
from tests.factories import call, header, interaction, model_call, same, write_cassette
from tests.strategies import Failure, marks, trials

anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


COMPLETED = Ending("completed")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "0.cassette"


def fresh(path, content: bytes | None = None):
    """A file of its own for each example."""
    made = path.with_name(f"{uuid4()}.cassette")
    if content is not None:
        made.write_bytes(content)
    return made


def sample(path, ending=COMPLETED):
    """A small cassette of every kind of record, and what is in it."""
    items = [
        interaction(0, call=model_call([{"role": "user", "content": "hi"}])),
        interaction(1, Value({"a": (1, b"x")})),
        interaction(2, Error(Failure(3)), call=call("http", name="GET h/p")),
        interaction(3, call=model_call([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}])),
    ]
    write_cassette(path, items, ending, marks=[Mark("message", 1.0, {"role": "user"})])
    return items


# -- the way back -----------------------------------------------------------------------------------------------------


@anywhere
@given(
    trials(), st.lists(marks, max_size=2), st.sampled_from([Ending("completed"), Ending("error", "why", "agent"), None])
)
def test_a_trial_comes_back_as_it_was(path, items, notes, ending):
    view = Cassette(write_cassette(fresh(path), items, ending, marks=notes))
    assert view.header == header()
    assert view.ending == (ending or Ending("incomplete", "the recording has no end"))
    assert view.problem is None
    assert len(view) == len(items)
    assert all(same(read, item) for read, item in zip(view, items, strict=True))
    assert pack([[m.kind, round(m.at * 1e6), m.data] for m in view.marks()]) == pack(
        [[m.kind, round(m.at * 1e6), m.data] for m in notes]
    )
    view.check()


@anywhere
@given(trials())
def test_a_scan_finds_what_the_footer_says(path, items):
    whole = Cassette(write_cassette(fresh(path), items))
    scanned = Cassette(write_cassette(fresh(path), items, None))
    assert (scanned.counts, scanned.number_of_messages) == (whole.counts, whole.number_of_messages)
    assert vars(scanned._table) == vars(whole._table)


def test_steps_of_a_long_trial_open_in_any_order_with_their_messages(path):
    histories = [[{"n": n} for n in range(step + 1)] for step in range(200)]
    items = [interaction(step, call=model_call(history)) for step, history in enumerate(histories)]
    write_cassette(path, items)
    order = list(range(200))
    random.Random(1).shuffle(order)
    view = Cassette(path)
    for step in order:
        assert view.step(step).call.arguments["messages"] == histories[step]
        assert view.new_messages(step) == [{"n": step}]
    assert Cassette(path).new_messages(137) == [{"n": 137}]


def test_a_step_opens_without_its_later_neighbours(path):
    write_cassette(path, [interaction(step) for step in range(10)])
    content = bytearray(path.read_bytes())
    steps = [frame for frame in frames.frames(bytes(content)) if frame.type == frames.STEPS]
    content[steps[6].end - 1] ^= 1
    view = Cassette(fresh(path, bytes(content)))
    assert [view.step(step).step for step in (5, 0, 3, 4, 5)] == [5, 0, 3, 4, 5]
    for step in (6, 7, 9):
        with pytest.raises(CorruptCassette, match=f"damaged at byte {steps[6].offset}"):
            view.step(step)
    assert view.step(2).step == 2
    with pytest.raises(CorruptCassette):
        view.check()


def test_steps_that_are_not_there_are_an_index_error(path):
    view = Cassette(write_cassette(path, [interaction(0)]))
    for number in (-1, 1, 10**9):
        with pytest.raises(IndexError, match="has no step"):
            view.step(number)
        with pytest.raises(IndexError, match="has no step"):
            view.new_messages(number)


def test_a_cassette_may_be_read_from_many_threads(path):
    items = [interaction(step, call=model_call(list(range(step)))) for step in range(400)]
    view = Cassette(write_cassette(path, items))
    wrong: list[object] = []

    def read(seed: int) -> None:
        order = list(range(400))
        random.Random(seed).shuffle(order)
        try:
            wrong.extend(step for step in order if view.step(step).call.arguments["messages"] != list(range(step)))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# -- files that are not whole -----------------------------------------------------------------------------------------


def prefix_of(path, items):
    """The number of steps that can be read, each of which must be the original."""
    view = Cassette(path)
    for step in view.step_numbers:
        assert same(view.step(step), items[step])
    assert list(view.step_numbers) == list(range(len(view)))
    return view


@pytest.mark.parametrize("ending", [Ending("completed"), None])
def test_a_file_cut_at_any_byte_gives_a_valid_prefix_or_one_clear_error(path, ending):
    items = sample(path, ending)
    whole = path.read_bytes()
    ends = [frame.end for frame in frames.frames(whole)]
    cut_path = path.with_name("cut")
    for cut in range(len(whole)):
        cut_path.write_bytes(whole[:cut])
        if cut < ends[0]:
            with pytest.raises(NotACassette):
                Cassette(cut_path)
            continue
        view = prefix_of(cut_path, items)
        complete = [end for end in ends if end <= cut]
        if ending is not None and cut >= ends[-1]:
            assert (view.ending, len(view)) == (ending, 4)
            assert "behind its footer" in view.problem
            continue
        assert view.ending.status == "incomplete"
        assert len(view) == min(len(complete) - 1, 4)
        assert (view.problem is None) == (cut == complete[-1])


@pytest.mark.parametrize("ending", [Ending("completed"), None])
def test_a_flipped_bit_never_gives_wrong_data(path, ending):
    items = sample(path, ending)
    whole = path.read_bytes()
    flipped = path.with_name("flipped")
    noticed = 0
    for place in range(len(whole)):
        for bit in (0, 7) if place % 2 else (3,):
            content = bytearray(whole)
            content[place] ^= 1 << bit
            flipped.write_bytes(bytes(content))
            try:
                view = Cassette(flipped)
            except CassetteError:
                noticed += 1
                continue
            assert view.header == header()
            for step in view.step_numbers:
                try:
                    assert same(view.step(step), items[step])
                except CassetteError:
                    noticed += 1
            with pytest.raises(CorruptCassette):
                view.check()
    assert noticed > 0


@pytest.mark.parametrize(
    "tail", [b"\0", b"\0" * 4096, b"garbage" * 10, b"\xff" * 16, b"TRIALEND", bytes(8) + b"TRIALEND"]
)
def test_what_stands_behind_the_end_is_reported_and_changes_nothing(path, tail):
    items = sample(path)
    view = prefix_of(fresh(path, path.read_bytes() + tail), items)
    assert (view.ending.status, len(view)) == ("completed", 4)
    assert "behind its footer" in view.problem


@pytest.mark.parametrize("tail", [b"\0", b"\0" * 4096, b"garbage" * 10, b"\xff" * 16 + b"TRIALEND"])
def test_a_tail_that_was_never_a_frame_ends_an_incomplete_file(path, tail):
    items = sample(path, None)
    size = path.stat().st_size
    view = prefix_of(fresh(path, path.read_bytes() + tail), items)
    assert (view.ending.status, len(view)) == ("incomplete", 4)
    assert view.problem == f"cut short or damaged at byte {size} of {size + len(tail)}"


@given(st.binary(max_size=200))
@anywhere
def test_random_bytes_are_no_cassette(path, content):
    with pytest.raises(NotACassette):
        Cassette(fresh(path, content))


@given(st.binary(max_size=200))
@anywhere
def test_random_bytes_behind_a_good_head_are_no_cassette(path, content):
    with pytest.raises(NotACassette):
        Cassette(fresh(path, frames.head() + content))


@pytest.mark.parametrize("content", [b"", b"T", frames.head(), b"interactions:\n- request: {}\n"])
def test_other_files_are_no_cassette(path, content):
    with pytest.raises(NotACassette):
        Cassette(fresh(path, content))


def test_a_missing_file_and_a_folder_are_no_cassette(path):
    with pytest.raises(NotACassette, match="cannot be opened"):
        Cassette(path)
    with pytest.raises(NotACassette, match="is no file"):
        Cassette(path.parent)


def test_a_later_format_is_told_from_a_damaged_file(path):
    sample(path)
    content = bytearray(path.read_bytes())
    content[8:10] = (2).to_bytes(2, "little")
    with pytest.raises(NewerFormat, match="format 2, this version reads up to 1; upgrade trialtape"):
        Cassette(fresh(path, bytes(content)))
    content[8:10] = bytes(2)
    with pytest.raises(NotACassette):
        Cassette(fresh(path, bytes(content)))


def test_a_disk_that_cannot_be_read_is_one_clear_error(path, monkeypatch):
    view = Cassette(write_cassette(path, [interaction(0)]))

    def refuse(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.pread", refuse)
    with pytest.raises(CorruptCassette, match="cannot be read: Input/output error"):
        view.step(0)


# -- files that were made to do harm ----------------------------------------------------------------------------------


def crafted(path, *parts, header_record=None):
    """A file of well-formed frames: ``(type, plain, claimed length)``."""
    content = frames.head()
    for kind, plain, claimed in [(frames.HEADER, header_record or pack(codec.header_plain(header())), None), *parts]:
        compressor = zstandard.ZstdCompressor().compressobj()
        payload = compressor.compress(plain) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        flags = frames.RESTART if kind == frames.STEPS else 0
        content += frames.encode(len(content), kind, flags, payload, len(plain) if claimed is None else claimed)
    footer = [part for part in parts if part[0] == frames.FOOTER]
    if footer:
        *_, last = frames.frames(content)
        content += frames.trailer(last.offset)
    return fresh(path, content)


def record(step=0, arguments=b"\x80", outcome=b"\x91\x02"):
    return pack(codec.facts_of(interaction(step))) + arguments + outcome


def used_by(action):
    """The most memory that Python held while ``action`` ran."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("claimed", [10, 1 << 29, 1 << 31, (1 << 32) - 1])
@pytest.mark.parametrize("kind", [frames.STEPS, frames.FOOTER])
def test_a_frame_that_lies_about_its_length_is_refused_without_the_memory(path, kind, claimed):
    plain = b"\0" * (1 << 26) if claimed == 10 else record()
    file = crafted(path, (kind, plain, claimed))
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def read():
        if kind == frames.FOOTER:
            with pytest.raises(CorruptCassette):
                Cassette(file)
        else:
            view = Cassette(file)
            assert len(view) == 0
            assert view.problem

    assert used_by(read) < 1 << 23
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - rss < 1 << 15  # kilobytes


def test_a_length_that_lies_in_a_header_is_refused(path):
    content = frames.head()
    payload = zstandard.compress(b"\0" * (1 << 26))
    content += frames.encode(len(content), frames.HEADER, 0, payload, 100)
    with pytest.raises(CorruptCassette):
        Cassette(fresh(path, content))


@pytest.mark.parametrize(
    "plain",
    [
        b"\x91" * 100_000,
        record(arguments=b"\x91" * 5000),
        record(step=2**40),
        record(step=-1),
        pack([1, "x"]) + b"\x80\x80",
        pack([1]),
        pack({"a": 1}),
        pack([1, 0, 0, 0, 0, 0, 99, *[0] * 20]),
        b"\xc4\x01x",
        b"\xc1",
        b"",
        b"\xdd\xff\xff\xff\xff",
    ],
)
def test_a_record_of_another_shape_ends_what_can_be_read(path, plain):
    view = Cassette(crafted(path, (frames.STEPS, record(), None), (frames.STEPS, plain, None)))
    assert list(view.step_numbers) == [0]
    assert view.problem


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        (msgpack.packb({"m": msgpack.ExtType(64, msgpack.packb([0, 1 << 40]))}), b"\x91\x02"),
        (msgpack.packb({"m": msgpack.ExtType(64, msgpack.packb([5, 1]))}), b"\x91\x02"),
        (msgpack.packb({"m": msgpack.ExtType(64, msgpack.packb([-5, 1]))}), b"\x91\x02"),
        (b"\x80", b"\x91\x09"),
        (b"\x80", b"\x90"),
        (b"\x80", b"\x01"),
        (b"\x80", msgpack.packb([1, msgpack.ExtType(99, b"")])),
        (b"\x80", b"\x91\x02" * 2),
        (b"\x80", b""),
        (b"\x80", msgpack.packb([3, None, [[0]], True, None])),
    ],
)
def test_a_crafted_interaction_is_one_clear_error(path, arguments, outcome):
    view = Cassette(crafted(path, (frames.STEPS, record(0, arguments, outcome), None)))
    with pytest.raises(CorruptCassette):
        view.step(0)


def footer(**changes):
    table = Table()
    table.add(10**6, 0, 0, restart=True)
    found = {"ending": ["completed", None, None], "counts": {}, "redacted": {}, "digest": None, "messages": 0}
    return pack({**found, **table.pack(), **changes})


@pytest.mark.parametrize(
    "plain",
    [
        pack([]),
        pack({}),
        footer(counts=5),
        footer(ending=7),
        footer(ending=["completed"] * 9),
        footer(offsets=b"123"),
        footer(first_messages=b""),
        footer(marks="text"),
    ],
)
def test_a_footer_of_another_shape_is_one_clear_error(path, plain):
    with pytest.raises(CorruptCassette):
        Cassette(crafted(path, (frames.FOOTER, plain, None)))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"frames_of_steps": (7).to_bytes(4, "little")},
        {"restarts": b""},
        {"restarts": (9).to_bytes(4, "little")},
        {"offsets": b"\xff" * 8},
        {"offsets": (0).to_bytes(8, "little")},
    ],
)
def test_a_footer_that_points_elsewhere_is_one_clear_error_when_a_step_is_read(path, changes):
    view = Cassette(crafted(path, (frames.STEPS, record(), None), (frames.FOOTER, footer(**changes), None)))
    with pytest.raises(CorruptCassette):
        view.step(0)


@pytest.mark.parametrize("plain", [pack(5), pack({}), pack({"run": "x"}), pack([1, 2])])
def test_a_header_of_another_shape_is_one_clear_error(path, plain):
    with pytest.raises(CorruptCassette):
        Cassette(crafted(path, header_record=plain))


def test_a_cassette_that_nobody_holds_is_closed_at_once(path):
    asked = interaction(0, call=model_call([{"role": "user", "content": "hi"}]))
    cassette = Cassette(write_cassette(path, [asked]))
    assert cassette.step(0).call.arguments["messages"] == [{"role": "user", "content": "hi"}]
    known = weakref.ref(cassette)
    gc.disable()  # only a collection could close it if it stood in a cycle
    try:
        del cassette
        assert known() is None
    finally:
        gc.enable()
