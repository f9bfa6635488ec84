"""What the end-to-end tests share: a home of their own, and trials in it."""

from __future__ import annotations

import functools

import pytest

import trialtape as tt


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def trial(home):
    """`tt.trial` of task ``t`` in run ``r`` of this test's home."""
    return functools.partial(_trial, home)


def _trial(home, **options):
    return tt.trial(**{"run": "r", "task": "t", "home": home, **options})
