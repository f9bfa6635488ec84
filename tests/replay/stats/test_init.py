from pathlib import Path

from replay import stats


def test_all_is_sorted_and_whole():
    modules = {path.stem for path in Path(stats.__file__).parent.glob("[a-z]*.py")}
    public = {name for name in vars(stats) if not name.startswith("_")}

    assert stats.__all__ == sorted(stats.__all__)
    assert public - set(stats.__all__) <= modules
    assert set(stats.__all__) <= public
    assert not modules & set(stats.__all__)
