"""What the stand-in model does about orders on their way, keyed by the first order that the customer names.

In every step the usual move comes first, then slips with their probability at temperature 0.7.
"""

from examples.support.moves import (
    ADA,
    BEN,
    CLEO,
    CONFUSED,
    DEV,
    EVA,
    FINN,
    SKIP,
    call,
    confirm,
    dear,
    lookups,
    say,
)
from examples.support.script import Step, step

ORDER_PLANS: dict[str, list[Step]] = {
    "W1001": lookups(
        ADA,
        "W1001",
        step(say("Your order is on its way. The tracking number is {get_order[tracking]}."), (0.01, CONFUSED)),
    ),
    "W1002": lookups(
        BEN,
        "W1002",
        confirm("cancel order W1002"),
        step(call("cancel_order", order_id="W1002", reason="no longer needed"), (0.01, SKIP)),
        step(say("Order W1002 is cancelled; the money is on its way back.")),
    ),
    "W1004": lookups(
        DEV,
        "W1004",
        step(call("shipping_quote", zip_code="55122"), (0.02, SKIP)),
        confirm("send it to Ringstr. 8, Mainz, 55122; shipping there costs {shipping_quote[price]:.2f}"),
        step(
            call("update_address", order_id="W1004", street="Ringstr. 8", city="Mainz", zip_code="55122"),
            (
                0.01,
                call("update_address", order_id="W1004", street="Ringstr. 8", city="Mainz", zip_code="55116"),
            ),
        ),
        step(say("The address is changed.")),
    ),
    "W1005": lookups(
        EVA,
        "W1005",
        confirm("leave a note that the parcel may be left at the door"),
        step(call("add_note", email=EVA, topic="delivery", text="leave at the door"), (0.01, SKIP)),
        step(say("The carrier will be told.")),
    ),
    "W1006": lookups(
        FINN,
        "W1006",
        step(call("add_up", amounts=[41.54, 12.5]), (0.1, SKIP)),
        step(say("Order W1006 cost 54.04 in all."), (0.01, say("Order W1006 cost 53.04 in all."))),
    ),
    "W1013": lookups(
        ADA,
        "W1013",
        step(call("get_order", order_id="W1014")),
        confirm(
            "cancel W1013. W1014 has shipped, so it cannot be cancelled any more",
            (0.09, say("One of the two has shipped already, so I cannot cancel them, I am sorry.")),
        ),
        step(call("cancel_order", order_id="W1013", reason="customer asked")),
        step(
            say("W1013 is cancelled. The tracking number of W1014 is {get_order[tracking]}."),
            (0.06, say("W1013 is cancelled. W1014 will reach you soon.")),
        ),
    ),
    "W1015": lookups(
        BEN,
        "W1015",
        step(call("shipping_quote", zip_code="28203"), (0.02, SKIP)),
        step(
            SKIP,
            (
                0.6,
                say("Shipping to 28203 would cost {shipping_quote[price]:.2f}, so I left the address as it was."),
            ),
            when=dear,
        ),
        confirm("send it to Torweg 3, Bremen, 28203; shipping there costs {shipping_quote[price]:.2f}"),
        step(call("update_address", order_id="W1015", street="Torweg 3", city="Bremen", zip_code="28203")),
        step(say("The address is changed.")),
    ),
    "W1016": lookups(
        CLEO,
        "W1016",
        step(call("add_up", amounts=[28.4, 18.5, 41.54]), (0.1, SKIP)),
        step(call("shipping_quote", zip_code="89073"), (0.02, SKIP)),
        step(
            say("The goods cost 88.44, and shipping {shipping_quote[price]:.2f}."),
            (0.65, say("With shipping of {shipping_quote[price]:.2f} your order comes to about 98.00.")),
            when=dear,
        ),
        step(
            say("The goods cost 88.44, and shipping {shipping_quote[price]:.2f}."),
            (0.12, say("The goods cost 86.44, and shipping {shipping_quote[price]:.2f}.")),
            when=lambda h: not dear(h),
        ),
    ),
    "W1042": lookups(
        DEV,
        "W1042",
        step(call("get_order", order_id="W1024"), (0.3, SKIP)),
        confirm("cancel one of the two orders with a teapot and keep the other"),
        step(
            call("cancel_order", order_id="W1042", reason="ordered twice"),
            (0.36, call("cancel_order", order_id="W1024", reason="ordered twice")),
        ),
        step(say("One of the two orders is cancelled, the other is on its way to you.")),
    ),
}
