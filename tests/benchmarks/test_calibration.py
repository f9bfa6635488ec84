"""The calibration runs, with few simulations; what it measures is not tested here."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.calibration import __main__ as calibration
from benchmarks.calibration.measures import Cell, jobs
from benchmarks.calibration.report import markdown, picture
from benchmarks.calibration.spreads import HELD_OUT, SPREADS


@pytest.mark.parametrize("letter", SPREADS | HELD_OUT)
def test_the_exact_mean_of_a_spread_is_that_of_its_draws(letter):
    spread = (SPREADS | HELD_OUT)[letter]
    p = spread.draw(np.random.default_rng(0), 200_000)
    for k in (1, 4):
        assert (p**k).mean() == pytest.approx(spread.pass_hat_k(k), abs=0.004)


def test_every_kind_of_simulation_gives_cells():
    seen = {}
    for job in jobs(sizes=(20,), trials=(4,)):
        kind = job.name.split()[0]
        if kind not in seen:
            seen[kind] = job.run(np.random.default_rng(1), 3)
    assert set(seen) == {"intervals", "paired", "several", "margin", "evidence", "shares", "arms", "watchlists"}
    for cells in seen.values():
        assert all(0 <= cell.measured <= 1 and cell.reps == 3 for cell in cells)


def test_a_missed_promise_is_told():
    kept, missed = (
        Cell("intervals, fixed", f"a  T=20 n=4 k={k}", share, 0.91, True, 600, 0.1)
        for k, share in ((1, 0.95), (2, 0.8))
    )
    free = Cell("intervals, fixed", "a  T=20 n=4 k=4", 0.7, 0.91, None, 600, 0.1)
    assert (kept.broken, missed.broken, free.broken) == (False, True, False)
    text = markdown([kept, missed, free], "python -m benchmarks.calibration")
    assert "| intervals, fixed | at least 0.91 | 3 | 0.800 | 0.817 | 0.100 | 1 | 1 (0.700) |" in text
    assert "- intervals, fixed: a  T=20 n=4 k=2: 0.800 in 600 simulations" in text
    drawn = picture([kept, missed, free])
    assert [drawn.count(colour) for colour in ("#06c", "#c00", "#bbb")] == [1, 1, 1]


def test_the_command_simulates_and_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "_FOLDER", tmp_path)
    done = CliRunner().invoke(calibration.main, ["--reps", "2", "--only", "intervals a 20x4", "--write"])
    assert done.exit_code == 0
    assert "| intervals, population | at least 0.93 | 3 |" in done.output
    assert (tmp_path / "calibration.md").read_text().startswith("# Calibration")
    assert (tmp_path / "calibration.svg").read_text().startswith("<svg")


def test_the_same_command_gives_the_same_digits():
    job = next(iter(jobs(sizes=(20,), trials=(4,))))
    assert job.run(np.random.default_rng(3), 2) == job.run(np.random.default_rng(3), 2)
