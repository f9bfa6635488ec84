"""Hypothesis strategies for what a cassette holds."""

from __future__ import annotations

import datetime as dt
import enum
from collections import OrderedDict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import attrs
from hypothesis import strategies as st
from pydantic import BaseModel

from cassettes.model import (
    Cancelled,
    Chunk,
    Error,
    Injected,
    Interaction,
    Mark,
    Origin,
    Patch,
    Reply,
    Stream,
    Usage,
    Value,
)
from cassettes.values import pack
from tests.factories import call


class Colour(enum.Enum):
    RED = "r"
    BLUE = ("b", 1)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Right(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Plain:
    a: Any
    b: Any = None


@dataclass(frozen=True, slots=True)
class Slotted:
    a: Any
    b: Any = None


@attrs.frozen
class Attrs:
    a: Any
    _b: Any = None


class Model(BaseModel):
    model_config = {"extra": "allow"}
    a: Any
    b: Any = None


class Failure(Exception):
    """Its constructor takes something else than its args."""

    def __init__(self, code: Any, *, detail: Any = None) -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.detail = detail


# Every code point, lone surrogates too.
texts = st.text(st.characters(), max_size=12)
zones = st.one_of(
    st.none(),
    st.sampled_from([ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), dt.UTC]),
    st.builds(dt.timezone, st.timedeltas(dt.timedelta(hours=-20), dt.timedelta(hours=20))),
    st.just(dt.timezone(dt.timedelta(hours=2), "summer")),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**200), max_value=2**200),
    st.floats(),
    texts,
    st.binary(max_size=12),
    st.sampled_from([*Colour, *Level, *Word, Right(0), *Right, Right.READ | Right.RUN]),
    st.decimals(allow_nan=False),
    st.uuids(),
    st.complex_numbers(),
    st.datetimes(timezones=zones, allow_imaginary=True),
    st.dates(),
    st.times(timezones=st.one_of(st.none(), st.just(dt.UTC))),
    st.timedeltas(),
    st.sampled_from([Decimal("-0"), Decimal("NaN")]),
)
hashables = st.one_of(scalars, st.tuples(scalars, scalars), st.frozensets(st.integers(), max_size=3))


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashables, inner, max_size=3),
        st.dictionaries(texts, inner, max_size=3).map(OrderedDict),
        st.sets(hashables, max_size=3),
        st.frozensets(hashables, max_size=3),
        st.binary(max_size=5).map(bytearray),
        st.builds(Point, inner, inner),
        st.builds(Plain, inner, inner),
        st.builds(Slotted, inner, inner),
        st.builds(Attrs, inner, inner),
        st.builds(Model, a=inner, b=inner, more=inner),
        st.builds(Failure, inner, detail=inner),
        st.builds(ValueError, inner),
    )


values = st.recursive(scalars, _containers, max_leaves=8)
json_like = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
errors = st.one_of(st.none(), st.builds(Failure, scalars), st.builds(OSError, st.just(2), texts, texts))
times = st.integers(0, 10**9).map(lambda micros: micros / 1e6)
outcomes = st.one_of(
    st.builds(Value, values),
    st.builds(Error, st.one_of(st.builds(Failure, values), st.builds(KeyError, scalars))),
    st.just(Cancelled()),
    st.builds(
        Stream,
        values,
        st.lists(st.builds(Chunk, times, st.one_of(st.binary(max_size=9), texts, json_like)), max_size=4).map(tuple),
        st.booleans(),
        errors,
    ),
)
patches = st.builds(
    Patch,
    st.lists(
        st.tuples(
            st.lists(st.one_of(texts, st.integers()), max_size=3).map(tuple),
            st.one_of(st.none(), values.map(pack)),
            st.one_of(st.none(), values.map(pack)),
        ),
        max_size=3,
    ).map(tuple),
)
calls = st.one_of(
    st.builds(
        call,
        st.sampled_from(["tool", "http", "clock", "random"]),
        texts,
        arguments=st.dictionaries(texts, values, max_size=3),
        effect=st.sampled_from(["read", "write", "pure", "unknown"]),
        external=st.booleans(),
        reads=st.one_of(st.none(), st.lists(texts, max_size=2).map(tuple)),
        writes=st.one_of(st.none(), st.lists(texts, max_size=2).map(tuple)),
        detail=st.dictionaries(texts, json_like, max_size=2),
    ),
    st.builds(
        call,
        st.just("model"),
        texts,
        arguments=st.fixed_dictionaries(
            {"messages": st.lists(json_like, max_size=4)},
            optional={"tools": st.lists(json_like, max_size=2), "a": values},
        ),
    ),
)
replies = st.one_of(
    st.none(), st.builds(Reply, text=texts, usage=st.one_of(st.none(), st.builds(Usage, st.integers())))
)
origins = st.one_of(
    st.just(Origin()), st.builds(Origin, st.sampled_from(["own", "extended", "stale"]), texts, st.just(3))
)


