"""The stand-in's model and customer: from the body of a request to the message that answers it."""

import collections
import hashlib
import json
import random
import re
import threading
from typing import Any, ClassVar

import attrs

from examples.support.customers import CUSTOMERS, STOP, customer_reply
from examples.support.plans_orders import ORDER_PLANS
from examples.support.plans_returns import RETURN_PLANS
from examples.support.script import Call, Dice, Message, Move, next_move

AGENT_MODEL = "shop-agent-1"
CUSTOMER_MODEL = "shop-customer-1"
MODELS = (AGENT_MODEL, CUSTOMER_MODEL)

PLANS = ORDER_PLANS | RETURN_PLANS

OPENERS = ("", "Thank you. ", "Thanks for waiting. ", "Of course. ", "I had a look. ")
CLOSERS = ("", " Have a nice day.", " Please write again at any time.", " All the best.")
ASIDES = ("Let me look that up.", "One moment, please.", "I am checking that.")


@attrs.frozen
class Answer:
    """An assistant's message: a text, tool calls with their ids, or both."""

    text: str
    calls: tuple[tuple[str, Call], ...] = ()


@attrs.define
class Provider:
    """Answers requests by script, with sampling noise.

    What is drawn for a request depends on the seed, on its messages, and on how often this same request
    came before: so repeats vary, and conversations held at the same time do not disturb each other. A request
    with a seed of its own gets the same answer however often it comes.
    """

    models: ClassVar[tuple[str, ...]] = MODELS
    seed: int = 0
    drift: float = 1.0
    _seen: collections.Counter[str] = attrs.field(factory=collections.Counter)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> Answer:
        """Answer a chat completion request for one of `MODELS`."""
        messages: list[Message] = body["messages"]
        temperature = body.get("temperature")
        rng = self._rng(body["model"], messages, body.get("seed"))
        dice = Dice(rng, 1.0 if temperature is None else float(temperature), self.drift)
        key = _first_order(messages, "system" if body["model"] == CUSTOMER_MODEL else "user")
        if body["model"] == CUSTOMER_MODEL:
            customer = CUSTOMERS.get(key)
            return Answer(customer_reply(customer, messages, dice) if customer else f"Thanks, bye. {STOP}")
        if key not in PLANS:
            return Answer("Could you tell me the number of your order?")
        return _dress(next_move(PLANS[key], messages, dice), dice)

    def _rng(self, model: str, messages: list[Message], seed: int | None) -> random.Random:
        packed = json.dumps([model, messages], sort_keys=True).encode()
        digest = hashlib.sha256(packed).hexdigest()
        if seed is not None:
            return random.Random(f"{self.seed}:{digest}:seed {seed}")
        with self._lock:
            count = self._seen[digest]
            self._seen[digest] += 1
        return random.Random(f"{self.seed}:{digest}:{count}")


def _first_order(messages: list[Message], role: str) -> str:
    text = next((m["content"] for m in messages if m["role"] == role), "")
    found = re.search(r"\bW\d{4}\b", text if isinstance(text, str) else "")
    return found.group() if found else ""


def _dress(move: Move, dice: Dice) -> Answer:
    """Vary the wording of a move, and give its calls their ids."""
    if not move.calls:
        closer = "" if "?" in move.text else dice.word(CLOSERS)
        return Answer(dice.word(OPENERS) + move.text + closer)
    text = dice.word(ASIDES) if dice.chance(0.15) else ""
    return Answer(text, tuple((f"call_{dice.rng.getrandbits(96):024x}", call) for call in move.calls))
