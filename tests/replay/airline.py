"""A small environment over the airline database of tau-bench, written from what its recordings show: for tests alone.

``old`` has the database as it was when the recordings were made: a user's address has a ``province``. In the files
that are here it is a ``state``: ``new`` takes them as they are.
"""

from __future__ import annotations

import copy
import hashlib
import json
from functools import cache

import trialtape as tt
from tests.replay.recorded import AIRLINE

_CITIES = (
    "SFO San Francisco,JFK New York,LAX Los Angeles,ORD Chicago,DFW Dallas,DEN Denver,SEA Seattle,ATL Atlanta,"
    "MIA Miami,BOS Boston,PHX Phoenix,IAH Houston,LAS Las Vegas,MCO Orlando,EWR Newark,CLT Charlotte,MSP Minneapolis,"
    "DTW Detroit,PHL Philadelphia,LGA LaGuardia"
)
AIRPORTS = dict(entry.split(" ", 1) for entry in _CITIES.split(","))


@cache
def _packed():
    """The data as text: reading it anew makes a fresh copy."""
    return {
        name: AIRLINE.with_name(f"airline-{name}.json").read_text() for name in ("flights", "reservations", "users")
    }


@cache
def _flights():
    """Nothing changes them."""
    return json.loads(_packed()["flights"])


@cache
def _flights_told():
    return str(_hashable(_flights()))


class Refused(Exception):
    """What a tool answers instead of doing what was asked."""


