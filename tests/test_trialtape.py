"""The public face."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import trialtape as tt

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", tt.__all__)
def test_every_public_name_resolves(name):
    assert getattr(tt, name) is not None
    assert name in dir(tt)


def test_the_tables_agree():
    assert sorted(tt._MODULE_OF) == sorted(tt.__all__) == tt.__all__
    tree = ast.parse((ROOT / "trialtape.py").read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.asname or alias.name for node in checked.body for alias in node.names}
    assert typed == set(tt.__all__)


def test_the_version_is_told():
    assert tt.__version__.count(".") == 2


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = tt.nothing


def python(code, *, folder=ROOT):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)


def test_importing_it_imports_nothing_else_of_the_project():
    code = "import sys, trialtape; print([m for m in sys.modules if m.split('.')[0] in ('replay', 'adapters')])"
    assert python(code).stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["cassettes", "adapters", "replay"])
def test_a_folder_that_shadows_a_package_is_named(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    code = f"import sys; sys.path.append({str(ROOT)!r}); import trialtape"
    done = python(code, folder=tmp_path)
    assert done.returncode == 1
    assert f"trialtape needs its own package {name!r}" in done.stderr
    assert str(tmp_path / name) in done.stderr
