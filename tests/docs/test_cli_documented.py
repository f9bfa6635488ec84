"""docs/reference/cli.md holds every command and every option, and each of them has a help text."""

from __future__ import annotations

import re

import click
import pytest

from replay.cli import main
from tests.docs.documents import ROOT

_PAGE = ROOT / "docs" / "reference" / "cli.md"


def _tree(command, path):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _tree(command.get_command(context, name), [*path, name])


TREE = [pytest.param(path, command, id=" ".join(path)) for path, command in _tree(main, ["trialtape"])]


@pytest.mark.parametrize(("path", "command"), TREE)
def test_command_and_its_options_are_documented(path, command):
    section = _section(" ".join(path))
    assert section is not None, f"{_PAGE.name} has no heading for `{' '.join(path)}`"
    for option in _options(command):
        for name in option.opts:
            assert f"`{name}" in section, f"{name} is missing below `{' '.join(path)}`"


@pytest.mark.parametrize(("path", "command"), TREE)
def test_what_is_documented_exists(path, command):
    known = {name for option in _options(command) for name in option.opts}
    rows = re.findall(r"^\| `([^|]+)` \|", _section(" ".join(path)), re.MULTILINE)
    shown = {name for row in rows for name in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", row)}
    assert shown <= known


@pytest.mark.parametrize(("path", "command"), TREE)
def test_everything_has_a_help_text(path, command):
    assert command.help, path
    for option in _options(command):
        assert option.help, f"{path}: {option.opts}"


def test_the_exit_codes_are_documented():
    text = _PAGE.read_text()
    for code in (0, 1, 2, 3, 4, 5, 130):
        assert f"| {code} |" in text


def _options(command):
    """The command's own options; ``--home`` is taken by every command and described once, at the top."""
    return [
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        and not parameter.hidden
        and (parameter.name != "home" or command is main)
    ]


def _section(heading):
    """The text below the heading of a command, up to the next heading."""
    parts = re.split(r"^#+ +`([^`]+)`\s*$", _PAGE.read_text(), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    found = sections.get(heading)
    return None if found is None else re.split(r"^#+ ", found, maxsplit=1, flags=re.MULTILINE)[0]
