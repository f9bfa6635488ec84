from __future__ import annotations

import re

from textual.binding import Binding

from replay.debugger.app import Debugger
from replay.debugger.keys import GROUPS, KEYS, TABS
from replay.debugger.viewer import Viewer
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "how-to" / "step-through-a-trial.md"


def documented():
    """The keys of the table, as they are written."""
    table = PAGE.read_text().partition("## Keys")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    return {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}


def test_every_binding_of_the_app_is_in_the_table_of_the_documentation():
    bound = {binding for cls in (Viewer, Debugger) for binding in cls.BINDINGS}
    shown = {"escape": "Esc"} | {key.key: key.shown for key in KEYS}
    assert all(isinstance(binding, Binding) for binding in bound)
    assert {shown[binding.key] for binding in bound} <= documented()


def test_every_key_of_the_table_is_bound():
    assert documented() - {"Esc", "Tab"} == {key.shown for key in KEYS}


def test_a_key_does_one_thing():
    keys = [key.key for key in KEYS]
    assert len(keys) == len(set(keys))
    assert {key.group for key in KEYS} == set(GROUPS)


def test_every_page_has_a_number_key():
    assert [key.action for key in KEYS if key.key in "12345"] == [f"tab({number})" for number in range(len(TABS))]


def test_every_action_exists():
    for key in KEYS:
        name = key.action.partition("(")[0]
        assert hasattr(Debugger, f"action_{name}"), key.action


def test_the_keys_that_stand_on_the_screen_fit_into_80_columns():
    assert sum(len(f" {key.shown} {key.short} ") for key in KEYS if key.short) <= 80


def test_the_picture_of_the_documentation_asks_nobody_for_anything():
    picture = (ROOT / "docs" / "pictures" / "debugger.svg").read_text()
    assert not re.search(r"url\(\s*[\"']?http|<image|<script|href=|@import|@font-face", picture)
    assert len(picture) < 100_000
