"""What the how-to guides show of the tau-bench airline recordings is what the commands print."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.docs.documents import ROOT, blocks
from tests.docs.test_code_runs import run_console
from tests.replay.recorded import AIRLINE, needs_airline

IMPORTING = ROOT / "docs" / "how-to" / "import-taubench.md"
DEBUGGING = ROOT / "docs" / "how-to" / "debug-a-failing-trial.md"


def shown(page, command):
    """The console block that begins with this command."""
    (found,) = (block for block in blocks(page, "console") if block.startswith(f"$ {command}\n"))
    return SimpleNamespace(parsed=found)


@pytest.fixture
def imported(folder):
    """A folder with the recordings, imported as the guide says it."""
    Path(folder, AIRLINE.name).symlink_to(AIRLINE)
    run_console(shown(IMPORTING, f"trialtape import taubench {AIRLINE.name} --run airline"))


@needs_airline
@pytest.mark.usefixtures("imported")
def test_from_stats_to_the_line_that_explains_a_failure():
    walk = shown(DEBUGGING, "trialtape stats airline")
    assert walk.parsed.count("$ trialtape") == 5
    run_console(walk)
