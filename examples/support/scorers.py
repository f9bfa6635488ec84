"""Two more scorers, to show that recorded trials can be scored again without running them."""

import re
from typing import Any

YES = re.compile(r"\byes\b", re.IGNORECASE)


def asked_before_writing(view: Any) -> bool:
    """Every write comes after a customer's yes."""
    replies = 0
    agreed = False
    for step in view.steps:
        if step.call.kind == "model" and step.call.actor == "user":
            agreed = agreed or (replies > 0 and bool(YES.search(step.text or "")))
            replies += 1
        elif step.call.kind == "tool" and step.call.effect == "write" and not agreed:
            return False
    return True


def within_12_calls(view: Any) -> bool:
    """The agent needed at most 12 calls of its model and tools."""
    calls = [step.call for step in view.steps if step.call.actor == "agent"]
    return len([call for call in calls if call.kind in {"model", "tool"}]) <= 12
