"""Each module can be the first that is imported: no order of imports is needed, so no circle hides in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

SCRIPT = """
import importlib, pathlib, sys

OURS = ("cassettes", "adapters", "replay", "trialtape")
names = [
    ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    for package in OURS[:3]
    for path in sorted(pathlib.Path(package).rglob("*.py"))
    if path.stem != "__main__" and "boot" not in path.parts
]
for name in names:
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] in OURS]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] in OURS:
            print(f"{name}: {error}")
print(len(names), "imported")
"""


def test_each_module_can_be_imported_first():
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True)
    *circles, counted = done.stdout.splitlines()
    assert not circles
    assert int(counted.split()[0]) > 200
