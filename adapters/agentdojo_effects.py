"""What the tools of AgentDojo's own suites do to the environment of their task; the library does not say it.

A name does not tell: reading one's unread mail marks it as read, and getting a web page is written down as a request.
"""

from __future__ import annotations

from typing import Final

from cassettes.model import Effect

__all__ = ["EFFECTS", "effect_of"]

_WRITES: Final = (
    "add_calendar_event_participants",
    "add_user_to_channel",
    "append_to_file",
    "cancel_calendar_event",
    "create_calendar_event",
    "create_file",
    "delete_email",
    "delete_file",
    "get_unread_emails",
    "get_webpage",
    "invite_user_to_slack",
    "post_webpage",
    "remove_user_from_slack",
    "reschedule_calendar_event",
    "reserve_car_rental",
    "reserve_hotel",
    "reserve_restaurant",
    "schedule_transaction",
    "send_channel_message",
    "send_direct_message",
    "send_email",
    "send_money",
    "share_file",
    "update_password",
    "update_scheduled_transaction",
    "update_user_info",
)
_READS: Final = (
    "check_restaurant_opening_hours",
    "get_all_car_rental_companies_in_city",
    "get_all_hotels_in_city",
    "get_all_restaurants_in_city",
    "get_balance",
    "get_car_fuel_options",
    "get_car_price_per_day",
    "get_car_rental_address",
    "get_car_types_available",
    "get_channels",
    "get_contact_information_for_restaurants",
    "get_cuisine_type_for_restaurants",
    "get_current_day",
    "get_day_calendar_events",
    "get_dietary_restrictions_for_all_restaurants",
    "get_draft_emails",
    "get_file_by_id",
    "get_flight_information",
    "get_hotels_address",
    "get_hotels_prices",
    "get_iban",
    "get_most_recent_transactions",
    "get_price_for_restaurants",
    "get_rating_reviews_for_car_rental",
    "get_rating_reviews_for_hotels",
    "get_rating_reviews_for_restaurants",
    "get_received_emails",
    "get_restaurants_address",
    "get_scheduled_transactions",
    "get_sent_emails",
    "get_user_info",
    "get_user_information",
    "get_users_in_channel",
    "list_files",
    "read_channel_messages",
    "read_file",
    "read_inbox",
    "search_calendar_events",
    "search_contacts_by_email",
    "search_contacts_by_name",
    "search_emails",
    "search_files",
    "search_files_by_filename",
)
EFFECTS: Final[dict[str, Effect]] = {**dict.fromkeys(_WRITES, "write"), **dict.fromkeys(_READS, "read")}
"""Of the tools of the suites ``banking``, ``slack``, ``travel`` and ``workspace``."""


def effect_of(tool: str) -> Effect:
    """The known effect; ``unknown`` for a tool of a suite of one's own."""
    return EFFECTS.get(tool, "unknown")
