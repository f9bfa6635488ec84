from __future__ import annotations

from cassettes.model import Call
from replay.tagless import TaglessWorld, tagless, tagless_recording
from replay.worlds import Found, Missing
from tests.replay.recorded import keep, read


def test_a_call_without_secrets_stays_what_it_is():
    call = read(text="{secret", items=[1, {"a": None}])
    assert tagless(call) is call


def test_tags_go_wherever_a_placeholder_stands():
    call = read(
        a="Bearer {secret:github:4f1c09ab}!", b=[{"c": "{secret:field:00000000}"}], d="{secret:plain}", e="\ud800"
    )
    assert tagless(call).arguments == {
        "a": "Bearer {secret:github}!",
        "b": [{"c": "{secret:field}"}],
        "d": "{secret:plain}",
        "e": "\ud800",
    }


def answer(world, call, key="another key"):
    return world.answer(call, key, ())


def test_a_call_is_answered_whatever_its_secret_is(home):
    view = keep(home, "r/t#0", [read(token="{secret:github:4f1c09ab}", id=1)])
    world = TaglessWorld([tagless_recording(view, ())])
    assert isinstance(answer(world, read(token="{secret:github:00000000}", id=1)), Found)
    assert isinstance(answer(world, read(token="{secret:github:00000000}", id=2)), Missing)
    assert isinstance(answer(world, read(token="{secret:field:00000000}", id=1)), Missing)


def test_what_else_the_recording_holds_stays(home):
    view = keep(home, "r/t#0", [read(token="{secret:github:4f1c09ab}"), Call("model", "m", {"a": 1})])
    found = tagless_recording(view, ())
    assert [i.step for i in found.matched] == [0, 1]
    assert found.trial == view.id
