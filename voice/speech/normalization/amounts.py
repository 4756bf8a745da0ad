"""Says amounts of money and measures: "$49.95", "20 EUR", "5 km/h", "-12°C", "30%".

Names of units and of currencies written as codes are babel's (CLDR); how a plain number is said is
`voice.speech.normalization.numbers`' matter.
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

_SIGNS = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
}
"""Sign → one and many of the currency, one and many of its hundredth."""

_COUNTRIES = {
    "US": "US ",
    "A": "Australian ",
    "AU": "Australian ",
    "C": "Canadian ",
    "CA": "Canadian ",
}
_CODES = "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD"
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion"}
_SCALE = r"(?: ?(?P<scale>thousand|million|billion|trillion|bn|mn|[kKmMbB])(?!\w))?"
_PER = r"(?: ?/ ?(?P<per>[A-Za-z]{1,12})(?!\w))?"
_PERIODS = {"mo": "month", "yr": "year", "wk": "week", "d": "day", "h": "hour", "hr": "hour"}
_SIGN = r"(?P<minus>(?<![\w)])-)?"

_UNITS = {
    "km": "length-kilometer",
    "m": "length-meter",
    "cm": "length-centimeter",
    "mm": "length-millimeter",
    "nm": "length-nanometer",
    "mi": "length-mile",
    "yd": "length-yard",
    "ft": "length-foot",
    "sq ft": "area-square-foot",
    "ft^2": "area-square-foot",
    '"': "length-inch",
    "kg": "mass-kilogram",
    "g": "mass-gram",
    "mg": "mass-milligram",
    "mcg": "mass-microgram",
    "μg": "mass-microgram",
    "lb": "mass-pound",
    "lbs": "mass-pound",
    "oz": "mass-ounce",
    "l": "volume-liter",
    "L": "volume-liter",
    "dl": "volume-deciliter",
    "cl": "volume-centiliter",
    "ml": "volume-milliliter",
    "mL": "volume-milliliter",
    "gal": "volume-gallon",
    "qt": "volume-quart",
    "fl oz": "volume-fluid-ounce",
    "tbsp": "volume-tablespoon",
    "tsp": "volume-teaspoon",
    "km^2": "area-square-kilometer",
    "m^2": "area-square-meter",
    "cm^2": "area-square-centimeter",
    "m^3": "volume-cubic-meter",
    "cm^3": "volume-cubic-centimeter",
    "ha": "area-hectare",
    "km/h": "speed-kilometer-per-hour",
    "kph": "speed-kilometer-per-hour",
    "m/s": "speed-meter-per-second",
    "mph": "speed-mile-per-hour",
    "mpg": "consumption-mile-per-gallon",
    "°C": "temperature-celsius",
    "°F": "temperature-fahrenheit",
    "°": "angle-degree",
    "ms": "duration-millisecond",
    "s": "duration-second",
    "sec": "duration-second",
    "secs": "duration-second",
    "min": "duration-minute",
    "mins": "duration-minute",
    "h": "duration-hour",
    "hr": "duration-hour",
    "hrs": "duration-hour",
    "wk": "duration-week",
    "wks": "duration-week",
    "yr": "duration-year",
    "yrs": "duration-year",
    "W": "power-watt",
    "kW": "power-kilowatt",
    "MW": "power-megawatt",
    "kWh": "energy-kilowatt-hour",
    "kJ": "energy-kilojoule",
    "kcal": "energy-kilocalorie",
    "cal": "energy-calorie",
    "V": "electric-volt",
    "mA": "electric-milliampere",
    "Hz": "frequency-hertz",
    "kHz": "frequency-kilohertz",
    "MHz": "frequency-megahertz",
    "GHz": "frequency-gigahertz",
    "KB": "digital-kilobyte",
    "kB": "digital-kilobyte",
    "MB": "digital-megabyte",
    "GB": "digital-gigabyte",
    "TB": "digital-terabyte",
    "hPa": "pressure-hectopascal",
    "psi": "pressure-pound-force-per-square-inch",
    "px": "graphics-pixel",
}
"""Written unit → CLDR unit. "in" is missing: "be there at 5 in the morning"."""


_MEASURED = r"(?=[.,;:)]|$| (?:tall|long|wide|high|deep|by|and|x)\b)"
"""What "in" stands before as a unit: "6 ft 2 in the air" has none."""
_NOUN = re.compile(
    r" (?!(?:tall|wide|long|high|deep|thick|across|apart|away|above|below|from|off|by|and|or|in|at"
    r"|of|to|on|for|with|than|per|is|are|was|were|x)\b)[A-Za-z]{2}"
)
"""What inches stand before in the singular: a 12" pizza, which is 12" wide."""
_UNIT = "|".join(re.escape(symbol) for symbol in sorted(_UNITS, key=len, reverse=True))


@lru_cache(maxsize=256)
def _unit_name(symbol: str, singular: bool) -> str:
    number = "1" if singular else "2"
    said = str(format_unit(int(number), _UNITS[symbol], "long", locale="en"))
    return said.removeprefix(number).strip().replace("-", " ")


def _say_measure(match: re.Match[str]) -> str:
    before_noun = match["unit"] == '"' and _NOUN.match(match.string, match.end()) is not None
    name = _unit_name(match["unit"], before_noun or is_one(match["number"]))
    return _signed(match, f"{cardinal(match['number'])} {name}{_per(match)}")


def _say_percent(match: re.Match[str]) -> str:
    return _signed(match, cardinal(match["number"]) + " percent")


def _say_feet(match: re.Match[str]) -> str:
    inches = int(match["inches"])
    feet = int(match["feet"])
    said = f"{integer(feet)} {'foot' if feet == 1 else 'feet'}"
    return (
        said if inches == 0 else f"{said} {integer(inches)} {'inch' if inches == 1 else 'inches'}"
    )


def _say_part_of_measure(match: re.Match[str]) -> str | None:
    said = say_fraction(match)
    return said and f"{said} {_unit_name(match['unit'], match['whole'] is None)}"


def _say_hours(match: re.Match[str]) -> str:
    hours, minutes = match["hours"], match["minutes"]
    said = f"{cardinal(hours)} {_unit_name('h', is_one(hours))}"
    return f"{said} {cardinal(minutes)} {_unit_name('min', is_one(minutes))}"


def _say_cents(match: re.Match[str]) -> str:
    name = " cent" if is_one(match["number"]) else " cents"
    return cardinal(match["number"]) + name + _per(match)


def _say_money(match: re.Match[str]) -> str:
    names = _SIGNS[match["currency"]]
    country = _COUNTRIES.get(match.groupdict().get("country") or "", "")
    said = _amount(match["number"], match.groupdict().get("scale"), names, country)
    return _signed(match, said + _per(match))


def _say_dollars_written_out(match: re.Match[str]) -> str | None:
    if not int(match["number"].replace(",", "").partition(".")[0]):
        # "0.86 euros" is a rate rather than a price.
        return None
    sign = "€" if match["name"].startswith("e") else "$"
    return _signed(match, _amount(match["number"], None, _SIGNS[sign], ""))


def _say_code(match: re.Match[str]) -> str:
    count = 1 if is_one(match["number"]) else 2
    name = str(get_currency_name(match["code"], count=count, locale="en"))
    return _signed(match, f"{cardinal(match['number'])} {name}{_per(match)}")


def _amount(number: str, scale: str | None, names: tuple[str, ...], country: str) -> str:
    one, many, hundredth, hundredths = names
    whole, _, decimals = number.replace(",", "").partition(".")
    if scale is not None:
        return f"{cardinal(number)} {_SCALES.get(scale.lower(), scale)} {country}{many}"
    if len(decimals) > 2 or len(whole) > 15:
        return f"{cardinal(number)} {country}{many}"
    cents = int(decimals.ljust(2, "0")) if decimals else 0
    said = []
    if int(whole or 0) or not cents:
        said.append(f"{cardinal(whole or '0')} {country}{one if is_one(whole or '0') else many}")
    if cents:
        said.append(f"{integer(cents)} {hundredth if cents == 1 else hundredths}")
    return " and ".join(said)


def _per(match: re.Match[str]) -> str:
    per = match.groupdict().get("per")
    if per is None:
        return ""
    if per in _PERIODS:
        return " per " + _PERIODS[per]
    return " per " + (_unit_name(per, True) if per in _UNITS else per)


def _signed(match: re.Match[str], said: str) -> str:
    return "minus " + said if match["minus"] else said


AMOUNT_RULES: tuple[Rule, ...] = (
    (
        re.compile(
            rf"{_SIGN}(?P<country>US|AU?|CA?)?(?P<currency>[$€£¥₹]) ?"
            rf"(?P<number>{NUMBER}){_SCALE}{_PER}"
        ),
        _say_money,
    ),
    (re.compile(rf"{_SIGN}(?P<number>{NUMBER}) ?(?P<currency>[€£¥₹]|\$(?!\d)){_PER}"), _say_money),
    (re.compile(rf"(?P<minus>-)?(?P<code>{_CODES}) ?(?P<number>{NUMBER}){_PER}"), _say_code),
    (re.compile(rf"{_SIGN}(?P<number>{NUMBER}) ?(?P<code>{_CODES})(?!\w){_PER}"), _say_code),
    (
        re.compile(rf"{_SIGN}(?P<number>\d[\d,]{{0,20}}\.\d\d) (?P<name>dollars?|euros?)(?!\w)"),
        _say_dollars_written_out,
    ),
    (re.compile(rf"(?P<number>{NUMBER}) ?¢{_PER}"), _say_cents),
    (re.compile(r"(?P<feet>\d{1,2})'(?P<inches>\d{1,2})(?:\"|'')?(?!\w)"), _say_feet),
    (re.compile(r"(?P<feet>\d{1,2})' (?P<inches>\d{1,2})(?:\"|'')"), _say_feet),
    (re.compile(rf"(?P<feet>\d{{1,2}}) ?ft\.? (?P<inches>\d{{1,2}}) ?in{_MEASURED}"), _say_feet),
    (re.compile(r"(?P<hours>\d{1,3}) ?h ?(?P<minutes>\d{1,2}) ?m(?:in)?(?!\w)"), _say_hours),
    (re.compile(rf"{FRACTION} ?(?P<unit>{_UNIT})(?![\w^])"), _say_part_of_measure),
    (re.compile(rf"{_SIGN}(?P<number>{NUMBER}) ?%"), _say_percent),
    (re.compile(rf"{_SIGN}(?P<number>{NUMBER}) ?(?P<unit>{_UNIT})(?![\w^]){_PER}"), _say_measure),
)
