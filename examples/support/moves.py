"""The vocabulary that plans are written in."""

from typing import Any

from examples.support.script import Call, History, Move, Step, step

SKIP = Move()


def call(name: str, **arguments: Any) -> Move:
    """One tool call."""
    return Move((Call(name, arguments),))


def say(text: str) -> Move:
    """A message to the customer; the customer takes one with a question mark as a question."""
    return Move(text=text)


def lookups(email: str, order_id: str, *more: Step) -> list[Step]:
    """Find the customer and the order: one after the other or at once, in either order."""
    customer, order = Call("find_customer", {"email": email}), Call("get_order", {"order_id": order_id})
    both, turned = Move((customer, order)), Move((order, customer))
    return [
        step(Move((customer,)), (0.2, both), (0.07, turned), (0.06, Move((order,)))),
        step(Move((order,)), when=lambda h: not h.did("get_order")),
        step(SKIP, (0.06, call("list_returns", order_id=order_id))),
        *more,
    ]


def confirm(what: str, *slips: tuple[float, Move]) -> Step:
    """Ask before a change; now and then the model forgets to."""
    return step(say(f"I would {what}. Shall I go ahead?"), (0.04, SKIP), *slips)


def dear(h: History) -> bool:
    """Whether the carrier asked for more than 9.00."""
    return float(h.result("shipping_quote").get("price", 0)) > 9


def sold_out(h: History) -> bool:
    """Whether the product last checked is sold out."""
    return h.result("stock_check").get("available") == 0


def in_stock(h: History) -> bool:
    """Whether the product last checked is in stock, or was never checked."""
    return not sold_out(h)


def refunded(h: History) -> bool:
    """Whether a refund was tried."""
    return h.did("issue_refund")


ADA, BEN, CLEO, DEV, EVA, FINN = (f"{name}@example.com" for name in ("ada", "ben", "cleo", "dev", "eva", "finn"))

CONFUSED = say("I am sorry, I cannot find out about that at the moment. Please try again tomorrow.")
