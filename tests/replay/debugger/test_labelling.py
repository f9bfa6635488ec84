from __future__ import annotations

import pytest

from cassettes.errors import BadInput
from replay.debugger.labelling import Draft, keep_label
from replay.labelling.labels import read_labels
from replay.view import View
from tests.factories import write_cassette
from tests.replay.debugger.scene import scene


def test_a_file_that_is_no_trial_of_a_home_gets_no_label(home, tmp_path):
    alone = View(write_cassette(tmp_path / "alone.cassette"))
    with pytest.raises(BadInput, match="is no trial of a home folder"):
        keep_label(None, alone, None, Draft("agent"))
    view = scene(home)
    attempt = view.path.with_name("0.attempt-1.cassette")
    attempt.write_bytes(view.path.read_bytes())
    with pytest.raises(BadInput, match="is no trial of a home folder"):
        keep_label(home, View(attempt, home), None, Draft("agent"))
    assert read_labels(home, "r") == ([], [])


def test_empty_texts_are_none(home):
    label = keep_label(home, scene(home), 3, Draft("tool", "  ", ""))
    assert (label.type, label.note, label.step) == (None, None, 3)
