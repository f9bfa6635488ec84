"""Personal data as rules of a redactor: e-mail addresses, numbers of phones, cards, accounts (IBAN) and US SSNs.

What only looks like a card, an IBAN or an SSN is told by its check digits or its impossible parts, and left alone. A
phone number has no check digits: one is found if it is written as people write it, so plain digits without ``+`` or
separators (an order's number) are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from attrs import frozen

__all__ = ["PERSONAL", "Rule", "is_card", "is_iban"]


@frozen
class Rule:
    """One more rule of a redactor.

    Attributes:
        name: small letters and ``_``; it stands in the placeholder.
        pattern: its group ``secret`` is what is replaced.
        look: finds every text that the pattern could, whatever stands around it.
        holds: tells a real one from what only looks like one.
    """

    name: str
    pattern: re.Pattern[bytes]
    look: re.Pattern[bytes]
    holds: Callable[[bytes], bool] = lambda _: True


_GAP: Final = rb"(?:[ .-]|\xc2\xa0|\xe2\x80[\x90-\x93\xaf])"  # also the spaces and hyphens of typesetters
_NOT_DIGITS: Final = re.compile(rb"[^0-9]")
_NOT_LETTERS: Final = re.compile(rb"[^A-Za-z0-9]")

_IBAN_LENGTHS: Final = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL",
    19: "MK SI",
    20: "AT BA EE KZ LT LU XK",
    21: "CH CR HR LI LV",
    22: "BG BH DE GB GE IE ME RS VA",
    23: "AE GI IL IQ TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
    32: "LC",
    33: "RU",
}


def is_card(text: bytes) -> bool:
    """True if the check digit of a card number (Luhn) is right."""
    digits = [int(digit) for digit in _NOT_DIGITS.sub(b"", text).decode()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return len({*digits}) > 1 and (sum(digits[::-2]) + sum(doubled)) % 10 == 0


def is_iban(text: bytes) -> bool:
    """True if the check digits of an IBAN (ISO 7064, mod 97) are right."""
    letters = _NOT_LETTERS.sub(b"", text).decode()
    return int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])) % 97 == 1


def _begins(inside: bytes) -> bytes:
    r"""Not inside a word of these letters; in JSON text what stands before may be ``\n`` or ``\u00fc``."""
    return rb"(?:(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<![\\%b]))" % inside


def _rule(name: str, begins: bytes, body: bytes, look: bytes, holds: Callable[[bytes], bool] | None = None) -> Rule:
    pattern = re.compile(begins + rb"(?P<secret>" + body + rb")")
    found = re.compile(look)
    return Rule(name, pattern, found) if holds is None else Rule(name, pattern, found, holds)


def _iban_body() -> bytes:
    ways = [
        rb"(?i:%b)[0-9]{2}(?:%b?[A-Za-z0-9]){%d}"
        % ("|".join(lands.split()).join(("(?:", ")")).encode(), _GAP, length - 4)
        for length, lands in _IBAN_LENGTHS.items()
    ]
    return rb"(?:" + b"|".join(ways) + rb")(?![A-Za-z0-9])"


_DIGITS: Final = rb"[0-9](?:(?:%b|[/()]){0,3}[0-9]){6}" % _GAP

_PHONE: Final = b"|".join(
    (
        rb"\+[0-9]{1,3}(?:(?:%(gap)b|[/()]){0,3}[0-9]){6,12}",
        rb"00[1-9][0-9]{0,2}%(gap)b(?:(?:%(gap)b|[/()]){0,2}[0-9]){6,12}",
        rb"(?:1%(gap)b)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}%(gap)b)[2-9][0-9]{2}%(gap)b[0-9]{4}",
        rb"0[1-9](?:%(gap)b[0-9]{2}){4}",
        rb"\(?0[1-9][0-9]{1,3}\)?(?:%(gap)b|/)[0-9]{3,8}(?:%(gap)b[0-9]{2,4}){0,3}",
    )
) % {b"gap": _GAP}

_CARD: Final = b"|".join(
    (
        rb"[2-6][0-9]{3}(?P<four>%(gap)b)[0-9]{4}(?P=four)[0-9]{4}(?P=four)[0-9]{4}(?:(?P=four)[0-9]{3})?",
        rb"3[47][0-9]{2}(?P<amex>%(gap)b)[0-9]{6}(?P=amex)[0-9]{5}",
        rb"3[0689][0-9]{2}(?P<diners>%(gap)b)[0-9]{6}(?P=diners)[0-9]{4}",
        rb"[2-6][0-9]{12,18}",
    )
) % {b"gap": _GAP}

_LOCAL: Final = rb"A-Za-z0-9_%+-"

PERSONAL: Final[tuple[Rule, ...]] = (
    _rule(
        "email",
        _begins(_LOCAL),
        rb"[%(local)b][%(local)b.']{0,63}@(?:[A-Za-z0-9\x80-\xff][A-Za-z0-9\x80-\xff-]{0,62}\.)+[A-Za-z]{2,24}"
        % {b"local": _LOCAL},
        rb"@(?<=[%b.']@)[A-Za-z0-9\x80-\xff]" % _LOCAL,
    ),
    _rule("iban", _begins(rb"A-Za-z0-9"), _iban_body(), rb"[A-Za-z]{2}[0-9]{2}(?:%b?[A-Za-z0-9]){11}" % _GAP, is_iban),
    _rule("card", _begins(rb"0-9"), rb"(?:" + _CARD + rb")(?![0-9])", _DIGITS, is_card),
    _rule(
        "ssn",
        _begins(rb"0-9-"),
        rb"(?!000|666|9)[0-9]{3}(?P<dash>[ -])(?!00)[0-9]{2}(?P=dash)(?!0000)[0-9]{4}(?![0-9-])",
        _DIGITS,
    ),
    _rule("phone", _begins(rb"0-9A-Za-z+."), rb"(?:" + _PHONE + rb")(?![0-9])", _DIGITS),
)
"""Left alone in trials unless asked for; replaced in sessions unless told not to."""
