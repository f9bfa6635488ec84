from __future__ import annotations

import threading

import pytest

from cassettes.errors import Refused, UnkeepableValue
from cassettes.model import Chunk, Error, Paced, Stream, Value, paced
from cassettes.values import pack
from replay.processes.wire import (
    answer_from,
    answer_packed,
    call_from,
    call_said,
    end_said,
    halt_from,
    halt_packed,
    outcome_of,
)
from tests.factories import call


@pytest.mark.parametrize("options", [{}, {"reads": ("order:1",), "writes": (), "detail": {"a": b"\xff"}}])
def test_a_call_arrives_as_it_was_said(options):
    said = call(arguments={"set": {1, 2}, "none": None}, effect="write", external=False, **options)
    assert call_from(*call_said(said)) == said


def test_arguments_that_have_no_lossless_form_fail_where_they_are_read():
    arrived = call_from(*call_said(call(arguments={"a": [threading.Lock()]})))
    for read in (dict, len, lambda arguments: arguments["a"]):
        with pytest.raises(UnkeepableValue, match=r"value\.a\[0\]: "):
            read(arrived.arguments)


def test_a_result_that_has_no_lossless_form_fails_where_it_is_read():
    packed, unkept, _ = end_said(Value({"a": threading.Lock()}), None)
    outcome = outcome_of(packed, unkept)
    assert isinstance(outcome, Value)
    with pytest.raises(UnkeepableValue, match=r"value\[1\]\.a: "):
        _ = outcome.value


@pytest.mark.parametrize("answer", [None, Value((1, 2)), Stream({"status": 200}, (Chunk(0.5, b"a"),), complete=False)])
def test_an_answer_arrives_as_it_was_given(answer):
    assert answer_from(*answer_packed(answer)) == (answer, [])


def test_a_stream_that_is_to_be_handed_out_slowly_arrives_as_such():
    answer = paced(Stream(None, (Chunk(0.5, "a"),)))
    arrived, _ = answer_from(*answer_packed(answer))
    assert type(arrived) is Paced
    assert arrived == answer


def test_what_of_an_answer_is_not_loaded_is_told():
    packed = pack([0, Error(ValueError("x"))]).replace(b"ValueError", b"OtherError")
    _, unknown = answer_from(packed, is_paced=False)
    assert [opaque.name for opaque in unknown] == ["builtins:OtherError"]


def test_only_errors_of_ours_stop_a_trial():
    assert type(halt_from(halt_packed(Refused("no")))) is Refused
    assert str(halt_from(pack(["odd"]))) == "['odd']"
