"""Full-text search over the steps: what is found, what is left out, and that the index follows the files."""

from __future__ import annotations

import contextlib
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trialtape as tt
from cassettes.errors import BadInput
from cassettes.model import Call, Ending, Error, Mark, Reply, ToolRequest, Value
from replay.home import Home
from replay.query import parsed
from replay.search import Filters, search
from replay.store import Store
from tests import factories
from tests.replay.recorded import keep, read, write
from tests.strategies import texts


def tool(step, call, value=None, **options):
    return factories.interaction(step, value if isinstance(value, Error) else Value(value), call=call, **options)


def model(step, messages, text=None, *, calls=(), actor="agent"):
    call = Call("model", "gpt-x", {"messages": messages}, actor=actor, history="messages", endpoint="e")
    return factories.interaction(step, Value({"raw": "rawbody"}), call=call, reply=Reply(text=text, tool_calls=calls))


@pytest.fixture
def store(home):
    with Store(home) as store:
        yield store


def found(store, text, limit=50, **filters):
    assert store.refresh() == []
    return [(hit.trial, hit.step) for hit in search(store, parsed(text), Filters(**filters), limit).hits]


USER = [{"role": "system", "content": "policy zebra"}, {"role": "user", "content": "I lost my umbrella"}]


@pytest.fixture
def told(home, store):
    """One trial that says something in every place that is searched."""
    steps = [
        model(0, USER, calls=(ToolRequest("c", "find_item", '{"what": "parasol"}'),)),
        tool(1, read("find_item", what="parasol"), {"shelf": "seven"}),
        tool(2, write("hand_out", item=1), Error(ValueError("no such shelf"))),
        model(3, [*USER, {"role": "user", "content": [{"type": "text", "text": "please hurry"}]}], "Sorry about that"),
    ]
    keep(home, "r/t#0", steps, passed=False)
    return store


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("hand_out", [2]),
        ("hand", [2]),
        ("parasol", [0, 1]),
        ("seven", [1]),
        ("ValueError shelf", [2]),
        ("sorry", [3]),
        ("umbrella", [0]),
        ("hurry", [3]),
        ("SORRY", [3]),
    ],
)
def test_names_arguments_results_errors_replies_and_what_the_user_said_are_found(told, text, steps):
    assert sorted(step for _, step in found(told, text)) == steps


@pytest.mark.parametrize("text", ["zebra", "rawbody", "nothing", "hand seven"])
def test_what_is_not_said_in_one_step_is_not_found(told, text):
    assert found(told, text) == []


def test_messages_that_were_marked_are_found_at_the_step_that_came_next(home, store):
    marks = [
        Mark("message", 0.0, {"role": "user", "content": "first words", "step": 0}),
        Mark("message", 0.0, {"role": "assistant", "content": "last words", "step": 2}),
        Mark("message", 0.0, {"role": "user", "content": None, "step": 1}),
    ]
    keep(home, "r/t#0", [read(), read()], marks=marks)
    assert found(store, "first") == [("r/t#0", 0)]
    assert found(store, "last") == [("r/t#0", 1)]


def test_what_a_simulated_user_said_is_found_once_where_its_model_replied(home, store):
    steps = [
        model(0, [{"role": "user", "content": "play a customer"}], "my parcel is late", actor="user"),
        model(1, [{"role": "user", "content": "my parcel is late"}], "let me look"),
    ]
    keep(home, "r/t#0", steps)
    assert found(store, "parcel") == [("r/t#0", 0)]


def test_a_word_after_a_written_line_break_is_found_and_the_column_stays_as_it_is(home, store):
    inner = '{"note": "Total\\nRefund\\\\n"}'
    steps = [tool(0, read("think", thought="Total\nRefund 17"), inner), tool(1, read("think", thought="plain"), "x")]
    keep(home, "r/t#0", steps)
    assert found(store, "refund") == found(store, '"total refund"') == [("r/t#0", 0)]
    rows = store.rows("SELECT arguments, result, unescaped IS NULL AS plain FROM interactions ORDER BY step")
    assert rows[0]["arguments"] == '{"thought": "Total\\nRefund 17"}'
    assert rows[0]["result"] == inner
    assert [row["plain"] for row in rows] == [0, 1]


def test_a_beginning_with_a_sign_means_the_sign(home, store):
    keep(home, "r/t#0", [read("cancel_order"), read("cancelled"), read("get", why="cancel-order")])
    assert sorted(found(store, "cancel*")) == [("r/t#0", 0), ("r/t#0", 1), ("r/t#0", 2)]
    assert found(store, "cancel_*") == [("r/t#0", 0)]
    assert found(store, "CANCEL_*") == [("r/t#0", 0)]


@pytest.fixture
def several(home, store):
    """Trials that differ in what can be filtered by; each has the word ``parcel`` in every step."""
    failing = tool(1, write("send_parcel", parcel=2), Error(RuntimeError("parcel lost")))
    steps = [tool(0, read("get_parcel", parcel=1), "parcel"), failing]
    keep(home, "a/t#0", steps, passed=True)
    keep(home, "a/t#1", steps, passed=False)
    keep(home, "a/u#0", steps, ending=Ending("capped", "30 steps"))
    keep(home, "b/t#0", steps, ending=Ending("error", "boom", "agent"))
    keep(home, "b/t#1", steps, ending=Ending("error", "503", "infrastructure"), passed=False)
    keep(home, "b/u#0", [model(0, [], "the parcel is away")], passed=True)
    return store


