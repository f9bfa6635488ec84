from __future__ import annotations

import sys
from collections import Counter

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from cassettes.canonical import key_of
from cassettes.errors import Divergence
from cassettes.model import Call, Interaction, TrialId, Value
from replay import playback as module
from replay.playback import Playback
from replay.recording import Recording

TRIAL = TrialId("baseline", "t", 0)


def tool(name="f", **arguments):
    return Call("tool", name, arguments, effect="read")


def model(*messages, **arguments):
    body = {"model": "m", "messages": [{"role": "user", "content": text} for text in messages], **arguments}
    return Call("model", "m", body, endpoint="chat", history="messages")


def played(*parts, ignore=()):
    """A playback of (call, answer, started, ended); without times the calls follow each other."""
    interactions = [
        Interaction(step, part[0], Value(part[1]), *(part[2:] or (2 * step, 2 * step + 1)))
        for step, part in enumerate(parts)
    ]
    return Playback(Recording(TRIAL, interactions, ignore))


def take(source, call):
    return source.take(call, key_of(call, source.recording.ignore)).interaction.outcome.value


def diverges(source, call):
    with pytest.raises(Divergence) as raised:
        take(source, call)
    text = str(raised.value)
    assert len(text.splitlines()) < 20
    return text, raised.value.report


# -- order -------------------------------------------------------------------------------------------------------------


def test_calls_that_followed_each_other_are_asked_in_that_order():
    source = played((tool(a=1), "x"), (tool(a=2), "y"), (tool(a=1), "z"))
    assert [take(source, tool(a=a)) for a in (1, 2, 1)] == ["x", "y", "z"]
    assert source.left_over() is None


def test_a_call_is_not_eligible_before_what_it_waited_for():
    source = played((tool(a=1), "x"), (tool(a=2), "y"))
    text, report = diverges(source, tool(a=2))
    assert report["step"] == 0
    assert "the same call is recorded at step 1: it came earlier or later here" in text
    assert take(source, tool(a=1)) == "x"


def test_parallel_calls_come_in_any_order():
    parts = (tool(a=1), "x", 0, 3), (tool(a=2), "y", 1, 4), (tool(a=3), "z", 2, 5), (tool(a=4), "after", 6, 7)
    for order in ((1, 2, 3), (3, 2, 1), (2, 3, 1)):
        source = played(*parts)
        for a in order:
            diverges(source, tool(a=4))
            take(source, tool(a=a))
        assert take(source, tool(a=4)) == "after"


def test_equal_parallel_calls_are_served_in_start_order_each_once():
    source = played((tool(), "x", 0, 3), (tool(), "y", 1, 2))
    assert [take(source, tool()), take(source, tool())] == ["x", "y"]
    assert diverges(source, tool())[1]["kind"] == "more calls"


def test_what_started_after_one_of_two_parallel_calls_ended_waits_for_that_one_only():
    parts = (tool(a=1), "long", 0, 9), (tool(a=2), "short", 1, 2), (tool(a=3), "then", 3, 4)
    source = played(*parts)
    assert [take(source, tool(a=a)) for a in (2, 3, 1)] == ["short", "then", "long"]
    source = played(*parts)
    take(source, tool(a=1))
    diverges(source, tool(a=3))


@st.composite
def recordings(draw):
    """Calls with any overlaps, few of them different."""
    count = draw(st.integers(1, 7))
    events = draw(st.permutations([step for step in range(count) for _ in range(2)]))
    times = {}
    for place, step in enumerate(events):
        times.setdefault(step, []).append(place)
    names = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    in_order = sorted(times.values())
    return [(tool(a=a), step, *span) for step, (a, span) in enumerate(zip(names, in_order, strict=True))]


@settings(deadline=None, max_examples=200)
@given(recordings(), st.data())
def test_any_order_that_the_recording_allows_is_played_whole(parts, data):
    source, left = played(*parts), list(range(len(parts)))
    while left:
        eligible = [s for s in left if not any(parts[o][3] < parts[s][2] for o in left if o != s)]
        chosen = data.draw(st.sampled_from(eligible))
        served = take(source, parts[chosen][0])
        # Of equal calls the one that started first answers.
        assert served == min(s for s in eligible if parts[s][0] == parts[chosen][0])
        left.remove(served)
    assert source.left_over() is None


@settings(deadline=None, max_examples=200)
@given(recordings(), st.lists(st.integers(0, 3), max_size=10))
def test_only_eligible_calls_are_served(parts, asked):
    source, left = played(*parts), list(range(len(parts)))
    for a in asked:
        eligible = [s for s in left if not any(parts[o][3] < parts[s][2] for o in left if o != s)]
        fitting = [s for s in eligible if parts[s][0] == tool(a=a)]
        if not fitting:
            diverges(source, tool(a=a))
            continue
        assert take(source, tool(a=a)) == fitting[0]
        left.remove(fitting[0])
    rest = source.left_over()
    assert (rest is None) == (not left)
    if rest is not None:
        assert rest.report["steps"] == left


