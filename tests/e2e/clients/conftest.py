"""Every client's adapter is installed while a trial runs."""

from __future__ import annotations

import pytest

from adapters.aiohttp import AIOHTTP
from adapters.urllib3 import URLLIB3
from replay import patching


@pytest.fixture(autouse=True)
def _all_adapters(monkeypatch):
    known = {adapter.name: adapter for adapter in (*patching.adapters(), URLLIB3, AIOHTTP)}
    monkeypatch.setattr(patching, "adapters", lambda: tuple(known.values()))
