"""Names that look like markup or emoji of a terminal are printed as they are, by every command that tells them."""

from __future__ import annotations

import pytest

from replay.home import Home
from tests.replay.verdicts import make_run, passes

CLOSING, STYLED, EMOJI = "[/red]x", "[bold]t[/bold]", ":bomb: [link=x]"
RUNS = ("r[bold]1", "r[red]2")


@pytest.fixture
def runs(home):
    for name, c in zip(RUNS, (1, 3), strict=True):
        verdicts = {CLOSING: passes(c, 4), STYLED: passes(c, 4), EMOJI: passes(4, 4)}
        tags = {CLOSING: {"domain": STYLED}, STYLED: {"domain": CLOSING}, EMOJI: {"[/b]": "1"}}
        make_run(Home(home), name, verdicts, tags=tags, config={"mode": "record"})
    return RUNS


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["stats", RUNS[0], "--by", "task"], [CLOSING, STYLED, EMOJI, RUNS[0]]),
        (["stats", RUNS[0], "--by", "domain"], [CLOSING, STYLED]),
        (["stats", RUNS[0], "--by", "tag"], [f"domain={CLOSING}", f"domain={STYLED}", "[/b]=1"]),
        (["stats", RUNS[1], "--card"], [RUNS[1]]),
        (["compare", *RUNS], [*RUNS, CLOSING, STYLED]),
        (["ls"], RUNS),
        (["ls", RUNS[0]], [CLOSING, STYLED, EMOJI]),
        (["lab", "worlds", RUNS[0]], [CLOSING, STYLED, EMOJI]),
        (["lab", "watchlist", RUNS[0]], [CLOSING, STYLED, EMOJI]),
        (["lab", "trend", "r*"], RUNS),
        (["lab", "faults", RUNS[0]], [CLOSING, STYLED]),
        (["lab", "forecast", RUNS[0], "--runs-per-day", 9], [RUNS[0]]),
        (["lab", "plan", RUNS[0], "--detect", 0.1], [RUNS[0]]),
    ],
    ids=lambda found: " ".join(map(str, found)),
)
def test_names_are_no_markup(runs, call, options, names):
    told = call(*options).stdout
    for name in names:
        assert name in told
