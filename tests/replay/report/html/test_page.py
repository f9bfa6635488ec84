from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from cassettes.errors import BadInput
from replay.analysis.run_compare import compare_runs
from replay.labelling.labels import Label, append_label
from replay.report.html.facts import facts_of
from replay.report.html.page import trial_page
from replay.store import Store
from tests.replay.report.html.pages import Page, outside
from tests.reports import ENDINGS, HOSTILE, conversation, hostile

P, F = "passed", "failed"


@pytest.fixture
def page(report):
    return lambda *arguments, **options: Page(report(*arguments, **options)[0].html)


@pytest.fixture
def every(runs):
    """A run with every outcome, and a task that passes always."""
    return runs.make("every", {"b": list(ENDINGS), "a": [P] * 7})


def test_the_page_is_well_formed_and_its_ids_are_unique(page, every):
    found = page(every)
    assert found.problems == []
    assert found.open == []
    assert len(found.ids()) == len(set(found.ids()))


def test_every_link_leads_to_a_place_in_the_page(page, every):
    found = page(every)
    assert {link.removeprefix("#") for link in found.links()} <= set(found.ids())


def test_nothing_in_the_page_leads_out_of_it(page, every):
    found = page(every)
    assert outside(found.html) == []
    assert not found.all("img") + found.all("iframe") + found.all("object") + found.all("embed") + found.all("base")
    assert [a["href"] for a in found.all("link")] == ["data:,"]


def test_only_the_pages_own_script_and_style_may_run(page, every):
    found = page(every)
    hashes = {
        name: f"'sha256-{base64.b64encode(hashlib.sha256(found.data[name].encode()).digest()).decode()}'"
        for name in ("style", "script")
    }
    assert found.policy == (
        f"default-src 'none'; style-src {hashes['style']}; script-src {hashes['script']}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert len([a for a in found.all("script") if "type" not in a]) == 1
    assert not re.search(r"<[^>]+\s(?:style|on\w+)=", found.html)


def test_the_script_makes_no_markup_of_text(page, every):
    script = page(every).data["script"]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|DOMParser", script
    )
    assert not re.search(r"fetch\(|XMLHttpRequest|sendBeacon|WebSocket|import\(", script)


def test_the_numbers_are_those_of_the_statistics_to_the_last_digit(page, runs):
    runs.make("r", {"a": [P, P, F], "b": [P, F, F], "c": [P, P, P]})
    with Store(runs.home) as store:
        store.refresh()
        stats = facts_of(store, "r").stats
    found = page("r")
    assert found.json("stats") == json.loads(json.dumps(stats.to_dict()))
    values = [a["value"] for a in found.all("data")]
    assert values == [str(value) for row in stats.summary.rows for value in (row.pass_hat_k, row.pass_at_k)]
    for row in stats.summary.rows:
        assert f"[{row.bootstrap[0]:.3f}, {row.bootstrap[1]:.3f}]" in found.text
        assert f"[{row.fixed.low:.3f}, {row.fixed.high:.3f}]" in found.text


def test_both_questions_have_their_plain_headings(page, every):
    headings = re.findall(r"<h3>(.*?)</h3>", page(every).html)
    assert headings[:2] == ["if you rerun this suite", "on other tasks like these"]


def test_the_page_is_usable_by_a_screen_reader(page, every):
    found = page(every)
    assert found.all("html") == [{"lang": "en"}]
    assert len(found.all("main")) == 1
    assert len(found.all("h1")) == 1
    assert found.all("a", **{"class": "skip"}) == [{"class": "skip", "href": "#main"}]
    assert all({"scope"} <= set(a) for a in found.all("th"))
    assert all("title" in a for a in found.all("a") if a.get("href", "").startswith("#trial-") and "class" in a)
    for svg in found.all("svg"):
        assert svg.get("aria-hidden") == "true" or svg["aria-labelledby"].split()[0] in found.ids()
    tables = len(found.all("table"))
    assert tables == len(found.all("caption"))


def test_every_trial_is_in_the_map_and_in_the_lists(page, every):
    found = page(every)
    assert len([a for a in found.all("a") if "title" in a]) == 14
    assert {f"trial-{number}" for number in range(14)} <= set(found.ids())
    assert sorted(found.trials()) == list(range(14))


def test_what_went_wrong_stands_in_the_page_itself(page, runs):
    runs.make("r", {"a": [P, (F, conversation(32.0)), "capped", "error"]})
    text = page("r").text
    assert "other arguments: step 4 issue_refund: amount is 32.0, not 16.0 a#0" in text
    assert "capped: 30 steps" in text
    assert "error (agent): boom <b>bold</b>" in text


def test_each_trial_of_the_page_can_be_unpacked(page, runs):
    runs.make("r", {"a": [P, (F, conversation(32.0))], "b": [P]})
    trials = page("r").trials()
    assert [trials[n]["id"] for n in sorted(trials)] == ["r/a#0", "r/a#1", "r/b#0"]
    failed = trials[1]
    assert failed["beside"]["number"] == 0
    assert failed["steps"][0]["said"][0][1].startswith("You are the agent of a shop.")


def test_the_same_run_gives_the_same_bytes(report, every):
    assert report(every)[0].html == report(every)[0].html


@pytest.mark.parametrize("name", list(HOSTILE))
def test_hostile_text_is_text(page, runs, name):
    text = HOSTILE[name].encode("utf-8", "replace").decode()  # the run's own file is UTF-8; the cassettes hold it all
    runs.make("r", {"a": [(F, hostile())], "b": [P]}, about={"suite": text}, config={"source": text})
    found = page("r")
    assert found.problems == []
    assert {tag for tag, _ in found.elements} <= KNOWN
    assert not [a for _, attributes in found.elements for a in attributes if a.startswith("on")]
    assert not set(found.html) & set("\x00\x1b\u202e\u2028\u2029")


