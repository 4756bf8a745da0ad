"""Says amounts of money and measures: "$49.95", "20 EUR", "5 km/h", "-12°C", "30%".

Names of units, and of currencies written as codes, come from babel (CLDR); plain numbers from
`voice.speech.normalization.numbers`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from babel.numbers import get_currency_name
from babel.units import format_unit

from voice.speech.normalization.numbers import (
    FRACTION,
    NUMBER,
    Rule,
    cardinal,
    integer,
    is_one,
    say_fraction,
)

_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "US$": ("US dollar", "US dollars", "cent", "cents"),
    "A$": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "C$": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
}
"""Sign → singular and plural of the currency, singular and plural of its hundredth."""

_CODES = (
    "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD"
    "|RUB|ILS|UAH|THB|VND"
)
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion"}
_SCALE = r"(?: ?(?P<scale>thousand|million|billion|trillion|bn|mn|[kKmMbB])(?!\w))?"
_PER = r"(?: ?/ ?(?P<per>[A-Za-z]{1,12})(?!\w))?"
_SWAPPED = str.maketrans(".,", ",.")
_PERIODS = {"mo": "month", "yr": "year", "wk": "week", "d": "day", "h": "hour", "hr": "hour"}
_MINUS = r"(?P<minus>(?<![\w)])-)?"
_PRICE = rf"(?P<number>\d{{1,3}}(?:\.\d{{3}}){{0,4}},\d\d(?!\d)|{NUMBER})"
"""A number, or an amount as continental Europe writes it: 1.234,50 with two decimals."""

_UNITS = {
    "km": "length-kilometer", "m": "length-meter", "cm": "length-centimeter",
    "mm": "length-millimeter", "mi": "length-mile", "yd": "length-yard", "ft": "length-foot",
    '"': "length-inch", "sq ft": "area-square-foot", "m^2": "area-square-meter",
    "km^2": "area-square-kilometer", "m^3": "volume-cubic-meter", "ha": "area-hectare",
    "kg": "mass-kilogram", "g": "mass-gram", "mg": "mass-milligram", "mcg": "mass-microgram",
    "μg": "mass-microgram", "μm": "length-micrometer",
    "lb": "mass-pound", "lbs": "mass-pound", "oz": "mass-ounce", "l": "volume-liter",
    "L": "volume-liter", "ml": "volume-milliliter", "mL": "volume-milliliter",
    "gal": "volume-gallon", "fl oz": "volume-fluid-ounce", "tbsp": "volume-tablespoon",
    "tsp": "volume-teaspoon", "km/h": "speed-kilometer-per-hour",
    "kph": "speed-kilometer-per-hour", "m/s": "speed-meter-per-second",
    "mph": "speed-mile-per-hour", "mpg": "consumption-mile-per-gallon",
    "°C": "temperature-celsius", "°F": "temperature-fahrenheit", "°": "angle-degree",
    "%": "concentr-percent", "ms": "duration-millisecond", "s": "duration-second",
    "sec": "duration-second", "min": "duration-minute", "mins": "duration-minute",
    "h": "duration-hour", "hr": "duration-hour", "hrs": "duration-hour", "yr": "duration-year",
    "yrs": "duration-year", "W": "power-watt", "kW": "power-kilowatt",
    "kWh": "energy-kilowatt-hour", "kcal": "energy-kilocalorie", "cal": "energy-calorie",
    "V": "electric-volt", "Hz": "frequency-hertz", "kHz": "frequency-kilohertz",
    "MHz": "frequency-megahertz",
    "GHz": "frequency-gigahertz", "KB": "digital-kilobyte", "kB": "digital-kilobyte",
    "MB": "digital-megabyte", "GB": "digital-gigabyte", "TB": "digital-terabyte",
}  # fmt: skip
"""Written unit → CLDR unit. "in" is left out because of "be there at 5 in the morning"."""

_UNIT = "|".join(re.escape(symbol) for symbol in sorted(_UNITS, key=len, reverse=True))
_NOUN = re.compile(r" (?!by|and|or|in|x)[A-Za-z]{2}")
"""A noun, before which inches are singular: a 12" pizza."""


@lru_cache(maxsize=256)
def _unit_name(symbol: str, singular: bool) -> str:
    number = "1" if singular else "2"
    said = str(format_unit(int(number), _UNITS[symbol], "long", locale="en"))
    return said.removeprefix(number).strip().replace("-", " ")


