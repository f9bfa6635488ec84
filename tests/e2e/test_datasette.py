"""The index in datasette: tables and views that read well, and its search box."""

from __future__ import annotations

import asyncio
import functools
import os
import re
import subprocess
import sys
import urllib.request
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner
from datasette.app import Datasette

from cassettes.model import Ending
from replay.cli import main
from replay.home import Home
from tests.replay.recorded import keep, read, write


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index of four trials, of which two failed and one is labelled."""
    home = Home(tmp_path_factory.mktemp("browse"))
    call = functools.partial(CliRunner().invoke, main)
    keep(home, "base/a#0", [read("find", what="umbrella"), write("send_parcel", to="ada")], passed=True)
    keep(home, "base/a#1", [read("find", what="parasol")], passed=False)
    keep(home, "base/b#0", [read("find", what="umbrella")], ending=Ending("capped", "30 steps"))
    keep(home, "base/b#1", [read("find", what="umbrella")], passed=True)
    assert call(["--home", str(home.root), "label", "base/a#1", "--fault", "tool", "--author", "ada"]).exit_code == 0
    assert call(["--home", str(home.root), "ls"]).exit_code == 0  # every command brings the index up to date
    return home.index


@pytest.fixture(scope="module")
def fetch(index):
    """Ask datasette in this process, with the index as a file that does not change."""
    served = Datasette(immutables=[str(index)])

    def get(path, **query):
        async def ask():
            return await served.client.get(f"/trialtape{path}?{urlencode(query)}")

        return asyncio.run(ask())

    yield get
    served.executor.shutdown()
    for database in served.databases.values():
        database.close()


def rows(fetch, table, **query):
    answer = fetch(f"/{table}.json", _shape="array", **query)
    assert answer.status_code == 200
    return answer.json()


def test_the_tables_and_views_are_there(fetch):
    document = fetch(".json").json()
    shown = {table["name"] for table in document["tables"] if not table["hidden"]}
    assert shown >= {"runs", "trials", "interactions", "scores", "labels"}
    assert {view["name"] for view in document["views"]} == {"pass_by_task", "failing_trials"}


def test_the_views_say_what_people_look_at_first(fetch):
    by_task = rows(fetch, "pass_by_task", task="a")
    assert [(row["run"], row["trials"], row["passed"]) for row in by_task] == [("base", 2, 1)]
    assert {row["id"] for row in rows(fetch, "failing_trials")} == {"base/a#1", "base/b#0"}


def test_labels_are_readable(fetch):
    (label,) = rows(fetch, "labels")
    assert (label["trial"], label["author"], label["fault"]) == ("base/a#1", "ada", "tool")


@pytest.mark.parametrize(
    ("words", "hits"),
    [
        ("parasol", {("base/a#1", 0)}),
        ("send", {("base/a#0", 1)}),
        ("find umbrella", {("base/a#0", 0), ("base/b#0", 0), ("base/b#1", 0)}),
        ("zebra", set()),
    ],
)
def test_the_search_box_finds_steps(fetch, words, hits):
    assert {(row["trial"], row["step"]) for row in rows(fetch, "interactions", _search=words)} == hits


@pytest.mark.parametrize("page", ["", "/runs", "/trials", "/interactions", "/scores", "/labels", "/failing_trials"])
def test_every_page_can_be_looked_at(fetch, page):
    answer = fetch(page)
    assert answer.status_code == 200
    if page == "/interactions":
        assert 'name="_search"' in answer.text


def test_the_command_in_the_documentation_serves_the_index(index):
    served = subprocess.Popen(
        [sys.executable, "-m", "datasette", "serve", "--immutable", index, "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        address = next(found[0] for line in served.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with straight.open(f"{address}/trialtape/labels.json?_shape=array", timeout=30) as answer:
            assert b'"fault": "tool"' in answer.read()
    finally:
        served.terminate()
        served.communicate(timeout=30)
