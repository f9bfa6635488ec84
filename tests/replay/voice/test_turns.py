"""What counts as answered, yielded to, ignored: by hand, in ticks of 0.2 seconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.voice.speech import speech_of
from replay.voice.turns import Turns, added, turns_of
from tests.replay.voice.ticks import heard, ticks


def turns(user, agent, *sounds):
    made = ticks(user, agent)
    for place, kind in sounds:
        heard(made[place], kind, "x")
    return turns_of(speech_of(made), 0.2)


def test_a_turn_is_answered_if_the_agent_begins_before_the_user_speaks_again():
    found = turns("uu...uu...u..", "........a....")
    assert found.response_gaps == pytest.approx((0.2,))
    assert found.unanswered == 1


def test_a_turn_that_the_agent_speaks_right_after_is_no_event_as_published():
    found = turns("uu...uu..", ".......a.")
    assert found.response_gaps == pytest.approx((1.0,))  # of the turn before it
    assert found.unanswered == 0


def test_the_gap_goes_from_the_first_silent_tick_to_the_agents_first():
    assert turns("uu.....", ".....aa").response_gaps == pytest.approx((0.6,))


def test_the_last_turn_with_nobody_after_it_is_no_event():
    found = turns("..uu..", "a.....")
    assert (found.response_gaps, found.unanswered) == ((), 0)


def test_backchannels_and_turns_that_end_under_the_agents_speech_expect_no_answer():
    assert turns("b....", "...a.").response_gaps == ()
    assert turns("uu...", ".aaa.").response_gaps == ()


def test_an_interruption_is_yielded_to_within_two_seconds_or_not():
    soon = turns(".uuu.....", "aaa......")
    assert (soon.yield_gaps, soon.kept_on) == (pytest.approx((0.4,)), 0)
    last = "." + "u" * 12
    assert turns(last, "a" * 10 + "...").yield_gaps == pytest.approx((1.8,))
    assert turns(last, "a" * 11 + "..").kept_on == 1


def test_that_the_agent_begins_while_the_user_speaks_is_its_interruption():
    assert turns("uuu.uuu..", ".a....a..").agent_interruptions == 2


def test_a_backchannel_is_ignored_unless_the_agent_stops_within_a_second():
    assert turns(".b.......", "aaaaaaaa.").ignored == {"backchannel": 1}
    assert turns(".b.......", "aaaaa....").noticed == {"backchannel": 1}
    assert turns(".b.......", "aaaaaa...").ignored == {"backchannel": 1}


def test_a_sound_within_speech_over_the_agent_is_no_interruption():
    found = turns(".uu......", "aaa......", (2, "vocal_tic"))
    assert (found.yield_gaps, found.kept_on) == ((), 0)
    assert found.noticed == {"vocal tic": 1}


def test_a_backchannel_goes_before_a_tic_and_a_tic_before_words_to_somebody_else():
    assert turns(".bu......", "aaaaaaaaa", (2, "vocal_tic")).ignored == {"backchannel": 1}
    both = (1, "vocal_tic"), (2, "non_directed_phrase")
    assert turns(".uu......", "aaaaaaaaa", *both).ignored == {"vocal tic": 1}


def test_a_sound_in_silence_is_noticed_if_the_agent_begins_within_two_seconds_after_it():
    silent = "." * 14
    assert turns(silent, "..........." + "a..", (0, "vocal_tic")).noticed == {"vocal tic": 1}
    assert turns(silent, "............" + "a.", (0, "vocal_tic")).ignored == {"vocal tic": 1}


def test_a_sound_under_the_agents_speech_counts_only_if_the_agent_stops_as_published():
    assert turns("......", "aaaa..", (1, "non_directed_phrase")).noticed == {"non-directed": 1}
    found = turns("." * 9, "a" * 9, (1, "non_directed_phrase"))
    assert (found.noticed, found.ignored) == ({}, {})


def test_seconds_of_speech_overlap_and_silence():
    found = turns("uu...u...uu", "..a..aa....")
    told = (found.user_seconds, found.agent_seconds, found.overlap_seconds, found.silent_seconds)
    assert told == pytest.approx((1.0, 0.6, 0.2, 0.8))
    assert (found.longest_silence, found.seconds) == pytest.approx((0.4, 2.2))


sides = st.integers(0, 40).flatmap(
    lambda n: st.tuples(st.text("u.b", min_size=n, max_size=n), st.text("a.", min_size=n, max_size=n))
)


@given(sides)
def test_whatever_is_said_the_seconds_add_up_and_every_interruption_is_one_event(said):
    found = turns(*said)
    both = found.user_seconds + found.agent_seconds - found.overlap_seconds
    assert both + found.silent_seconds == pytest.approx(found.seconds)
    speech = speech_of(ticks(*said))
    over = [stretch for stretch in speech.user if stretch.over]
    events = len(found.yield_gaps) + found.kept_on
    assert events + sum(found.ignored.values()) + sum(found.noticed.values()) == len(over)
    assert len(found.response_gaps) + found.unanswered <= len(speech.user)
    assert all(0 <= gap < 2.0 for gap in found.yield_gaps)


def test_conversations_are_added_event_by_event():
    one, two = turns("uu..", "...a"), turns(".b.......", "aaaaaaaa.")
    both = added([one, two])
    assert both.response_gaps == one.response_gaps
    assert both.ignored == {"backchannel": 1}
    assert both.seconds == pytest.approx(one.seconds + two.seconds)
    assert both.longest_silence == max(one.longest_silence, two.longest_silence)
    assert added([]) == Turns()
