from __future__ import annotations

import sys

import pytest

from cassettes.errors import BadInput
from replay.orchestration.loading import load_object


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """Modules and paths that loading adds are gone after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_name_or_the_default(tmp_path):
    path = write(tmp_path / "some_suite_of_mine.py", "suite = 1\nother = 2\n")
    assert load_object(str(path), "suite") == 1
    assert load_object(f"{path}:other", "suite") == 2


def test_a_file_in_a_package_is_imported_as_part_of_it(tmp_path):
    write(tmp_path / "some_package/__init__.py", "")
    write(tmp_path / "some_package/parts.py", "value = 3\n")
    path = write(tmp_path / "some_package/suite.py", "from .parts import value as suite\n")
    assert load_object(str(path), "suite") == 3
    assert "some_package.suite" in sys.modules


def test_a_file_next_to_it_can_be_imported(tmp_path):
    write(tmp_path / "neighbour_of_it.py", "value = 4\n")
    path = write(tmp_path / "lone_suite.py", "from neighbour_of_it import value as suite\n")
    assert load_object(str(path), "suite") == 4


def test_a_file_is_loaded_once_and_another_of_its_name_keeps_its_place(tmp_path):
    first = write(tmp_path / "one/twin_suite.py", "suite = object()\n")
    second = write(tmp_path / "two/twin_suite.py", "suite = object()\n")
    one, two = load_object(str(first), "suite"), load_object(str(second), "suite")
    assert one is not two
    assert load_object(str(first), "suite") is one


def test_a_file_named_like_a_loaded_module_does_not_replace_it(tmp_path):
    path = write(tmp_path / "json.py", "suite = 5\n")
    json = sys.modules["json"]
    assert load_object(str(path), "suite") == 5
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise ValueError('why')", "cannot be imported: ValueError: why"),
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("def (", "SyntaxError"),
        ("other = 1", "defines no 'suite'"),
    ],
)
def test_what_cannot_be_loaded(tmp_path, text, told):
    path = write(tmp_path / "bad_suite_of_mine.py", text)
    with pytest.raises(BadInput, match=told):
        load_object(str(path), "suite")
    assert "bad_suite_of_mine" not in sys.modules or told.startswith("defines")


@pytest.mark.parametrize("spec", ["gone.py", "gone.py:suite", "", "folder"])
def test_what_is_no_file(tmp_path, monkeypatch, spec):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="does not exist"):
        load_object(spec, "suite")
