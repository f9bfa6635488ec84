"""What the tools of tau-bench do to the world; the results files do not say it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cassettes.model import Effect

__all__ = ["EFFECTS", "TERMINATING", "domain_of", "effect_of"]

TERMINATING: Final = "transfer_to_human_agents"

_SHARED: Final[dict[str, Effect]] = {
    "calculate": "pure",
    "think": "pure",
    "get_user_details": "read",
    TERMINATING: "read",
}
_AIRLINE: Final[dict[str, Effect]] = {
    "list_all_airports": "pure",
    "get_reservation_details": "read",
    "search_direct_flight": "read",
    "search_onestop_flight": "read",
    "book_reservation": "write",
    "cancel_reservation": "write",
    "send_certificate": "write",
    "update_reservation_baggages": "write",
    "update_reservation_flights": "write",
    "update_reservation_passengers": "write",
}
_RETAIL: Final[dict[str, Effect]] = {
    "find_user_id_by_email": "read",
    "find_user_id_by_name_zip": "read",
    "get_order_details": "read",
    "get_product_details": "read",
    "list_all_product_types": "read",
    "cancel_pending_order": "write",
    "exchange_delivered_order_items": "write",
    "modify_pending_order_address": "write",
    "modify_pending_order_items": "write",
    "modify_pending_order_payment": "write",
    "modify_user_address": "write",
    "return_delivered_order_items": "write",
}
_DOMAINS: Final = {"airline": _AIRLINE, "retail": _RETAIL}
EFFECTS: Final[dict[str, Effect]] = {**_SHARED, **_AIRLINE, **_RETAIL}
"""Of the benchmark's own tools."""


def effect_of(tool: str) -> Effect:
    """The declared effect; ``unknown`` for a tool that is not the benchmark's own."""
    return EFFECTS.get(tool, "unknown")


def domain_of(tools: Iterable[str]) -> str | None:
    """The one domain whose own tools are among these; None if there is none, or more than one."""
    seen = set(tools)
    found = [name for name, own in _DOMAINS.items() if seen & own.keys()]
    return found[0] if len(found) == 1 else None
