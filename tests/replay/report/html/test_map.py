from __future__ import annotations

import pytest
from attrs import evolve

from replay.analysis.reliability import TrialOutcome, count
from replay.report.html.facts import TrialFacts
from replay.report.html.map import MOST_CELLS, _bins, trial_map

VERDICTS = {"p": ("completed", True), "f": ("completed", False), "c": ("capped", None), "u": ("unanswered", None)}


def trials_of(tasks):
    """Trials of tasks such as ``{"a": "ppf"}``."""
    made = []
    for task, outcomes in tasks.items():
        for index, letter in enumerate(outcomes):
            ending, passed = VERDICTS[letter]
            fact = TrialFacts(
                len(made), f"r/{task}#{index}", task, index, ending, None, None, passed, 3, None, "d", {}, None
            )
            made.append(fact)
    return made


def drawn(trials, linked=None):
    counted = count(TrialOutcome(t.task, t.index, t.ending, t.cause, t.passed) for t in trials)
    return trial_map(trials, counted, {t.number for t in trials} if linked is None else linked)


def test_tasks_are_grouped_and_those_that_pass_most_come_first():
    found = drawn(trials_of({"x": "ffff", "a": "pfff", "b": "pppp", "c": "pppf", "d": "uuuu"}))
    assert [(g.name, [(r.task, r.passed, r.counted) for r in g.rows]) for g in found.groups] == [
        ("always", [("b", 4, 4)]),
        ("flips", [("c", 3, 4), ("a", 1, 4)]),
        ("never", [("x", 0, 4)]),
        ("uncounted", [("d", 0, 0)]),
    ]


def test_every_trial_is_a_cell_with_its_sign_and_its_name():
    found = drawn(trials_of({"a": "pfcu"}))
    cells = found.groups[0].rows[0].cells
    assert [cell.sign.letter for cell in cells] == ["p", "f", "c", "u"]
    assert [cell.title for cell in cells] == ["a#0: passed", "a#1: failed", "a#2: capped", "a#3: unanswered"]
    assert [(sign.name, n) for sign, n in found.legend] == [
        ("passed", 1),
        ("failed", 1),
        ("capped", 1),
        ("unanswered", 1),
    ]


def test_only_trials_that_the_page_tells_more_of_are_linked():
    cells = drawn(trials_of({"a": "pf"}), linked={1}).groups[0].rows[0].cells
    assert [cell.linked for cell in cells] == [False, True]


def test_a_capped_trial_counts_as_failed_as_in_the_numbers():
    assert drawn(trials_of({"a": "ppc"})).groups[0].name == "flips"


def test_very_many_trials_are_a_bar_per_task():
    found = drawn(trials_of({f"t{i}": "p" * 10 for i in range(MOST_CELLS // 10 + 1)}))
    assert found.form == "bars"
    assert all(row.cells == () for group in found.groups for row in group.rows)
    assert found.groups[0].rows[0].share == 1.0


def test_very_many_tasks_are_a_histogram():
    one, *_ = trials_of({"a": "p"})
    trials = [evolve(one, number=i, task=f"t{i}", passed=i % 2 == 0) for i in range(MOST_CELLS + 1)]
    found = drawn(trials)
    assert (found.form, found.groups) == ("histogram", ())
    assert [(b.name, b.tasks, round(b.share, 3)) for b in found.bins] == [("never", 2500, 1.0), ("always", 2501, 1.0)]


@pytest.mark.parametrize(
    ("passed", "bins"),
    [
        ([(0, 2), (1, 2), (1, 2), (2, 2)], {"never": 1, "1 of 2": 2, "always": 1}),
        (
            [(0, 30), (1, 30), (15, 30), (29, 30), (30, 30)],
            {"never": 1, "0 to 10%": 1, "50 to 60%": 1, "90 to 100%": 1, "always": 1},
        ),
        ([(1, 2), (3, 3)], {"50 to 60%": 1, "always": 1}),
        ([], {}),
    ],
)
def test_tasks_are_counted_by_how_often_they_pass(passed, bins):
    assert {b.name: b.tasks for b in _bins(passed) if b.tasks} == bins


def test_columns_are_as_wide_as_the_longest_name_and_the_most_cells_ask_for():
    assert drawn(trials_of({"1": "pppp"})).pitch == "pitch-140"
    assert drawn(trials_of({"lamp-and-postage": "p" * 8})).pitch == "pitch-320"
    assert drawn(trials_of({"x" * 300: "p" * 50})).pitch == "pitch-350"


def test_a_hostile_name_is_shown():
    row = drawn(trials_of({"a\u202eb\x00": "p"})).groups[0].rows[0]
    assert row.task == "a⟦U+202E⟧b␀"
    assert row.cells[0].title == "a⟦U+202E⟧b␀#0: passed"
