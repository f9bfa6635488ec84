from __future__ import annotations

import pytest

import trialtape as tt
from replay.toml_files import read_toml


def test_a_file_is_read(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text('a = 1\n[b]\nc = "ä"\n', encoding="utf-8")
    assert read_toml(path, "keys") == {"a": 1, "b": {"c": "ä"}}


def test_a_file_that_is_not_there_is_named_with_what_it_should_hold(tmp_path):
    with pytest.raises(
        tt.BadInput, match=r"nowhere\.toml cannot be read: .* a TOML file with keys such as a is needed"
    ):
        read_toml(tmp_path / "nowhere.toml", "keys such as a")


@pytest.mark.parametrize(("content", "told"), [(b"a = [", "is no TOML"), (b'a = "\xff"', "cannot be read")])
def test_a_file_that_is_no_toml_is_named(tmp_path, content, told):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(tt.BadInput, match=rf"bad\.toml {told}"):
        read_toml(path, "keys")
