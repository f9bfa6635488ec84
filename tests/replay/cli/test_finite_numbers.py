"""No option of any command takes NaN or an infinite number: each is refused with the exit code of bad input."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from replay.cli import main


def _options(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Option]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _options(found, (*path, name))
    for option in command.params:
        if isinstance(option, click.Option) and isinstance(option.type, click.types.FloatParamType):
            yield path, option


FOUND = [(path, option.opts[0]) for path, option in _options(main)]


def test_there_are_such_options():
    assert {name for _, name in FOUND} >= {
        "--margin",
        "--alpha",
        "--threshold",
        "--detect",
        "--half-width",
        "--max-cost",
        "--timeout",
    }


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "NaN", "1e999"])
@pytest.mark.parametrize(
    ("path", "name"), FOUND, ids=lambda found: found if isinstance(found, str) else " ".join(found)
)
def test_what_is_not_finite_is_refused(path, name, value, tmp_path):
    done = CliRunner().invoke(main, ["--home", str(tmp_path), *path, f"{name}={value}"])
    assert done.exit_code == 2
    assert f"Invalid value for '{name}'" in done.stderr
    assert "is no finite number" in done.stderr or "is not in the range" in done.stderr


@pytest.mark.parametrize("value", ["nan", "inf%", "much"])
def test_nor_is_it_a_share(value, tmp_path):
    done = CliRunner().invoke(main, ["--home", str(tmp_path), "verify", "r", "--live-sample", value])
    assert done.exit_code == 2
    assert f"--live-sample '{value}' is no share; 5% and 0.05 are" in done.stderr
