from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from adapters.on_import import WhenImported


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library that is not imported, and how it is imported."""
    name = f"a_library_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text('def ask():\n    return "real"\n')
    monkeypatch.syspath_prepend(tmp_path)
    yield name, lambda: importlib.import_module(name)
    sys.modules.pop(name, None)


def replacing(patches, module):
    patches.wrap(module, "ask", lambda original: lambda: f"not {original()}", module.__name__)


def adapter_of(name, patching=replacing, distribution="a-library"):
    return WhenImported("a library", distribution, {name: patching}, "a library of next year")


def test_a_module_that_is_imported_later_is_patched_then(library):
    name, import_it = library
    adapter = adapter_of(name)
    adapter.install()
    adapter.install()
    assert (name in sys.modules, adapter.patched()) == (False, [])
    module = import_it()
    assert (module.ask(), adapter.patched()) == ("not real", [f"{name}.ask"])
    assert "exec_module" not in vars(module.__spec__.loader)
    adapter.uninstall()
    assert (module.ask(), adapter.patched()) == ("real", [])


def test_a_module_that_was_imported_before_is_patched_at_once(library):
    name, import_it = library
    module, adapter = import_it(), adapter_of(name)
    adapter.install()
    assert module.ask() == "not real"
    adapter.uninstall()
    assert module.ask() == "real"


def test_without_the_adapter_a_later_import_is_left_alone(library):
    name, import_it = library
    finders = list(sys.meta_path)
    adapter = adapter_of(name)
    adapter.install()
    adapter.uninstall()
    assert (sys.meta_path, import_it().ask()) == (finders, "real")


@pytest.mark.parametrize(("distribution", "told"), [("attrs", True), ("a-library", False)])
def test_a_version_without_what_is_needed_is_told_and_left_alone_and_a_module_of_anybody_elses_is_not_told(
    distribution, told, library, caplog
):
    def patching(patches, module):
        replacing(patches, module)
        patches.wrap(module, "gone", lambda original: original, name)

    name, import_it = library
    adapter = adapter_of(name, patching, distribution)
    adapter.install()
    assert import_it().ask() == "real"
    assert adapter.patched() == []
    assert ("is not captured" in caplog.text) is told
    assert ("this needs a library of next year" in caplog.text) is told
    adapter.uninstall()


def test_a_module_that_cannot_be_imported_raises_as_ever(library, tmp_path):
    name, import_it = library
    (tmp_path / f"{name}.py").write_text("raise ValueError('no')\n")
    adapter = adapter_of(name)
    adapter.install()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            import_it()
    (tmp_path / f"{name}.py").write_text("def ask():\n    return 'real at last'\n")
    importlib.invalidate_caches()
    assert import_it().ask() == "not real at last"
    adapter.uninstall()


def test_a_name_that_was_taken_from_a_patched_module_is_patched_once_and_put_back():
    script = """
from adapters.openai_agents import OPENAI_AGENTS
OPENAI_AGENTS.install()
import agents
from agents import tool
from agents.run_internal import tool_execution
name = "_invoke_function_tool_with_metadata"
wrapped = getattr(tool_execution, name)
print(len(OPENAI_AGENTS.patched()), hasattr(wrapped.__wrapped__, "__wrapped__"))
OPENAI_AGENTS.uninstall()
print(getattr(tool, name) is getattr(tool_execution, name), hasattr(getattr(tool, name), "__wrapped__"))
"""
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split("\n")
    assert told[:2] == ["2 False", "True False"]
