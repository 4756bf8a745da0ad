"""Values of composed texts: numbers, dates and times, as people write them and as JSON.

The tables, and the notation of kinds of values, are in ``data/facts.toml``. Facts and schemas are
not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

from dlm.datagen.extraction.values import CENTS, CURRENCIES, Draw, plain_number
from dlm.datagen.language.spoken_values import MONTHS, WEEKDAYS, nth, ordinal_of
from dlm.language.spoken_numbers import words_of


@dataclass(frozen=True, slots=True)
class Told:
    """A value in a text.

    Attributes:
        text: The value as it is written.
        value: The value in JSON: a number, a list, or the text itself.
        format: The ``format`` that a schema may ask for; empty if only the text can be given.
        iso: The value in that format.
        size: What such values are ordered by; None if they have no order.
        currency: Currency of an amount.
    """

    text: str
    value: Any
    format: str = ""
    iso: str = ""
    size: float | None = None
    currency: str = ""


_DOZENS = {6: "half a dozen", 12: "a dozen", 24: "two dozen", 36: "three dozen", 48: "four dozen"}
_FORMATS = {"email": "email", "link": "uri"}
_PARTS = (("half past", 30), ("half past", 30), ("quarter past", 15), ("quarter to", -15))


class ToldDraw:
    """Draws the values of one text, without using words twice.

    Args:
        today: The day on which the text was written, if it says so.
        units: Unit → ways to write it.
        terse: Whether numbers are in figures, as in lists.
    """

    def __init__(
        self, rng: Random, today: date | None, units: dict[str, tuple[str, ...]], terse: bool
    ) -> None:
        self.rng, self.today, self._units = rng, today, units
        self._draw = Draw(rng)
        self._code = self._draw.code
        self._lines, self._terse = terse, terse or rng.random() < 0.5
        self._anchor = today or date(2021, 1, 1) + timedelta(days=rng.randrange(3000))
        self._dates = rng.choice(_DATES)
        self._day_clock = rng.random() < 0.4
        self._comma = rng.random() < 0.05
        self._joint = rng.randrange(3)
        self._words: set[str] = set()
        self._person, self._about = "", False

    def told(self, kind: str) -> Told:
        """A value of a kind."""
        for _ in range(30):
            made = self._told(kind)
            words = {word for word in made.text.lower().split() if len(word) > 2}
            named = isinstance(made.value, str | list)
            if self._words.isdisjoint(words if named else {made.text.lower()}):
                break
        self._words |= words | {made.text.lower()}
        return made

    def _told(self, kind: str) -> Told:
        head, *rest = kind.split()
        made = _MADE.get(head)
        if made is not None:
            return made(self, *rest)
        if head == "many":
            return self._list(rest[0])
        if head == "ints":
            numbers = self.rng.sample(range(int(rest[0]), int(rest[1])), self.rng.choice((3, 4, 5)))
            return Told(self._enumerated(list(map(str, numbers))), numbers)
        text = self._draw.word(head)
        # An email address belongs to the person whom the text is about, else to the last named.
        if head in ("woman", "man") or (head == "person" and not self._about):
            self._person, self._about = text, head != "person"
        if head == "email" and self._person:
            names = re.sub(r"[^a-z ]", "", self._person.lower()).split()
            joint, domain = self.rng.choice((".", "_", "-", "")), text.partition("@")[2]
            text = f"{joint.join((names[0], names[-1]))}@{domain}"
        shape = _FORMATS.get(head, "")
        return Told(text, text, shape, text if shape else "")

    def _list(self, symbol: str) -> Told:
        count = self.rng.choice((2, 3, 3, 4))
        found: list[str] = []
        while len(found) < count:
            item = self._draw.word(symbol)
            if item not in found and (item.lower() not in self._words or self.rng.random() < 0.1):
                found.append(item)
        self._words |= {item.lower() for item in found}
        return Told(self._enumerated(found), found)

    def _enumerated(self, items: Sequence[str]) -> str:
        last = " and "
        if self.rng.random() < 0.4 and (self._lines or len(items) > 2):
            last = ", "
        elif len(items) > 2 and self.rng.random() < 0.25:
            last = ", and "
        return last.join((", ".join(items[:-1]), items[-1]))

    def _int(self, low: str, high: str) -> Told:
        rng, value = self.rng, self.rng.randint(int(low), int(high))
        spelled = not self._terse and (value <= 12 or (value <= 20 and rng.random() < 0.4))
        if spelled or (not self._terse and value % 10 == 0 and value < 100 and rng.random() < 0.3):
            return Told(words_of(value).replace(" ", "-"), value, size=value)
        text = f"{value:,}" if value > 999 and rng.random() < 0.6 else str(value)
        return Told(text, value, size=value)

    def _count(self, low: str, high: str) -> Told:
        rng, roll = self.rng, self.rng.random()
        dozens = [number for number in _DOZENS if int(low) <= number <= int(high)]
        if dozens and roll < 0.12 and not self._terse:
            value = rng.choice(dozens)
            return Told(_DOZENS[value], value, size=value)
        if int(high) > 1500 and roll < 0.3:
            value = round(rng.randint(max(1000, int(low)), int(high)), -2)
            if roll < 0.15:
                return Told(f"{value / 1000:g}k", value, size=value)
            if value % 1000 == 0 and not self._terse:
                return Told(f"{value // 1000} thousand", value, size=value)
        return self._int(low, high)

    def _year(self, low: str, high: str) -> Told:
        value = self.rng.randint(int(low), int(high))
        return Told(str(value), value, size=value)

    def _only(self, *numbers: str) -> Told:
        text = self.rng.choice(numbers)
        return Told(text, int(text), size=int(text))

    def _nth(self, low: str, high: str) -> Told:
        value = self.rng.randint(int(low), int(high))
        spelled = value < 20 and not self._terse
        return Told(ordinal_of(value) if spelled else nth(value), value, size=value)

    def _num(self, low: str, high: str) -> Told:
        value = plain_number(round(self.rng.uniform(float(low), float(high)), 1))
        return Told(self._decimal(str(value)), value, size=value)

    def _decimal(self, text: str) -> str:
        return text.replace(".", ",") if self._comma else text

    def _size(self, low: str, high: str, unit: str) -> Told:
        rng = self.rng
        value: float = rng.randint(int(low), int(high))
        if unit in ("kg", "km", "l", "m", "°C") and rng.random() < 0.25 and value < 100:
            value = plain_number(value + rng.randint(1, 9) / 10)
        text = self._decimal(str(value)) if value < 1000 else f"{value:,}"
        return Told(text + rng.choice(self._units[unit]), value, size=value)

    def _amount(self, low: str, high: str) -> Told:
        rng, least, most = self.rng, int(low), int(high)
        sign, name = CURRENCIES[self._code]
        roll, value = rng.random(), float(rng.randint(least, most))
        if roll < 0.1 and most >= 5000 and value >= 2000:
            value = round(value, -2)
            said = f"{value / 1000:g}k"
            return self._in_currency(rng.choice((f"{sign}{said}", f"{said} {name}")), value)
        if roll < 0.14 and least <= 100 and not self._terse:
            value = float(rng.choice([n for n in range(10, 110, 10) if n >= least]))
            return self._in_currency(f"{words_of(int(value)).replace('one ', 'a ')} {name}", value)
        if most < 2000 and rng.random() < 0.4:
            value += rng.choice(CENTS) / 100
        text = f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
        text = text.replace(",", "") if rng.random() < 0.3 else text
        if self._comma and value < 1000 and self._code == "EUR":
            return self._in_currency(f"{self._decimal(text)} {rng.choice((sign, name))}", value)
        form = rng.choice(("{s}{v}", "{s}{v}", "{v} {n}", "{v} {n}", "{v} {c}", "{c} {v}"))
        return self._in_currency(form.format(s=sign, v=text, n=name, c=self._code), value)

    def _in_currency(self, text: str, value: float) -> Told:
        return Told(text, plain_number(value), size=value, currency=self._code)

    def _millions(self, low: str, high: str) -> Told:
        sign, name = CURRENCIES[self._code]
        tenths = self.rng.randint(10 * int(low), 10 * int(high))
        number = f"{tenths / 10:g}"
        forms = (f"{sign}{number} million", f"{number} million {name}", f"{sign}{number}m")
        return self._in_currency(self.rng.choice(forms), tenths * 100_000)

    def _date(self, sign: int = 0) -> Told:
        rng = self.rng
        sign = sign or (-1 if self.today else rng.choice((-1, 1)))
        day = self._anchor + timedelta(days=sign * rng.randint(8, 90))
        return self._written_date(day, rng.random() < (0.25 if self.today is None else 0.6))

    def _due(self) -> Told:
        """A day to come, often in words that depend on the day of writing: "next Friday"."""
        rng = self.rng
        if rng.random() < 0.35:
            number = rng.randrange(7)
            text = rng.choice((f"next {WEEKDAYS[number].title()}", WEEKDAYS[number].title()))
            if rng.random() < 0.25:
                number, text = -1, "tomorrow"
            if self.today is None:
                return Told(text, text)
            ahead = 1 if number < 0 else (number - self.today.weekday() - 1) % 7 + 1
            # "Next Friday", said on a Monday, may be either of two days.
            if not (text[0] == "n" and number > self.today.weekday()):
                day = self.today + timedelta(days=ahead)
                return Told(text, text, "date", day.isoformat())
        return self._date(1)

    def _written_date(self, day: date, bare: bool) -> Told:
        text = self.day_text(day, bare)
        if bare and self.today is None:
            return Told(text, text, size=day.toordinal())
        return Told(text, text, "date", day.isoformat(), day.toordinal())

    def day_text(self, day: date, bare: bool = False) -> str:
        """A day in the style of this text; a bare one has no year."""
        month = MONTHS[day.month - 1].title()
        form = self._dates
        if form == "iso" and bare:
            form = "{d} {m}"
        if form == "iso":
            return day.isoformat()
        if form == "figures":
            if day.day > 12 and not bare:
                return f"{day.day:02d}/{day.month:02d}/{day.year}"
            form = "{d} {m} {y}"
        form = form.replace(", {y}", "").replace(" {y}", "") if bare else form
        week = WEEKDAYS[day.weekday()].title()
        return form.format(d=day.day, m=month, b=month[:3], y=day.year, w=week, n=nth(day.day))

    def _time(self, low: str = "7", high: str = "22") -> Told:
        rng = self.rng
        hour = rng.randint(int(low), int(high))
        minute = rng.choice((0, 0, 0, 15, 30, 30, 45, 10, 20))
        iso, size = f"{hour:02d}:{minute:02d}:00Z", 60 * hour + minute
        if self._day_clock:
            return self._clock(f"{hour:02d}:{minute:02d}", iso, size)
        if hour == 12 and rng.random() < 0.6:
            return self._clock("noon", "12:00:00Z", 720)
        if rng.random() < 0.1 and not self._terse:
            words, minutes = rng.choice(_PARTS)
            text = f"{words} {words_of(hour % 12 or 12)}"
            return Told(text, text, size=60 * hour + minutes)
        half = "am" if hour < 12 else "pm"
        end = (f" {half}", half, f" {half.upper()}")[self._joint]
        shown = f"{hour % 12 or 12}:{minute:02d}" if minute else str(hour % 12 or 12)
        return self._clock(shown + end, iso, size)

    def _clock(self, text: str, iso: str, size: float) -> Told:
        return Told(text, text, "time", iso, size)

    def _moment(self) -> Told:
        rng = self.rng
        day = self._anchor
        hour, minute, second = rng.randrange(24), rng.randrange(60), rng.randrange(60)
        clock = f"{hour:02d}:{minute:02d}:{second:02d}"
        iso = f"{day.isoformat()}T{clock}Z"
        forms = (f"{day.isoformat()} {clock}", iso, f"{self.day_text(day)} at {clock}")
        text = rng.choice(forms)
        return Told(text, text, "date-time", iso, day.toordinal())


_DATES = (
    "iso", "iso", "figures", "{d} {m} {y}", "{d} {m} {y}", "{m} {d}, {y}", "{m} {d}, {y}",
    "{d} {b} {y}", "{n} of {m} {y}", "{w}, {d} {m} {y}", "{m} {n}, {y}",
)  # fmt: skip
_MADE: dict[str, Callable[..., Told]] = {
    "int": ToldDraw._int, "count": ToldDraw._count, "year": ToldDraw._year, "only": ToldDraw._only,
    "nth": ToldDraw._nth, "num": ToldDraw._num, "size": ToldDraw._size, "money": ToldDraw._amount,
    "millions": ToldDraw._millions, "date": ToldDraw._date, "due": ToldDraw._due,
    "time": ToldDraw._time, "moment": ToldDraw._moment,
}  # fmt: skip


def in_order(told: Mapping[str, Told]) -> dict[str, Told]:
    """Values by name, reassigned so that those with a size are in ascending order."""
    sizes = {name: one.size for name, one in told.items() if one.size is not None}
    values = sorted((told[name] for name in sizes), key=lambda one: one.size or 0)
    return dict(zip(sizes, values, strict=True))
