from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cassettes.errors import BadInput
from cassettes.identity import TrialId

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
