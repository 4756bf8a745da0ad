"""Computes and writes sums, units and money as people say them.

It covers what the simulated tools of the training data need, and returns None for anything else.
"""

from __future__ import annotations

import math
import re
import zlib
from random import Random

from dlm.datagen.language.spoken_values import digits, figures
from dlm.datagen.language.words import CURRENCIES, UNITS
from dlm.language.spoken_numbers import number

_OPERATORS = {
    "times": "*", "multiplied by": "*", "x": "*", "*": "*", "plus": "+", "+": "+",
    "added to": "+", "minus": "-", "-": "-", "divided by": "/", "over": "/", "/": "/", "less": "-",
    "take away": "-", "lots of": "*", "shared between": "/", "split between": "/",
}  # fmt: skip
_SPLIT = re.compile(
    r" (times|multiplied by|x|\*|plus|\+|added to|minus|-|divided by|over|/|less|take away|lots of"
    r"|shared between|split between) "
)
_SHORT_UNITS = {
    "km": "kilometers", "kilometres": "kilometers", "metres": "meters", "cm": "centimeters",
    "mm": "millimeters", "kg": "kilograms", "kilos": "kilograms", "lbs": "pounds", "foot": "feet",
    "inch": "inches", "oz": "ounces", "litres": "liters", "ml": "milliliters", "yard": "yards",
    "degrees celsius": "celsius", "degrees fahrenheit": "fahrenheit", "centigrade": "celsius",
    "kilo": "kilograms", "tbsp": "tablespoons", "tsp": "teaspoons",
}  # fmt: skip


_REWRITES = (
    (re.compile(r"^(?:add|the sum of) (.+?) (?:and|to|plus) (.+)$"), r"\1 plus \2"),
    (re.compile(r"^subtract (.+?) from (.+)$"), r"\2 minus \1"),
    (re.compile(r"^multiply (.+?) (?:by|and|with) (.+)$"), r"\1 times \2"),
    (re.compile(r"^divide (.+?) by (.+)$"), r"\1 divided by \2"),
)


def restated(text: str) -> str:
    """A sum in digits and without an order around it: "2 plus 3" for "add two and three"."""
    text = digits(text.replace(",", "")).removeprefix("what is ")
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def evaluate(text: str) -> float | None:
    """The value of a spoken sum, * and / first, then left to right; None if it cannot be read."""
    text = restated(text)
    special = _special(text)
    if special is not None:
        return special
    parts = _SPLIT.split(text)
    numbers = [number(part) for part in parts[::2]]
    if len(parts) < 3 or any(n is None for n in numbers):
        return None
    return _fold([n for n in numbers if n is not None], [_OPERATORS[p] for p in parts[1::2]])


def _special(text: str) -> float | None:
    tip = re.fullmatch(
        r"(?:an? )?(.+? percent|.+?%) (?:tip|discount) on (.+?)(?: dollars| euros)?", text
    )
    text = f"{tip[1]} of {tip[2]}" if tip else text
    power = re.fullmatch(r"(.+) to the power of (.+)", text)
    if power:
        base, exponent = number(power[1]), number(power[2])
        return (
            base**exponent if base is not None and exponent is not None and exponent < 13 else None
        )
    percent = re.fullmatch(r"(.+?)(?: percent|%) of (.+)", text)
    if percent:
        share, base = number(percent[1]), number(percent[2])
        return share * base / 100 if share is not None and base is not None else None
    for pattern, work in (
        (r"(?:a )?half of (.+)", lambda v: v / 2),
        (r"(?:the )?square root of (.+)", math.sqrt),
        (r"(.+) squared", lambda v: v * v),
        (r"(.+) cubed", lambda v: v**3),
        (r"(?:twice|double) (.+)", lambda v: 2 * v),
        (r"a third of (.+)", lambda v: v / 3),
        (r"a quarter of (.+)", lambda v: v / 4),
    ):
        match = re.fullmatch(pattern, text)
        value = number(match[1]) if match else None
        if value is not None:
            return float(work(value))
    return None


def _fold(numbers: list[float], signs: list[str]) -> float | None:
    terms, adds = [numbers[0]], []
    for sign, value in zip(signs, numbers[1:], strict=True):
        if sign == "*":
            terms[-1] *= value
        elif sign == "/":
            if value == 0:
                return None
            terms[-1] /= value
        else:
            adds.append(sign)
            terms.append(value)
    total = terms[0]
    for sign, value in zip(adds, terms[1:], strict=True):
        total = total + value if sign == "+" else total - value
    return total


def _unit(name: str) -> str | None:
    name = _SHORT_UNITS.get(name, name)
    for candidate in (name, f"{name}s"):
        if candidate in UNITS:
            return candidate
    return None


def unit_text(count: float, unit: str) -> str:
    """An amount and its unit as the tool writes it: "1 mile", "3 degrees Celsius"."""
    shown, name = figures(count), _unit(unit) or unit
    if name in ("celsius", "fahrenheit"):
        return f"{shown} degree{'' if shown == '1' else 's'} {name.title()}"
    if name == "stones":
        return f"{shown} stone"
    if shown == "1":
        name = {"feet": "foot", "inches": "inch"}.get(name, name.removesuffix("s"))
    return f"{shown} {name}"


_SMALLER = re.compile(r"(foot|feet|pounds?) (?:and )?(.+?)(?: (?:inch(?:es)?|ounces?))?$")


def smaller_part(unit: str) -> tuple[str, float, str] | None:
    """The parts of a unit such as "feet eleven inches": feet, 11, inches; None for a plain unit."""
    match = _SMALLER.fullmatch(unit)
    count = number(match[2]) if match else None
    if match is None or count is None:
        return None
    return ("feet", count, "inches") if match[1][0] == "f" else ("pounds", count, "ounces")


def feet_and_inches(feet: float) -> str:
    """A length as the tool writes it: "5 feet 11 inches" for 5.92."""
    inches = round(feet * 12)
    return f"{unit_text(inches // 12, 'feet')} {unit_text(inches % 12, 'inches')}"


def money_text(count: float, currency: str) -> str:
    """An amount of money as the tool writes it: whole, or with both decimals."""
    shown = f"{count:.0f}" if round(count, 2) == int(count) else f"{count:.2f}"
    return f"{shown} {currency.removesuffix('s') if shown == '1' else currency}"


def converted(count: float, source: str, target: str) -> float | None:
    """``count`` of one unit in another; None if the units measure different quantities."""
    first, second = _unit(source), _unit(target)
    if first is None or second is None or UNITS[first].measures != UNITS[second].measures:
        return None
    if first == second:
        return count
    if UNITS[first].measures == "heat":
        return count * 9 / 5 + 32 if first == "celsius" else (count - 32) * 5 / 9
    return count * UNITS[first].size / UNITS[second].size


def exchanged(count: float, source: str, target: str, rng: Random) -> float:
    """``count`` of one currency in another at the usual rate, give or take a few percent.

    A currency that is not in the table gets a rate derived from its name.
    """
    return count * _worth(source) / _worth(target) * rng.uniform(0.97, 1.03)


def _worth(name: str) -> float:
    name = name.removeprefix("the ")
    for candidate in (name, f"{name}s"):
        if candidate in CURRENCIES:
            return CURRENCIES[candidate]
    return 0.005 + zlib.crc32(name.encode()) % 1000 / 500
