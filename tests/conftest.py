"""Fixtures that several test modules use."""

from __future__ import annotations

import pytest

from tests.provider import Provider


@pytest.fixture
def provider():
    """A local server that speaks OpenAI chat completions; see tests/provider.py for what its headers do."""
    server = Provider().start()
    yield server
    server.stop()
