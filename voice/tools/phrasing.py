"""Phrases numbers, times, days and lists for the answers of tools: plain English with digits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

_SMALL_WORDS = {"of", "and", "the", "de", "la", "le", "on", "upon"}


def number(value: Decimal) -> str:
    """A number in digits: up to three decimals if they are exact, else two.

    Inexact numbers below 1 keep three significant digits, so that small ones do not become zero.
    """
    rounded = round(value, 3)
    if rounded != value:
        rounded = round(value, 2) if abs(value) >= 1 else _significant(value)
    return f"{rounded.normalize():f}" if rounded else "0"


def money(value: Decimal) -> str:
    """An amount of money: without decimals if it is whole, with more than two if it is tiny."""
    if 0 < abs(value) < Decimal("0.1"):
        return number(value)
    return f"{value:.0f}" if value == value.to_integral_value() else f"{value:.2f}"


def duration(length: timedelta) -> str:
    """A length of time, to the second: "1 hour 30 minutes"."""
    seconds = round(length.total_seconds())
    parts = []
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(counted(count, unit))
    return " ".join(parts) or "0 seconds"


def time(moment: datetime) -> str:
    """A time of day: "3:42 PM"."""
    return f"{moment.hour % 12 or 12}:{moment:%M} {'AM' if moment.hour < 12 else 'PM'}"


def full_date(when: date) -> str:
    """A date with its weekday: "Saturday, November 21, 2026"."""
    return f"{when:%A}, {when:%B} {when.day}, {when.year}"


def near_day(when: date, today: date) -> str:
    """A day as seen from today: "today", "tomorrow", "yesterday" or "on Friday, November 27"."""
    names = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    year = f", {when.year}" if when.year != today.year else ""
    return names.get((when - today).days) or f"on {when:%A}, {when:%B} {when.day}{year}"


def moment(when: datetime, now: datetime) -> str:
    """A time and its day: "5:00 PM today"."""
    return f"{time(when)} {near_day(when.date(), now.date())}"


def counted(count: int, noun: str) -> str:
    """A count and its noun: "1 timer", "2 timers"."""
    return f"{count} {noun if count == 1 else noun + 's'}"


def joined(items: Sequence[str], last: str = "and") -> str:
    """A list in a sentence: "milk, eggs and bread"."""
    return f" {last} ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


def sentence(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def name(text: str) -> str:
    """A person's or a place's name as written: "new york" → "New York"."""
    words = text.split()
    return " ".join(
        word if word != word.lower() or (word in _SMALL_WORDS and index) else word.capitalize()
        for index, word in enumerate(words)
    )


def _significant(value: Decimal) -> Decimal:
    return round(value, 2 - value.adjusted()) if value else value
