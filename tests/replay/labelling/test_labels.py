"""Labels are appended before the index learns of them; a crash costs at most what was not acknowledged."""

from __future__ import annotations

import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.home import Home
from replay.labelling.labels import FAULTS, USER_ERRORS, Label, append_label, carry_labels, current, read_labels
from replay.store import Store
from tests.replay.recorded import keep, read
from tests.strategies import texts


@pytest.fixture
def view(home):
    """A trial to label."""
    return keep(home, "r/t#0", [read()], passed=False)


def label(author="ada", fault="agent", trial="r/t#0", **options):
    return Label(trial=trial, author=author, fault=fault, **options)


def file(home):
    return home.run("r") / "labels.jsonl"


def indexed(home):
    with Store(home) as store:
        troubles = store.refresh()
        return store.rows("SELECT trial, author, fault FROM labels ORDER BY trial, author"), troubles


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(
            Label,
            trial=st.just("r/t#0"),
            author=texts,
            fault=st.none() | st.sampled_from(FAULTS),
            source=st.sampled_from(["person", "judge"]),
            user_error=st.none() | st.sampled_from(USER_ERRORS),
            unanswered=st.none() | texts,
            type=st.none() | texts,
            step=st.none() | st.integers(0, 2**70),
            note=st.none() | texts,
            digest=st.none() | texts,
        ),
        max_size=4,
    )
)
def test_labels_come_back_as_they_were_said(tmp_path_factory, said):
    home = Home(tmp_path_factory.mktemp("labels"))
    home.run("r").mkdir(parents=True)
    for one in said:
        append_label(home, one)
    assert read_labels(home, "r") == (said, [])


def test_a_run_without_labels_has_none(home, view):
    assert read_labels(home, "r") == ([], [])


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_last_line_that_was_cut_short_is_told_and_dropped_by_the_next_append(home, view, cut):
    append_label(home, label("ada"))
    append_label(home, label("bo"))
    file(home).write_bytes(file(home).read_bytes()[:-cut])
    labels, problems = read_labels(home, "r")
    if cut == 1:  # only the line break is missing: the label is whole
        assert [one.author for one in labels] == ["ada", "bo"]
        assert problems == []
    else:
        assert [one.author for one in labels] == ["ada"]
        assert problems == [f"{file(home)}, line 2 was cut short; that label does not count"]
    append_label(home, label("cy"))
    labels, problems = read_labels(home, "r")
    assert [one.author for one in labels] == ["ada", "cy"]
    assert problems == []


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{broken", "Expecting property name"),
        ("[1]", "no JSON object"),
        ('{"trial": "r/t#0", "author": "x", "fault": "moon"}', "'fault' must be in"),
        ('{"trial": "r/t#0", "author": "x"}', "missing 1 required keyword-only argument: 'fault'"),
        ('{"trial": "r/t#0", "author": 3, "fault": "agent"}', "'author' must be"),
        ('{"\udcff": 1}', "can't decode byte 0xff"),
    ],
)
def test_another_damaged_line_is_told_by_number_and_the_others_count(home, view, bad, why):
    append_label(home, label("ada"))
    with file(home).open("ab") as out:
        out.write(bad.encode("utf-8", "surrogateescape") + b"\n")
    append_label(home, label("bo"))
    labels, problems = read_labels(home, "r")
    assert [one.author for one in labels] == ["ada", "bo"]
    assert len(problems) == 1
    assert f"{file(home)}, line 2 is damaged (" in problems[0]
    assert why in problems[0]


def test_of_an_authors_labels_on_a_trial_the_last_one_counts():
    said = [label("ada"), label("bo", "tool"), label("ada", "user"), label("ada", "task", trial="r/t#1")]
    assert current(said) == [said[1], said[2], said[3]]


def test_a_line_without_a_fault_takes_the_label_back():
    bo = label("bo")
    assert current([label("ada"), bo, label("ada", None)]) == [bo]
    assert [one.fault for one in current([label("ada"), label("ada", None), label("ada", "tool")])] == ["tool"]


def test_the_index_has_the_labels_that_hold(home, view):
    digest = view.cassette.digest
    append_label(home, label("ada", digest=digest))
    append_label(home, label("bo", "tool", digest=digest))
    append_label(home, label("bo", None, digest=digest))
    assert indexed(home) == ([{"trial": "r/t#0", "author": "ada", "fault": "agent"}], [])
    append_label(home, label("ada", "user", digest=digest))
    assert indexed(home)[0] == [{"trial": "r/t#0", "author": "ada", "fault": "user"}]
    shutil.rmtree(home.run("r"))
    assert indexed(home) == ([], [])


def test_a_damaged_line_is_told_by_every_refresh_until_it_is_mended(home, view):
    append_label(home, label("ada", digest=view.cassette.digest))
    whole = file(home).read_bytes()
    file(home).write_bytes(whole + b'{"tri')
    for _ in range(2):
        rows, troubles = indexed(home)
        assert [row["author"] for row in rows] == ["ada"]
        assert [trouble.path for trouble in troubles] == [file(home)]
    file(home).write_bytes(whole)
    assert indexed(home)[1] == []


def test_a_label_is_of_the_cassette_that_was_looked_at_and_of_no_other(home, view):
    append_label(home, label("ada", digest=view.cassette.digest))
    assert len(indexed(home)[0]) == 1
    view.path.unlink()
    keep(home, "r/t#0", [read(), read()])
    assert indexed(home)[0] == []


def test_a_cassette_that_takes_anothers_place_keeps_its_labels(home, view):
    append_label(home, label("ada", note="why", digest=view.cassette.digest))
    append_label(home, label("bo", digest=view.cassette.digest))
    append_label(home, label("bo", None, digest=view.cassette.digest))
    old = view.cassette
    view.path.unlink()
    new = keep(home, "r/t#0", [read(), read()]).cassette
    carry_labels(home, old, new)
    assert indexed(home)[0] == [{"trial": "r/t#0", "author": "ada", "fault": "agent"}]
    assert json.loads(file(home).read_bytes().splitlines()[-1])["note"] == "why"
