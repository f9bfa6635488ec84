"""Whose name a label carries, and where the name is from."""

from __future__ import annotations

import subprocess

import pytest

from cassettes.errors import BadInput
from replay.labelling.authors import Author, find_author


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A git repository without a configuration from outside."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_AUTHOR_NAME", "GIT_CONFIG_COUNT"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def test_who_was_named_counts_first(folder):
    assert find_author("Ada  B", {"USER": "u"}, folder) == Author("Ada B", "--author")


def test_else_git_is_asked(folder):
    subprocess.run(["git", "config", "user.name", "Bo Lee"], cwd=folder, check=True)
    assert find_author(None, {"USER": "u"}, folder) == Author("Bo Lee", "git's user.name")


def test_else_the_users_name_counts(folder):
    assert find_author(None, {"USER": "u"}, folder) == Author("u", "$USER")


@pytest.mark.parametrize(("given", "environ"), [(None, {}), (None, {"USER": " "}), ("  ", {"USER": "u"})])
def test_nobody_is_told(folder, given, environ):
    with pytest.raises(BadInput, match="--author NAME"):
        find_author(given, environ, folder)


def test_without_git_the_users_name_counts(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    assert find_author(None, {"USER": "u"}, folder) == Author("u", "$USER")
