"""How far two labellers agree, in words."""

from __future__ import annotations

import pytest

from replay.labelling.agreement import agreement
from replay.report.faults_text import agreed_text

GRANTS = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([("a", "a")] * 3, "100% alike, Cohen's kappa undefined, as both gave one and the same label only"),
        ([("a", "a"), ("a", "b"), ("b", "b")], "67% alike, Cohen's kappa 0.40, too few pairs for an interval"),
        ([("a", "a"), ("b", "b")] * 20, "100% alike, Cohen's kappa 1.00, too few pairs for an interval"),
        (GRANTS, "70% alike, Cohen's kappa 0.40 (95% [0.15, 0.65])"),
    ],
)
def test_agreement_is_told_with_an_interval_only_where_that_holds(pairs, told):
    assert agreed_text(agreement(pairs)) == told
