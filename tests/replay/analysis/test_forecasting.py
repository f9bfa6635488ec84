from __future__ import annotations

import json

import pytest

import trialtape as tt
from replay.analysis.forecasting import forecast, nines
from replay.stats import interval
from replay.store import Store
from tests.replay.verdicts import INFRASTRUCTURE, UNANSWERED, make_run, passes


@pytest.fixture
def told(home):
    def tell(tasks, per_day=100, **options):
        make_run(home, "r", tasks)
        with Store(home) as store:
            store.refresh()
            return forecast(store, "r", per_day, **options)

    return tell


def test_mixed_requests_multiply_pass_1(told):
    found = told({"a": passes(4, 4), "b": passes(3, 4), "c": passes(4, 4)}, 10)
    one = interval([4, 3, 4], 4, 1, "population")

    assert found.clean_day == (one.estimate**10, one.low**10, one.high**10)
    assert found.failures == (10 * (1 - one.estimate), 10 * (1 - one.high), 10 * (1 - one.low))


def test_pass_hat_k_is_told_by_what_is_known_of_it(told):
    found = told({f"t{task}": passes(task % 5, 4) for task in range(20)}, 100, ks=[3])
    assert [(one.k, one.basis) for one in found.repeated] == [
        (3, "counted"),
        (4, "counted"),
        (8, "model"),
        (100, "not identified"),
    ]


def test_one_task_has_no_interval_for_others(told):
    found = told({"a": passes(3, 4)}, 5)
    assert found.clean_day[1:] == (None, None)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(("per_day", "chance", "clean"), [(100, 0.99, 0.366), (50, 0.95, 0.077), (1000, 0.999, 0.368)])
def test_the_nines(per_day, chance, clean):
    nine = next(nine for nine in nines(per_day) if nine.chance == chance)
    assert nine.clean_day == pytest.approx(clean, abs=5e-4)
    assert nine.failures == pytest.approx(per_day * (1 - chance))
    assert {n.chance: n.trials_needed for n in nines(1)}[0.99] == 299


@pytest.mark.parametrize(
    ("trials", "message"),
    [([INFRASTRUCTURE], "no trial can be counted"), ([True, UNANSWERED], "1 of 2 trials ended unanswered")],
)
def test_without_a_number_there_is_no_forecast(told, trials, message):
    with pytest.raises(tt.BadInput, match=message):
        told({"a": trials})
