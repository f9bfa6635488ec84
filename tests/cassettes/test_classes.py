from __future__ import annotations

import enum
import errno
import functools
import sys
import types
from dataclasses import InitVar, dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import attrs
import msgpack
import pytest
from pydantic import BaseModel, Field, PrivateAttr, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from cassettes.canonical import canonical
from cassettes.errors import UnkeepableValue
from cassettes.values import Opaque, pack, unpack
from tests.strategies import Failure, Right

T = TypeVar("T")


def back(value: Any) -> Any:
    return unpack(pack(value))


# -- objects ----------------------------------------------------------------------------------------------------------


class Refusing:
    def __init__(self, *_: Any) -> None:
        raise AssertionError("__init__ was called")


@dataclass
class Loud(Refusing):
    a: int = 0

    def __post_init__(self) -> None:
        raise AssertionError("__post_init__ was called")


class LoudError(Exception):
    def __new__(cls, *_: Any) -> LoudError:
        raise AssertionError("__new__ was called")


def test_no_method_of_a_class_runs_when_its_object_is_restored():
    loud = object.__new__(Loud)
    loud.a = 5
    assert back(loud).a == 5
    error = Exception.__new__(LoudError, "x")
    assert (type(back(error)), back(error).args) == (LoudError, ("x",))


@dataclass
class Rich:
    a: int
    start: InitVar[int] = 3
    shared: ClassVar[list[int]] = []
    items: list[int] = field(default_factory=list)

    def __post_init__(self, start: int) -> None:
        self.extra = start + 1

    @functools.cached_property
    def total(self) -> int:
        return self.a + 1


def test_a_dataclass_keeps_what_it_holds_and_no_more():
    rich = Rich(1, items=[2])
    before = canonical(rich)
    assert rich.total == 2
    assert canonical(rich) == before  # what can be computed again does not count
    restored = back(rich)
    assert restored == rich
    assert vars(restored) == {"a": 1, "items": [2], "extra": 4}
    assert restored.total == 2


@dataclass(slots=True)
class SlotsWithClassVar:
    a: int
    limit: ClassVar[int] = 7


class SlotsBase:
    __slots__ = ("_SlotsBase__hidden",)


@dataclass
class WithSlotsBelow(SlotsBase):
    a: int


@dataclass
class Box(Generic[T]):
    item: T


def test_unusual_dataclasses_come_back_whole():
    assert back(SlotsWithClassVar(3)) == SlotsWithClassVar(3)
    assert back(Box[int](4)) == Box(4)
    below = WithSlotsBelow(1)
    below._SlotsBase__hidden = "kept"
    assert back(below)._SlotsBase__hidden == "kept"


@attrs.define
class PrivateNames:
    _a: int
    __b: int = attrs.field(init=False, default=2)


@attrs.frozen(cache_hash=True)
class HashCached:
    name: str


@attrs.define
class AttrsError(Exception):
    code: int


def test_attrs_classes_come_back_whole():
    assert back(PrivateNames(1)) == PrivateNames(1)
    assert back(AttrsError(4)).code == 4
    cached = HashCached("x")
    assert hash(back(cached)) == hash(cached)
    packed = pack(cached)
    assert packed == pack(HashCached("x"))  # the hash of this process is not kept


class Account(BaseModel):
    model_config = {"extra": "allow"}
    owner: str
    tags: set[str] = set()
    _balance: Decimal = PrivateAttr(default=Decimal(0))


def test_a_pydantic_model_keeps_extras_private_attributes_and_which_fields_were_set():
    account = Account(owner="Ann", note="vip")
    account._balance = Decimal("1.50")
    restored = back(account)
    assert restored == account
    assert (restored.note, restored._balance) == ("vip", Decimal("1.50"))
    assert restored.model_fields_set == {"owner", "note"}
    assert type(restored.model_copy()) is Account


class Sentence(enum.Enum):
    name_ = 1
    ALIAS = 1  # noqa: PIE796  # an alias on purpose


def test_an_enum_member_is_the_very_same_object():
    assert back(Sentence.ALIAS) is Sentence.name_
    assert back(Right.READ) is Right.READ


class Pair(NamedTuple):
    left: int
    right: int


def test_a_named_tuple_comes_back_by_its_field_names(monkeypatch):
    packed = pack(Pair(1, 2))
    monkeypatch.setattr(Pair, "_fields", ("right", "left"))
    assert tuple(unpack(packed)) == (2, 1)


# -- exceptions -------------------------------------------------------------------------------------------------------


class Declined(OSError):
    def __init__(self, code: int) -> None:
        super().__init__(errno.EACCES, "declined", "card.txt")
        self.code = code


class Several(ExceptionGroup):
    def __new__(cls, message: str, errors: list[Exception], code: int) -> Several:
        made = super().__new__(cls, message, errors)
        made.code = code
        return made


def fields(error: BaseException) -> dict[str, Any]:
    names = [name for name in dir(error) if not name.startswith("_") and name not in {"add_note", "with_traceback"}]
    found = {name: getattr(error, name) for name in names if hasattr(error, name)}
    return {name: repr(item) for name, item in found.items() if not callable(item)}


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no", 3),
        KeyError("k"),
        FileNotFoundError(2, "no such file", "a.txt"),
        OSError(22, "two", "a", None, "b"),
        OSError("only text"),
        Declined(51),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        ImportError("no", name="thing", path="/x"),
        StopIteration(4),
        SystemExit(3),
        KeyboardInterrupt(),
        SyntaxError("bad", ("f.py", 1, 2, "x x", 1, 3)),
        Failure(402, detail={"why": [1]}),
        ExceptionGroup("two", [ValueError(1), Failure(2)]),
        BaseExceptionGroup("stop", [KeyboardInterrupt()]),
        TimeoutError(),
    ],
    ids=repr,
)
def test_an_exception_comes_back_with_class_and_fields(error):
    restored = back(error)
    assert type(restored) is type(error)
    assert fields(restored) == fields(error)
    assert str(restored) == str(error)


