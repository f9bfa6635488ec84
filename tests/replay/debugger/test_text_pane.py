from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from replay.debugger.text_pane import strip_of, wrapped

_text = st.text(alphabet="ab  日本🙂", max_size=80)


@given(_text, st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_nothing(text, width):
    lines = [line.plain for line in wrapped(Text(text), width)]
    assert "".join(lines) == text
    assert all(cell_len(line.rstrip()) <= width for line in lines)


def test_words_stay_whole_where_they_fit():
    assert [line.plain.rstrip() for line in wrapped(Text("one two three"), 8)] == ["one two", "three"]
    assert [line.plain for line in wrapped(Text("abcdefghij"), 4)] == ["abcd", "efgh", "ij"]


def test_styles_stay_with_their_letters():
    text = Text("one two three")
    text.stylize("bold", 4, 7)
    _, second = wrapped(text, 4), list(wrapped(text, 4))
    assert [[(span.start, span.end) for span in line.spans] for line in second] == [[], [(0, 3)], [], []]


@given(_text, st.integers(1, 40))
def test_a_strip_has_exactly_its_width(text, width):
    assert strip_of(Text(text), width, Style()).cell_length == width


def test_what_is_searched_for_is_marked_wherever_it_stands():
    strip = strip_of(Text("An order, an ORDER."), 30, Style(), "order")
    assert [segment.text for segment in strip if segment.style is not None and segment.style.reverse] == [
        "order",
        "ORDER",
    ]


def test_markup_is_no_markup():
    strip = strip_of(Text("[red]x[/red] [@click=app.quit]y[/]"), 40, Style())
    assert strip.text.rstrip() == "[red]x[/red] [@click=app.quit]y[/]"
    assert all(segment.style is None or not segment.style.meta for segment in strip)
