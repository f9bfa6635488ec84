"""The suite that `trialtape run examples/support/suite.py` runs: an agent and a simulated customer, who talk."""

import os
from collections.abc import Callable
from typing import Any

import trialtape as tt
from examples.support.agent import MODEL, TEMPERATURE, agent
from examples.support.policy import CUSTOMER, GREETING
from examples.support.shop import TOOL_NAMES, Shop
from examples.support.tasks import TASKS

USER_MODEL = os.environ.get("SHOP_USER_MODEL", "shop-customer-1")
SEEDED = os.environ.get("SHOP_SEEDED_CUSTOMER", "0") == "1"


def tools(trial: tt.Trial) -> dict[str, Callable[..., Any]]:
    """The shop's tools, on the trial's own database."""
    shop = Shop(trial.state, seed=trial.seed)
    return {name: getattr(shop, name) for name in TOOL_NAMES}


dialogue = tt.Dialogue(
    agent=agent,
    user=tt.simulated(USER_MODEL, CUSTOMER, seeded=SEEDED, temperature=TEMPERATURE),
    tools=tools,
    opening=GREETING,
    versions={"policy": "1"},
)
suite = tt.Suite(tasks=TASKS, agent=dialogue, settings={"model": MODEL, "temperature": TEMPERATURE})
