"""Whether a simulated user repeats itself, as recordings show it."""

from __future__ import annotations

from itertools import count

import pytest

from cassettes.model import Mark, Reply, ToolRequest
from replay.analysis.said_again import user_seen
from replay.view import View
from tests import factories


def asked(heard, options):
    """The user's model, told this."""
    arguments = {"model": "gpt-x", "messages": [{"role": "user", "content": heard}], **options}
    return factories.call("model", "gpt-x", arguments=arguments, actor="user")


@pytest.fixture
def trial(tmp_path):
    numbers = count()

    def made(*said, task="t", seed=None, models=(), ignore=()):
        """A trial in which these words were said, user first, or in which these models were asked and replied."""
        number = next(numbers)
        marks = [
            Mark("message", 0.0, {"role": role, "content": text, "step": 0})
            for role, text in zip(("user", "assistant") * len(said), said, strict=False)
        ]
        steps = [
            factories.interaction(step, call=asked(heard, options), reply=reply)
            for step, (heard, options, reply) in enumerate(models)
        ]
        config = {"ignore": list(ignore), **({} if seed is None else {"user_seed": seed})}
        path = tmp_path / f"{number}.cassette"
        return View(factories.write_cassette(path, steps, marks=marks, task=task, index=number, config=config))

    return made


def test_a_user_that_says_the_same_to_the_same_is_scripted(trial):
    seen = user_seen([trial("hi", "yes?", "cancel"), trial("hi", "yes?", "cancel"), trial("hi", "what?", "never mind")])
    assert (seen.kind, seen.compared) == ("scripted", 3)


def test_tasks_have_users_of_their_own(trial):
    assert user_seen([trial("hi"), trial("ho", task="u"), trial("hi"), trial("ho", task="u")]).kind == "scripted"


def test_a_user_that_draws_without_a_shared_seed_cannot_be_told_apart(trial):
    seen = user_seen([trial("hi"), trial("ho")])
    assert seen.kind is None
    assert seen.why.startswith(
        "the user draws what it says, and no two trials share its seed: model and user cannot be"
    )


def test_a_user_that_draws_by_a_shared_seed_is_seeded(trial):
    seen = user_seen([trial("hi", seed=1), trial("ho", seed=2), trial("hi", seed=1), trial("ho", seed=2)])
    assert (seen.kind, seen.compared) == ("seeded", 2)


def test_a_user_whose_seed_does_not_hold_it_still_is_refused(trial):
    seen = user_seen([trial("hi", seed=1), trial("ho", seed=1), trial("hi", seed=2), trial("hi", seed=2)])
    assert seen.kind is None
    assert "given the same seed and words, the user says something else in 1 of 2 places" in seen.why


def test_without_a_user_there_is_nothing_to_tell_apart(trial):
    seen = user_seen([trial(), trial()])
    assert (seen.kind, seen.compared) == (None, 0)
    assert "no user is seen" in seen.why


@pytest.mark.parametrize("options", [{"seed": 7}, {"options": {"seed": 7}}, {"extra": [{"random_seed": 7}]}])
def test_a_model_that_is_asked_with_the_shared_seed_is_seeded(trial, options):
    calls = [("hello", options, Reply("hi", (ToolRequest(str(place), "look", "{}"),))) for place in range(2)]
    seen = user_seen([trial(models=calls[:1], seed=7), trial(models=calls[1:], seed=7)])
    assert (seen.kind, seen.compared) == ("seeded", 1)


def test_a_model_whose_provider_does_not_keep_to_the_seed_is_refused(trial):
    replies = [[("hello", {"seed": 7}, Reply(text))] for text in ("hi", "ho")]
    seen = user_seen(trial(models=models, seed=7) for models in replies)
    assert "something else in 1 of 1 places" in seen.why


@pytest.mark.parametrize(("seed", "options"), [(7, {}), (7, {"seed": 8}), (1, {"stream": True})])
def test_a_model_without_the_seed_is_refused_though_it_said_the_same(trial, seed, options):
    models = [("hello", options, Reply("hi"))]
    seen = user_seen([trial(models=models, seed=seed), trial(models=models, seed=seed)])
    assert seen.kind is None
    assert seen.why.startswith("the user is a model without a seed: model and user cannot be told apart")


def test_a_model_with_a_seed_that_no_two_trials_share_is_refused(trial):
    seen = user_seen([trial(models=[("hello", {"seed": seed}, Reply("hi"))]) for seed in (1, 2)])
    assert seen.why.startswith("the user is a model without a seed that trials share")


def test_what_the_run_ignores_does_not_make_a_request_another(trial):
    models = [[("hello", {"seed": 7, "metadata": {"id": n}}, Reply("hi"))] for n in range(2)]
    assert user_seen(trial(models=m, seed=7, ignore=["metadata.id"]) for m in models).compared == 1
    assert user_seen(trial(models=m, seed=7) for m in models).kind is None
