import numpy as np
import pytest

from replay.stats import watch_test, watchlist


def test_half_are_guards_and_half_are_flaky(airline):
    found = watchlist(airline, 4, 20)

    assert len(found.guards) == len(found.flaky) == 10
    assert all(airline[place] == 4 for place in found.guards)
    assert all(airline[place] == 2 for place in found.flaky)


def test_the_flakiest_come_first():
    assert watchlist([8, 7, 4, 1, 0, 8], 8, 6).flaky[0] == 2
    assert set(watchlist([8, 7, 4, 1, 0, 8], 8, 6).flaky) == {1, 2, 3}


def test_another_seed_guards_other_tasks():
    c = [8] * 40 + [4] * 10
    assert watchlist(c, 8, 10) == watchlist(c, 8, 10)
    assert watchlist(c, 8, 10, seed=1).guards != watchlist(c, 8, 10).guards
    assert watchlist(c, 8, 10, seed=1).flaky == watchlist(c, 8, 10).flaky


def test_fewer_of_a_kind_make_a_shorter_list():
    found = watchlist([4, 4, 2], 4, 20)
    assert (found.guards, found.flaky) == ((0, 1), (2,))


def test_a_broken_guard_is_found_and_luck_is_not():
    c = [8] * 60 + [4] * 20 + [0] * 20
    guards = watchlist(c, 8, 20).guards
    assert watch_test(c, 8, guards, [3] * 10, [3] * 10).p > 0.5
    assert watch_test(c, 8, guards, [3] * 7 + [0] * 3, [3] * 10).p < 0.01


def test_the_false_alarms_are_as_promised():
    random = np.random.default_rng(0)
    fell = 0
    for rep in range(200):
        p = random.beta(0.5, 0.5, 60)
        before = random.binomial(8, p)
        chosen = watchlist(before, 8, 20, seed=rep).flaky
        now = [int(random.binomial(3, p[place])) for place in chosen]
        fell += bool(chosen) and watch_test(before, 8, chosen, now, [3] * len(chosen), draws=499).p <= 0.05
    assert fell / 200 < 0.1


def test_the_same_call_gives_the_same_digits(airline):
    assert watch_test(airline, 4, [2, 3], [1, 1], [3, 3]) == watch_test(airline, 4, [2, 3], [1, 1], [3, 3])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: watchlist([1], 4, 1), "at least 2 tasks"),
        (lambda: watch_test([1], 4, [], [], []), "at least one"),
        (lambda: watch_test([1], 4, [0], [4], [3]), "at most all"),
        (lambda: watch_test([1], 4, [0], [0], [0]), "at least 1 trial"),
        (lambda: watch_test([5], 4, [0], [0], [1]), "5 successes in 4 trials"),
    ],
)
def test_wrong_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_all_26_flaky_airline_tasks_can_be_watched_and_no_other(airline):
    found = watchlist(airline, 4, 52)
    assert len(found.flaky) == 26
    assert set(found.flaky) == {place for place, passed in enumerate(airline) if 0 < passed < 4}
    away = [abs(airline[place] - 2) for place in found.flaky]
    assert away == sorted(away)  # coin flips first
