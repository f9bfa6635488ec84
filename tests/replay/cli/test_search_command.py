"""`trialtape search`: a line for each step that matches, and what does not go together."""

from __future__ import annotations

import json
import re

import pytest
from rich.console import Console

from replay.cli import search_command
from replay.home import Home
from tests.replay.recorded import keep, read, write


@pytest.fixture
def kept(home):
    """Three trials that look for things."""
    place = Home(home)
    keep(place, "base/a#0", [read("find", what="umbrella"), write("send_parcel", to="ada")], passed=True)
    keep(place, "base/a#1", [read("find", what="parasol"), read("find", what="umbrella, big umbrella")], passed=False)
    keep(place, "other/b#0", [read("find", what="umbrella")])
    return place


def test_each_hit_is_one_line_with_trial_step_name_and_what_matched(call, kept):
    result = call("search", "parasol")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == 'base/a#1    0  find  {"what": "parasol"}\n'


def test_without_a_hit_it_says_so_and_ends_with_1(call, kept):
    result = call("search", "zebra", "crossing")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "matches 'zebra crossing'" in result.stderr


def test_several_words_are_one_query(call, kept):
    assert call("search", "big", "umbrella").stdout == call("search", "big umbrella").stdout
    assert len(call("search", "find", "umbrella").stdout.splitlines()) == 3


def test_filters_and_the_limit(call, kept):
    def lines(*options):
        return [line.split()[0] for line in call("search", "umbrella", *options).stdout.splitlines()]

    assert lines("--run", "other") == ["other/b#0"]
    assert lines("--task", "a", "--failed") == ["base/a#1"]
    assert lines("--tool", "send_*") == []
    assert lines("--kind", "model") == []
    assert lines("--errors") == []
    limited = call("search", "umbrella", "--limit", 1)
    assert len(limited.stdout.splitlines()) == 1
    assert "the best 1 of 3 steps in 3 trials; --limit shows more" in limited.stderr


def test_json_has_the_same_and_the_places_of_the_matches(call, kept):
    result = call("search", "umbrella", "--json", "--limit", 2)
    document = json.loads(result.stdout)
    assert (document["query"], document["steps"], document["trials"]) == ("umbrella", 3, 3)
    assert len(document["hits"]) == 2
    for hit in document["hits"]:
        assert {hit["snippet"][start:end] for start, end in hit["matches"]} == {"umbrella"}
    empty = call("search", "zebra", "--json")
    assert (empty.exit_code, json.loads(empty.stdout)["hits"]) == (1, [])


def test_the_same_search_prints_the_same_again(call, kept, home):
    first = call("search", "umbrella").stdout
    for file in home.glob("trialtape.db*"):
        file.unlink()
    assert call("search", "umbrella").stdout == first


def test_matches_are_highlighted_on_a_terminal_and_lines_are_cut_to_its_width(call, kept, monkeypatch):
    keep(kept, "base/a#2", [read("find", what="zebra " + "x" * 300)])
    terminals = []

    def terminal():
        terminals.append(Console(force_terminal=True, width=40, color_system="standard", highlight=False))
        return terminals[0]

    monkeypatch.setattr(search_command, "console", terminal)
    shown = call("search", "zebra", "--run", "base").stdout
    assert terminals
    assert "\x1b[1;33mzebra\x1b[0m" in shown
    assert len(re.sub(r"\x1b\[[\d;]*m", "", shown).rstrip("\n")) == 40


def test_what_was_recorded_does_not_steer_the_terminal(call, kept):
    keep(kept, "base/a#2", [read("\x1b[2Jfind\nzebra", what="\x1b]0;title\x07 zebra")])
    shown = call("search", "zebra").stdout
    assert len(shown.splitlines()) == 1
    assert shown.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search", 'a "b'), "a quote is not closed"),
        (("search", ":"), "no letter and no digit"),
        (("search", "umbrella", "--run", "nobody"), "there is no run 'nobody'"),
        (("search", "umbrella", "--task", "zebra"), "no trial is of a task 'zebra'; the tasks there: a, b"),
        (("search", "umbrella", "--run", "other", "--task", "a"), "no trial is of a task 'a'; the tasks there: b"),
    ],
)
def test_what_cannot_be_searched_for_is_one_line(call, kept, files, arguments, told):
    before = files()
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("trialtape: ")
    assert told in result.stderr
    assert files() == before


@pytest.mark.parametrize("text", ["cancel AND", "order:17", "-x- re-book", "(", "NEAR(a b)", "a\x00b", "^a", "{x}:y"])
def test_what_means_something_to_sqlite_is_text_like_any_other(call, kept, text):
    result = call("search", "--", text)
    assert result.exit_code in {1, 2}
    assert "syntax" not in result.stderr