def test_notes_of_an_exception_are_kept():
    error = ValueError("x")
    error.add_note("seen at noon")
    assert back(error).__notes__ == ["seen at noon"]


class Order(BaseModel):
    item: str
    count: int = Field(gt=0)

    @field_validator("item")
    @classmethod
    def known(cls, item: str) -> str:
        if item == "nothing":
            raise ValueError("there is no nothing")
        if item == "gold":
            raise PydanticCustomError("dear", "{item} is dear", {"item": item})
        return item


@pytest.mark.parametrize(
    "given", [{"count": "x"}, {"item": "nothing", "count": 0}, {"item": "gold"}, {"item": "{x}"}, 5]
)
def test_a_validation_error_of_pydantic_says_what_it_said(given):
    with pytest.raises(ValidationError) as caught:
        Order.model_validate(given)
    error = caught.value
    error.add_note("seen at noon")
    restored = back(error)
    assert (type(restored), restored.title, str(restored)) == (ValidationError, error.title, str(error))
    assert repr(restored.errors()) == repr(error.errors())
    assert restored.__notes__ == ["seen at noon"]
    assert canonical(restored) == canonical(error)


def test_a_validation_error_of_another_shape_stays_closed():
    name = "pydantic_core._pydantic_core:ValidationError"
    for state in ([(), {}], [("Order", 5), {}], [("Order", [{"type": "no such type"}], "python", False), {}]):
        assert isinstance(back(Opaque(name, 17, pack(state))), Opaque)


def test_an_exception_group_of_ones_own_comes_back():
    restored = back(Several("m", [ValueError(1)], 7))
    assert (type(restored), restored.code, str(restored.exceptions[0])) == (Several, 7, "1")


# -- classes that are not there ---------------------------------------------------------------------------------------


@pytest.fixture
def passing_module():
    """A module that is loaded while values are packed, and gone afterwards."""
    module = sys.modules["passing_module"] = types.ModuleType("passing_module")
    exec(
        "from dataclasses import dataclass\nfrom enum import Enum\n"
        "@dataclass\nclass Ticket:\n    price: object\n    seat: object = None\n"
        "class Kind(Enum):\n    A = 1\nclass Gone(Exception):\n    pass\n",
        module.__dict__,
    )
    yield module
    sys.modules.pop("passing_module", None)


def test_a_class_that_is_not_loaded_gives_an_opaque_which_loses_nothing(passing_module):
    value = [passing_module.Ticket(Decimal(5), {passing_module.Kind.A}), passing_module.Gone("x")]
    packed, identity = pack(value), canonical(value)
    del sys.modules["passing_module"]
    seen: list[Opaque] = []
    ticket, gone = unpack(packed, seen.append)
    assert isinstance(ticket, Opaque)
    assert (ticket.name, ticket.fields["price"]) == ("passing_module:Ticket", Decimal(5))
    assert [opaque.name for opaque in seen] == ["passing_module:Ticket", "passing_module:Gone"]
    assert pack([ticket, gone]) == packed
    assert canonical([ticket, gone]) == identity
    sys.modules["passing_module"] = passing_module
    restored = unpack(pack([ticket, gone]))
    assert restored[0] == value[0]
    assert type(restored[1]) is passing_module.Gone


def test_a_class_that_no_longer_fits_gives_an_opaque(passing_module):
    packed = pack(passing_module.Kind.A)
    del passing_module.Kind
    exec("from enum import Enum\nclass Kind(Enum):\n    B = 1\n", passing_module.__dict__)
    assert isinstance(unpack(packed), Opaque)


@pytest.mark.parametrize(
    "name",
    ["os:system", "subprocess:Popen", "builtins:eval", "builtins:int", "pathlib:Path", "importlib:import_module"],
)
@pytest.mark.parametrize("form", [15, 16, 17, 18])
def test_a_name_that_is_no_recorded_kind_of_class_is_never_called(name, form, tmp_path):
    mark = tmp_path / "called"
    crafted = msgpack.packb(msgpack.ExtType(form, msgpack.packb([name, pack([[f"touch {mark}"], {}])])))
    assert isinstance(unpack(crafted), Opaque)
    assert not mark.exists()


def test_looking_for_a_class_never_triggers_a_lazy_import(monkeypatch):
    lazy = types.ModuleType("lazy_module")

    def load(name: str) -> Any:
        raise AssertionError(f"{name} was loaded")

    lazy.__getattr__ = load  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "lazy_module", lazy)
    crafted = msgpack.packb(msgpack.ExtType(16, msgpack.packb(["lazy_module:Thing", pack({})])))
    assert isinstance(unpack(crafted), Opaque)


def test_a_class_that_another_one_hides_is_refused(passing_module):
    ticket = passing_module.Ticket(1)
    passing_module.Ticket = int
    with pytest.raises(UnkeepableValue, match="cannot be found again"):
        pack(ticket)
