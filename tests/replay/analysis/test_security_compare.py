from __future__ import annotations

import pytest

from cassettes.errors import BadInput
from replay.analysis.attack_rows import Wanted
from replay.analysis.security_compare import compare_defences
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scoring import Score
from replay.stats import clustered_difference, holm
from replay.store import Store
from tests.replay.attacked import run, trial

BENIGN = ["++++", "+++-", "++--"]
ATTACKED = {"0/direct": "aaaa", "0/ignore": "aarr", "1/direct": "aaar", "2/direct": "aaaa"}


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def compared(home, *runs, against=None, wanted=None, **options):
    with Store(home) as store:
        store.refresh()
        return compare_defences(store, runs, against or runs[0], wanted or Wanted(), **options)


def by_name(comparison):
    return {row.measure: row for row in comparison.differences}


def test_a_defence_is_told_on_both_axes_paired_by_task_and_cluster(home):
    run(home, "none", BENIGN, ATTACKED)
    run(home, "filter", ["++--", "++--", "++--"], dict.fromkeys(ATTACKED, "rrrr"))
    found = compared(home, "none", "filter")
    (comparison,) = found.comparisons
    rows = by_name(comparison)
    assert list(rows) == ["attack success", "resisted in 4 of 4", "benign utility", "utility under attack"]
    expected = clustered_difference([1, 0.5, 0.75, 1], [0, 0, 0, 0], ["t0", "t0", "t1", "t2"])
    attack = rows["attack success"].found
    assert (attack.difference, attack.se, attack.p) == (expected.difference, expected.se, expected.p)
    assert -1 <= attack.low < attack.high <= 1
    assert (attack.pairs, attack.clusters) == (4, 3)
    assert rows["benign utility"].found.difference == pytest.approx(0.5 - 9 / 12)
    assert [rows[name].axis for name in rows] == ["safety", "safety", "helpfulness", "helpfulness"]
    assert [rows[name].better for name in rows] == [-1, 1, 1, 1]
    ps = [row.found.p for row in comparison.differences]
    assert [row.p_adjusted for row in comparison.differences] == holm(ps)
    assert found.tests == 4


def test_p_is_adjusted_over_all_defences(home):
    for name in ("none", "first", "second"):
        run(home, name, BENIGN, ATTACKED)
    found = compared(home, "first", "none", "second", against="none")
    assert [each.run for each in found.runs] == ["none", "first", "second"]
    assert [each.run for each in found.comparisons] == ["first", "second"]
    assert found.tests == 8
    assert {row.p_adjusted for each in found.comparisons for row in each.differences} == {1.0}


def test_another_attack_text_is_refused_by_name(home):
    run(home, "none", BENIGN, ATTACKED)
    run(home, "other", BENIGN, ATTACKED, text="PAY NOW")
    with pytest.raises(BadInput, match=r"have not the same tasks: t0/direct changed \(injections\), .*; --common"):
        compared(home, "none", "other")
    (comparison,) = compared(home, "none", "other", common=True).comparisons
    assert list(by_name(comparison)) == ["benign utility"]
    assert len(comparison.unpaired) == 4


def test_runs_without_anything_in_common_are_refused(home):
    run(home, "none", [], ATTACKED)
    run(home, "other", [], ATTACKED, text="PAY NOW")
    with pytest.raises(BadInput, match="no task in common"):
        compared(home, "none", "other", common=True)


def test_what_was_not_delivered_in_one_run_is_in_no_pair(home):
    run(home, "none", BENIGN, ATTACKED)
    run(home, "filter", BENIGN, {**ATTACKED, "2/direct": "uuuu"})
    (comparison,) = compared(home, "none", "filter").comparisons
    rows = by_name(comparison)
    assert rows["attack success"].found.pairs == 3
    assert rows["utility under attack"].found.pairs == 4


def test_where_trials_differ_in_number_all_of_k_has_no_p(home):
    run(home, "none", BENIGN, ATTACKED)
    run(home, "filter", BENIGN, {**ATTACKED, "2/direct": "ar"})
    (comparison,) = compared(home, "none", "filter").comparisons
    rows = by_name(comparison)
    assert rows["resisted in 2 of 2"].found.p is rows["resisted in 2 of 2"].p_adjusted is None
    assert rows["attack success"].found.p is not None


def test_decisive_settings_are_the_same_or_named(home):
    open_run(home, RunFile("slow", config={"timeout": 5}, primary="helped@1"))
    run(home, "none", BENIGN, ATTACKED)
    run(home, "slow", BENIGN, ATTACKED)
    with pytest.raises(BadInput, match=r"differ in more than luck: caps: .* say so: --changed caps"):
        compared(home, "none", "slow")
    (comparison,) = compared(home, "none", "slow", changed=["caps"]).comparisons
    assert [str(change) for change in comparison.settings] == ["caps: timeout none → timeout 5"]
    with pytest.raises(BadInput, match="'colour' is no setting"):
        compared(home, "none", "slow", changed=["colour"])


def test_means_of_ordinal_scores_are_compared_too(home):
    for name, values in (("none", [0, 1, 3]), ("prompt", [1, 1, 1])):
        for task, value in enumerate(values):
            trial(home, f"{name}/c{task}#0", helped=Score(value / 2, passed=value > 1), risky=Score(value))
    (comparison,) = compared(home, "none", "prompt", wanted=Wanted("risky")).comparisons
    rows = by_name(comparison)
    assert list(rows) == ["unsafe", "mean risky@1", "helped", "mean helped@1"]
    assert rows["mean risky@1"].found.difference == pytest.approx(1 - 4 / 3)
    assert rows["mean risky@1"].better == 0
    assert rows["mean helped@1"].found == clustered_difference([0, 0.5, 1.5], [0.5, 0.5, 0.5], ["c0", "c1", "c2"])


@pytest.mark.parametrize(
    ("runs", "against", "said"),
    [(("none", "none"), "none", "named twice"), (("none", "filter"), "other", "none of the runs: none, filter")],
)
def test_runs_are_named_once_and_the_baseline_is_one_of_them(home, runs, against, said):
    with pytest.raises(BadInput, match=said):
        compared(home, *runs, against=against)
