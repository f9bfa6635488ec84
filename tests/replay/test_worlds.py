"""The hard cases of freezing (the numbers are theirs), properties over random worlds, and the airline recordings."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from cassettes.canonical import key_of
from cassettes.model import Call, Error, Interaction, Origin, Patch, TrialId, Value
from replay.effects import AS_DECLARED, Effects, effects_in
from replay.importers.taubench import read_results
from replay.leave_one_out import Coverage, leave_one_out
from replay.proposing import effects_text, proposals
from replay.recording import PastWrite, Recording, context_of, digest_of
from replay.worlds import Found, Missing, World

AIRLINE = Path(__file__).parents[2].parent / "shared" / "data" / "taubench" / "gpt-4o-airline.json"


def tool(name, effect="read", **options):
    arguments = {k: options.pop(k) for k in [*options] if k not in {"external", "reads", "writes", "actor", "kind"}}
    return Call(options.pop("kind", "tool"), name, arguments, effect=effect, **options)


def r(x, **options):
    return tool("read", "read", x=x, **options)


def w(x, v, **options):
    return tool("write", "write", x=x, v=v, **options)


def declared_r(x):
    return r(x, reads=(x,))


def declared_w(x, v):
    return w(x, v, reads=(x,), writes=(x,))


def sequence(*pairs, trial=0):
    """A recording in which each call ended before the next began; an outcome may be an exception."""
    return overlapping(*((call, outcome, 2 * i, 2 * i + 1) for i, (call, outcome) in enumerate(pairs)), trial=trial)


def overlapping(*parts, trial=0, patches=()):
    """A recording of (call, outcome, started, ended)."""
    interactions = [
        Interaction(
            step,
            call,
            Error(outcome) if isinstance(outcome, BaseException) else Value(outcome),
            started,
            ended,
            patch=Patch((((call.name,), None, b"\x01"),)) if step in patches else None,
        )
        for step, (call, outcome, started, ended) in enumerate(parts)
    ]
    return Recording(TrialId("baseline", "t", trial), interactions)


class Live:
    """A live run with every tool frozen: what a session does with a world."""

    def __init__(self, *recordings):
        self.world = World(recordings)
        self.writes = []
        self.clock = 0

    def ask(self, call):
        self.clock += 2
        key = key_of(call)
        found = self.world.answer(call, key, context_of(call, self.clock, self.writes))
        if isinstance(found, Found) and call.may_write:
            self.happened(call, found.entry.interaction.outcome)
        return found

    def happened(self, call, outcome):
        self.writes.append(PastWrite(call, key_of(call), digest_of(outcome), self.clock, self.clock + 1))

    def run(self, *calls):
        """(verdict, answer) of each call; the first miss ends the trial, as `fail` does."""
        seen = []
        for call in calls:
            found = self.ask(call)
            if isinstance(found, Missing):
                return [*seen, found.verdict]
            outcome = found.entry.interaction.outcome
            seen.append((found.verdict, outcome.error if isinstance(outcome, Error) else outcome.value))
        return seen


def live(recordings, *calls):
    return Live(*recordings).run(*calls)


# -- the cases ---------------------------------------------------------------------------------------------------------


def test_1_a_read_after_its_write():
    recording = sequence((r("x"), 0), (w("x", 1), "ok"), (r("x"), 1))
    assert live([recording], w("x", 1), r("x")) == [("own", "ok"), ("own", 1)]


def test_2_a_read_asked_twice_with_no_write_between():
    recording = sequence((r("x"), 0), (w("x", 1), "ok"), (r("x"), 1))
    assert live([recording], r("x"), r("x")) == [("own", 0), ("repeated", 0)]


def test_3_a_read_from_before_a_write_is_never_served_after_it():
    recording = sequence((r("x"), 0), (w("x", 1), "ok"))
    assert live([recording], w("x", 1), r("x")) == [("own", "ok"), "stale"]


def test_4_another_resource_counts_only_if_both_are_declared():
    plain = sequence((r("x"), 0), (w("y", 5), "ok"))
    assert live([plain], w("y", 5), r("x")) == [("own", "ok"), "stale"]
    declared = sequence((declared_r("x"), 0), (declared_w("y", 5), "ok"))
    assert live([declared], declared_w("y", 5), declared_r("x")) == [("own", "ok"), ("own", 0)]
    half = sequence((r("x"), 0), (declared_w("y", 5), "ok"))
    assert live([half], declared_w("y", 5), r("x")) == [("own", "ok"), "stale"]


def test_5_writes_in_another_order():
    plain = sequence((w("x", 1), "ok"), (w("y", 2), "ok"))
    assert live([plain], w("y", 2), w("x", 1)) == ["stale"]
    declared = sequence((declared_w("x", 1), "ok"), (declared_w("y", 2), "ok"))
    assert live([declared], declared_w("y", 2), declared_w("x", 1)) == [("own", "ok"), ("own", "ok")]


def test_5b_a_write_without_reads_reads_everything():
    a, b = (tool("refund", "write", order=order, writes=(f"order:{order}",)) for order in "ab")
    assert live([sequence((a, 10), (b, 0))], b, a) == ["stale"]


def test_6_a_world_that_drifted_is_never_mixed():
    q = tool("q", x="x")
    a, b = sequence((r("x"), 0), (q, "low"), trial=0), sequence((r("x"), 7), (q, "high"), trial=1)
    for _ in range(3):
        assert live([a, b], r("x"), q) == [("own", 0), ("own", "low")]
        assert live([b, a], r("x"), q) == [("own", 7), ("own", "high")]


def test_6b_an_answer_is_borrowed_from_one_that_does_not_disagree():
    q = tool("q", z="z")
    a, b = sequence((r("x"), 0), trial=0), sequence((q, 1), trial=1)
    answers = Live(a, b)
    assert answers.run(r("x"), q) == [("own", 0), ("borrowed", 1)]
    assert answers.ask(q).recording is b


def test_6c_what_a_write_returned_is_part_of_the_context():
    a, b = sequence((w("x", 1), "locked"), trial=0), sequence((w("x", 1), "ok"), (r("x"), 1), trial=1)
    assert live([a, b], w("x", 1), r("x")) == [("own", "locked"), "stale"]


def test_6d_one_that_disagrees_with_what_was_served_may_not_lend():
    q = tool("q", x="x")
    a, b = sequence((r("x"), 0), trial=0), sequence((r("x"), 7), (q, "high"), trial=1)
    answers = Live(a, b)
    assert answers.run(r("x"), q) == [("own", 0), "missed"]
    assert "disagrees" in answers.ask(q).why


def test_6e_what_a_lender_contradicts_is_not_served_after_it_lent():
    q = tool("q", x="x")
    a, b = sequence((r("x"), 0), trial=0), sequence((r("x"), 7), (q, "high"), trial=1)
    assert live([a, b], q, r("x")) == [("borrowed", "high"), ("borrowed", 7)]
    c = sequence((tool("p"), 1), (r("x"), 0), trial=2)
    assert live([a, b, c], q, tool("p")) == [("borrowed", "high"), ("borrowed", 1)]
    assert live([a, b, c], q, r("x"), tool("p")) == [("borrowed", "high"), ("borrowed", 7), "missed"]


def test_6f_two_that_disagree_with_each_other_do_not_both_lend():
    p, q = tool("p"), tool("q")
    a = sequence((r("y"), 5), trial=0)
    b, c = sequence((r("x"), 0), (p, "low"), trial=1), sequence((r("x"), 7), (q, "high"), trial=2)
    assert live([a, b, c], r("x"), p, q) == [("borrowed", 0), ("borrowed", "low"), "missed"]
    # Nothing that was served shows that b and c disagree until r(x) is asked; then neither is preferred.
    assert live([a, b, c], p, q, r("x")) == [("borrowed", "low"), ("borrowed", "high"), "missed"]


def test_7_once_exact_then_repeated():
    assert live([sequence((r("x"), 0))], *[r("x")] * 3) == [("own", 0), ("repeated", 0), ("repeated", 0)]


def test_8_an_unknown_call_counts_as_a_write():
    flip = tool("flip", "unknown")
    verdicts = live([sequence((flip, 1), (flip, 0))], flip, flip, flip)
    assert verdicts == [("own", 1), ("own", 0), "stale"]


def test_8b_an_unknown_call_between_is_a_miss_until_both_are_declared():
    lookup, other = tool("lookup", "unknown", x="x"), tool("other", "unknown")
    answers = Live(sequence((lookup, 5)))
    assert answers.ask(other).verdict == "missed"
    answers.happened(other, Value(None))
    assert answers.ask(lookup).verdict == "stale"
    lookup, other = evolve(lookup, effect="read"), evolve(other, effect="read")
    answers = Live(sequence((lookup, 5)))
    answers.ask(other)
    assert answers.run(lookup) == [("own", 5)]


def test_9_an_error_is_an_outcome():
    locked = LookupError("locked")
    recording = sequence((w("x", 1), locked), (r("x"), 0))
    assert live([recording], w("x", 1), r("x")) == [("own", locked), ("own", 0)]


def test_10_never_by_position():
    flights, hotels = tool("search", what="flights"), tool("search", what="hotels")
    recording = sequence((flights, "F"), (hotels, "H"))
    assert live([recording], hotels, flights) == [("own", "H"), ("own", "F")]


def test_11_a_write_that_is_nowhere_recorded():
    found = Live(sequence((r("x"), 0))).ask(tool("refund", "write"))
    assert (found.verdict, found.nearest) == ("missed", None)
    assert "no recording of this task holds a call of refund" in found.why


def test_12_a_read_that_is_nowhere_recorded_names_the_nearest():
    found = Live(sequence((r("x"), 0))).ask(r("z"))
    assert (found.verdict, found.nearest.interaction.step) == ("missed", 0)
    assert "with these arguments" in found.why


def test_14b_overlapping_writes_share_the_change_of_the_tracked_state():
    parts = (w("x", 1), "ok", 0, 2), (w("y", 2), "ok", 1, 3)
    for patches in ({0}, {1}, {0, 1}):
        found = Live(overlapping(*parts, patches=patches)).ask(w("x", 1))
        assert found.verdict == "stale"
        assert "share the change" in found.why
    disjoint = (declared_w("x", 1), "ok", 0, 2), (declared_w("y", 2), "ok", 1, 3)
    assert live([overlapping(*disjoint, patches={1})], declared_w("x", 1)) == ["stale"]


def test_15_writes_that_overlapped_need_the_same_start_order():
    recording = overlapping((w("y", 1), "a", 0, 2), (w("y", 2), "b", 1, 3), (r("y"), 2, 4, 5))
    same = live([recording], w("y", 1), w("y", 2), r("y"))
    assert same == [("raced", "a"), ("raced", "b"), ("raced", 2)]
    assert live([recording], w("y", 2), w("y", 1)) == ["stale"]
    assert live([recording], w("y", 1), r("y")) == [("raced", "a"), "stale"]


def test_15_disjoint_writes_that_overlapped_are_exact():
    recording = overlapping(
        (declared_w("x", 1), "a", 0, 2), (declared_w("y", 2), "b", 1, 3), (declared_r("y"), 2, 4, 5)
    )
    exact = live([recording], declared_w("y", 2), declared_r("y"), declared_w("x", 1))
    assert exact == [("own", "b"), ("own", 2), ("own", "a")]


def test_15_two_blind_writes_of_one_resource_clash():
    one, two = (w("y", v, reads=(), writes=("y",)) for v in (1, 2))
    recording = overlapping((one, "a", 0, 2), (two, "b", 1, 3), (declared_r("y"), 2, 4, 5))
    assert live([recording], one, two, declared_r("y")) == [("own", "a"), ("own", "b"), ("raced", 2)]


@pytest.mark.parametrize("times", [((0, 3), (1, 2)), ((1, 2), (0, 3))])
def test_15b_a_read_while_a_write_was_in_flight_is_never_served(times):
    recording = overlapping((w("y", 1), "ok", *times[0]), (r("y"), 1, *times[1]))
    found = Live(recording).ask(r("y"))
    assert found.verdict == "missed"
    assert "overlapped" in found.why
    assert live([recording], w("y", 1), r("y")) == [("own", "ok"), "missed"]


def test_a_read_beside_a_write_that_it_cannot_notice_is_exact():
    recording = overlapping((declared_w("y", 1), "ok", 0, 3), (declared_r("x"), 7, 1, 2))
    assert live([recording], declared_r("x")) == [("own", 7)]


def test_18_a_live_write_enters_the_context():
    answers = Live(sequence((r("x"), 0)))
    answers.happened(w("x", 1), Value("ok"))
    assert answers.run(r("x")) == ["stale"]


def test_23_a_span_is_never_served_and_what_is_inside_is():
    outer, inner = tool("ask_expert", "unknown", question="?"), r("x")
    model = Call("model", "m", {"messages": []}, history="messages")
    recording = Recording(
        TrialId("baseline", "t", 0),
        [
            Interaction(0, outer, Value("done"), 0, 5),
            Interaction(1, model, Value("call read"), 1, 2, parent=0),
            Interaction(2, inner, Value(0), 3, 4, parent=0),
            Interaction(3, r("y"), Value(9), 6, 7),
        ],
    )
    answers = Live(recording)
    assert answers.world.is_span(key_of(outer))
    assert not answers.world.is_span(key_of(inner))
    assert isinstance(answers.ask(outer), Missing)
    assert answers.run(inner, r("y")) == [("own", 0), ("own", 9)]


def test_25_a_local_write_does_not_touch_the_outside():
    quote, update = tool("quote", z="z"), tool("db_update", "write", external=False)
    answers = Live(sequence((quote, 5), (update, None)))
    answers.happened(update, Value(None))
    assert answers.run(quote) == [("own", 5)]
    outside = evolve(update, external=True)
    answers = Live(sequence((quote, 5), (outside, None)))
    assert answers.run(outside, quote) == [("own", None), "stale"]


def test_what_an_earlier_write_handed_on_is_part_of_the_context():
    """A copy of x to y returns the same, whatever x was: a read of y must not be borrowed from another history."""
    copy = tool("copy", "write", reads=("x",), writes=("y",))
    a = sequence((declared_w("x", 5), "ok"), (copy, "ok"), trial=0)
    b = sequence((declared_w("x", 7), "ok"), (copy, "ok"), (declared_r("y"), 7), trial=1)
    assert live([a, b], declared_w("x", 5), copy, declared_r("y")) == [("own", "ok"), ("own", "ok"), "stale"]
    assert live([a, b], declared_w("x", 7), copy, declared_r("y"))[-1] == ("borrowed", 7)


def test_a_write_asked_more_often_than_recorded_is_missed():
    append = tool("append", "write", reads=(), writes=("log",))
    answers = Live(sequence((append, 1), (append, 2)))
    assert answers.run(append, append, append) == [("own", 1), ("own", 2), "missed"]
    assert "as often as it is recorded" in answers.ask(append).why


def test_a_pure_tool_needs_its_key_alone():
    add = tool("add", "pure", a=1)
    recording = sequence((w("x", 1), "ok"), (add, 3), (add, 3))
    assert live([recording], add, add, add) == [("own", 3), ("own", 3), ("repeated", 3)]


def test_model_calls_match_by_key_in_recorded_order():
    model = Call("model", "m", {"messages": []}, history="messages")
    recording = sequence((model, "a"), (w("x", 1), "ok"), (model, "b"))
    assert live([recording], model, model, model) == [("own", "a"), ("own", "b"), "missed"]


def test_another_actor_is_another_call():
    recording = sequence((r("x", actor="user"), 0))
    assert live([recording], r("x")) == ["missed"]


def test_no_recording_at_all():
    world = World([])
    assert world.name == "no recording"
    assert world.answer(r("x"), key_of(r("x")), ()).verdict == "missed"


# -- any program on any little world -----------------------------------------------------------------------------------

NAMES = ("a", "b", "c")


def declared(call, declare):
    return call if declare else evolve(call, reads=None, writes=None)


def read_of(x):
    return tool("read", "read", x=x, reads=(x,))


def sum_of():
    return tool("sum", "read")


def set_of(x, v):
    return tool("set", "write", x=x, v=v, reads=(), writes=(x,))


def swap_of(x, v):
    return tool("swap", "write", x=x, v=v, reads=(x,), writes=(x,))


def copy_of(x, y):
    return tool("copy", "write", x=x, y=y, reads=(x,), writes=(y,))


def unknown_of(x):
    return tool("bump", "unknown", x=x, reads=(x,), writes=(x,))


def act(call, state):
    """What the little world does."""
    a = call.arguments
    match call.name:
        case "read":
            return state[a["x"]]
        case "sum":
            return sum(state.values())
        case "set":
            state[a["x"]] = a["v"]
            return "ok"
        case "swap":
            old, state[a["x"]] = state[a["x"]], a["v"]
            return old
        case "copy":
            state[a["y"]] = state[a["x"]]
            return "ok"
        case "bump":
            state[a["x"]] += 1
            return state[a["x"]]
    raise AssertionError(call)


names, values = st.sampled_from(NAMES), st.integers(0, 2)
calls = st.one_of(
    st.builds(read_of, names),
    st.builds(sum_of),
    st.builds(set_of, names, values),
    st.builds(swap_of, names, values),
    st.builds(copy_of, names, names),
    st.builds(unknown_of, names),
)
programs = st.lists(calls, max_size=8)
states = st.fixed_dictionaries(dict.fromkeys(NAMES, values))


@st.composite
def related(draw):
    """Recorded programs and a live one over few calls, so that they often agree for a while."""
    few = st.lists(st.sampled_from(draw(st.lists(calls, min_size=1, max_size=5))), max_size=7)
    return draw(st.lists(st.tuples(states, few), min_size=1, max_size=3)), draw(few)


@settings(max_examples=600, deadline=None)
@given(related(), st.booleans())
def test_an_answer_is_what_its_recorded_world_would_have_answered(made, declare):
    recorded, program = made
    recordings, initial = [], {}
    for number, (state, calls_made) in enumerate(recorded):
        now = dict(state)
        pairs = [(declared(call, declare), act(call, now)) for call in calls_made]
        recordings.append(sequence(*pairs, trial=number))
        initial[number] = state
    answers, writes, served = Live(*recordings), [], []
    for call in program:
        found = answers.ask(declared(call, declare))
        if isinstance(found, Missing):
            continue  # it never happened: neither here nor in the recorded worlds
        lender = found.recording.trial.index
        state = dict(initial[lender])
        for write in writes:
            act(write, state)
        assert found.entry.interaction.outcome == Value(act(call, state))
        if found.verdict == "own":
            assert lender == 0
        if call.may_write:
            writes.append(call)
        served.append((call, found))
    again = Live(*recordings)
    for call, found in served:
        repeated = again.ask(declared(call, declare))
        assert (repeated.verdict, repeated.entry) == (found.verdict, found.entry)


@settings(max_examples=100, deadline=None)
@given(states, programs, st.booleans())
def test_the_recorded_program_is_answered_whole(state, program, declare):
    now = dict(state)
    pairs = [(declared(call, declare), act(call, now)) for call in program]
    seen = live([sequence(*pairs)], *(call for call, _ in pairs))
    assert [answer for _, answer in seen] == [outcome for _, outcome in pairs]
    assert {verdict for verdict, _ in seen} <= {"own"}


# -- the airline recordings --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def airline():
    if not AIRLINE.exists():
        pytest.skip(f"{AIRLINE} is not here: the tau-bench recordings are no part of the project")
    tasks = defaultdict(dict)
    for trial in read_results(AIRLINE).trials:
        tools = [e for e in trial.trajectory.events if isinstance(e, Interaction) and e.call.kind == "tool"]
        tasks[trial.task][trial.index] = tools
    return tasks


def counted(tasks, effects=AS_DECLARED):
    """Each trial against the other three of its task, all tools frozen; a miss is answered by what was recorded."""
    found = []
    for task, trials in tasks.items():
        recordings = [
            Recording(TrialId("airline", task, index), trials[index], effects=effects) for index in sorted(trials)
        ]
        found += leave_one_out(recordings)
    return Coverage(tuple(found)).to_dict()


def test_an_answer_that_a_model_made_up_is_never_counted_as_exact():
    def recorded(trial, verdict):
        answers = Interaction(0, r("a"), Value("seen"), 0, 1), Interaction(1, r("b"), Value("made"), 2, 3)
        return Recording(TrialId("baseline", "t", trial), [answers[0], evolve(answers[1], origin=Origin(verdict))])

    one, other = leave_one_out([recorded(0, "live"), recorded(1, "emulated")])
    assert (one.own, one.emulated, one.whole) == (1, 1, True)
    assert (other.own, other.emulated) == (2, 0)
    told = Coverage((one, other)).to_dict()
    assert (told["calls"], told["exact"], told["emulated"]) == (4, 3, 1)


def test_the_airline_recordings_with_declared_effects(airline):
    counts = counted(airline)
    assert counts["other"] == 0
    assert {name: counts[name] for name in ("calls", "exact", "own", "borrowed", "stale", "missed")} == {
        "calls": 1164,
        "exact": 710,
        "own": 519,
        "borrowed": 191,
        "stale": 55,
        "missed": 399,
    }
    assert [counts[name] for name in ("whole", "whole_with_write", "with_write")] == [55, 22, 118]


def test_the_airline_recordings_with_no_effect_declared(airline):
    counts = counted(airline, Effects(forget=True))
    assert counts["other"] == counts["repeated"] == 0
    assert [counts[name] for name in ("exact", "stale", "missed", "whole")] == [520, 245, 399, 45]


def test_the_airline_recordings_with_the_effects_that_are_proposed(airline):
    undeclared = [
        Recording(TrialId("airline", task, index), tools, effects=Effects(forget=True))
        for task, trials in airline.items()
        for index, tools in trials.items()
    ]
    proposed = effects_in(tomllib.loads(effects_text(proposals(undeclared))), "the proposals")
    assert [counted(airline, proposed)[name] for name in ("exact", "stale", "missed", "other")] == [710, 55, 399, 0]
