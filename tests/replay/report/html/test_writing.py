from __future__ import annotations

import os
import threading

import pytest

from cassettes.errors import BadInput
from replay.report.html.writing import write_page


def test_a_page_is_written_with_its_folders(tmp_path):
    path = tmp_path / "a" / "b" / "report.html"
    assert write_page(path, "<p>ü") == 5
    assert path.read_text() == "<p>ü"
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_what_a_link_points_to_is_replaced_and_not_the_link(tmp_path):
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to("real.html")
    write_page(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "new"


def test_a_pipe_gets_the_page_and_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write_page(path, "page")
    reader.join()
    assert (read, path.is_fifo()) == (["page"], True)


def test_a_place_that_cannot_be_written_is_told_and_nothing_is_left(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file" / "report.html", tmp_path):
        with pytest.raises(BadInput, match=r"cannot be written: .*; name another place"):
            write_page(path, "page")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
