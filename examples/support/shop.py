"""The shop: an in-memory database, and the tools that the agent may use on it.

Two of the tools ask the outside world (`shipping_quote`, `stock_check`), and their answers drift from trial
to trial.
"""

import os
import random
from typing import Any

import trialtape as tt

TOOL_NAMES = (
    "find_customer",
    "get_order",
    "get_product",
    "list_returns",
    "add_up",
    "shipping_quote",
    "stock_check",
    "cancel_order",
    "return_items",
    "exchange_item",
    "issue_refund",
    "update_address",
    "add_note",
)


class ShopError(Exception):
    """The shop cannot do what was asked; the message says why."""


class Shop:
    """The tools of one trial, on that trial's own database.

    Args:
        db: A database as `examples.support.data.make_db` builds it; writes change it in place.
        seed: Draws the answers of the outside world. `SHOP_DRIFT=0` gives every seed the same answers.
    """

    def __init__(self, db: dict[str, Any], *, seed: int) -> None:
        self._db = db
        self._seed = seed if os.environ.get("SHOP_DRIFT", "1") != "0" else None

    # Reads of the shop's own database.

    @tt.tool(effect="read", external=False, reads="customer:{email}")
    def find_customer(self, email: str) -> dict[str, Any]:
        """Look up a customer by e-mail: name, address and the notes on the account."""
        return {"email": email, **self._row("customers", email)}

    @tt.tool(effect="read", external=False, reads="order:{order_id}")
    def get_order(self, order_id: str) -> dict[str, Any]:
        """Look up an order: its owner, status, items with prices, address and what was refunded."""
        return {"order_id": order_id, **self._row("orders", order_id)}

    @tt.tool(effect="read", external=False, reads="product:{sku}")
    def get_product(self, sku: str) -> dict[str, Any]:
        """Look up a product: name, price, the group that it may be exchanged within, whether final sale."""
        return {"sku": sku, **self._row("products", sku)}

    @tt.tool(effect="read", external=False, reads="order:{order_id}")
    def list_returns(self, order_id: str) -> list[str]:
        """List the SKUs of an order that were returned so far."""
        items = self._row("orders", order_id)["items"]
        return [sku for sku, item in items.items() if item["status"] == "returned"]

    @tt.tool(effect="pure", external=False)
    def add_up(self, amounts: list[float]) -> dict[str, float]:
        """Add up amounts of money."""
        return {"total": round(sum(amounts), 2)}

    # Reads of the outside world.

    @tt.tool(effect="read")
    def shipping_quote(self, zip_code: str, service: str = "standard") -> dict[str, Any]:
        """Ask the carrier what shipping one parcel to a zip code costs today, and how many days it takes."""
        base = 5.40 + sum(map(int, filter(str.isdigit, zip_code))) % 4 + (4.0 if service == "express" else 0.0)
        if self._seed is None:
            return {"zip_code": zip_code, "service": service, "price": round(base, 2), "days": 3}
        world = random.Random(f"{self._seed}:shipping_quote:{zip_code}:{service}")
        price = round(base * world.uniform(0.7, 1.4), 2)
        return {"zip_code": zip_code, "service": service, "price": price, "days": world.randint(2, 6)}

    @tt.tool(effect="read")
    def stock_check(self, sku: str) -> dict[str, Any]:
        """Ask the warehouse how many pieces of a product are in stock at this moment."""
        self._row("products", sku)
        if self._seed is None:
            return {"sku": sku, "available": 5}
        world = random.Random(f"{self._seed}:stock_check:{sku}")
        return {"sku": sku, "available": world.randint(1, 9) if world.random() < 0.6 else 0}

    # Writes.

    @tt.tool(effect="write", external=False, reads="order:{order_id}", writes="order:{order_id}")
    def cancel_order(self, order_id: str, reason: str = "") -> dict[str, Any]:
        """Cancel a pending order; what was paid goes back to the customer by itself."""
        order = self._row("orders", order_id)
        if order["status"] != "pending":
            raise ShopError(f"order {order_id} is {order['status']}; only pending orders can be cancelled")
        order["status"] = "cancelled"
        order["cancel_reason"] = reason
        order["refunded"] = _total(order["items"], list(order["items"]))
        return {"order_id": order_id, "status": "cancelled", "refunded": order["refunded"]}

    @tt.tool(effect="write", external=False, reads="order:{order_id}", writes="order:{order_id}")
    def return_items(self, order_id: str, skus: list[str]) -> dict[str, Any]:
        """Open a return for items of a delivered order; the price is paid back once they arrive."""
        order = self._delivered(order_id)
        for sku in skus:
            self._item(order_id, sku)
        for sku in skus:
            order["items"][sku]["status"] = "returned"
        return {"order_id": order_id, "returned": skus, "refund_due": _total(order["items"], skus)}

    @tt.tool(effect="write", external=False, reads="order:{order_id}", writes="order:{order_id}")
    def exchange_item(self, order_id: str, sku: str, new_sku: str) -> dict[str, Any]:
        """Exchange an item of a delivered order for another product of the same group."""
        order = self._delivered(order_id)
        item = self._item(order_id, sku)
        old, new = self._row("products", sku), self._row("products", new_sku)
        if old["group"] != new["group"]:
            raise ShopError(f"{sku} and {new_sku} are not in the same group")
        item["status"] = "exchanged"
        order["items"][new_sku] = {"quantity": item["quantity"], "price": new["price"], "status": "to send"}
        difference = round((new["price"] - old["price"]) * item["quantity"], 2)
        return {"order_id": order_id, "old": sku, "new": new_sku, "to_pay": difference}

    @tt.tool(effect="write", external=False, reads="order:{order_id}", writes="order:{order_id}")
    def issue_refund(self, order_id: str, amount: float) -> dict[str, Any]:
        """Pay money back for an order right away, without a return."""
        order = self._row("orders", order_id)
        refunded = round(order["refunded"] + amount, 2)
        if amount <= 0 or refunded > _total(order["items"], list(order["items"])):
            raise ShopError(f"cannot refund {amount:.2f} on order {order_id}: out of range")
        order["refunded"] = refunded
        return {"order_id": order_id, "amount": amount, "refunded": refunded}

    @tt.tool(effect="write", external=False, reads="order:{order_id}", writes="order:{order_id}")
    def update_address(self, order_id: str, street: str, city: str, zip_code: str) -> dict[str, Any]:
        """Change where a pending order is sent."""
        order = self._row("orders", order_id)
        if order["status"] != "pending":
            raise ShopError(f"order {order_id} is {order['status']}; its address cannot be changed")
        order["address"] = {"street": street, "city": city, "zip": zip_code}
        return {"order_id": order_id, "address": dict(order["address"])}

    @tt.tool(effect="write", external=False, reads="customer:{email}", writes="customer:{email}")
    def add_note(self, email: str, topic: str, text: str) -> dict[str, Any]:
        """Leave a note on an account for colleagues; topic: callback, delivery, supervisor or waitlist."""
        if topic not in {"callback", "delivery", "supervisor", "waitlist"}:
            raise ShopError(f"unknown topic {topic!r}")
        self._row("customers", email)["notes"][topic] = {"text": text, "open": True}
        return {"email": email, "topic": topic, "open": True}

    def _row(self, table: str, key: str) -> dict[str, Any]:
        try:
            row: dict[str, Any] = self._db[table][key]
        except KeyError:
            raise ShopError(f"no {key!r} among the {table}") from None
        return row

    def _delivered(self, order_id: str) -> dict[str, Any]:
        order = self._row("orders", order_id)
        if order["status"] != "delivered":
            raise ShopError(f"order {order_id} is {order['status']}, not delivered")
        return order

    def _item(self, order_id: str, sku: str) -> dict[str, Any]:
        items = self._row("orders", order_id)["items"]
        if sku not in items or items[sku]["status"] != "delivered":
            raise ShopError(f"{sku} is not an open item of order {order_id}")
        item: dict[str, Any] = items[sku]
        return item


def _total(items: dict[str, Any], skus: list[str]) -> float:
    total: float = sum(items[sku]["price"] * items[sku]["quantity"] for sku in skus)
    return round(total, 2)
