"""Every hard case of freezing has a test: the table says which, by the case's number.

The cases fix what a frozen call gets where a live model does something else than was recorded.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

REPLAY, E2E = "tests/replay", "tests/e2e"
WORLDS = f"{REPLAY}/test_worlds.py"
SESSION = f"{REPLAY}/test_session.py"
EXTENDING = f"{REPLAY}/test_extending.py"
MISDECLARED = f"{REPLAY}/test_misdeclared.py"
VALUES = f"{E2E}/hard_inputs/test_values.py"
COUNTERPARTS = f"{REPLAY}/test_counterparts.py"

CASES = {
    "1": (f"{WORLDS}::test_1_a_read_after_its_write",),
    "2": (f"{WORLDS}::test_2_a_read_asked_twice_with_no_write_between",),
    "3": (
        f"{WORLDS}::test_3_a_read_from_before_a_write_is_never_served_after_it",
        f"{SESSION}::test_a_read_after_another_history_of_writes_is_stale_and_never_the_old_answer",
    ),
    "4": (
        f"{WORLDS}::test_4_another_resource_counts_only_if_both_are_declared",
        f"{SESSION}::test_declared_resources_that_do_not_meet_keep_the_answer",
    ),
    "5": (f"{WORLDS}::test_5_writes_in_another_order",),
    "5b": (f"{WORLDS}::test_5b_a_write_without_reads_reads_everything",),
    "6": (f"{WORLDS}::test_6_a_world_that_drifted_is_never_mixed",),
    "6b": (f"{WORLDS}::test_6b_an_answer_is_borrowed_from_one_that_does_not_disagree",),
    "6c": (f"{WORLDS}::test_6c_what_a_write_returned_is_part_of_the_context",),
    "6d": (f"{WORLDS}::test_6d_one_that_disagrees_with_what_was_served_may_not_lend",),
    "7": (f"{WORLDS}::test_7_once_exact_then_repeated",),
    "8": (
        f"{WORLDS}::test_8_an_unknown_call_counts_as_a_write",
        f"{SESSION}::test_an_unknown_call_counts_as_a_write_so_each_has_a_context_of_its_own",
    ),
    "8b": (
        f"{WORLDS}::test_8b_an_unknown_call_between_is_a_miss_until_both_are_declared",
        f"{REPLAY}/test_effects.py::test_8b_a_lookup_after_another_unknown_call_is_a_miss_until_both_are_declared",
    ),
    "8c": (
        f"{SESSION}::test_a_miss_ends_the_trial_whatever_the_agent_catches",
        f"{SESSION}::test_after_a_miss_no_call_is_answered_not_even_a_live_one",
        f"{SESSION}::test_a_loop_of_trials_goes_on_with_an_ordinary_exception",
        f"{SESSION}::test_a_group_of_exceptions_is_not_what_leaves_the_block",
    ),
    "9": (
        f"{WORLDS}::test_9_an_error_is_an_outcome",
        f"{SESSION}::test_an_error_replays_as_the_same_error_with_its_fields",
        f"{SESSION}::test_a_frozen_error_applies_no_patch",
    ),
    "10": (f"{WORLDS}::test_10_never_by_position", f"{SESSION}::test_never_by_position"),
    "11": (
        f"{SESSION}::test_on_miss_live_refuses_a_write",
        f"{EXTENDING}::test_11_a_write_that_is_missing_is_refused_unless_named",
    ),
    "12": (
        f"{EXTENDING}::test_12_a_read_that_is_missing_is_called_once_in_each_world_and_serves_its_later_trials",
        f"{EXTENDING}::test_an_extended_answer_says_whose_it_is",
    ),
    "13": (f"{SESSION}::test_a_frozen_write_applies_its_patch_so_that_the_final_state_is_known",),
    "14": (f"{SESSION}::test_a_patch_that_does_not_fit_is_stale_and_changes_nothing",),
    "14b": (f"{WORLDS}::test_14b_overlapping_writes_share_the_change_of_the_tracked_state",),
    "15": (
        f"{WORLDS}::test_15_writes_that_overlapped_need_the_same_start_order",
        f"{WORLDS}::test_15_disjoint_writes_that_overlapped_are_exact",
        f"{WORLDS}::test_15_two_blind_writes_of_one_resource_clash",
    ),
    "15b": (f"{WORLDS}::test_15b_a_read_while_a_write_was_in_flight_is_never_served",),
    "16": (
        f"{MISDECLARED}::test_16_it_is_told_when_it_is_recorded_with_the_tools_name",
        f"{MISDECLARED}::test_16_a_run_tells_it_too",
        f"{MISDECLARED}::test_16_the_command_says_what_to_declare",
    ),
    "17": (
        f"{COUNTERPARTS}::test_17_a_renamed_tool_is_told_with_the_name_to_declare_it_under",
        f"{COUNTERPARTS}::test_17_a_new_optional_argument_is_told_with_the_rule_that_declares_it",
    ),
    "18": (
        f"{WORLDS}::test_18_a_live_write_enters_the_context",
        f"{SESSION}::test_writes_that_are_live_by_policy_enter_the_contexts_of_frozen_reads",
    ),
    "19": (
        f"{REPLAY}/test_clock_cases.py::test_19_a_recorded_clock_is_frozen_with_everything",
        f"{REPLAY}/test_clock_cases.py::test_19_without_it_the_divergence_names_the_clock",
    ),
    "20": (
        f"{E2E}/test_fork.py::test_nobody_is_asked_before_the_step",
        f"{REPLAY}/branching/test_forking.py::test_steps_before_the_fork_do_not_run_and_the_others_do",
        f"{REPLAY}/branching/test_forking.py::test_an_edit_changes_what_the_agent_is_told",
        f"{REPLAY}/cli/test_fork_command.py::test_the_same_fork_twice_finds_the_first",
    ),
    "21": (
        f"{EXTENDING}::test_21_a_read_from_a_world_that_lacks_a_frozen_write_is_refused_and_the_write_named",
        f"{SESSION}::test_on_miss_live_refuses_a_read_from_a_world_that_lacks_the_frozen_writes",
        f"{SESSION}::test_on_miss_live_reads_the_tracked_state_because_frozen_writes_reach_it",
    ),
    "22": (
        f"{REPLAY}/importers/test_taubench.py::test_an_id_used_twice_does_not_mix_results",
        f"{REPLAY}/importers/test_taubench.py::test_parallel_calls_are_paired_by_id_and_equal_ids_by_order",
    ),
    "23": (
        f"{WORLDS}::test_23_a_span_is_never_served_and_what_is_inside_is",
        f"{SESSION}::test_a_sub_agent_is_a_span_it_runs_and_what_is_inside_is_answered",
    ),
    "24": (
        f"{REPLAY}/test_trial.py::test_a_cancelled_call_waits_until_its_caller_cancels_it_again",
        f"{VALUES}::test_row_19_a_cancelled_call_waits_for_the_caller_to_cancel_so_that_a_timeout_is_one_again",
    ),
    "25": (
        f"{WORLDS}::test_25_a_local_write_does_not_touch_the_outside",
        f"{SESSION}::test_live_writes_on_the_tracked_state_do_not_touch_the_outside",
    ),
}

NUMBERS = [*map(str, range(1, 26)), "5b", "6b", "6c", "6d", "8b", "8c", "14b", "15b"]


@functools.cache
def names_in(path):
    """The names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_")]


def test_every_case_is_shown():
    assert CASES.keys() == set(NUMBERS)


@pytest.mark.parametrize("named", sorted({test for tests in CASES.values() for test in tests}))
def test_a_test_of_the_table_exists_once(named):
    path, _, name = named.partition("::")
    assert names_in(path).count(name) == 1
