"""Who speaks when, read from ticks."""

from __future__ import annotations

import pytest

from cassettes.errors import BadInput
from replay.voice.speech import Sound, Stretch, speech_of
from tests.replay.voice.ticks import heard, ticks


def test_ticks_in_a_row_are_one_stretch_and_what_the_other_side_does_is_known():
    speech = speech_of(ticks(user=".uu..u.", agent="...aa.a"))
    assert speech.user == (
        Stretch(1, 3, over=False, into=True),
        Stretch(5, 6, over=False, into=True),
    )
    assert speech.agent == (Stretch(3, 5, over=False, into=True), Stretch(6, 7, over=False, into=False))
    assert (speech.ticks, speech.tells_turns) == (7, True)


def test_a_single_tick_of_the_user_at_the_very_end_is_the_end_signal_and_no_speech():
    assert speech_of(ticks(user="u..u", agent="....")).ticks == 3
    assert speech_of(ticks(user="u.uu", agent="....")).ticks == 4
    assert speech_of(ticks(user="u", agent=".")).ticks == 1


def test_a_backchannel_is_told_by_the_first_tick_of_its_stretch():
    speech = speech_of(ticks(user="bu.ub", agent="....."))
    assert [stretch.backchannel for stretch in speech.user] == [True, False]


def test_sounds_within_speech_belong_to_the_stretch_and_others_stand_alone():
    given = ticks(user="uu.....", agent=".......")
    heard(given[1], "vocal_tic", "[cough]")
    for place in (3, 4):
        heard(given[place], "non_directed_phrase", "Not now.")
    heard(given[5], "non_directed_phrase", "Shh.")
    heard(given[5], "vocal_tic", "[sneeze]", effects="speech_effects")
    speech = speech_of(given)
    assert speech.user[0].sounds == {"vocal tic"}
    assert set(speech.outside) == {
        Sound("non-directed", 3, 5),
        Sound("non-directed", 5, 6),
        Sound("vocal tic", 5, 6),
    }


def test_without_any_turn_taking_it_is_known_not_to_be_told():
    given = ticks(user="u.", agent=".a")
    for tick in given:
        del tick["user_chunk"]["turn_taking_action"]
    assert not speech_of(given).tells_turns


def test_a_side_without_a_chunk_is_silent():
    assert speech_of([{"user_chunk": None}, {}]).user == ()


@pytest.mark.parametrize(
    ("tick", "told"),
    [
        ("u", "tick 0 is no map"),
        ({"agent_chunk": {"content": "Hi"}}, "tick 0 does not say whether the agent speaks"),
        ({"user_chunk": {"contains_speech": None}}, "tick 0 does not say whether the user speaks"),
        ({"user_chunk": {"contains_speech": 1}}, "tick 0 does not say whether the user speaks"),
    ],
)
def test_a_tick_that_does_not_say_who_speaks_is_refused(tick, told):
    with pytest.raises(BadInput, match=told):
        speech_of([tick])