def test_spans_are_entered_once_each_and_never_served():
    outer, inner = tool("expert"), tool(a=1)
    source = Playback(
        Recording(TRIAL, [Interaction(0, outer, Value("o"), 0, 3), Interaction(1, inner, Value("i"), 1, 2, parent=0)])
    )
    assert source.take_span(key_of(outer))
    assert not source.take_span(key_of(outer))
    assert not source.take_span(key_of(inner))
    assert take(source, inner) == "i"
    assert source.left_over() is None


# -- reports -----------------------------------------------------------------------------------------------------------


def test_a_report_names_step_path_and_both_values():
    texts = [f"message {i}" for i in range(8)]
    source = played((tool(), 1), (model(*texts), 2))
    take(source, tool())
    other = [*texts[:5], "another text", *texts[6:]]
    text, report = diverges(source, model(*other))
    assert report["kind"] == "other call"
    assert (report["step"], report["path"]) == (1, "messages[5].content")
    assert (report["recorded"], report["now"]) == ("'message 5'", "'another text'")
    assert text.splitlines()[0] == "baseline/t#0 diverges at step 1:"
    for part in ("messages[5].content", "recorded: 'message 5'", "now:      'another text'", "record again"):
        assert part in text


def test_a_report_of_another_tool_names_both():
    text, report = diverges(played((tool("f", a=1), 1)), tool("g", b=2))
    assert (report["path"], report["recorded"], report["now"]) == ("name", "f", "g")
    assert "recorded: tool f" in text
    assert "now:      tool g {'b': 2}" in text


def test_a_report_of_another_actor_names_it():
    text, _ = diverges(played((evolve(tool(), actor="user"), 1)), tool())
    assert "recorded: user's tool f" in text


def test_a_report_compares_with_the_most_likely_of_parallel_calls():
    source = played((tool("f", a=1), 1, 0, 3), (tool("g", a=1), 2, 1, 4))
    assert diverges(source, tool("g", a=2))[1]["step"] == 1


def test_a_report_of_another_endpoint():
    _, report = diverges(played((model("a"), 1)), evolve(model("a"), endpoint="responses"))
    assert (report["path"], report["recorded"], report["now"]) == ("endpoint", "'chat'", "'responses'")


def test_ignored_paths_neither_diverge_nor_stand_in_a_report():
    def asked(text, number):
        return model(text, metadata={"id": number, "user": "u"})

    source = played((asked("a", 1), 1), (asked("b", 2), 2), ignore=("metadata.id",))
    assert take(source, asked("a", 7)) == 1
    assert diverges(source, asked("c", 7))[1]["path"] == "messages[0].content"


def test_more_calls_than_recorded():
    source = played((tool(), 1))
    take(source, tool())
    text, report = diverges(source, tool("g", a=[1]))
    assert report["kind"] == "more calls"
    assert "the recording has ended, but tool g was called with {'a': [1]}" in text


def test_left_over_calls_are_a_divergence():
    source = played((tool(a=0), 0), (tool("g"), 1), (tool("h"), 2))
    take(source, tool(a=0))
    left = source.left_over()
    assert "2 recorded calls were not asked for, the first at step 1 (tool g)" in str(left)
    assert left.report == {"kind": "left over", "trial": "baseline/t#0", "steps": [1, 2]}
    take(source, tool("g"))
    assert "1 recorded call was not asked for" in str(source.left_over())


def test_a_report_of_huge_arguments_stays_short():
    source = played((tool(text="x" * 100_000 + "a"), 1))
    text, _ = diverges(source, tool(text="x" * 100_000 + "b\n" * 50))
    assert len(text) < 2000


# -- effort ------------------------------------------------------------------------------------------------------------


def lines_run(action):
    """How many lines of the playback module ``action`` runs."""
    counts = Counter()

    def trace(frame, event, _argument):
        if frame.f_code.co_filename != module.__file__:
            return None
        counts[event] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return counts["line"]


def follow_each_other(count):
    return [(tool(a=i), i) for i in range(count)]


def all_at_once(count):
    return [(tool(a=i), i, i, count + i) for i in range(count)]


def all_equal(count):
    return [(tool(), i, i, count + i) for i in range(count)]


@pytest.mark.parametrize("shape", [follow_each_other, all_at_once, all_equal])
@pytest.mark.parametrize("backwards", [False, True])
def test_the_effort_is_linear(shape, backwards):
    def effort(count):
        parts = shape(count)
        source = played(*parts)
        keys = [(part[0], key_of(part[0])) for part in parts]
        if backwards and shape is not follow_each_other:
            keys.reverse()

        def play():
            for call, key in keys:
                source.take(call, key)

        lines = lines_run(play)
        assert source.left_over() is None
        return lines

    small, large = effort(200), effort(1600)
    assert large < 9 * small
