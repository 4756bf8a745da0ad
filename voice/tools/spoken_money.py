"""Joins amounts of money in JSON with their currency, by the conventions of public APIs.

An amount is a field beside that of its currency. It is in cents if its key says so or the currency
is in lower case, as in Stripe's API, or in units and nanos, as in Google's ``google.type.Money``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from babel.numbers import get_currency_name, get_currency_precision, is_currency

_CURRENCY = frozenset(("currency", "currency code", "ccy"))
_AMOUNT = re.compile(
    r"(?:.* )?(?:amount|value|price|total|subtotal|cost|balance|fee|fare|sum|units|paid|due|tax|tip"
    r"|cents|minor)(?: cents| minor)?"
)
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
_NANO = Decimal(10) ** -9
_MOST_DIGITS = 24
"""More than anybody has in any currency."""


def with_money(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object, whose keys are words, with each amount and its currency as one text.

    >>> with_money({"amount": 2680, "currency": "eur", "status": "paid"})
    {'amount': '€26.80', 'status': 'paid'}
    """
    found = next((key for key in fields if key in _CURRENCY), "")
    said = fields.get(found)
    if not isinstance(said, str) or not is_currency(said.upper()):
        return dict(fields)
    amounts = {key: amount for key in fields if (amount := _amount(key, fields, said)) is not None}
    if not amounts:
        return dict(fields)
    dropped = {found, "nanos"} if "units" in amounts else {found}
    return {
        re.sub(r"(?<=\w) (?:cents|minor)$", "", key).replace("units", "amount"): (
            money(amounts[key], said.upper()) if key in amounts else value
        )
        for key, value in fields.items()
        if key not in dropped
    }


def money(amount: Decimal, code: str) -> str:
    """An amount in words or signs, by ISO 4217 code: "€26.80", "109.50 Swedish kronor"."""
    digits = max(-int(amount.normalize().as_tuple().exponent), 0)
    shown = f"{abs(amount):.{max(get_currency_precision(code), digits)}f}"
    shown = shown.removesuffix(".00")
    minus = "-" if amount < 0 else ""
    if code in _SIGNS:
        return f"{minus}{_SIGNS[code]}{shown}"
    return f"{minus}{shown} {get_currency_name(code, count=abs(amount), locale='en')}"


def _amount(key: str, fields: Mapping[str, Any], currency: str) -> Decimal | None:
    value = fields[key]
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | str)
        or not _AMOUNT.fullmatch(key)
    ):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    if not amount.is_finite() or amount.adjusted() > _MOST_DIGITS:
        return None
    if key == "units" and isinstance(fields.get("nanos"), int):
        return amount + Decimal(fields["nanos"]) * _NANO
    in_cents = key.endswith(("cents", "minor")) or currency.islower()
    if in_cents and isinstance(value, int):
        return amount.scaleb(-int(get_currency_precision(currency.upper())))
    return amount
