from __future__ import annotations

import pytest

from cassettes.errors import BadInput
from replay import patching


class Fake:
    name = "fake"

    def __init__(self):
        self.told = []

    def install(self):
        self.told.append("install")

    def uninstall(self):
        self.told.append("uninstall")


class Failing(Fake):
    def install(self):
        raise RuntimeError("this library changed")


def test_the_adapters_of_this_project_are_found():
    assert {adapter.name for adapter in patching.adapters()} >= {"httpx", "httpx2", "threads"}
    without = {adapter.name for adapter in patching.adapters() if not adapter.versions()}
    assert without <= {"agentdojo"}  # the one extra that the tests do without


def test_blocks_may_overlap_in_any_order_and_patch_once(monkeypatch):
    fake = Fake()
    monkeypatch.setattr(patching, "adapters", lambda: (fake,))
    first, second = patching.patched(), patching.patched()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert fake.told == ["install"]
    second.__exit__(None, None, None)
    assert fake.told == ["install", "uninstall"]
    with patching.patched():
        assert fake.told == ["install", "uninstall", "install"]


def test_an_adapter_that_cannot_be_installed_leaves_none_behind(monkeypatch):
    fake = Fake()
    monkeypatch.setattr(patching, "adapters", lambda: (fake, Failing()))
    with pytest.raises(RuntimeError), patching.patched():
        pytest.fail("the block ran")
    assert fake.told == ["install", "uninstall"]
    monkeypatch.setattr(patching, "adapters", lambda: (fake,))
    with patching.patched():
        assert fake.told[-1] == "install"


def test_an_adapter_that_cannot_be_loaded_is_named(monkeypatch):
    class Entry:
        name = value = "nowhere:X"

        def load(self):
            raise ImportError("no nowhere")

    monkeypatch.setattr(patching, "entry_points", lambda group: [Entry()])
    patching.adapters.cache_clear()
    try:
        with pytest.raises(BadInput, match=r"the adapter nowhere:X .* cannot be loaded: no nowhere"):
            patching.adapters()
    finally:
        patching.adapters.cache_clear()
