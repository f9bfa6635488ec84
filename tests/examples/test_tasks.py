"""Every check can be met, whatever the world answers, and none is met by an agent that fails in the usual way."""

import json
import re

import pytest

from examples.support.customers import CUSTOMERS
from examples.support.data import make_db
from examples.support.provider import PLANS
from examples.support.shop import TOOL_NAMES, Shop
from examples.support.tasks import TASKS

ADA, BEN, CLEO, DEV, EVA, FINN = (f"{name}@example.com" for name in ("ada", "ben", "cleo", "dev", "eva", "finn"))
ADDRESSES = {
    "W1004": {"street": "Ringstr. 8", "city": "Mainz", "zip_code": "55122"},
    "W1015": {"street": "Torweg 3", "city": "Bremen", "zip_code": "28203"},
}


def move(do, order_id):
    do("shipping_quote", zip_code=ADDRESSES[order_id]["zip_code"])
    do("update_address", order_id=order_id, **ADDRESSES[order_id])


def in_stock(do, sku):
    return do("stock_check", sku=sku)["available"] > 0


def exchange_size(do):
    new = "JACKET-M" if in_stock(do, "JACKET-M") else "JACKET-L"
    do("exchange_item", order_id="W1009", sku="JACKET-S", new_sku=new)


def exchange_scarf(do):
    if in_stock(do, "SCARF-GREEN"):
        do("exchange_item", order_id="W1010", sku="SCARF-GREY", new_sku="SCARF-GREEN")
    else:
        do("add_note", email=DEV, topic="waitlist", text="green scarf")


def mugs_and_call(do):
    if in_stock(do, "MUG-RED"):
        do("exchange_item", order_id="W1019", sku="MUG-BLUE", new_sku="MUG-RED")
    do("add_note", email=FINN, topic="callback", text="bulk order")


def jacket_and_pot(do):
    do("return_items", order_id="W1023", skus=["TEAPOT"])
    if in_stock(do, "JACKET-L"):
        do("exchange_item", order_id="W1023", sku="JACKET-S", new_sku="JACKET-L")
    do("add_note", email=DEV, topic="callback", text="jacket")


def cancel_two(do):
    do("cancel_order", order_id="W1013")
    do("get_order", order_id="W1014")


def bowls_again(do):
    assert do("list_returns", order_id="W1022") == []
    do("return_items", order_id="W1022", skus=["BOWLS"])


def nothing(do):
    """What the policy asks for is to refuse."""


# What a perfect agent does.
ORACLE = {
    "order-status": lambda do: do("get_order", order_id="W1001"),
    "cancel-kettle": lambda do: do("cancel_order", order_id="W1002"),
    "return-teapot": lambda do: do("return_items", order_id="W1003", skus=["TEAPOT"]),
    "move-rug": lambda do: move(do, "W1004"),
    "leave-at-door": lambda do: do("add_note", email=EVA, topic="delivery", text="at the door"),
    "price-sum": lambda do: do("add_up", amounts=[41.54, 12.5]),
    "late-return": nothing,
    "return-two": lambda do: do("return_items", order_id="W1008", skus=["PLATES", "BOWLS"]),
    "exchange-size": exchange_size,
    "exchange-scarf": exchange_scarf,
    "broken-plates": lambda do: do("issue_refund", order_id="W1011", amount=16.0),
    "rug-regret": nothing,
    "cancel-two": cancel_two,
    "move-jacket": lambda do: move(do, "W1015"),
    "goods-total": lambda do: do("add_up", amounts=[28.4, 18.5, 41.54]),
    "two-teapots": lambda do: do("cancel_order", order_id="W1042"),
    "day-thirty": lambda do: do("return_items", order_id="W1018", skus=["KETTLE"]),
    "mugs-and-call": mugs_and_call,
    "torn-jacket": lambda do: do("add_note", email=ADA, topic="supervisor", text="torn"),
    "outlet-vase": nothing,
    "bowls-again": bowls_again,
    "lamp-and-postage": lambda do: do("return_items", order_id="W1026", skus=["LAMP"]),
    "jacket-and-pot": jacket_and_pot,
    "one-of-two": lambda do: do("add_note", email=EVA, topic="supervisor", text="one set"),
    "price-match": nothing,
}


def holds(expected, actual):
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and holds(value, actual[key]) for key, value in expected.items()
        )
    return expected == actual


def run(plan, seed=0):
    """The final database, the names of the tools used, and all that they answered with amounts as they are told."""
    db = make_db()
    shop = Shop(db, seed=seed)
    used, answers = set(), []

    def do(name, **arguments):
        used.add(name)
        result = getattr(shop, name)(**arguments)
        answers.append(json.dumps(result))
        return result

    plan(do)
    told = re.sub(r"\d+\.\d+", lambda number: f"{float(number.group()):.2f}", " ".join(answers))
    return db, used, told


def test_there_are_enough_tasks_with_names_of_their_own():
    ids = [task.id for task in TASKS]
    assert len(ids) >= 20
    assert len(set(ids)) == len(ids)
    assert set(ids) == set(ORACLE)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
@pytest.mark.parametrize("seed", range(6))
def test_a_perfect_agent_passes_in_every_world(task, seed):
    db, used, told = run(ORACLE[task.id], seed)
    assert holds(task.expected, db)
    assert not used & set(task.forbidden_tools)
    assert all(output in told for output in task.outputs)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_check_asks_for_something(task):
    assert holds({}, task.expected)
    idle = holds(task.expected, make_db()) and not task.outputs
    assert not idle or task.forbidden_tools
    assert set(task.forbidden_tools) <= set(TOOL_NAMES)


def test_half_of_a_wish_is_not_enough():
    expected = next(task.expected for task in TASKS if task.id == "return-two")
    db, _, _ = run(lambda do: do("return_items", order_id="W1008", skus=["PLATES"]))
    assert not holds(expected, db)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_stand_in_knows_every_task_by_its_first_order(task):
    order_id = re.search(r"W\d{4}", task.instruction).group()
    assert order_id in PLANS
    for opening in CUSTOMERS[order_id].openings:
        assert re.search(r"W\d{4}", opening).group() == order_id
    assert order_id in make_db()["orders"]


def test_there_is_no_plan_without_a_task():
    assert len(PLANS) == len(CUSTOMERS) == len(TASKS)
