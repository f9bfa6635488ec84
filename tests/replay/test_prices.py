"""The table of prices, and how names are looked up in it."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from replay import prices
from replay.prices import Listed, Price, PriceList, kept_prices, prices_of

TABLE = tomllib.loads(Path(prices.__file__).with_name("prices.toml").read_text())


def test_the_table_says_when_and_from_where_its_prices_are():
    assert TABLE["currency"] == prices.CURRENCY
    for entry in TABLE["list"]:
        assert date(2026, 1, 1) <= date.fromisoformat(entry["date"]) <= date(2026, 11, 29)
        assert entry["from"]
        assert entry["maker"] in {"OpenAI", "Anthropic", "Google"}


def test_no_model_stands_in_the_table_twice_and_each_costs_something():
    names = [name for entry in TABLE["list"] for name in entry["models"]]
    assert len(names) == len({*names})
    assert 10 <= len(names) <= 25
    for price in map(PriceList().__getitem__, names):
        assert 0 < price.input < price.output
        assert price.cached is None or 0 < price.cached < price.input


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("global.anthropic.claude-haiku-5-5", "claude-haiku-5-5"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-haiku-4-5-20251001-v1:0",
            "claude-haiku-4-5",
        ),
    ],
)
def test_a_dated_name_has_the_price_of_its_base_name(name, base):
    assert PriceList().find(name) == PriceList().find(base) is not None


def test_a_dated_name_with_a_price_of_its_own_keeps_it():
    assert PriceList()["gpt-4o-2024-05-13"] != PriceList()["gpt-4o"]


@pytest.mark.parametrize(
    "name",
    [
        "unknown",
        "",
        "gpt-4o-audio-preview",
        "gpt-4o-audio-preview-2024-10-01",
        "gpt-4o-latest",
        "gpt-4",
        "GPT-4o",
        "openai/gpt-4o",
        "ft:gpt-4o-2024-08-06:org::id",
        "gpt-4o-2024-13-06x",
        "gpt-4o-001",
        "gemini-2.5-flash-preview-09-2025",
        "models/gemini-2.5-flash",
        # The region of these may cost more, or is not told.
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5@20250929",
        "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123",
        "arn:aws:bedrock:us-east-1:123456789012:provisioned-model/abc123",
    ],
)
def test_what_a_name_does_not_settle_is_unknown(name):
    assert PriceList().find(name) is None
    assert name not in PriceList()


def test_own_prices_win_over_the_table_for_dated_names_too():
    own = PriceList({"gpt-4o": Price(1.0, 2.0), "claude-sonnet-4-5@20250929": Price(3.3, 16.5)})
    assert own.find("gpt-4o") == own.find("gpt-4o-2024-08-06") == Listed(Price(1.0, 2.0), None)
    assert own.find("claude-sonnet-4-5@20250929").price == Price(3.3, 16.5)
    assert own.find("gpt-4o-mini") == PriceList().find("gpt-4o-mini")
    assert len(own) == len(PriceList()) + 1
    assert {"gpt-4o", "claude-sonnet-4-5@20250929"} < {*own}


def test_a_runs_own_prices_are_kept_and_read_again():
    own = {"a": Price(1.0, 2.0, cached=0.5, up_to=9), "b": Price(3.0, 4.0)}
    assert prices_of({"prices": kept_prices(own)}).own == own
    assert prices_of({"prices": kept_prices(PriceList(own))}).own == own
    assert prices_of({}).own == prices_of({"prices": None}).own == {}
