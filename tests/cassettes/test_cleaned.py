from __future__ import annotations

import re
from collections import Counter

import pytest

from cassettes.cleaned import cleaned_ending, cleaned_header, cleaned_interaction, cleaned_mark
from cassettes.given import given_rules
from cassettes.model import Ending, Mark, Patch, Reply, ToolRequest
from cassettes.redact import Redactor
from tests.factories import call, header, interaction

RULES = Redactor(given=given_rules({"ada": re.compile("ada", re.IGNORECASE)}))
HERE = "{secret:ada}"


@pytest.fixture
def counts():
    return Counter()


def test_an_interaction(counts):
    made = interaction(
        call=call("http", name="GET host/ada", actor="user", detail={"url": "http://host/ada", "method": "GET"}),
        reply=Reply(text="Ada", tool_calls=(ToolRequest("1", "find_ada", '{"name": "Ada"}'),), refusal="no, ada"),
        patch=Patch(((("people", "ada"), None, b"\xa3Ada"),)),
    )
    found = cleaned_interaction(made, RULES, counts)
    assert found.call.name == f"GET host/{HERE}"
    assert dict(found.call.detail) == {"url": f"http://host/{HERE}", "method": "GET"}
    assert (found.reply.text, found.reply.refusal) == (HERE, f"no, {HERE}")
    assert found.reply.tool_calls == (ToolRequest("1", "find_ada", f'{{"name": "{HERE}"}}'),)
    assert found.patch.changes[0][0] == ("people", HERE)
    assert counts == {"ada": 6}


def test_the_name_of_a_tool_is_no_text(counts):
    assert cleaned_interaction(interaction(call=call(name="find_ada")), RULES, counts).call.name == "find_ada"


def test_a_header(counts):
    definition = {"id": "ada", "instruction": "I am Ada", "digests": {"state": "ada"}}
    found = cleaned_header(header(run="ada", task="ada", task_definition=definition), RULES, counts)
    assert (found.run, found.task) == ("ada", "ada")
    assert found.task_definition == {**definition, "instruction": f"I am {HERE}"}
    assert cleaned_header(header(), RULES, counts) == header()


@pytest.mark.parametrize(
    ("kind", "data", "left"),
    [
        ("message", {"role": "ada", "content": "Ada"}, {"role": "ada", "content": HERE}),
        ("problem", "no Ada", f"no {HERE}"),
        ("state", {"digest": "ada"}, {"digest": "ada"}),
        ("unattributed", {"count": 1, "names": {"GET h/ada": 1}}, {"count": 1, "names": {f"GET h/{HERE}": 1}}),
        ("changed", Patch(((("ada",), None, None),)), Patch((((HERE,), None, None),))),
    ],
)
def test_a_mark(counts, kind, data, left):
    assert cleaned_mark(Mark(kind, 0.5, data), RULES, counts) == Mark(kind, 0.5, left)


def test_an_ending(counts):
    assert cleaned_ending(Ending("error", "no Ada", "agent"), RULES, counts) == Ending("error", f"no {HERE}", "agent")
    assert cleaned_ending(Ending("completed"), RULES, counts) == Ending("completed")


def test_without_rules_everything_is_the_very_same(counts):
    made, marked, ended, head = interaction(), Mark("problem", 0.0, "ada"), Ending("error", "ada"), header()
    plain = Redactor(given=given_rules("arguments.a"))
    assert cleaned_interaction(made, plain, counts) is made
    assert cleaned_mark(marked, plain, counts) is marked
    assert cleaned_ending(ended, plain, counts) is ended
    assert cleaned_header(head, plain, counts) is head