KNOWN = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "style",
        "body",
        "a",
        "div",
        "header",
        "p",
        "h1",
        "h2",
        "h3",
        "dl",
        "dt",
    ),
    *(
        "dd",
        "nav",
        "ul",
        "ol",
        "li",
        "noscript",
        "code",
        "main",
        "section",
        "figure",
        "figcaption",
        "svg",
        "desc",
        "line",
    ),
    *("polygon", "polyline", "circle", "rect", "text", "span", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("data", "small", "b", "i", "details", "summary", "footer", "script", "strong", "pre"),
}


def test_a_hostile_task_and_run_are_text(page, runs):
    name = '"><script>window.pwned=1<'
    runs.make(name, {"</script><b>": [P, F], "\u202eabc": [F]})
    found = page(name)
    assert found.problems == []
    assert {tag for tag, _ in found.elements} <= KNOWN
    assert "\u202e" not in found.html


def test_what_is_not_in_the_page_is_said(page, every):
    found = page(every, "failing")
    assert "This page holds the steps of the 6 trials that did not pass, not of the other trials." in found.text
    assert len(found.trials()) == 6
    nothing = page(every, "none")
    assert nothing.trials() == {}
    assert "This page holds the steps of no trial." in nothing.text


def test_two_runs_stand_beside_each_other_with_the_numbers_of_compare(page, runs):
    runs.make("new", {"a": [P, F], "b": [P, P], "c": [F, F]}, config={"seed": 1})
    runs.make("old", {"a": [P, P], "b": [P, P], "d": [F, F]}, config={"seed": 2})
    found = page("new", None, "old")
    with Store(runs.home) as store:
        compared = compare_runs(store, "old", "new", changed=("seed",), common=True)
    assert "new beside old" in found.text
    assert "a difference is new less old" in found.text
    assert "old → new: 2 tasks paired, 4 and 4 trials counted" in found.text
    assert "changed: seed" in found.text
    assert "a 1/2 2/2 -0.500" in found.text
    assert "not paired: c" in found.text
    assert "not paired: d" in found.text
    values = [a["value"] for a in found.all("data")]
    for row in compared.paired.rows:
        assert {str(row.a), str(row.b), str(row.difference)} <= set(values)
        assert f"[{row.low:+.3f}, {row.high:+.3f}]" in found.text


def test_runs_with_nothing_in_common_are_refused(page, runs):
    runs.make("new", {"a": [P]})
    runs.make("old", {"b": [P]})
    with pytest.raises(BadInput, match="no task in common"):
        page("new", None, "old")


def test_a_run_of_which_only_bounds_are_known_has_bounds(page, runs):
    runs.make("r", {"a": [P, "unanswered"], "b": [F, P]})
    found = page("r")
    assert "what can be told: bounds" in found.text
    assert "pass^1 lies between 0.500 (all failed) and 0.750 (all passed)" in found.text
    assert found.all("data") == []


def test_a_run_whose_trials_share_worlds_has_a_curve_across_them(page, runs):
    runs.make("r", {"a": [P, P, P, F], "b": [P, F, P, F]}, config={"source": "base", "worlds": 2})
    found = page("r")
    assert "across recorded worlds" in found.text
    assert "pass^2 across worlds" in found.text
    assert len(found.all("polyline", **{"class": "hat"})) == 1
    assert found.problems == []


def test_one_task_alone_says_nothing_of_others(page, runs):
    runs.make("r", {"a": [P, F]})
    assert "undefined" in page("r").text


def test_labels_are_in_the_trials_page(page, runs):
    runs.make("r", {"a": [F, P]})
    append_label(runs.home, Label(trial="r/a#0", author="ann <b>", fault="tool", step=1, note="\u202eslow"))
    append_label(runs.home, Label(trial="r/a#1", author="ann", fault="tool", digest="of another cassette"))
    trials = page("r").trials()
    assert trials[0]["labels"] == [{"text": "tool: ⟦U+202E⟧slow", "by": "ann <b>", "step": 1}]
    assert "labels" not in trials[1]


def test_a_cassette_that_cannot_be_read_is_told_and_the_rest_is_shown(page, runs):
    runs.make("r", {"a": [P, P, F]})
    path = next(p for p in runs.home.recordings("r") if p.name == "2.cassette")
    path.write_bytes(path.read_bytes()[:40])
    found = page("r")
    assert sorted(found.trials()) == [0, 1]
    assert "incomplete" in found.text


def test_a_very_large_run_is_a_bar_per_task_without_links(page, runs, monkeypatch):
    monkeypatch.setattr("replay.report.html.map.MOST_CELLS", 3)
    runs.make("r", {"a": [P, F], "b": [P, P]})
    found = page("r")
    assert "too many for a cell each" in found.text
    assert found.all("a", title="a#0: passed") == []
    assert [a["width"] for a in found.all("rect", **{"class": "part"})] == ["100.0", "50.0"]


def test_a_trial_alone_is_readable_without_scripts(runs):
    data = {
        "id": "r/a#0",
        "sign": P,
        "ending": "completed",
        "steps": [{"n": 0, "kind": "tool", "name": "<b>", "result": ""}],
    }
    found = Page(trial_page(data))
    assert found.problems == []
    assert "r/a#0" in found.text
    assert "<b>" in found.text
    assert found.trials()[0] == data
