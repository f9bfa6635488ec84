from __future__ import annotations

from replay.report.html.choice import MOST_FAILING, MOST_WHOLE, chosen
from replay.report.html.facts import TrialFacts
from replay.report.html.map import MOST_CELLS


def trials(passed, failed):
    verdicts = [True] * passed + [False] * failed
    return [
        TrialFacts(i, f"r/t#{i}", "t", i, "completed", None, None, verdict, 1, None, "d", {}, None)
        for i, verdict in enumerate(verdicts)
    ]


def test_a_small_run_is_opened_whole_and_nothing_is_said():
    choice = chosen(trials(MOST_WHOLE - 5, 5), None)
    assert (len(choice.listed), len(choice.opened), choice.told) == (MOST_WHOLE, MOST_WHOLE, None)


def test_of_a_larger_run_only_what_did_not_pass_is_opened_and_that_is_said():
    choice = chosen(trials(MOST_WHOLE, 5), None)
    assert (len(choice.listed), len(choice.opened)) == (MOST_WHOLE + 5, 5)
    assert choice.told.startswith(
        "This page holds the steps of the 5 trials that did not pass, not of the other trials."
    )
    assert "--trials all" in choice.told


def test_what_is_asked_for_is_done():
    few = trials(2, 3)
    assert chosen(few, "all").opened == {0, 1, 2, 3, 4}
    assert chosen(few, "failing").opened == {2, 3, 4}
    nothing = chosen(few, "none")
    assert (nothing.opened, len(nothing.listed)) == (frozenset(), 5)
    assert nothing.told.startswith("This page holds the steps of no trial.")


def test_of_a_very_large_run_only_what_did_not_pass_is_listed():
    choice = chosen(trials(MOST_CELLS, 7), None)
    assert len(choice.listed) == 7
    assert f"lists 7 of {MOST_CELLS + 7}" in choice.told


def test_even_failures_have_a_limit_which_is_told():
    choice = chosen(trials(0, MOST_CELLS + 1), None)
    assert len(choice.opened) == MOST_FAILING
    assert f"the first {MOST_FAILING} of the {MOST_CELLS + 1} trials that did not pass" in choice.told


def test_all_means_all():
    choice = chosen(trials(MOST_CELLS, 1), "all")
    assert (len(choice.listed), len(choice.opened), choice.told) == (MOST_CELLS + 1, MOST_CELLS + 1, None)
