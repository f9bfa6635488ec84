from __future__ import annotations

from adapters.patches import Patches


class Base:
    def greet(self):
        """Says hello."""
        return "hello"


class Inheriting(Base):
    pass


def loud(original):
    def greet(self):
        return original(self).upper()

    return greet


def test_a_wrapped_method_keeps_its_name_and_is_put_back():
    patches, original = Patches(), Base.greet
    patches.wrap(Base, "greet", loud, "tests.Base")
    assert (Base().greet(), Base.greet.__name__, Base.greet.__doc__) == ("HELLO", "greet", "Says hello.")
    assert patches.names() == ["tests.Base.greet"]
    patches.restore()
    assert Base.greet is original
    assert not patches


def test_an_inherited_method_is_deleted_again():
    patches = Patches()
    patches.wrap(Inheriting, "greet", loud, "tests.Inheriting")
    assert (Inheriting().greet(), Base().greet()) == ("HELLO", "hello")
    patches.restore()
    assert "greet" not in vars(Inheriting)


def test_a_method_that_is_wrapped_twice_comes_back_whole():
    patches, original = Patches(), Base.greet
    patches.wrap(Base, "greet", loud, "tests.Base")
    patches.wrap(Base, "greet", loud, "tests.Base")
    patches.restore()
    assert Base.greet is original
