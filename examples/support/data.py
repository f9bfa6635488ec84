"""The shop's database at the start of every trial."""

from typing import Any

PRODUCTS = {  # sku: name, price, group, final sale
    "MUG-BLUE": ("Mug, blue", 12.50, "mugs", False),
    "MUG-RED": ("Mug, red", 12.50, "mugs", False),
    "TEAPOT": ("Teapot, 1 l", 34.00, "teapots", False),
    "KETTLE": ("Steel kettle", 49.90, "kettles", False),
    "LAMP": ("Desk lamp", 41.54, "lamps", False),
    "BULB": ("LED bulb, set of 2", 12.50, "bulbs", False),
    "JACKET-S": ("Rain jacket, S", 89.00, "jackets", False),
    "JACKET-M": ("Rain jacket, M", 89.00, "jackets", False),
    "JACKET-L": ("Rain jacket, L", 89.00, "jackets", False),
    "SCARF-GREY": ("Wool scarf, grey", 18.50, "scarves", False),
    "SCARF-GREEN": ("Wool scarf, green", 18.50, "scarves", False),
    "PLATES": ("Plates, set of 4", 32.00, "tableware", False),
    "BOWLS": ("Bowls, set of 4", 28.40, "tableware", False),
    "RUG": ("Cotton rug", 64.00, "rugs", False),
    "VASE": ("Glass vase, outlet", 15.00, "vases", True),
}

CUSTOMERS = {  # e-mail: name, street, city, zip
    "ada@example.com": ("Ada Brandt", "Lindenweg 4", "Kiel", "24103"),
    "ben@example.com": ("Ben Osei", "Hafenstr. 19", "Bremen", "28195"),
    "cleo@example.com": ("Cleo Marchetti", "Am Wall 2", "Ulm", "89073"),
    "dev@example.com": ("Dev Raman", "Gartenstr. 77", "Mainz", "55116"),
    "eva@example.com": ("Eva Lindqvist", "Markt 1", "Jena", "07743"),
    "finn@example.com": ("Finn Keller", "Seeweg 12", "Trier", "54290"),
}

ORDERS = {  # order: e-mail, status, days since delivery, items
    "W1001": ("ada@example.com", "shipped", 0, {"LAMP": 1}),
    "W1002": ("ben@example.com", "pending", 0, {"KETTLE": 1}),
    "W1003": ("cleo@example.com", "delivered", 6, {"TEAPOT": 1, "MUG-BLUE": 2}),
    "W1004": ("dev@example.com", "pending", 0, {"RUG": 1}),
    "W1005": ("eva@example.com", "shipped", 0, {"BOWLS": 1}),
    "W1006": ("finn@example.com", "delivered", 2, {"LAMP": 1, "BULB": 1}),
    "W1007": ("ada@example.com", "delivered", 45, {"KETTLE": 1}),
    "W1008": ("ben@example.com", "delivered", 9, {"PLATES": 1, "BOWLS": 1, "TEAPOT": 1}),
    "W1009": ("cleo@example.com", "delivered", 5, {"JACKET-S": 1}),
    "W1010": ("dev@example.com", "delivered", 12, {"SCARF-GREY": 1}),
    "W1011": ("eva@example.com", "delivered", 1, {"SCARF-GREEN": 1, "PLATES": 1}),
    "W1012": ("finn@example.com", "delivered", 14, {"RUG": 1}),
    "W1013": ("ada@example.com", "pending", 0, {"MUG-RED": 4}),
    "W1014": ("ada@example.com", "shipped", 0, {"PLATES": 1}),
    "W1015": ("ben@example.com", "pending", 0, {"JACKET-L": 1}),
    "W1016": ("cleo@example.com", "pending", 0, {"BOWLS": 1, "SCARF-GREY": 1, "LAMP": 1}),
    "W1042": ("dev@example.com", "pending", 0, {"TEAPOT": 1}),
    "W1024": ("dev@example.com", "pending", 0, {"TEAPOT": 1, "MUG-BLUE": 1}),
    "W1018": ("eva@example.com", "delivered", 30, {"KETTLE": 1}),
    "W1019": ("finn@example.com", "delivered", 8, {"MUG-BLUE": 2}),
    "W1020": ("ada@example.com", "delivered", 3, {"JACKET-M": 1, "BULB": 1}),
    "W1021": ("ben@example.com", "delivered", 4, {"VASE": 1, "MUG-RED": 1}),
    "W1022": ("cleo@example.com", "delivered", 20, {"BOWLS": 1, "KETTLE": 1}),
    "W1023": ("dev@example.com", "delivered", 7, {"JACKET-S": 1, "TEAPOT": 1}),
    "W1025": ("eva@example.com", "delivered", 10, {"PLATES": 2, "SCARF-GREY": 1, "BULB": 1}),
    "W1026": ("finn@example.com", "delivered", 11, {"LAMP": 1}),
    "W1027": ("ada@example.com", "shipped", 0, {"SCARF-GREEN": 1}),
}


def make_db() -> dict[str, Any]:
    """Build a fresh database: plain dicts, lists, strings and numbers."""
    customers = {email: _customer(*row) for email, row in CUSTOMERS.items()}
    return {
        "customers": customers,
        "products": {sku: _product(*row) for sku, row in PRODUCTS.items()},
        "orders": {
            order_id: {
                "email": email,
                "status": status,
                "days_since_delivery": days,
                "tracking": "" if status == "pending" else f"TRK-{int(order_id[1:]) * 7 - 2536}",
                "items": {sku: _item(sku, quantity, status) for sku, quantity in items.items()},
                "address": dict(customers[email]["address"]),
                "refunded": 0.0,
            }
            for order_id, (email, status, days, items) in ORDERS.items()
        },
    }


def _customer(name: str, street: str, city: str, zip_code: str) -> dict[str, Any]:
    return {"name": name, "address": {"street": street, "city": city, "zip": zip_code}, "notes": {}}


def _product(name: str, price: float, group: str, final_sale: bool) -> dict[str, Any]:  # noqa: FBT001 - a row
    return {"name": name, "price": price, "group": group, "final_sale": final_sale}


def _item(sku: str, quantity: int, status: str) -> dict[str, Any]:
    return {"quantity": quantity, "price": PRODUCTS[sku][1], "status": status}
