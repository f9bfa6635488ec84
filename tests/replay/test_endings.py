from __future__ import annotations

import asyncio

import openai
import pytest

import trialtape as tt

ran: list[str] = []


@tt.tool(effect="read")
def give(name: str):
    ran.append(name)
    return 1


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


def ending(trial, agent):
    block = trial(run="r")
    try:
        with block:
            agent(block)
    except BaseException as error:
        return block.ending.status, block.ending.cause, type(error)
    return block.ending.status, block.ending.cause, None


def asked_for(status, provider):
    def agent(block):
        with openai.OpenAI(api_key="k", base_url=provider.base_url, max_retries=0) as client:
            headers = {"x-status": str(status)}
            client.chat.completions.create(model="m", messages=[], extra_headers=headers)

    return agent


def raising(error):
    def agent(block):
        give("one")
        raise error

    return agent


def capped(block):
    give("one")
    block.capped("30 steps")


def test_a_trial_that_runs_to_its_end_is_completed(trial):
    assert ending(trial, lambda block: give("one")) == ("completed", None, None)


def test_a_capped_trial_says_so(tmp_path, trial):
    assert ending(trial, capped) == ("capped", None, None)
    assert tt.open("r/t#0", home=tmp_path).ending.reason == "30 steps"


def test_an_exception_of_the_agent_is_its_error(trial):
    assert ending(trial, raising(ValueError("x"))) == ("error", "agent", ValueError)


def test_an_agent_that_exits_is_its_error(trial):
    assert ending(trial, raising(SystemExit(1))) == ("error", "agent", SystemExit)


def test_a_cancelled_task_is_cancelled(trial):
    assert ending(trial, raising(asyncio.CancelledError())) == ("cancelled", None, asyncio.CancelledError)


def test_a_provider_that_fails_is_infrastructure(trial, provider):
    assert ending(trial, asked_for(503, provider)) == ("error", "infrastructure", openai.InternalServerError)


def test_a_bad_request_is_the_agents_error(trial, provider):
    assert ending(trial, asked_for(400, provider)) == ("error", "agent", openai.BadRequestError)


def test_an_interrupted_trial_ends_cancelled_at_its_next_call(trial):
    def agent(block):
        give("one")
        block.interrupt()
        give("one")

    status, cause, raised = ending(trial, agent)
    assert (status, cause) == ("cancelled", None)
    assert raised.exit_code == 130
    assert ran == ["one"]


def test_a_trial_that_captured_nothing_is_an_error(trial):
    assert ending(trial, lambda block: None) == ("error", "nothing captured", tt.NothingCaptured)