@pytest.mark.parametrize(
    ("filters", "hits"),
    [
        ({}, 11),
        ({"run": "a"}, 6),
        ({"task": "u"}, 3),
        ({"run": "b", "task": "u"}, 1),
        ({"tool": "get_*"}, 5),
        ({"tool": "*_parcel"}, 10),
        ({"tool": "[!g]*"}, 5),
        ({"tool": "gpt*"}, 0),
        ({"kind": "model"}, 1),
        ({"errors": True}, 5),
        ({"failed": True}, 6),
        ({"failed": True, "errors": True, "run": "b"}, 1),
    ],
)
def test_filters_leave_out_what_does_not_fit(several, filters, hits):
    assert len(found(several, "parcel", **filters)) == hits


def test_the_limit_cuts_off_the_worst_and_all_are_counted(several):
    several.refresh()
    whole = search(several, parsed("parcel"), Filters(), 50)
    cut = search(several, parsed("parcel"), Filters(), 3)
    assert (cut.total, cut.trials, len(cut.hits)) == (11, 6, 3)
    ranks = sorted(hit.rank for hit in whole.hits)
    assert sorted(hit.rank for hit in cut.hits) == ranks[:3]


def test_hits_of_a_trial_stand_together_and_the_trial_with_the_best_one_comes_first(several):
    hits = found(several, "parcel")
    trials = list(dict.fromkeys(trial for trial, _ in hits))
    assert [trial for trial, _ in hits] == [t for t in trials for _ in range(sum(t == other for other, _ in hits))]
    best = search(several, parsed("parcel"), Filters(), 1).hits[0]
    assert hits[0] == (best.trial, best.step)


def test_the_order_is_the_same_for_an_index_made_anew(several, home):
    before = found(several, "parcel")
    several.close()
    for file in home.root.glob("trialtape.db*"):
        file.unlink()
    with Store(home) as again:
        assert found(again, "parcel") == before


def test_the_snippet_marks_what_matched_on_one_line_without_control_signs(home, store):
    said = "\x1b[31mred\x1b[0m before\nthe Umbrella,\x02 after"
    keep(home, "r/t#0", [tool(0, read(), said)])
    store.refresh()
    (hit,) = search(store, parsed("umbrella"), Filters(), 5).hits
    assert hit.snippet == ((" [31mred [0m before the ", False), ("Umbrella", True), (", after", False))
    document = hit.to_dict()
    start, end = document["matches"][0]
    assert document["snippet"][start:end] == "Umbrella"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hand_out shelf", "ValueError: no such shelf"),  # the name stands in the line already
        ("hand_out", "ValueError: no such shelf"),
        ("find_item seven", '{"shelf": "seven"}'),
        ("find_item parasol", '{"what": "parasol"}'),
    ],
)
def test_the_snippet_is_of_what_matches_most_but_not_of_the_name(told, text, shown):
    told.refresh()
    hits = search(told, parsed(text), Filters(kind="tool"), 5).hits
    assert "".join(piece for piece, _ in hits[0].snippet) == shown


def test_a_trial_that_is_gone_or_recorded_again_leaves_the_index(home, store):
    keep(home, "r/t#0", [read("get", what="umbrella")])
    keep(home, "r/t#1", [read("get", what="umbrella")])
    assert len(found(store, "umbrella")) == 2
    home.cassette(tt.TrialId("r", "t", 0)).unlink()
    assert found(store, "umbrella") == [("r/t#1", 0)]
    home.cassette(tt.TrialId("r", "t", 1)).unlink()
    keep(home, "r/t#1", [read("get", what="parasol")])
    assert found(store, "umbrella") == []
    assert found(store, "parasol") == [("r/t#1", 0)]
    shutil.rmtree(home.run("r"))
    assert found(store, "parasol") == []
    store.db.execute("INSERT INTO interactions_fts(interactions_fts, rank) VALUES ('integrity-check', 1)")


def test_the_rows_still_belong_together_after_the_file_was_vacuumed(home, store):
    for index in range(4):
        keep(home, f"r/t#{index}", [read("get", what=f"word{index}")])
    found(store, "word3")
    home.cassette(tt.TrialId("r", "t", 0)).unlink()
    store.refresh()
    store.db.conn.execute("VACUUM")
    assert found(store, "word3") == [("r/t#3", 0)]


def test_an_index_that_is_damaged_is_told(home, store):
    keep(home, "r/t#0", [read("get", what="umbrella")])
    store.refresh()
    with store.db.atomic():
        store.db.execute("DELETE FROM interactions_fts_data WHERE id > 10")
    store.close()
    with Store(home) as again, pytest.raises(BadInput, match=r"cannot be searched.*delete it"):
        search(again, parsed("umbrella"), Filters(), 5)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("search"))
    keep(home, "r/t#0", [read("cancel_order", order="17 not found AND é")], passed=False)
    with Store(home) as store:
        store.refresh()
        yield store


@given(
    st.one_of(texts, st.text('cancel_*"order: 17 AND-\0é', max_size=30)),
    st.builds(Filters, run=st.sampled_from([None, "r"]), tool=st.none() | st.text("c[!]*?-^", max_size=6)),
)
def test_no_text_raises_anything_but_bad_input(filled, text, filters):
    with contextlib.suppress(BadInput):
        search(filled, parsed(text), filters, 5)
