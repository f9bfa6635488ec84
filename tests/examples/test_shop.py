"""The tools refuse what cannot be, and the outside world drifts by the seed alone."""

import json

import pytest

from examples.support.data import make_db
from examples.support.shop import Shop, ShopError


@pytest.fixture
def db():
    return make_db()


@pytest.fixture
def shop(db):
    return Shop(db, seed=1)


def outside(seed):
    shop = Shop(make_db(), seed=seed)
    return [shop.shipping_quote(zip_code="28203"), shop.stock_check(sku="JACKET-M")]


def test_the_same_seed_gives_the_same_world():
    assert outside(5) == outside(5)


def test_other_seeds_give_other_worlds():
    quotes, stocks = zip(*map(outside, range(40)), strict=True)
    prices = [quote["price"] for quote in quotes]
    assert min(prices) < 9 < max(prices)
    assert any(stock["available"] == 0 for stock in stocks)
    assert any(stock["available"] > 0 for stock in stocks)


def test_a_world_does_not_depend_on_the_order_of_questions():
    one, two = Shop(make_db(), seed=5), Shop(make_db(), seed=5)
    first = one.stock_check(sku="MUG-RED"), one.stock_check(sku="JACKET-M")
    second = two.stock_check(sku="JACKET-M"), two.stock_check(sku="MUG-RED")
    assert first == second[::-1]


def test_no_drift(monkeypatch):
    monkeypatch.setenv("SHOP_DRIFT", "0")
    assert all(outside(seed) == outside(0) for seed in range(10))


def test_express_costs_more(monkeypatch, shop):
    monkeypatch.setenv("SHOP_DRIFT", "0")
    steady = Shop(make_db(), seed=1)
    express = steady.shipping_quote(zip_code="28203", service="express")
    assert express["price"] > steady.shipping_quote(zip_code="28203")["price"]


def test_the_database_is_small_fresh_and_like_json(db):
    packed = json.dumps(db)
    assert len(packed) < 20_000
    assert json.loads(packed) == db
    db["orders"].clear()
    assert make_db()["orders"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("find_customer", {"email": "x@example.com"}, "x@example.com"),
        ("get_order", {"order_id": "W9"}, "W9"),
        ("get_product", {"sku": "BOAT"}, "BOAT"),
        ("stock_check", {"sku": "BOAT"}, "BOAT"),
        ("cancel_order", {"order_id": "W1001"}, "shipped"),
        ("return_items", {"order_id": "W1001", "skus": ["LAMP"]}, "not delivered"),
        ("return_items", {"order_id": "W1003", "skus": ["TEAPOT", "RUG"]}, "RUG is not an open item"),
        ("exchange_item", {"order_id": "W1009", "sku": "JACKET-S", "new_sku": "RUG"}, "same group"),
        ("issue_refund", {"order_id": "W1011", "amount": 1000.0}, "out of range"),
        ("issue_refund", {"order_id": "W1011", "amount": -1.0}, "out of range"),
        (
            "update_address",
            {"order_id": "W1001", "street": "a", "city": "b", "zip_code": "c"},
            "cannot be changed",
        ),
        ("add_note", {"email": "ada@example.com", "topic": "poem", "text": ""}, "poem"),
    ],
)
def test_a_refused_call_changes_nothing(db, shop, tool, arguments, message):
    with pytest.raises(ShopError, match=message):
        getattr(shop, tool)(**arguments)
    assert db == make_db()


def test_an_item_is_returned_once(shop):
    shop.return_items(order_id="W1003", skus=["TEAPOT"])
    assert shop.list_returns(order_id="W1003") == ["TEAPOT"]
    with pytest.raises(ShopError, match="TEAPOT"):
        shop.return_items(order_id="W1003", skus=["TEAPOT"])