def _say_measure(match: re.Match[str]) -> str | None:
    number, unit = match["number"], match["unit"]
    if number is None:
        said = say_fraction(match)
        return said and f"{said} {_unit_name(unit, match['whole'] is None)}"
    before_noun = unit == '"' and _NOUN.match(match.string, match.end()) is not None
    name = _unit_name(unit, before_noun or is_one(number))
    return _signed(match, f"{cardinal(number)} {name}{_per(match)}")


def _say_feet(match: re.Match[str]) -> str:
    feet, inches = int(match["feet"]), int(match["inches"])
    said = f"{integer(feet)} {'foot' if feet == 1 else 'feet'}"
    return f"{said} {integer(inches)} {'inch' if inches == 1 else 'inches'}" if inches else said


def _say_hours(match: re.Match[str]) -> str:
    hours, minutes = match["hours"], match["minutes"]
    said = f"{cardinal(hours)} {_unit_name('h', is_one(hours))}"
    return f"{said} {cardinal(minutes)} {_unit_name('min', is_one(minutes))}"


def _say_money(match: re.Match[str]) -> str:
    scale = match.groupdict().get("scale")
    said = _amount(_price(match), scale, _CURRENCIES[match["currency"]])
    return _signed(match, said + _per(match))


def _say_currency_name(match: re.Match[str]) -> str | None:
    # "0.86 euros" is a rate rather than a price.
    if not int(match["number"].replace(",", "").partition(".")[0]):
        return None
    sign = "€" if match["name"].startswith("e") else "$"
    return _signed(match, _amount(match["number"], None, _CURRENCIES[sign]))


def _say_code(match: re.Match[str]) -> str:
    number = _price(match)
    name = str(get_currency_name(match["code"], count=1 if is_one(number) else 2, locale="en"))
    return _signed(match, f"{cardinal(number)} {name}{_per(match)}")


def _price(match: re.Match[str]) -> str:
    """The number of a `_PRICE`, written the English way."""
    number = match["number"]
    return number.translate(_SWAPPED) if number[-3:-2] == "," else number


def _amount(number: str, scale: str | None, names: tuple[str, str, str, str]) -> str:
    one, many, hundredth, hundredths = names
    whole, _, decimals = number.replace(",", "").partition(".")
    if scale is not None:
        return f"{cardinal(number)} {_SCALES.get(scale.lower(), scale)} {many}"
    if len(decimals) > 2 or len(whole) > 15:
        return f"{cardinal(number)} {many}"
    cents = int(decimals.ljust(2, "0")) if decimals else 0
    said = []
    if int(whole or 0) or not cents:
        said.append(f"{cardinal(whole or '0')} {one if is_one(whole or '0') else many}")
    if cents:
        said.append(f"{integer(cents)} {hundredth if cents == 1 else hundredths}")
    return " and ".join(said)


def _per(match: re.Match[str]) -> str:
    per = match["per"]
    if per is None:
        return ""
    name = _PERIODS.get(per) or (_unit_name(per, True) if per in _UNITS else per)
    return f" per {name}"


def _signed(match: re.Match[str], said: str) -> str:
    return "minus " + said if match["minus"] else said


AMOUNT_RULES: tuple[Rule, ...] = (
    (
        re.compile(
            rf"{_MINUS}(?P<currency>(?<!\w)(?:US|A|C)\$|[$€£¥₹]) ?{_PRICE}"
            rf"{_SCALE}{_PER}"
        ),
        _say_money,
    ),
    (re.compile(rf"{_MINUS}{_PRICE} ?(?P<currency>[€£¥₹]|\$(?!\d)){_PER}"), _say_money),
    (re.compile(rf"(?P<minus>-)?(?P<code>{_CODES}) ?{_PRICE}{_PER}"), _say_code),
    (re.compile(rf"{_MINUS}{_PRICE} ?(?P<code>{_CODES})(?!\w){_PER}"), _say_code),
    (
        re.compile(rf"{_MINUS}(?P<number>\d[\d,]{{0,20}}\.\d\d) (?P<name>dollars?|euros?)(?!\w)"),
        _say_currency_name,
    ),
    (re.compile(r"(?P<feet>\d{1,2})' ?(?P<inches>\d{1,2})(?:\"|'')"), _say_feet),
    (re.compile(r"(?P<hours>\d{1,3}) ?h ?(?P<minutes>\d{1,2}) ?m(?:in)?(?!\w)"), _say_hours),
    (
        re.compile(
            rf"{_MINUS}(?:{FRACTION}|(?P<number>{NUMBER})) ?(?P<unit>{_UNIT})(?![\w^]){_PER}"
        ),
        _say_measure,
    ),
)
