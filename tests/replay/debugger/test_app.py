"""Every key of the debugger."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

from replay.debugger.keys import KEYS
from replay.labelling.labels import current, read_labels
from tests.replay.debugger.driving import drive
from tests.replay.debugger.scene import failing, scene
from tests.replay.recorded import keep


@pytest.fixture
def view(home):
    return scene(home)


def moves(view, *keys, **options):
    """The steps that the cursor visits, the first one included."""

    async def scenario(driver):
        visited = [driver.step]
        for key in keys:
            await driver.press(key)
            visited.append(driver.step)
        return visited

    return drive(view, scenario, **options)


def test_n_goes_step_by_step_over_what_the_other_trial_has_alone_too(view):
    steps = moves(view, *"nnnnnnnn", *"NNNNNNNN")
    assert steps == [0, 1, 2, 3, 4, 5, None, 6, 6, None, 5, 4, 3, 2, 1, 0, 0]


def test_arrows_do_the_same(view):
    assert moves(view, "down", "down", "up") == [0, 1, 2, 1]


def test_s_goes_to_model_calls(view):
    assert moves(view, "s", "s", "s", "S", "S") == [0, 4, 6, 6, 4, 0]


def test_t_goes_to_tool_calls(view):
    assert moves(view, "t", "t", "t", "T", "T", "T") == [0, 1, 3, 5, 3, 1, 1]


def test_w_goes_to_writes_of_either_trial(view):
    assert moves(view, "w", "w", "w", "W", "W") == [0, 5, None, None, 5, 5]


def test_home_end_and_pages(home):
    view = keep(home, "q/t#0", failing() * 1)
    assert moves(view, "end", "home", "pagedown", "pageup") == [0, 6, 0, 6, 0]


def test_where_nothing_is_found_the_status_says_so(view):
    async def scenario(driver):
        said = []
        for keys in (["N"], ["end", "n"], ["s"], ["home", "W"]):
            await driver.press(*keys)
            said.append(driver.status)
        return said

    first, last, model, write = drive(view, scenario)
    assert "first step" in first
    assert "last step" in last
    assert "no model call behind this step" in model
    assert "no write before this step" in write


def test_d_goes_to_the_first_divergent_write_and_its_capital_to_the_first_divergent_step(view):
    assert moves(view, "d", "D") == [0, 5, 2]


def test_the_verdict_stands_on_top(view):
    async def scenario(driver):
        return driver.screen

    line = drive(view, scenario).splitlines()[1]
    assert "first divergent write: other arguments: step 5 cancel_order: order_id is" in line


def test_brackets_choose_another_reference(view):
    async def scenario(driver):
        names = [driver.app.desk.other.name]
        for key in ("right_square_bracket", "right_square_bracket", "left_square_bracket"):
            await driver.press(key)
            names.append(driver.app.desk.other.name)
        return names

    first, second, third, fourth = drive(view, scenario)
    assert {first, second} == {"r/refund#1", "r/refund#2"}
    assert (third, fourth) == (first, second)


def test_against_names_the_reference(view, home):
    other = keep(home, "elsewhere/refund#9", failing())

    async def scenario(driver):
        await driver.press("d")
        return driver.app.desk.other.name, driver.status

    name, status = drive(view, scenario, against=other)
    assert name == "elsewhere/refund#9"
    assert "the writes are the same" in status


def test_without_a_reference_d_says_so(home):
    async def scenario(driver):
        await driver.press("d")
        return driver.status, driver.screen

    status, screen = drive(keep(home, "alone/t#0", failing()), scenario)
    assert "no trial to compare with" in status
    assert "no passing trial of this task" in screen


def test_at_is_where_it_begins(view):
    assert moves(view, at=3) == [3]


def test_z_folds_equal_stretches_and_unfolds_them(home):
    steps = failing()
    view = keep(home, "r/t#0", steps, passed=False)
    other = keep(home, "r/t#1", steps, passed=True)

    async def scenario(driver):
        await driver.press("z")
        folded = driver.screen
        await driver.press("z")
        return folded, driver.screen

    folded, unfolded = drive(view, scenario, against=other)
    assert "7 equal steps" in folded
    assert "get_customer" not in folded.split("│")[0]
    assert "get_customer" in unfolded


def test_g_goes_to_a_step_by_number(view):
    async def scenario(driver):
        visited = []
        for text in ("5", "$", "0", "-2"):
            await driver.answer("g", text)
            visited.append(driver.step)
        await driver.answer("g", "99")
        return visited, driver.step, driver.status

    visited, stayed, status = drive(view, scenario)
    assert visited == [5, 6, 0, 5]
    assert stayed == 5
    assert "there is no step 99; the last is 6" in status


def test_slash_searches_and_comma_and_less_than_go_on(view):
    async def scenario(driver):
        await driver.answer("slash", "CUSTOMER")
        visited = [driver.step]
        for key in ("comma", "comma", "less_than_sign"):
            await driver.press(key)
            visited.append(driver.step)
        await driver.answer("slash", "")
        await driver.press("comma")
        return visited, driver.status

    visited, status = drive(view, scenario)
    assert visited == [3, 0, 3, 0]  # step 0 holds it in a message that is new there, later ones in their history
    assert "nothing is searched for" in status


def test_a_text_that_nowhere_stands_is_told(view):
    async def scenario(driver):
        await driver.answer("slash", "zebra")
        return driver.step, driver.status

    step, status = drive(view, scenario)
    assert step == 0
    assert "no step holds 'zebra'" in status


def test_escape_leaves_a_question(view):
    async def scenario(driver):
        await driver.press("g")
        await driver.type("5")
        await driver.press("escape", "n")
        return driver.step

    assert drive(view, scenario) == 1


def test_b_sets_breakpoints_and_c_continues_to_them(view):
    async def scenario(driver):
        await driver.answer("b", "error")
        await driver.answer("b", "tool:cancel_*")
        visited = []
        for key in ("c", "c", "C", "C"):
            await driver.press(key)
            visited.append(driver.step)
        nothing_before = driver.status
        page = driver.page
        await driver.answer("b", "error")
        taken = driver.status
        await driver.answer("b", "tool:")
        return visited, nothing_before, page, taken, driver.status

    visited, nothing_before, page, taken, wrong = drive(view, scenario)
    assert visited == [3, 5, 3, 3]
    assert "no step before meets error, tool:cancel_*" in nothing_before
    assert "breaks on    error" in page
    assert "no longer breaks on error" in taken
    assert "a name behind tool: was expected" in wrong


def test_c_without_a_breakpoint_says_how_to_set_one(view):
    async def scenario(driver):
        await driver.press("c")
        return driver.status

    assert "b sets one" in drive(view, scenario)


def test_number_keys_and_letters_choose_pages(view):
    async def scenario(driver):
        await driver.press("w")
        pages = {}
        for key in ("2", "3", "4", "5", "1", "o", "x"):
            await driver.press(key)
            pages[key] = driver.page
        return pages

    pages = drive(view, scenario)
    assert "step 5 is no model call; the one before it is step 4:" in pages["2"]
    assert "no HTTP was recorded in it" in pages["3"]
    assert '"status": "cancelled"' in pages["4"]
    assert "failed  s@1" in pages["5"]
    assert "step 5 write cancel_order" in pages["1"]
    assert pages["o"] == pages["3"]
    assert pages["x"] == pages["4"]


def test_j_k_and_space_scroll_the_page(view):
    async def scenario(driver):
        await driver.press("2")
        pane = driver.app.query_one("#page")
        places = [pane.scroll_offset.y]
        for key in ("j", "j", "k", "space"):
            await driver.press(key)
            places.append(pane.scroll_offset.y)
        return places

    start, one, two, back, page = drive(view, scenario, size=(80, 24))
    assert (one - start, two - start, back - start) == (1, 2, 1)
    assert page > two


def test_l_keeps_a_label_with_its_step(view, home, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Ada")

    async def scenario(driver):
        await driver.press("d", "l", "a")
        await driver.type("other-order")
        await driver.press("enter")
        await driver.type("W2 instead of W1")
        await driver.press("enter")
        return driver.status, driver.page, driver.screen

    status, page, screen = drive(view, scenario)
    (label,) = current(read_labels(home, "r")[0])
    assert (label.author, label.fault, label.type, label.step) == ("Ada", "agent", "other-order", 5)
    assert label.note == "W2 instead of W1"
    assert label.digest == view.cassette.digest
    assert "labelled by Ada: agent" in status
    assert "agent (other-order) W2 instead of W1 (Ada)" in page
    assert any(line.startswith(("◆", "L")) for line in screen.splitlines())


def test_a_label_is_cleaned_of_secrets(view, home):
    async def scenario(driver):
        await driver.press("l", "t", "enter")
        await driver.type("key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
        await driver.press("enter")

    drive(view, scenario)
    (label,) = current(read_labels(home, "r")[0])
    assert "sk-abc" not in label.note


def test_a_label_is_taken_back_with_0(view, home):
    async def scenario(driver):
        await driver.press("l", "i", "enter", "enter", "l", "0")
        return driver.status

    assert "taken back" in drive(view, scenario)
    assert current(read_labels(home, "r")[0]) == []


def test_escape_leaves_the_label(view, home):
    async def scenario(driver):
        await driver.press("l", "u", "escape", "n")
        return driver.step

    assert drive(view, scenario) == 1
    assert read_labels(home, "r") == ([], [])


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """An editor that replaces one text by another."""

    def install(code):
        script = tmp_path / "editor.py"
        script.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{code}\n")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
        monkeypatch.setattr("textual.app.App.suspend", lambda _self: contextlib.nullcontext())

    return install


def test_e_edits_the_outcome_in_the_users_editor(view, editor):
    editor("path.write_text(text.replace('open', 'shipped'))")

    async def scenario(driver):
        await driver.press("n", "e")
        return driver.app.desk.edits, driver.page, driver.status, driver.screen

    edits, page, status, screen = drive(view, scenario)
    assert edits == {1: '{\n  "order_id": "W1",\n  "status": "shipped"\n}\n'}
    assert "edited: a fork behind this step is given" in page
    assert "f forks behind step 1" in status
    assert any(line.startswith("e    1") for line in screen.splitlines())


def test_an_editor_that_changes_nothing_or_fails_edits_nothing(view, editor):
    async def scenario(driver):
        await driver.press("n", "e")
        return driver.app.desk.edits, driver.status

    editor("pass")
    edits, status = drive(view, scenario)
    assert edits == {}
    assert "nothing was changed" in status
    editor("sys.exit(3)")
    edits, status = drive(view, scenario)
    assert edits == {}
    assert "ended with 3" in status


def test_where_the_terminal_cannot_be_suspended_the_status_says_what_to_use(view):
    async def scenario(driver):
        await driver.press("e")
        return driver.status

    assert "use trialtape fork --edit FILE" in drive(view, scenario)


def test_question_mark_lists_every_key_and_closes_again(view):
    async def scenario(driver):
        await driver.press("question_mark")
        shown = driver.app.screen.query_one("#help").text
        await driver.press("j", "k", "question_mark", "n")
        return shown, driver.step

    shown, step = drive(view, scenario)
    assert step == 1
    for key in KEYS:
        assert any(key.shown in line.split() and key.told in line for line in shown.splitlines()), key.shown


def test_a_comparison_that_ends_while_the_help_is_open_disturbs_nothing(view):
    async def scenario(driver):
        driver.app.desk.others = None
        driver.app.start_comparing()
        await driver.pilot.press("question_mark")
        await driver.settle()
        shown = driver.screen
        await driver.press("question_mark", "d")
        return shown, driver.step

    shown, step = drive(view, scenario)
    assert "next step" in shown
    assert step == 5


def test_q_quits_in_the_middle_of_a_comparison(view):
    async def scenario(driver):
        driver.app.desk.others = None
        driver.app.start_comparing()
        await driver.pilot.press("q")

    drive(view, scenario)


def test_the_cursor_stays_at_its_step_when_the_reference_changes(view):
    assert moves(view, "end", "N", "right_square_bracket") == [0, 6, None, 5]


def test_q_quits(view):
    async def scenario(driver):
        await driver.press("q")
        return driver.app._exit

    assert drive(view, scenario) is True


def test_a_click_chooses_a_row_and_a_tab(view):
    async def scenario(driver):
        await driver.pilot.click("#steps", offset=(20, 3))
        await driver.settle()
        step = driver.step
        await driver.pilot.click("#tabs", offset=(12, 0))
        await driver.settle()
        return step, driver.page

    step, page = drive(view, scenario)
    assert step == 3
    assert "messages to shop-1" in page


def test_every_key_is_pressed_by_a_test():
    """A key that is added needs a test: here, or among those of forks."""
    folder = Path(__file__).parent
    source = "".join((folder / name).read_text(encoding="utf-8") for name in ("test_app.py", "test_forked.py"))
    for key in KEYS:
        assert f'"{key.key}"' in source or (key.key in "nN" and key.key in source), key.key
