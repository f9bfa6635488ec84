"""A folder for the code of one page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch, provider):
    """An empty working folder with a home of its own, and a provider on 127.0.0.1 for the openai SDK.

    Modules that a page writes there are forgotten afterwards.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIALTAPE_HOME", str(tmp_path / ".trialtape"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]
