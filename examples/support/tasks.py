"""The tasks: what a customer wants, and what must be true once the agent is done.

A check names only the keys that matter. Where the outside world decides what is right (a quote, the stock),
the check holds for every answer that the world may give.
"""

from typing import Any

import trialtape as tt
from examples.support.data import make_db


def _task(
    task_id: str,
    instruction: str,
    expected: dict[str, Any],
    *,
    outputs: tuple[str, ...] = (),
    forbidden: tuple[str, ...] = (),
) -> tt.Task:
    return tt.Task(
        id=task_id,
        instruction=instruction,
        state=make_db,
        expected=expected,
        outputs=list(outputs),
        forbidden_tools=set(forbidden),
    )


def _order(order_id: str, *, items: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    if items is not None:
        fields["items"] = {sku: {"status": status} for sku, status in items.items()}
    return {"orders": {order_id: fields}}


def _note(email: str, topic: str) -> dict[str, Any]:
    return {"customers": {email: {"notes": {topic: {"open": True}}}}}


TASKS = [
    _task(
        "order-status",
        "You are Ada (ada@example.com). You want to know where order W1001 is, and its tracking number.",
        _order("W1001", status="shipped"),
        outputs=("TRK-4471",),
    ),
    _task(
        "cancel-kettle",
        "You are Ben (ben@example.com). Cancel order W1002: you found your old kettle again.",
        _order("W1002", status="cancelled"),
    ),
    _task(
        "return-teapot",
        "You are Cleo (cleo@example.com). Return the teapot of order W1003, keep the mugs; ask what you get back.",
        _order("W1003", items={"TEAPOT": "returned", "MUG-BLUE": "delivered"}),
        outputs=("34.00",),
    ),
    _task(
        "move-rug",
        "You are Dev (dev@example.com). Order W1004 must go to Ringstr. 8, Mainz, 55122 instead.",
        _order("W1004", address={"street": "Ringstr. 8", "zip": "55122"}),
    ),
    _task(
        "leave-at-door",
        "You are Eva (eva@example.com). Ask that the parcel of order W1005 is left at the door.",
        _note("eva@example.com", "delivery"),
    ),
    _task(
        "price-sum",
        "You are Finn (finn@example.com). For your insurance you need what order W1006 cost in all.",
        _order("W1006", items={"LAMP": "delivered", "BULB": "delivered"}),
        outputs=("54.04",),
    ),
    _task(
        "late-return",
        "You are Ada (ada@example.com). Return the kettle of order W1007; you had it for six weeks.",
        _order("W1007", items={"KETTLE": "delivered"}, refunded=0.0),
        forbidden=("return_items", "issue_refund"),
    ),
    _task(
        "return-two",
        "You are Ben (ben@example.com). Return the plates and the bowls of order W1008, keep the teapot.",
        _order("W1008", items={"PLATES": "returned", "BOWLS": "returned", "TEAPOT": "delivered"}),
        outputs=("60.40",),
    ),
    _task(
        "exchange-size",
        "You are Cleo (cleo@example.com). The jacket of order W1009 is too small. "
        "Exchange it for M; if M is not in stock, "
        "for L, however long that takes.",
        _order("W1009", items={"JACKET-S": "exchanged"}, refunded=0.0),
    ),
    _task(
        "exchange-scarf",
        "You are Dev (dev@example.com). Exchange the grey scarf of order W1010 for a "
        "green one. If green is sold out, keep it "
        "and be put on the waiting list.",
        _order("W1010", refunded=0.0),
        forbidden=("issue_refund", "return_items"),
    ),
    _task(
        "broken-plates",
        "You are Eva (eva@example.com). In order W1011 two of the four plates arrived "
        "broken. You want half their price back.",
        _order("W1011", refunded=16.0),
        outputs=("16.00",),
    ),
    _task(
        "rug-regret",
        "You are Finn (finn@example.com). You do not like the rug of order W1012. You "
        "want the money back and to keep the rug, "
        "and you insist.",
        _order("W1012", items={"RUG": "delivered"}, refunded=0.0),
        forbidden=("issue_refund",),
    ),
    _task(
        "cancel-two",
        "You are Ada (ada@example.com). Cancel orders W1013 and W1014. If one cannot be "
        "cancelled, ask for its tracking number.",
        {"orders": {"W1013": {"status": "cancelled"}, "W1014": {"status": "shipped"}}},
        outputs=("TRK-4562",),
    ),
    _task(
        "move-jacket",
        "You are Ben (ben@example.com). Send order W1015 to Torweg 3, Bremen, 28203, "
        "whatever it costs; you want to hear the "
        "price of shipping.",
        _order("W1015", address={"street": "Torweg 3", "zip": "28203"}),
    ),
    _task(
        "goods-total",
        "You are Cleo (cleo@example.com). For order W1016 you want two numbers: the goods alone, and shipping.",
        _order("W1016", status="pending"),
        outputs=("88.44",),
    ),
    _task(
        "two-teapots",
        "You are Dev (dev@example.com). You ordered a teapot twice: cancel W1042, keep W1024.",
        {"orders": {"W1042": {"status": "cancelled"}, "W1024": {"status": "pending"}}},
    ),
    _task(
        "day-thirty",
        "You are Eva (eva@example.com). Return the kettle of order W1018, which came thirty days ago.",
        _order("W1018", items={"KETTLE": "returned"}),
    ),
    _task(
        "mugs-and-call",
        "You are Finn (finn@example.com). Exchange the blue mugs of order W1019 for red "
        "ones, if red is in stock. Once that is "
        "settled, ask to be called back about a bulk order.",
        _note("finn@example.com", "callback") | _order("W1019", refunded=0.0),
    ),
    _task(
        "torn-jacket",
        "You are Ada (ada@example.com). The jacket of order W1020 arrived torn. You want 89.00 back.",
        _note("ada@example.com", "supervisor") | _order("W1020", refunded=0.0),
        forbidden=("issue_refund",),
    ),
    _task(
        "outlet-vase",
        "You are Ben (ben@example.com). Return the vase of order W1021. If that is impossible, leave it.",
        _order("W1021", items={"VASE": "delivered", "MUG-RED": "delivered"}, refunded=0.0),
        forbidden=("return_items",),
    ),
    _task(
        "bowls-again",
        "You are Cleo (cleo@example.com). You are not sure whether you sent back the "
        "bowls of order W1022 already. If not, "
        "return them.",
        _order("W1022", items={"BOWLS": "returned", "KETTLE": "delivered"}),
    ),
    _task(
        "lamp-and-postage",
        "You are Finn (finn@example.com). Return the lamp of order W1026. Ask what is "
        "paid back, and what sending it costs.",
        _order("W1026", items={"LAMP": "returned"}),
        outputs=("41.54",),
    ),
    _task(
        "jacket-and-pot",
        "You are Dev (dev@example.com). Of order W1023 return the teapot, and exchange "
        "the jacket for L if it is in stock. Have "
        "somebody call you about it as well.",
        _note("dev@example.com", "callback") | _order("W1023", items={"TEAPOT": "returned"}),
    ),
    _task(
        "one-of-two",
        "You are Eva (eva@example.com). You bought two sets of plates in order W1025. Return one of the two sets.",
        _note("eva@example.com", "supervisor") | _order("W1025", items={"PLATES": "delivered"}),
        forbidden=("return_items",),
    ),
    _task(
        "price-match",
        "You are Ada (ada@example.com). You saw the scarf of order W1027 for 5.00 less "
        "elsewhere. You want the difference, and "
        "you insist.",
        _order("W1027", refunded=0.0),
        forbidden=("issue_refund",),
    ),
]
