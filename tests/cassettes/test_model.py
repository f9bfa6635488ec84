from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.errors import BadInput
from cassettes.model import VERDICTS, Origin, TrialId
from tests.factories import call, header

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(names.filter(lambda run: "/" not in run), names, st.integers(0, 10**6))
def test_a_trial_id_reads_as_it_is_written(run, task, index):
    made = TrialId(run, task, index)
    assert TrialId.parse(str(made)) == made


def test_the_first_slash_and_the_last_hash_split():
    assert TrialId.parse("run#1/task/a#2#3") == TrialId("run#1", "task/a#2", 3)


@pytest.mark.parametrize(
    "text", ["", "run", "run/task", "run#1", "/task#1", "run/#1", "run/task#", "run/task#x", "run/t#-1"]
)
def test_other_texts_are_no_trial_id(text):
    with pytest.raises(BadInput, match="it has the form run/task#index"):
        TrialId.parse(text)


@given(names)
def test_a_name_is_one_safe_path_element_and_comes_back(name):
    element = TrialId.to_path(name)
    assert "/" not in element
    assert "\0" not in element
    assert not element.startswith(".")
    assert TrialId.from_path(element) == name


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
