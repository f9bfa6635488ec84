from __future__ import annotations

import datetime as dt
from pathlib import Path, PurePath

import pytest
from hypothesis import given

from cassettes.standard import PATH, RESTORE, SIMPLE
from tests.strategies import scalars


@given(scalars.filter(lambda value: type(value) in SIMPLE))
def test_a_plain_form_restores_the_value(value):
    code, to_plain = SIMPLE[type(value)]
    restored = RESTORE[code](to_plain(value))
    assert type(restored) is type(value)
    assert repr(restored) == repr(value)


def test_codes_are_told_apart():
    codes = [code for code, _ in SIMPLE.values()]
    assert len(set(codes)) == len(codes)
    assert set(codes) | {PATH} == set(RESTORE)


@pytest.mark.parametrize("path", [Path("/a/b"), PurePath("a")])
def test_a_path_and_a_pure_path_are_different(path):
    assert type(RESTORE[PATH]([str(path), isinstance(path, Path)])) is type(path)


def test_a_zone_of_ones_own_has_no_plain_form():
    class Own(dt.tzinfo):
        pass

    with pytest.raises(TypeError, match="a time zone of class Own cannot be kept"):
        SIMPLE[dt.datetime][1](dt.datetime(2024, 1, 1, tzinfo=Own()))
