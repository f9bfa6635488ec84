"""docs/reference/api.md holds every public name, with its parameters."""

from __future__ import annotations

import inspect
import re

import attrs
import pytest

import trialtape as tt
from tests.docs.documents import ROOT

_PAGE = ROOT / "docs" / "reference" / "api.md"


def _section(name):
    parts = re.split(r"^#+ +`tt\.([\w.]+)`\s*$", _PAGE.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(name)


@pytest.mark.parametrize("name", tt.__all__)
def test_public_name_is_documented(name):
    assert _section(name), f"{_PAGE.name} has no heading `tt.{name}`"


@pytest.mark.parametrize("name", tt.stats.__all__)
def test_statistics_are_documented(name):
    assert f"`{name}" in _section("stats"), name


@pytest.mark.parametrize(
    "name",
    [
        "Price",
        "Score",
        "Suite",
        "Task",
        "acting_as",
        "open",
        "retrial",
        "scorer",
        "session",
        "simulated",
        "tool",
        "trial",
    ],
)
def test_parameters_are_documented(name):
    for parameter in inspect.signature(getattr(tt, name)).parameters.values():
        if parameter.kind is not parameter.POSITIONAL_ONLY:
            assert re.search(rf"\b{parameter.name}\b", _section(name)), f"tt.{name}({parameter.name})"


def test_parameters_of_a_run_are_documented():
    for name in list(inspect.signature(tt.Suite.run).parameters)[1:]:
        assert re.search(rf"\b{name}\b", _section("Suite")), f"Suite.run({name})"


@pytest.mark.parametrize("name", ["Retrial", "Step", "Trial", "View"])
def test_members_are_documented(name):
    members = [n for n, _ in inspect.getmembers(getattr(tt, name)) if not n.startswith("_")]
    hidden = {"Trial": {"begin", "end"}}.get(name, set())  # what the block and the suite call
    for member in members:
        assert member in hidden or re.search(rf"\b{member}\b", _section(name)), f"tt.{name}.{member}"


def test_errors_and_their_exit_codes_are_documented():
    page = _PAGE.read_text()
    errors = [getattr(tt, n) for n in tt.__all__ if inspect.isclass(getattr(tt, n))]
    for error in (e for e in errors if issubclass(e, Exception)):
        assert re.search(rf"`tt\.{error.__name__}`.*?\b{error.exit_code}\b", page, re.DOTALL), error


def test_attributes_of_the_public_classes_are_documented():
    for cls in (tt.Price, tt.Score, tt.Task, tt.TrialId):
        for attribute in attrs.fields(cls):
            assert re.search(rf"\b{attribute.name}\b", _section(cls.__name__)), f"{cls.__name__}.{attribute.name}"
