from __future__ import annotations

import pytest

from cassettes.model import ENDINGS
from replay.report.html.signs import SIGNS, sign_of


@pytest.mark.parametrize(
    ("ending", "passed", "name"),
    [
        ("completed", True, "passed"),
        ("completed", False, "failed"),
        ("completed", None, "unscored"),
        ("capped", True, "capped"),
        ("error", None, "error"),
        ("unanswered", None, "unanswered"),
        ("cancelled", None, "unfinished"),
        ("incomplete", None, "unfinished"),
    ],
)
def test_each_outcome_has_its_sign(ending, passed, name):
    assert sign_of(ending, passed).name == name


def test_no_ending_is_without_a_sign_and_no_two_signs_look_alike():
    assert {sign_of(ending, None).name for ending in ENDINGS} <= set(SIGNS)
    assert len({sign.letter for sign in SIGNS.values()}) == len(SIGNS)
