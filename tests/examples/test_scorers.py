"""The extra scorers read a view of a trial, and nothing else."""

from types import SimpleNamespace

from examples.support.scorers import asked_before_writing, within_12_calls


def a_step(kind, actor="agent", effect=None, text=None):
    return SimpleNamespace(call=SimpleNamespace(kind=kind, actor=actor, effect=effect), text=text)


def view(*steps):
    return SimpleNamespace(steps=steps)


OPENING = a_step("model", "user", text="Yes, hello, cancel my order.")
YES = a_step("model", "user", text="Sure, yes.")
NO = a_step("model", "user", text="No, eyes off.")
ASK = a_step("model", text="Shall I? Yes?")
WRITE = a_step("tool", effect="write")
READ = a_step("tool", effect="read")


def test_asked_before_writing():
    assert asked_before_writing(view(OPENING, READ, ASK, YES, WRITE, WRITE))
    assert asked_before_writing(view(OPENING, READ))


def test_a_write_without_a_yes():
    assert not asked_before_writing(view(OPENING, WRITE, ASK, YES))
    assert not asked_before_writing(view(OPENING, ASK, NO, WRITE))
    assert not asked_before_writing(view(ASK, WRITE))


def test_within_12_calls_counts_the_agent_alone():
    assert within_12_calls(view(*[READ, ASK] * 6, *[YES] * 9, a_step("http")))
    assert not within_12_calls(view(*[READ, ASK] * 6, READ))
