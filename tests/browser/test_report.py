"""The report of a run, in a browser, from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

MEASURES = Path(__file__).with_name("measures.js").read_text(encoding="utf-8")
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1200, "height": 900}}


def found(page, measure):
    """What one of the measures finds wrong with the page as it is now."""
    return page.evaluate(f"({MEASURES}).{measure}()")


def heading(page):
    return page.locator("h1:visible").text_content()


def focused(page):
    return page.evaluate(
        "document.activeElement.getAttribute('title') || document.activeElement.id || document.activeElement.tagName"
    )


def number_of(page, task, index):
    return page.locator(f".cells a[title^='{task}#{index}:']").get_attribute("href").removeprefix("#trial-")


def test_a_cell_opens_its_trial_and_back_returns_to_it(opened, every):
    page = opened(every)
    page.locator(".cells a[title^='c#1:']").click()
    page.wait_for_selector("#trial .steps")
    assert heading(page) == "every/c#1"
    assert page.title() == "every/c#1"
    page.go_back()
    page.wait_for_selector("#overview:visible")
    assert heading(page) == "every"
    assert focused(page) == "c#1: failed"


def test_everything_goes_by_keyboard(opened, every):
    page = opened(every)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert focused(page) == "main"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.cells a')"):
            break
    assert focused(page) == "a#0: passed"
    page.keyboard.press("ArrowDown")
    assert focused(page) == "c#0: passed"
    page.keyboard.press("ArrowRight")
    assert focused(page) == "c#1: failed"
    page.keyboard.press("Enter")
    page.wait_for_selector("#trial .steps")
    assert heading(page) == "every/c#1"
    page.keyboard.press("j")
    assert focused(page) == "step-0"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    assert focused(page) == "step-2"
    page.keyboard.press("k")
    assert focused(page) == "step-1"
    page.keyboard.press("Enter")
    assert page.locator("#step-1 details[open]").count() == page.locator("#step-1 details").count() == 1
    page.keyboard.press("d")
    expect(page.locator("#step-4")).to_be_focused()
    page.keyboard.press("Escape")
    page.wait_for_selector("#overview:visible")
    assert focused(page) == "c#1: failed"


def test_the_map_is_one_stop_of_the_tab_key(opened, every):
    page = opened(every)
    page.locator(".cells a").first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.cells a')") is False
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.matches('.cells a')")


def test_trials_follow_each_other(opened, every):
    page = opened(every)
    page.locator(".cells a[title^='c#1:']").click()
    page.wait_for_selector("#trial .steps")
    page.keyboard.press("]")
    expect(page).to_have_title("every/c#2")
    page.keyboard.press("[")
    expect(page).to_have_title("every/c#1")
    page.locator("#trial h2 a").click()
    expect(page).to_have_title("every/c#0")


def test_an_address_leads_to_a_step(opened, every):
    number = number_of(opened(every), "c", 1)
    page = opened(every, f"#trial-{number}/4")
    expect(page.locator("#step-4")).to_be_focused()
    assert heading(page) == "every/c#1"
    assert "first other write" in page.locator("#step-4 .head").text_content()


@pytest.mark.parametrize("fragment", ["#trial-9999", "#trial-x", "#nowhere", "#trial-0/9999"])
def test_an_address_that_leads_nowhere_does_no_harm(opened, every, fragment):
    page = opened(every, fragment)
    page.wait_for_timeout(50)
    assert heading(page)


def test_a_trial_shows_its_steps_scores_and_comparison(opened, every):
    page = opened(every, f"#trial-{number_of(opened(every), 'c', 1)}")
    page.wait_for_selector("#trial .steps")
    text = " ".join(page.locator("#trial").inner_text().split())
    assert "other arguments: step 4 issue_refund: amount is 32.0, not 16.0" in text
    assert "failed by s@1" in text
    assert "amount = 32.0" in text
    assert "amount = 16.0" in text
    assert "My plate is broken." in text
    assert "orders.W1.refunded 0.0 32.0" in text
    page.locator("#step-1 details summary").click()
    assert page.locator("#step-1 details pre").text_content().count("PLATE") == 12


def test_a_trial_that_was_continued_shows_how_often_it_passed(opened, every):
    page = opened(every, f"#trial-{number_of(opened(every), 'c', 1)}")
    bars = page.locator("section[aria-labelledby='blame-heading']")
    bars.wait_for()
    assert bars.locator("rect.bar").count() == 2
    assert "8 of 8 from before step 4" in bars.inner_text()
    bars.locator("ul a").first.click()
    expect(page.locator("#step-4")).to_be_focused()
    assert found(page, "clipped") == []
    assert found(page, "overlaps") == []


def test_a_long_value_in_json_is_laid_out_token_by_token(opened, every):
    page = opened(every, f"#trial-{number_of(opened(every), 'c', 1)}")
    page.locator("#step-1 details summary").click()
    told = page.locator("#step-1 details pre").text_content()
    assert '\n  "total": 32.0,\n' in told


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground_in_both_themes(opened, every, scheme):
    page = opened(every, color_scheme=scheme)
    assert found(page, "contrasts") == []
    page.locator(".cells a[title^='c#1:']").click()
    page.wait_for_selector("#trial .steps")
    assert found(page, "contrasts") == []


def test_dark_is_dark(opened, every):
    grounds = [
        opened(every, color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert grounds == ["rgb(252, 252, 250)", "rgb(20, 23, 27)"]


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", ["every", "hostile"])
def test_nothing_is_clipped_and_nothing_overlaps(opened, pages, name, size):
    page = opened(pages / f"{name}.html", **size)
    assert found(page, "overflow") == []
    assert found(page, "clipped") == []
    assert found(page, "overlaps") == []
    page.locator(".cells a").first.click()
    page.wait_for_selector("#trial .steps")
    assert found(page, "overflow") == []
    page.evaluate("document.querySelectorAll('#trial details').forEach((d) => { d.open = true; })")
    page.wait_for_timeout(50)
    assert found(page, "overflow") == []


def test_hostile_text_is_inert(opened, pages):
    page = opened(pages / "hostile.html")
    cells = page.locator(".cells a")
    for place in range(cells.count()):
        page.goto(f"{(pages / 'hostile.html').as_uri()}#trial-{place}")
        page.wait_for_selector("#trial .steps")
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.keyboard.press("j")
    page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None
    assert (
        page.locator("#trial img, #trial script, #trial iframe, #trial u, #trial [onload], #trial [onerror]").count()
        == 0
    )


def test_hostile_text_is_seen(opened, pages):
    page = opened(pages / "hostile.html")
    page.locator(".cells a").last.focus()
    page.goto(f"{(pages / 'hostile.html').as_uri()}#trial-0")
    page.wait_for_selector("#trial .steps")
    text = page.locator("#trial").inner_text()
    assert "<script>window.pwned = 1</script>" in text
    assert "abc⟦U+202E⟧gnp.exe" in text
    assert "nul␀ bell␇ escape␛[31m" in text
    assert "lone ⟦U+D800⟧ half" in text


def test_the_policy_stops_a_script_that_got_in(browser, every):
    """Not that any does: but if one did, the page's own policy would not run it."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(every.as_uri())
    page.evaluate("document.body.append(document.createElement('script'))")
    page.evaluate("document.body.lastElementChild.append('window.pwned = 1')")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned = 2\">')")
    page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None
    context.close()


def test_without_scripts_the_numbers_the_map_and_what_went_wrong_are_there(opened, every):
    page = opened(every, java_script_enabled=False)
    text = " ".join(page.locator("body").inner_text().split())
    assert "Scripts are off." in text
    assert "if you rerun this suite" in text
    assert "other arguments: step 4 issue_refund: amount is 32.0, not 16.0" in text
    page.locator(".cells a[title^='c#1:']").click()
    assert page.locator("tr:target").inner_text().split()[0] == "c#1"


def test_in_print_everything_is_black_on_white_and_what_was_folded_is_open(opened, every, tmp_path):
    page = opened(every, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_the_outline_of_the_page_is_what_assistive_technology_expects(opened, every):
    page = opened(every)
    snapshot = page.locator("body").aria_snapshot()
    for expected in (
        "- banner",
        "- main",
        '- navigation "Sections"',
        "- contentinfo",
        'link "c#1: failed"',
        '- img "pass^k and pass@k',
    ):
        assert expected in snapshot, expected