class Airline:
    name = "airline (a stand-in)"
    version = "1"

    def __init__(self, data):
        self.data = data

    @property
    def data_digest(self):
        """Which of the two it is."""
        user = next(iter(self.data["users"].values()))
        return "province" if "province" in user["address"] else "state"

    def call(self, name, arguments):
        tool = getattr(self, f"_{name}", None)
        if tool is None:
            raise tt.UnknownTool(name)
        try:
            answer = tool(**copy.deepcopy(dict(arguments)))
        except Refused as refused:
            return f"Error: {refused}"
        return answer if isinstance(answer, str) else json.dumps(answer)

    def state(self):
        return {name: self.data[name] for name in ("reservations", "users")}

    def state_hash(self):
        return hash_of(self.data)

    # -- looking up ---------------------------------------------------------------------------------------------------

    def _get_user_details(self, user_id):
        return self._one("users", user_id)

    def _get_reservation_details(self, reservation_id):
        return self._one("reservations", reservation_id)

    def _list_all_airports(self):
        return AIRPORTS

    def _think(self, thought):
        return ""

    def _transfer_to_human_agents(self, summary):
        return "Transfer successful"

    def _calculate(self, expression):
        if set(expression) - set("0123456789+-*/(). "):
            raise Refused("invalid characters in expression")
        return str(round(float(eval(expression, {"__builtins__": {}})), 2))

    def _search_direct_flight(self, origin, destination, date):
        return [
            self._offer(flight, date)
            for flight in self._from(origin)
            if flight["destination"] == destination and self._is_free(flight, date)
        ]

    def _search_onestop_flight(self, origin, destination, date):
        found = []
        for first in self._from(origin):
            for second in self._from(first["destination"]):
                arrives = first["scheduled_arrival_time_est"]
                later = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrives else date
                fits = second["destination"] == destination and arrives <= second["scheduled_departure_time_est"]
                if fits and self._is_free(first, date) and self._is_free(second, later):
                    # What the benchmark offers of the second flight is of the first one's day.
                    found.append([self._offer(first, date, date=date), self._offer(second, date, date=later)])
        return found

    # -- changing -----------------------------------------------------------------------------------------------------

    def _book_reservation(self, user_id, flights, passengers, payment_methods, **rest):
        user = self._one("users", user_id)
        price = sum(self._priced(flight, rest["cabin"], len(passengers)) for flight in flights)
        price += 30 * len(passengers) * (rest["insurance"] == "yes") + 50 * rest["nonfree_baggages"]
        for paid in payment_methods:
            method = user["payment_methods"].get(paid["payment_id"])
            if method is None:
                raise Refused(f"payment method {paid['payment_id']} not found")
            if method["source"] != "credit_card" and method["amount"] < paid["amount"]:
                raise Refused(f"not enough balance in payment method {paid['payment_id']}")
        total = sum(paid["amount"] for paid in payment_methods)
        if total != price:
            raise Refused(f"payment amount does not add up, total price is {price}, but paid {total}")
        for paid in payment_methods:
            method = user["payment_methods"][paid["payment_id"]]
            if method["source"] == "gift_card":
                method["amount"] -= paid["amount"]
            elif method["source"] == "certificate":
                del user["payment_methods"][paid["payment_id"]]
        number = next(n for n in ("HATHAT", "HATHAU", "HATHAV") if n not in self.data["reservations"])
        made = {
            "reservation_id": number,
            "user_id": user_id,
            **{name: rest[name] for name in ("origin", "destination", "flight_type", "cabin")},
            "flights": flights,
            "passengers": passengers,
            "payment_history": payment_methods,
            "created_at": "2024-05-15T15:00:00",
            **{name: rest[name] for name in ("total_baggages", "nonfree_baggages", "insurance")},
        }
        self.data["reservations"][number] = made
        user["reservations"].append(number)
        return made

    def _cancel_reservation(self, reservation_id):
        found = self._one("reservations", reservation_id)
        history = found["payment_history"]
        history += [{"payment_id": paid["payment_id"], "amount": -paid["amount"]} for paid in list(history)]
        found["status"] = "cancelled"
        return found

    def _send_certificate(self, user_id, amount):
        methods = self._one("users", user_id)["payment_methods"]
        name = next(n for n in (f"certificate_322132{i}" for i in (2, 3, 4)) if n not in methods)
        methods[name] = {"source": "certificate", "amount": amount, "id": name}
        return f"Certificate {name} added to user {user_id} with amount {amount}."

    def _update_reservation_baggages(self, reservation_id, total_baggages, nonfree_baggages, payment_id):
        found = self._one("reservations", reservation_id)
        price = 50 * max(0, nonfree_baggages - found["nonfree_baggages"])
        self._pay(found, payment_id, price)
        found |= {"total_baggages": total_baggages, "nonfree_baggages": nonfree_baggages}
        if price:
            found["payment_history"].append({"payment_id": payment_id, "amount": price})
        return found

    def _update_reservation_flights(self, reservation_id, cabin, flights, payment_id):
        found = self._one("reservations", reservation_id)
        before = {(f["flight_number"], f["date"]): f for f in found["flights"]}
        people, price = len(found["passengers"]), 0
        for flight in flights:
            known = before.get((flight["flight_number"], flight["date"]))
            if known is not None and cabin == found["cabin"]:
                flight |= {name: known[name] for name in ("price", "origin", "destination")}
                price += known["price"] * people
            else:
                price += self._priced(flight, cabin, people)
        price -= sum(f["price"] for f in found["flights"]) * people
        self._pay(found, payment_id, price)
        found["flights"] = flights
        if price:
            found["payment_history"].append({"payment_id": payment_id, "amount": price})
        return found

    def _update_reservation_passengers(self, reservation_id, passengers):
        found = self._one("reservations", reservation_id)
        if len(passengers) != len(found["passengers"]):
            raise Refused("number of passengers does not match")
        found["passengers"] = passengers
        return found

    # -- what they share ----------------------------------------------------------------------------------------------

    def _one(self, table, key):
        if key not in self.data[table]:
            raise Refused(f"{table[:-1]} not found")
        return self.data[table][key]

    def _from(self, origin):
        return [flight for flight in self.data["flights"].values() if flight["origin"] == origin]

    def _is_free(self, flight, date):
        return flight["dates"].get(date, {}).get("status") == "available"

    def _offer(self, flight, on, **more):
        return {**{k: v for k, v in flight.items() if k != "dates"}, **flight["dates"][on], **more}

    def _priced(self, flight, cabin, people):
        number, date = flight["flight_number"], flight["date"]
        known = self.data["flights"].get(number)
        if known is None:
            raise Refused(f"flight {number} not found")
        if not self._is_free(known, date):
            raise Refused(f"flight {number} not available on date {date}")
        if known["dates"][date]["available_seats"][cabin] < people:
            raise Refused(f"not enough seats on flight {number}")
        flight["price"] = known["dates"][date]["prices"][cabin]
        flight |= {name: known[name] for name in ("origin", "destination")}
        return flight["price"] * people

    def _pay(self, reservation, payment_id, price):
        method = self.data["users"][reservation["user_id"]]["payment_methods"].get(payment_id)
        if method is None:
            raise Refused("payment method not found")
        if method["source"] == "certificate":
            raise Refused("certificate cannot be used to update reservation")
        if method["source"] == "gift_card":
            if method["amount"] < price:
                raise Refused("gift card balance is not enough")
            method["amount"] -= price


def _renamed(key):
    return "province" if key == "state" else key


def _hashable(value):
    if isinstance(value, dict):
        return tuple((key, _hashable(item)) for key, item in sorted(value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def hash_of(data):
    """The digest of a database as tau-bench makes it."""
    changed = (f"('{name}', {_hashable(data[name])})" for name in ("reservations", "users"))
    return hashlib.sha256(f"(('flights', {_flights_told()}), {', '.join(changed)})".encode()).hexdigest()


def load_data(*, province=False):
    """A fresh database."""
    data = {"flights": _flights(), **{name: json.loads(_packed()[name]) for name in ("reservations", "users")}}
    for user in data["users"].values() if province else ():
        user["address"] = {_renamed(key): value for key, value in user["address"].items()}
    return data


def old(task):
    return Airline(load_data(province=True))


def new(task):
    return Airline(load_data())


TOOLS = (
    "book_reservation",
    "calculate",
    "cancel_reservation",
    "get_reservation_details",
    "get_user_details",
    "list_all_airports",
    "search_direct_flight",
    "search_onestop_flight",
    "send_certificate",
    "think",
    "transfer_to_human_agents",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)