injected = st.builds(Injected, st.lists(st.text(min_size=1), min_size=1, max_size=2).map(tuple), outcomes)


@st.composite
def interactions(draw: st.DrawFn, step: int = 0) -> Interaction:
    """One interaction, of any kind and with any outcome."""
    return Interaction(
        step=step,
        call=draw(calls),
        outcome=draw(outcomes),
        started=2 * step,
        ended=2 * step + 1,
        at=draw(times),
        duration=draw(times),
        origin=draw(origins),
        parent=draw(st.one_of(st.none(), st.integers(0, 5))),
        reply=draw(replies),
        patch=draw(st.one_of(st.none(), patches)),
        injected=draw(st.one_of(st.none(), injected)),
    )


@st.composite
def trials(draw: st.DrawFn) -> list[Interaction]:
    """Interactions of a whole trial, in step order."""
    return [draw(interactions(step)) for step in range(draw(st.integers(0, 4)))]


marks = st.builds(Mark, st.sampled_from(["message", "state", "problem"]), times, json_like)

# -- secrets ----------------------------------------------------------------------------------------------------------

_ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _letters(size: int, alphabet: str = _ALNUM) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=size, max_size=size)


def _tail(head: str | st.SearchStrategy[str], size: int, alphabet: str = _ALNUM) -> st.SearchStrategy[str]:
    heads = st.just(head) if isinstance(head, str) else head
    return st.tuples(heads, _letters(size, alphabet)).map("".join)


SECRETS: dict[str, st.SearchStrategy[str]] = {
    "openai": _tail(st.sampled_from(["sk-", "sk-proj-", "sk-ant-api03-"]), 24),
    "stripe": _tail(st.sampled_from(["sk_live_", "rk_test_", "pk_live_"]), 16),
    "github": st.one_of(_tail(st.sampled_from(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]), 36), _tail("github_pat_", 30)),
    "aws": _tail(st.sampled_from(["AKIA", "ASIA"]), 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    "google": _tail("AIza", 35),
    "slack": _tail(st.sampled_from(["xoxb-", "xoxp-", "xoxa-"]), 20),
    "huggingface": _tail("hf_", 34),
    "jwt": st.tuples(_tail("eyJ", 15), _tail("eyJ", 20), _letters(20)).map(".".join),
    "private_key": _letters(40).map(
        lambda body: f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    ),
}
secrets = st.sampled_from(sorted(SECRETS)).flatmap(lambda rule: st.tuples(st.just(rule), SECRETS[rule]))

SECRET_NAMES = [
    "password", "PASSWORD", "db_password", "userPassword", "passwd", "passphrase", "secret", "client_secret",
    "api_key", "apiKey", "API-KEY", "apikey", "x-api-key", "access_token", "accessToken", "ACCESSTOKEN", "auth-token",
    "refreshToken", "bearerToken", "BEARER_TOKEN", "private_key", "PRIVATE_KEY", "privateKey", "secret_key",
    "AWS_SECRET_ACCESS_KEY", "aws_access_key", "Authorization", "AUTHORIZATION", "proxy-authorization",
]  # fmt: skip
