"""Every hard input has a test: here named after its row, or elsewhere, as the table says.

The rows are those of what was seen to break recorders in use: numbered ones for capture, and those of a table that
compares other recorders. A row may be shown by several tests together.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent

E2E, ADAPTERS, CASSETTES, REPLAY = "tests/e2e", "tests/adapters", "tests/cassettes", "tests/replay"
REPLAYED = f"{E2E}/test_isolation.py::test_parallel_trials_hold_exactly_their_own_calls_and_replay_runs_nothing"

CAPTURE = {
    6: (REPLAYED,),
    8: (f"{REPLAY}/test_trial.py::test_one_changed_message_of_forty_turns_is_named_with_both_values",),
    11: (f"{E2E}/test_isolation.py::test_a_save_that_fails_is_raised_and_the_next_trial_is_intercepted_as_usual",),
    12: (
        f"{E2E}/test_eight_places.py::test_no_key_is_in_any_file",
        f"{E2E}/test_eight_places.py::test_the_replay_matches_with_the_server_gone_and_tells_no_key",
        f"{E2E}/test_eight_places.py::test_the_server_and_the_tools_got_the_keys_and_the_agent_read_what_was_sent",
        f"{E2E}/test_secrets.py::test_no_secret_is_on_the_disk",
        f"{E2E}/test_secrets.py::test_the_replay_matches_and_differs_in_the_secrets_only",
    ),
    13: (
        f"{E2E}/test_secrets.py::test_an_e_mail_address_is_kept",
        f"{E2E}/test_secrets.py::test_the_replay_matches_and_differs_in_the_secrets_only",
    ),
    16: (
        f"{REPLAY}/test_endings.py::test_a_trial_that_captured_nothing_is_an_error",
        f"{REPLAY}/cli/test_commands.py::test_a_run_in_which_nothing_was_captured_fails",
    ),
    20: (
        f"{REPLAY}/test_trial.py::test_a_value_is_equal_and_of_the_same_type_after_replay",
        f"{REPLAY}/test_trial.py::test_not_a_number_is_still_none_after_replay",
        f"{CASSETTES}/test_values.py::test_nan_and_signs_survive",
    ),
    22: (
        f"{E2E}/test_openai.py::test_retries_of_the_sdk_are_one_call_which_a_replay_serves_once",
        f"{E2E}/test_openai.py::test_an_agents_own_retries_stay_calls_of_their_own",
        f"{ADAPTERS}/test_openai_sdk.py::test_retries_carry_their_mark",
    ),
    24: (f"{E2E}/clients/test_cells.py::test_a_cell_is_replayed_as_it_was_recorded",),
    25: (
        f"{ADAPTERS}/test_httpx.py::test_a_transport_of_the_user_is_captured_like_any_other",
        f"{ADAPTERS}/test_httpx.py::test_an_asgi_app_is_captured_and_its_own_calls_are_children",
        f"{E2E}/test_openai.py::test_a_users_own_transport_is_recorded_and_not_reached_in_replay",
    ),
    26: (
        f"{REPLAY}/test_session.py::test_http_inside_a_live_tool_is_part_of_it",
        f"{REPLAY}/test_session.py::test_what_a_sub_agent_asks_over_http_does_not_reach_the_network",
    ),
    30: (
        f"{REPLAY}/test_trial.py::test_a_request_is_kept_as_it_was_when_it_was_made",
        f"{CASSETTES}/test_writer.py::test_what_the_agent_edits_after_the_call_does_not_reach_the_file",
    ),
    32: (f"{E2E}/test_isolation.py::test_work_in_a_shared_pool_belongs_to_whoever_submits_it",),
    35: (f"{E2E}/test_handed_out.py::test_an_answer_of_a_class_that_is_not_loaded_is_never_handed_out",),
}

_PEERS = "tests/e2e/hard_inputs/test_peers.py"
_STREAMS = "tests/e2e/hard_inputs/test_streams.py"
_TOOLS = "tests/e2e/hard_inputs/test_tools.py"
_TRIALS = "tests/e2e/hard_inputs/test_trials.py"
_IN_ORDER = (f"{_TOOLS}::test_row_17_the_same_tool_and_the_same_request_three_times_are_served_in_recorded_order",)
_LEAKS = (
    f"{E2E}/test_eight_places.py::test_no_key_is_in_any_file",
    f"{E2E}/test_secrets.py::test_no_secret_is_on_the_disk",
)

PEERS = {
    "same tool and arguments, 3 different answers": _IN_ORDER,
    "same model request, 3 answers": _IN_ORDER,
    "read after another write history": (
        f"{_PEERS}::test_peers_a_read_after_another_history_of_writes_is_stale_and_never_the_old_answer",
        f"{_PEERS}::test_peers_a_read_after_the_same_history_of_writes_is_served",
        f"{_PEERS}::test_peers_a_skipped_read_before_a_write_leaves_the_one_after_it_exact",
    ),
    "gather, calls started in other order": (
        f"{_TRIALS}::test_row_18_gathered_tools_whose_calls_start_in_another_order_are_served_by_key",
    ),
    "gather, jitter before the call": (
        f"{_PEERS}::test_peers_gathered_calls_with_jitter_before_each_are_served_by_key",
    ),
    "exceptions: ValueError and custom(code)": (
        f"{_PEERS}::test_peers_a_value_error_and_an_own_exception_with_a_code_are_caught_as_they_were",
    ),
    "stream cut after 3 of 10 chunks": (
        f"{_PEERS}::test_peers_a_stream_cut_after_3_of_10_chunks_gives_3_and_drains_nothing",
    ),
    "13 odd values": (f"{_PEERS}::test_peers_13_odd_values_in_one_answer_come_back_equal_and_of_the_same_type",),
    "two trials in two threads": (
        f"{_TRIALS}::test_row_05_of_4_trials_at_once_each_cassette_holds_exactly_its_8_calls",
        REPLAYED,
    ),
    "tools in inner ThreadPool, replay": (REPLAYED,),
    "kill -9 after 5 calls": (
        f"{_TRIALS}::test_row_09_of_a_process_that_dies_after_5_calls_5_are_readable",
        f"{E2E}/test_killed.py::test_killed_at_any_moment_every_call_that_had_returned_is_readable_and_the_run_goes_on",
    ),
    "leaked: Authorization header": _LEAKS,
    "leaked: sk- key in request or response body": _LEAKS,
    "leaked: password argument, api_key in tool result": _LEAKS,
    "leaked: card number in prompt": (
        f"{_PEERS}::test_peers_a_card_number_in_a_prompt_is_kept_unless_a_rule_takes_it_away",
        f"{CASSETTES}/test_personal.py::test_personal_data_is_replaced",
    ),
    "replay still equal after redaction": (
        f"{E2E}/test_secrets.py::test_the_replay_matches_and_differs_in_the_secrets_only",
        f"{REPLAY}/importers/test_airline_redaction.py",
    ),
    "unrecorded model request in replay": (
        f"{_PEERS}::test_peers_an_unrecorded_model_request_is_refused_and_explained",
        f"{_TRIALS}::test_row_15_with_no_recording_of_it_not_one_of_40_calls_reaches_the_server",
    ),
    "unrecorded tool args": (f"{_PEERS}::test_peers_unrecorded_arguments_of_a_tool_are_refused_and_explained",),
    "HTTP: a stream stays one": (
        f"{_STREAMS}::test_row_01_each_of_20_chunks_arrives_before_the_next_is_sent_and_all_are_kept_with_their_times",
    ),
}

NUMBERED = re.compile(r"test_row_(\d\d)_\w+")


@functools.cache
def names_in(path):
    """The names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_")]


def named_here():
    """The numbered rows that have tests of their own in this folder."""
    files = sorted(HERE.glob("test_*.py"))
    found = (NUMBERED.fullmatch(name) for path in files for name in names_in(str(path.relative_to(ROOT))))
    return {int(match[1]) for match in found if match}


def test_every_row_of_capture_is_shown():
    assert named_here() | CAPTURE.keys() == set(range(1, 36))


@pytest.mark.parametrize("named", sorted({test for tests in (*CAPTURE.values(), *PEERS.values()) for test in tests}))
def test_a_test_of_the_table_exists_once(named):
    path, _, name = named.partition("::")
    assert (ROOT / path).is_file()
    assert names_in(path).count(name) == 1 if name else names_in(path)


def test_the_rows_of_peers_in_this_folder_are_in_the_table():
    shown = {test for tests in PEERS.values() for test in tests}
    own = {f"{_PEERS}::{name}" for name in names_in(_PEERS)}
    assert own <= shown
