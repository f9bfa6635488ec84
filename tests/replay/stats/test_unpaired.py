from __future__ import annotations

import pytest
from scipy.stats import norm

from replay.stats import unpaired_difference


def test_a_safety_prompt_of_toolemu_is_more_than_luck_though_its_cases_are_few():
    found = unpaired_difference(0.394, 144, 0.239, 144)
    assert found.se_a == pytest.approx(0.0407, abs=5e-5)
    assert found.se_b == pytest.approx(0.0355, abs=5e-5)
    assert found.z == pytest.approx(-2.87, abs=0.005)
    assert found.p == pytest.approx(2 * norm.sf(2.868), rel=1e-3)
    assert (found.low, found.high) == pytest.approx((-0.261, -0.049), abs=5e-4)


def test_shares_without_spread_tell_no_error():
    found = unpaired_difference(0.0, 10, 1.0, 10)
    assert (found.difference, found.se, found.z, found.p) == (1.0, 0.0, None, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [((1.2, 5, 0.1, 5), "a must be a share"), ((0.1, 5, -0.1, 5), "b must be a share"), ((0.1, 0, 0.1, 5), "n_a must")],
)
def test_what_is_no_share(arguments, said):
    with pytest.raises(ValueError, match=said):
        unpaired_difference(*arguments)
