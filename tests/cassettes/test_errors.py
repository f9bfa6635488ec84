from __future__ import annotations

import inspect
import pickle
import re

import pytest

from cassettes import errors
from cassettes.errors import Divergence, TrialStopped, TrialtapeError, UnkeepableValue

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, TrialtapeError)]


def test_every_error_is_public_and_drawn_in_the_tree():
    tree = errors.__doc__.split("::")[1]
    for cls in CLASSES:
        assert cls.__name__ in errors.__all__
        assert re.search(rf"\b{cls.__name__}\b", tree), cls


@pytest.mark.parametrize("cls", CLASSES)
def test_the_tree_tells_the_exit_code(cls):
    line = re.search(rf"\b{cls.__name__} +(?:exit code )?(\d+)", errors.__doc__)
    drawn = line or re.search(rf"\b{cls.__base__.__name__} +(?:exit code )?(\d+)", errors.__doc__)
    assert cls.exit_code == int(drawn[1])


def test_an_unkeepable_value_names_its_path():
    error = UnkeepableValue("result.items[3]", "is a file")
    assert (str(error), error.path, error.reason) == ("result.items[3]: is a file", "result.items[3]", "is a file")


def test_a_halt_tells_its_report_as_data():
    halt = Divergence("not so", {"step": 3})
    assert halt.to_dict() == {"error": "Divergence", "message": "not so", "step": 3}
    assert Divergence("x").to_dict() == {"error": "Divergence", "message": "x"}


def test_what_unwinds_a_trial_is_not_caught_with_every_exception():
    assert not issubclass(TrialStopped, Exception)
    assert TrialStopped(Divergence("why")).halt.args == ("why",)


@pytest.mark.parametrize("error", [UnkeepableValue("result.x", "is a file"), Divergence("not so", {"step": 3})])
def test_errors_can_leave_a_worker_of_a_process_pool(error):
    stopped = pickle.loads(pickle.dumps(TrialStopped(error)))
    assert type(stopped) is TrialStopped
    assert (type(stopped.halt), str(stopped.halt)) == (type(error), str(error))
    assert vars(stopped.halt) == vars(error)
