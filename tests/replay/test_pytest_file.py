from __future__ import annotations

import ast

from attrs import evolve

from replay.pytest_file import TestFile, slug_of, text_of

FILE = TestFile(
    trial="r/t#1",
    task="t",
    outcome="it failed",
    explanation=None,
    slug="t_1",
    suite="../suite.py",
    suite_name="suite",
    freeze=["model", "external"],
    writes=[("put", {"id": 1})],
    writes_of="r/t#0, which passed,",
    scored=True,
)


def constants(text):
    """What the module assigns and what it says of itself, without running it."""
    module = ast.parse(text)
    found = {node.targets[0].id: ast.unparse(node.value) for node in module.body if isinstance(node, ast.Assign)}
    return ast.get_docstring(module), found


def test_the_whole_text():
    told, found = constants(text_of(FILE))
    assert told.startswith("Task t: it failed when it was recorded as r/t#1.\n")
    assert found == {
        "HERE": "Path(__file__).parent",
        "CASSETTE": "HERE / 't_1.cassette'",
        "SUITE": "HERE / '../suite.py'",
        "FREEZE": "['model', 'external']",
        "WRITES": "[('put', {'id': 1})]",
    }
    assert text_of(FILE).endswith(
        "def test_t_1() -> None:\n"
        "    again = tt.retrial(CASSETTE, suite=SUITE, freeze=FREEZE)\n"
        "    assert again.passed, again.explain(WRITES)\n"
    )


def test_without_a_score_the_writes_decide():
    assert "    assert again.wrote(WRITES), again.explain(WRITES)\n" in text_of(evolve(FILE, scored=False))


def test_without_known_writes_there_are_none():
    text = text_of(evolve(FILE, writes=None))
    assert "WRITES" not in text
    assert "    assert again.passed, again.explain()\n" in text


def test_a_suite_of_another_name_is_named():
    _, found = constants(text_of(evolve(FILE, suite="../{a}/s.py", suite_name="other")))
    assert eval(found["SUITE"], {"HERE": "/here"}) == "/here/../{a}/s.py:other"


def test_what_the_recording_holds_cannot_break_the_file():
    nasty = 'x """ \\ \n {task} \\N'
    told, _ = constants(text_of(evolve(FILE, task=nasty, trial=nasty, explanation=nasty, writes_of=nasty)))
    assert 'Task x """ \\ {task} \\N: it failed' in told


def test_a_slug_names_files_and_functions():
    assert slug_of("exchange-1", 3) == "exchange_1_3"
    assert slug_of("Ünïcode / task?", 0) == "n_code_task_0"
    assert slug_of("???", 0) == "task_0"
    assert len(slug_of("x" * 500, 1)) < 120
