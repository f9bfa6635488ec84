"""What the stand-in's customer says, keyed by the first order that its instruction names."""

from collections.abc import Sequence

import attrs

from examples.support.script import Dice, Message

STOP = "###STOP###"

HELLO = ("", "Hi! ", "Hello, ", "Good morning. ")
YES = ("Yes, please.", "Yes, go ahead.", "Yes, that is right.", "Sure, yes.", "Yes please, thank you.")
BYE = ("Thank you, that is all.", "Great, thanks. Bye.", "All right, thanks for your help.", "Okay. Goodbye.")
LEAVE = ("Actually, let me think about it again. Bye.", "No, wait, I have to go. I will write again.")


@attrs.frozen
class Customer:
    """A customer: how they open, what they answer to questions in turn, and a wish that comes later."""

    openings: tuple[str, ...]
    answers: tuple[str, ...] = ()
    later: str = ""


def _who(email: str, *wishes: str, answers: tuple[str, ...] = (), later: str = "") -> Customer:
    return Customer(tuple(f"{wish} My e-mail is {email}@example.com." for wish in wishes), answers, later)


CUSTOMERS = {
    "W1001": _who("ada", "Where is my order W1001, and what is its tracking number?", "I am waiting for W1001."),
    "W1002": _who("ben", "Please cancel order W1002.", "I do not need order W1002 any more, cancel it please."),
    "W1003": _who("cleo", "I want to return the teapot of W1003.", "From W1003 the teapot goes back. What do I get?"),
    "W1004": _who(
        "dev", "Order W1004 has to go to Ringstr. 8, Mainz, 55122.", "Send W1004 to Ringstr. 8, 55122 Mainz."
    ),
    "W1005": _who("eva", "Could W1005 be left at the door?", "I am not in when W1005 comes. Leave it at the door."),
    "W1006": _who("finn", "What did order W1006 cost in all?", "My insurance asks for the total of order W1006."),
    "W1007": _who("ada", "I want to return the kettle of W1007.", "The kettle of W1007 is not for me. I return it."),
    "W1008": _who(
        "ben", "The plates and bowls of W1008 go back.", "From W1008 I return plates and bowls, not the pot."
    ),
    "W1009": _who("cleo", "The jacket of W1009 is too small. M please, or L if M is gone.", "W1009: M for S, else L."),
    "W1010": _who("dev", "Can I swap the grey scarf of W1010 for green?", "Green instead of grey for W1010, please."),
    "W1011": _who("eva", "Two of four plates in W1011 are broken. I want half back.", "W1011: half the plates broke."),
    "W1012": _who(
        "finn",
        "I do not like the rug of W1012. Refund me.",
        "The rug of W1012 is ugly; I want my money back.",
        answers=("No, I will not send it back. I insist on a refund.",),
    ),
    "W1013": _who("ada", "Cancel W1013 and W1014, please.", "I need neither W1013 nor W1014. Can you cancel both?"),
    "W1015": _who(
        "ben", "Send W1015 to Torweg 3, Bremen, 28203. What is shipping?", "W1015 must go to Torweg 3, 28203."
    ),
    "W1016": _who("cleo", "For W1016, what are the goods, and what is shipping?", "W1016: goods and shipping, please."),
    "W1042": _who("dev", "I ordered a teapot twice. Cancel W1042, keep W1024.", "W1042 is double, W1024 is to stay."),
    "W1018": _who(
        "eva", "I want to return the kettle of W1018.", "The kettle of W1018 came 30 days ago; it goes back."
    ),
    "W1019": _who(
        "finn",
        "Can I have red mugs instead of the blue ones of W1019?",
        "W1019: red mugs for the blue ones, if you have them.",
        later="One more thing: could somebody call me back about a bulk order?",
    ),
    "W1020": _who(
        "ada", "The jacket of W1020 came torn. I want 89.00 back.", "W1020: torn jacket. 89.00 back, please."
    ),
    "W1021": _who("ben", "The vase of W1021 should go back.", "Can I return the vase of W1021? If not, never mind."),
    "W1022": _who(
        "cleo", "Did I send back the bowls of W1022? If not, I do now.", "W1022: are the bowls back already?"
    ),
    "W1023": _who(
        "dev",
        "W1023: the pot goes back, L for the jacket. And call me.",
        "Pot back, jacket in L: W1023. Call me.",
    ),
    "W1025": _who(
        "eva",
        "I want to return one of the two sets of plates in W1025.",
        "One set of plates of W1025 goes back.",
    ),
    "W1026": _who(
        "finn", "The lamp of W1026 goes back. What do I get, and pay?", "I return the lamp of W1026. Postage?"
    ),
    "W1027": _who(
        "ada",
        "The scarf of W1027 is 5.00 cheaper elsewhere. I want that back.",
        "I paid 5.00 too much for the scarf in W1027!",
        answers=("I insist. It is only 5.00.",),
    ),
}


def customer_reply(customer: Customer, messages: Sequence[Message], dice: Dice) -> str:
    """Say what the customer says next; in its own conversation the agent is the user."""
    own = [message["content"] for message in messages if message["role"] == "assistant"]
    heard = [message["content"] for message in messages if message["role"] == "user"]
    if not own:
        return dice.word(HELLO) + dice.word(customer.openings)
    if "?" in heard[-1]:
        if dice.chance(0.008):
            return f"{dice.word(LEAVE)} {STOP}"
        asked = sum("?" in text for text in heard[1:])
        return customer.answers[asked - 1] if asked <= len(customer.answers) else dice.word(YES)
    if customer.later and customer.later not in own and not dice.chance(0.04):
        return customer.later
    return f"{dice.word(BYE)} {STOP}"
