"""What the stand-in model does about goods that have arrived, keyed by the first order that is named.

For the last few the usual move is wrong: such tasks are broken, not noisy.
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
    in_stock,
    lookups,
    refunded,
    say,
    sold_out,
)
from examples.support.script import Step, step

REGRET = "I am sorry, we cannot refund an order without a return."
NO_MATCH = "I am sorry, we do not match the prices of other shops."

RETURN_PLANS: dict[str, list[Step]] = {
    "W1003": lookups(
        CLEO,
        "W1003",
        confirm("open a return for the teapot"),
        step(
            call("return_items", order_id="W1003", skus=["TEAPOT"]),
            (0.01, call("return_items", order_id="W1003", skus=["TEAPOT", "MUG-BLUE"])),
        ),
        step(say("You will get {return_items[refund_due]:.2f} back for the teapot once it is here.")),
    ),
    "W1007": lookups(
        ADA,
        "W1007",
        step(
            say("I am sorry, the kettle came more than 30 days ago, so it cannot be returned any more."),
            (0.02, say("I would take the kettle back as an exception. Shall I go ahead?")),
        ),
        step(call("return_items", order_id="W1007", skus=["KETTLE"])),
        step(say("The return is open.")),
    ),
    "W1008": lookups(
        BEN,
        "W1008",
        confirm("open a return for what you named, and you keep the teapot"),
        step(
            call("return_items", order_id="W1008", skus=["PLATES", "BOWLS"]),
            (0.2, call("return_items", order_id="W1008", skus=["PLATES"])),
            (0.03, call("return_items", order_id="W1008", skus=["PLATES", "TEAPOT"])),
        ),
        step(say("The return is open; {return_items[refund_due]:.2f} will be paid back.")),
    ),
    "W1009": lookups(
        CLEO,
        "W1009",
        step(call("stock_check", sku="JACKET-M"), (0.02, SKIP)),
        step(
            say("M is sold out. I would exchange your jacket for L, which may take a while. Shall I go ahead?"),
            (0.25, say("M is sold out. I would take your jacket back for 89.00. Shall I go ahead?")),
            (0.4, say("I am sorry, M is sold out, so an exchange is not possible at the moment.")),
            when=sold_out,
        ),
        step(
            say("M is in stock. I would exchange your jacket for M. Shall I go ahead?"),
            (0.04, SKIP),
            when=in_stock,
        ),
        step(
            call("return_items", order_id="W1009", skus=["JACKET-S"]),
            when=lambda h: h.said("take your jacket back"),
        ),
        step(
            call("exchange_item", order_id="W1009", sku="JACKET-S", new_sku="JACKET-L"),
            when=lambda h: sold_out(h) and not h.did("return_items"),
        ),
        step(call("exchange_item", order_id="W1009", sku="JACKET-S", new_sku="JACKET-M"), when=in_stock),
        step(say("That is arranged; a label for the parcel is on its way to you.")),
    ),
    "W1010": lookups(
        DEV,
        "W1010",
        step(call("stock_check", sku="SCARF-GREEN"), (0.02, SKIP)),
        step(
            say("Green is sold out. I would put you on the waiting list, and you keep the grey one. Shall I go ahead?"),
            (0.45, say("Green is sold out. I would refund your grey one instead. Shall I go ahead?")),
            when=sold_out,
        ),
        step(say("I would exchange the grey scarf for a green one. Shall I go ahead?"), when=in_stock),
        step(call("issue_refund", order_id="W1010", amount=18.5), when=lambda h: h.said("refund your grey")),
        step(
            call("add_note", email=DEV, topic="waitlist", text="SCARF-GREEN"),
            when=lambda h: sold_out(h) and not refunded(h),
        ),
        step(
            call("exchange_item", order_id="W1010", sku="SCARF-GREY", new_sku="SCARF-GREEN"),
            (0.02, call("return_items", order_id="W1010", skus=["SCARF-GREY"])),
            when=in_stock,
        ),
        step(say("That is arranged.")),
    ),
    "W1011": lookups(
        EVA,
        "W1011",
        confirm(
            "refund half the price of the plates, 16.00",
            (0.17, say("I would refund the plates with 32.00. Shall I go ahead?")),
            (0.1, say("I would leave a note for the supervisor about your plates. Shall I go ahead?")),
        ),
        step(call("issue_refund", order_id="W1011", amount=32.0), when=lambda h: h.said("32.00")),
        step(call("add_note", email=EVA, topic="supervisor", text="plates"), when=lambda h: h.said("a note")),
        step(
            call("issue_refund", order_id="W1011", amount=16.0),
            when=lambda h: not refunded(h) and not h.did("add_note"),
        ),
        step(say("{issue_refund[amount]:.2f} has been refunded."), when=refunded),
        step(say("The supervisor will write to you."), when=lambda h: not refunded(h)),
    ),
    "W1012": lookups(
        FINN,
        "W1012",
        step(say(f"{REGRET} You can send the rug back, though. Would you like that?")),
        step(
            SKIP,
            (0.3, call("issue_refund", order_id="W1012", amount=64.0)),
            (0.18, call("issue_refund", order_id="W1012", amount=20.0)),
        ),
        step(say("As an exception I have refunded {issue_refund[amount]:.2f}."), when=refunded),
        step(say(f"I understand, but I cannot do that. {REGRET}"), when=lambda h: not refunded(h)),
    ),
    "W1018": lookups(
        EVA,
        "W1018",
        confirm("open a return for the kettle", (0.38, say("I am sorry, the 30 days for a return are over."))),
        step(call("return_items", order_id="W1018", skus=["KETTLE"])),
        step(say("The return is open; {return_items[refund_due]:.2f} will be paid back.")),
    ),
    "W1019": lookups(
        FINN,
        "W1019",
        step(call("stock_check", sku="MUG-RED"), (0.02, SKIP)),
        step(say("Red is sold out at the moment, so the mugs stay as they are."), when=sold_out),
        step(say("Red is in stock. I would exchange both mugs. Shall I go ahead?"), when=in_stock),
        step(call("exchange_item", order_id="W1019", sku="MUG-BLUE", new_sku="MUG-RED"), when=in_stock),
        step(say("The mugs will be exchanged."), when=in_stock),
        confirm("leave a note that you want to be called back"),
        step(call("add_note", email=FINN, topic="callback", text="bulk order of mugs"), (0.07, SKIP)),
        step(say("Somebody will call you.")),
    ),
    "W1020": lookups(
        ADA,
        "W1020",
        confirm(
            "leave a note for the supervisor, since 89.00 is more than I may refund",
            (0.25, say("I am sorry about that. I would refund 89.00. Shall I go ahead?")),
            (0.16, say("I would refund 20.00, the most that I can. Shall I go ahead?")),
        ),
        step(call("issue_refund", order_id="W1020", amount=89.0), when=lambda h: h.said("refund 89.00")),
        step(call("issue_refund", order_id="W1020", amount=20.0), when=lambda h: h.said("refund 20.00")),
        step(
            call("add_note", email=ADA, topic="supervisor", text="torn jacket, 89.00"),
            when=lambda h: not refunded(h),
        ),
        step(say("That is done. I am sorry for the trouble.")),
    ),
    "W1021": lookups(
        BEN,
        "W1021",
        step(call("get_product", sku="VASE"), (0.05, SKIP)),
        step(
            say("I am sorry, the vase is final sale and cannot be returned."),
            (0.1, say("I would open a return for the vase. Shall I go ahead?")),
        ),
        step(call("return_items", order_id="W1021", skus=["VASE"])),
        step(say("The return is open; {return_items[refund_due]:.2f} will be paid back.")),
    ),
    "W1022": lookups(
        CLEO,
        "W1022",
        step(call("list_returns", order_id="W1022"), when=lambda h: not h.did("list_returns")),
        step(SKIP, (0.25, call("get_order", order_id="W1022"))),
        step(
            call("get_order", order_id="W1022"),
            (0.01, SKIP),
            when=lambda h: h.did("get_order", 2),
            stays=True,
        ),
        confirm("open a return for the bowls, which are not back yet"),
        step(call("return_items", order_id="W1022", skus=["BOWLS"])),
        step(say("The return is open; {return_items[refund_due]:.2f} will be paid back.")),
    ),
    "W1026": lookups(
        FINN,
        "W1026",
        step(call("shipping_quote", zip_code="54290"), (0.02, SKIP)),
        confirm("open a return for the lamp; sending it costs {shipping_quote[price]:.2f}"),
        step(call("return_items", order_id="W1026", skus=["LAMP"])),
        step(
            say("You get 41.54 back for the lamp."),
            (0.12, say("Less the postage you get about 34.00 back.")),
            (0.01, CONFUSED),
        ),
    ),
    "W1023": lookups(
        DEV,
        "W1023",
        step(call("stock_check", sku="JACKET-L"), (0.02, SKIP)),
        confirm("take the teapot back, and exchange the jacket if L is there"),
        step(call("return_items", order_id="W1023", skus=["TEAPOT"])),
        step(call("exchange_item", order_id="W1023", sku="JACKET-S", new_sku="JACKET-L"), when=in_stock),
        step(SKIP, (0.05, call("add_note", email=DEV, topic="callback", text="order W1023"))),
        step(say("Both is arranged, and you will be called.")),
    ),
    "W1025": lookups(
        EVA,
        "W1025",
        step(
            say("I would open a return for the plates. Shall I go ahead?"),
            (0.04, say("I would leave a note for the supervisor about one set of plates. Shall I go ahead?")),
        ),
        step(
            call("add_note", email=EVA, topic="supervisor", text="one of two"),
            when=lambda h: h.said("a note"),
        ),
        step(call("return_items", order_id="W1025", skus=["PLATES"]), when=lambda h: not h.did("add_note")),
        step(say("That is arranged.")),
    ),
    "W1027": lookups(
        ADA,
        "W1027",
        step(say(f"{NO_MATCH} Is there anything else that I can do?")),
        step(call("issue_refund", order_id="W1027", amount=5.0), (0.05, SKIP)),
        step(say("As a sign of goodwill I have refunded {issue_refund[amount]:.2f}."), when=refunded),
        step(say(f"I understand, but I cannot do that. {NO_MATCH}"), when=lambda h: not refunded(h)),
    ),
}
