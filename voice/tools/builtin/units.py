"""Converts spoken units of measure, by pint."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import Annotated, Any

from voice.tools import phrasing
from voice.tools.registry import Readable, ToolError, Unreadable, tool
from voice.tools.scope import SessionScope
from voice.tools.spoken_numbers import NUMBER, digits
from voice.tools.spoken_numbers import amount as read_amount

_TABLE = """
mile=mile=miles mi|kilometer=kilometer=kilometers kilometre kilometres km k
meter=meter=meters metre metres m|centimeter=centimeter=centimeters centimetre centimetres cm
millimeter=millimeter=millimeters millimetres mm|inch=inch=inches in|foot=foot=feet ft
yard=yard=yards yd|nautical mile=nautical_mile=nautical_miles|light year=light_year=light_years
pound=pound=pounds lb lbs|ounce=ounce=ounces oz|stone=stone=stone stones
kilogram=kilogram=kilograms kilo kilos kg|gram=gram=grams g|milligram=milligram=milligrams mg
ton=ton=tons|tonne=metric_ton=tonnes metric_ton metric_tons|liter=liter=liters litre litres l
milliliter=milliliter=milliliters millilitre millilitres ml mil mils|gallon=gallon=gallons gal
quart=quart=quarts qt|pint=pint=pints pt|cup=cup=cups|fluid ounce=fluid_ounce=fluid_ounces fl_oz
tablespoon=tablespoon=tablespoons tbsp|teaspoon=teaspoon=teaspoons tsp
degree Celsius=degC=celsius centigrade degrees_celsius degree_celsius c °c
degree Fahrenheit=degF=fahrenheit degrees_fahrenheit degree_fahrenheit f °f
kelvin=kelvin=kelvin kelvins|second=second=seconds sec|minute=minute=minutes min
hour=hour=hours hr|day=day=days|week=week=weeks|month=month=months|year=year=years
mile per hour=mile/hour=miles_per_hour mph miles_an_hour
kilometer per hour=kilometer/hour=kilometers_per_hour kilometres_per_hour kilometers_an_hour \
km/h kph kmh
meter per second=meter/second=meters_per_second m/s|knot=knot=knots|acre=acre=acres
hectare=hectare=hectares|square foot=foot**2=square_feet sq_ft
square meter=meter**2=square_meters square_metres|square mile=mile**2=square_miles
square kilometer=kilometer**2=square_kilometers|square inch=inch**2=square_inches
square yard=yard**2=square_yards|cubic meter=meter**3=cubic_meters|cubic foot=foot**3=cubic_feet
calorie=calorie=calories|kilocalorie=kilocalorie=kilocalories|joule=joule=joules
kilojoule=kilojoule=kilojoules|kilowatt hour=kilowatt_hour=kilowatt_hours|watt=watt=watts
kilowatt=kilowatt=kilowatts|horsepower=horsepower=horsepower|byte=byte=bytes
kilobyte=kilobyte=kilobytes|megabyte=megabyte=megabytes|gigabyte=gigabyte=gigabytes
terabyte=terabyte=terabytes|bit=bit=bits|degree=degree=degrees|radian=radian=radians
"""
_PLURALS = {
    "foot": "feet", "inch": "inches", "square foot": "square feet", "cubic foot": "cubic feet",
    "square inch": "square inches", "stone": "stone", "kelvin": "kelvin",
    "horsepower": "horsepower", "psi": "psi", "thou": "thou",
}  # fmt: skip
_AMBIGUOUS = {
    "ounce": ("fluid ounce", ("cup", "pint", "quart", "gallon", "liter", "milliliter",
                              "tablespoon", "teaspoon")),
    "degree": ("degree Fahrenheit", ("degree Celsius", "kelvin")),
}  # fmt: skip
"""Ambiguous unit → its meaning in a conversion from or to certain others."""
_LARGEST = Decimal(10) ** 24
_KEPT = 1024


_PARTS = {
    "foot": "inch", "pound": "ounce", "stone": "pound", "yard": "foot", "hour": "minute",
    "minute": "second",
}  # fmt: skip
"""A unit → the smaller one whose number may follow: "five foot eleven"."""
_TWO_AMOUNTS = re.compile(rf"({NUMBER}) ?([a-z']+)(?:,? (?:and )?| ?)({NUMBER}) ?(?:([a-z\"]+))?")


_WHICH = "Which unit do you mean?"
_Amount = Annotated[str, Readable(lambda said, _: _amount(said), "How much of it?", refuses=False)]
_From = Annotated[
    str, Readable(lambda said, _: _two_amounts(f"1 {said}") or _unit(said), _WHICH, refuses=False)
]
_To = Annotated[str, Readable(lambda said, _: _two_units(said), _WHICH, refuses=False)]


@tool(read_only=True)
def convert_units(amount: _Amount, from_unit: _From, to_unit: _To, *, scope: SessionScope) -> str:
    """Convert between units of measure."""
    amount = _whole(amount, from_unit, scope.said[1:])
    count, source, had = _two_amounts(f"{amount} {from_unit}") or (None, "", "")
    if count is None:
        count, source = _amount(amount), _unit(from_unit)
    target, smaller = _two_units(to_unit)
    source, target = _resolved(source, target), _resolved(target, source)
    value = _converted(count, source, target)
    have = _in_parts(value, target, smaller) if smaller else _counted(value, target)
    return f"{had or _counted(count, source)} is {have}."


def _whole(amount: str, unit: str, before: Sequence[str]) -> str:
    """An amount from an earlier message, with all the words of it that stand before its unit.

    A model may copy only the "three" of "three quarters of a pound".
    """
    said = re.escape(amount.lower()), re.escape(unit.lower())
    found = re.search(rf"\b({said[0]} (?:\w+ ){{1,3}}){said[1]}\b", "\n".join(before).lower())
    if found:
        with contextlib.suppress(ToolError):
            _amount(found[1].strip())
            return found[1].strip()
    return amount


def _amount(said: str) -> Decimal:
    """A number; "three fifty" is read as 350, as it is more often a temperature than a price."""
    return read_amount(re.sub(r"^(\d) (\d\d)$", r"\1\2", digits(said)), "amount")


def _two_amounts(said: str) -> tuple[Decimal, str, str] | None:
    """An amount in two units, "five foot eleven": in the larger unit, that unit, and in words.

    None for anything else.
    """
    match = _TWO_AMOUNTS.fullmatch(digits(said))
    if match is None:
        return None
    unit = "foot" if match[2] == "'" else _names().get(match[2])
    part = _PARTS.get(unit or "")
    if unit is None or part is None or _names().get(match[4] or part.replace(" ", "_")) != part:
        return None
    whole, rest = Decimal(match[1]), Decimal(match[3])
    had = f"{_counted(whole, unit)} {_counted(rest, part)}"
    return whole + _converted(rest, part, unit), unit, had


def _in_parts(value: Decimal, unit: str, part: str) -> str:
    """An amount in two units, rounded to a whole smaller one: "5 feet 11 inches"."""
    size = round(_converted(Decimal(1), unit, part))
    if size < 2:
        raise ToolError(f"I cannot convert to {_plural(unit)} and {_plural(part)}.")
    whole, rest = divmod(round(value * size), size)
    return f"{_counted(Decimal(whole), unit)} {_counted(Decimal(rest), part)}"


def _converted(count: Decimal, source: str, target: str) -> Decimal:
    import pint

    registry = _registry()
    try:
        converted = registry.Quantity(float(count), _pint_name(source)).to(_pint_name(target))
    except pint.PintError as error:
        raise ToolError(f"I cannot convert {_plural(source)} to {_plural(target)}.") from error
    value = Decimal(str(converted.magnitude))
    if abs(value) >= _LARGEST:
        raise ToolError("That number is too large to say.")
    return value


def _two_units(said: str) -> tuple[str, str]:
    """A unit, and the smaller one of "feet and inches", which is empty if only one is named."""
    larger, _, smaller = said.lower().partition(" and ")
    return _unit(larger), _unit(smaller) if smaller else ""


def _unit(said: str) -> str:
    """Our name for a spoken unit.

    Raises:
        Unreadable: The unit is unknown.
    """
    words = said.lower().replace(".", "").removeprefix("the ").split()
    if words[1:] and words[-1] in ("is", "are", "make", "makes"):
        # "How many ounces are in half a kilo?"
        words.pop()
    key = "_".join(words).replace("metre", "meter").replace("litre", "liter")
    known = _names()
    found = known.get(key) or known.get(key.removesuffix("s"))
    if found is None and words[:1] == ["degrees"]:
        found = known.get("_".join(words[1:]))
    single = " ".join(word.removesuffix("s") for word in words)
    if found is None and not _pint_name(single):
        raise Unreadable("unit", said)
    return found or single


def _resolved(unit: str, other: str) -> str:
    if unit == "degree" and other == "degree Fahrenheit":
        return "degree Celsius"
    meant, company = _AMBIGUOUS.get(unit, (unit, ()))
    return meant if other in company else unit


def _counted(count: Decimal, unit: str) -> str:
    shown = phrasing.number(count)
    return f"{shown} {unit if shown == '1' else _plural(unit)}"


def _plural(unit: str) -> str:
    if unit in _PLURALS:
        return _PLURALS[unit]
    for joint in (" per ", " Celsius", " Fahrenheit"):
        if joint in unit:
            head, _, tail = unit.partition(joint)
            return f"{head}s{joint}{tail}"
    return f"{unit}s"


@cache
def _entries() -> list[tuple[str, str, list[str]]]:
    cells = (cell.split("=") for line in _TABLE.strip().splitlines() for cell in line.split("|"))
    return [(name, pint_name, said.split()) for name, pint_name, said in cells]


@cache
def _names() -> dict[str, str]:
    """Spoken unit, its words joined by "_" → our name."""
    known = {}
    for name, _, said in _entries():
        known[name.lower().replace(" ", "_")] = name
        known.update(dict.fromkeys(said, name))
    return known


@cache
def _pint_names() -> dict[str, str]:
    return {name: pint_name for name, pint_name, _ in _entries()}


@lru_cache(_KEPT)
def _pint_name(unit: str) -> str:
    """The name pint has for a unit, one of ours or one that only pint knows; empty if unknown."""
    if unit in _pint_names():
        return _pint_names()[unit]
    import pint

    if not re.fullmatch(r"[a-z]{3,}(?: [a-z]{3,}){0,3}", unit):
        return ""
    # "Foot pound" is a unit of its own, "newton metre" the product of two.
    for joint in "_*":
        name = unit.replace(" per ", "/").replace(" ", joint)
        with contextlib.suppress(pint.PintError):
            _registry().parse_units(name)
            return name
    return ""


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


def warm_up() -> None:
    """Load the unit registry, which takes a third of a second."""
    _registry()
