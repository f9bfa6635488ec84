from __future__ import annotations

import pytest

import trialtape as tt


@tt.tool(effect="read")
def look(name: str) -> str:
    return name


def steady(trial):
    look(f"{trial.task.id}#{trial.index}")


@pytest.mark.parametrize(
    "change",
    [{"seed": 5}, {"timeout": 9.0}, {"suite": {"tasks": [tt.Task(id="a", instruction="other"), tt.Task(id="b")]}}],
)
def test_another_configuration_is_refused_and_nothing_is_changed(tmp_path, run, change):
    run(steady)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(tt.BadInput, match="already with another configuration"):
        run(steady, **change)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_more_trials_than_worlds_are_refused_before_anything_happens(tmp_path, run):
    run(steady, "base")
    with pytest.raises(tt.BadInput, match=r"3 trials, each in a world of its own, .* 2 finished trials .* --worlds R"):
        run(steady, "frozen", trials=3, freeze="external", source="base")
    assert not (tmp_path / "cassettes/frozen").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"trials": 0}, "at least 1"),
        ({"concurrency": 0}, "at least 1"),
        ({"retries": -1}, "at least 0"),
        ({"timeout": 0}, "above 0"),
        ({"freeze": "tool"}, "go together"),
        ({"source": "base"}, "go together"),
        ({"freeze": "nonsense", "source": "base"}, "is no selector"),
        ({"freeze": "tool", "source": "nobody"}, "no finished trial"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path, run, options, told):
    run(steady, "base")
    with pytest.raises(tt.BadInput, match=told):
        run(steady, **options)
    assert not (tmp_path / "cassettes/r").exists()
