"""Draws what fills the slots of a phrasing: durations, times, items, names, places and so on.

Values are text as a user says it, with numbers in words or digits as the style wants. Variety is
what teaches copying, so open kinds mix word lists, lists of the corpora and random words. Composed
kinds are made by functions of the word lists, a random generator and whether numbers are digits.
Tools are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from dlm.datagen.corpora.files import rows
from dlm.datagen.language.spoken_values import HOLIDAYS, MONTHS, WEEKDAYS, ordinal_of
from dlm.datagen.language.words import (
    CORPUS_LISTS,
    CURRENCIES,
    INVENTED_SHARES,
    SHARE_ALIKE_LISTS,
    UNITS,
    WORDS,
)
from dlm.datagen.values import free_text
from dlm.datagen.values.loose_values import (
    LOOSE_AMOUNTS,
    LOOSE_DURATIONS,
    loose_clock,
    loose_moment,
)
from dlm.datagen.values.made_up import blend, pseudo_word, salad
from dlm.language.spoken_numbers import words_of


class Values:
    """Draws slot values.

    Args:
        corpora: Directory with ``slot_values.jsonl.xz``; None for the built-in lists alone.
        free: Whether values may be in looser words, and free text from
            `dlm.datagen.values.free_text`, as training has them; held-out dialogues use only the
            lists, so that evaluations stay comparable.
    """

    def __init__(
        self, corpora: Path | None = None, share_alike: bool = False, free: bool = False
    ) -> None:
        self._lists: dict[str, list[str]] = {name: list(words) for name, words in WORDS.items()}
        self.free = free
        self._read = free_text.read(corpora) if free and corpora is not None else {}
        if corpora is not None:
            self._load(corpora / "slot_values.jsonl.xz", share_alike)
        for name in ("title", "song", "artist", "restaurant", "event", "hotel", "genre", "cuisine"):
            self._lists.setdefault(name, [])

    def _load(self, path: Path, share_alike: bool) -> None:
        wanted: dict[str, list[str]] = {}
        tables = (CORPUS_LISTS, SHARE_ALIKE_LISTS) if share_alike else (CORPUS_LISTS,)
        for table in tables:
            for kind, lists in table.items():
                for source in lists:
                    wanted.setdefault(source, []).append(kind)
        found: dict[str, dict[str, None]] = {}
        for row in rows(path):
            for kind in wanted.get(row["list"], ()):
                value = row["value"].strip(" .,'\"")
                if _speakable(value):
                    found.setdefault(kind, {})[value] = None
        for kind, values in found.items():
            self._lists[kind] = [*self._lists.get(kind, []), *values]

    def known(self, kind: str) -> list[str]:
        """The list of a kind; empty for kinds that are composed."""
        return self._lists.get(kind, [])

    def draw(self, kind: str, rng: Random, digits: bool = False) -> str:
        """A value of a kind.

        Args:
            kind: A composed kind, the name of a word list, or ``a|b|c`` to pick from.

        Raises:
            ValueError: The kind is unknown.
        """
        if "|" in kind:
            return rng.choice(kind.split("|"))
        if self.free and kind in free_text.INSTEAD and rng.random() < _FREE:
            return self.text(free_text.INSTEAD[kind], rng, digits)
        composed = COMPOSED.get(kind)
        if composed is not None:
            return composed(self, rng, digits)
        if kind not in self._lists:
            raise ValueError(f"kind must be a list or composed kind, got {kind!r}")
        values = self._lists[kind]
        if not values or rng.random() < INVENTED_SHARES.get(kind, 0.0):
            return salad(rng)
        return rng.choice(values)

    def text(self, symbol: str, rng: Random, digits: bool = False) -> str:
        """Free text for a symbol of the grammar."""

        def draw(kind: str) -> str:
            return self.draw(kind, rng, digits).lower()

        return free_text.write(symbol, rng, self._read, draw, self.free)


_FREE = 0.6
"""Share of free text among values of kinds that may be free text, in training."""


def _speakable(value: str) -> bool:
    words = value.split()
    plain = value.isascii() and all(c.isalpha() or c in " '-" for c in value)
    return plain and 0 < len(words) <= 4 and max(map(len, words)) <= 14


_HALF = re.compile(r" (?:am|pm|a m|p m|in the (?:morning|afternoon|evening))$", re.I)
_HOURS = {
    "in the morning": range(1, 12),
    "in the afternoon": (12, 1, 2, 3, 4, 5),
    "in the evening": range(5, 12),
}
"""Part of the day → the hours that may be said with it."""
_MEASURES = (
    "bottles", "packs", "bags", "cans", "pounds", "kilos", "grams", "liters", "litres", "jars",
    "cartons", "loaves", "bunches", "rolls", "slices", "tins", "gallons", "pints", "cups",
)  # fmt: skip
_DOSES = ("a shot of", "one pump of", "two pumps of", "a squirt of", "a pump of", "a pump of")
_FLAVORS = (
    "vanilla", "hazelnut", "caramel", "chocolate", "peppermint", "almond", "vanilla", "coconut",
    "caramel", "raspberry",
)  # fmt: skip


Draw = Callable[[Values, Random, bool], str]


def plural(drink: str) -> str:
    """The plural of a drink."""
    return drink if drink.endswith("s") else drink + "s"


def numeral(value: int, digits: bool) -> str:
    """A whole number as words or digits."""
    return str(value) if digits else words_of(value)


def whole(rng: Random, low: int, high: int, digits: bool) -> str:
    """A random whole number within [low, high], as words or digits."""
    return numeral(rng.randint(low, high), digits)


def amount(values: Values, rng: Random, digits: bool) -> str:
    """A quantity to convert: mostly small, sometimes large or fractional."""
    if values.free and rng.random() < 0.15:
        return rng.choice(LOOSE_AMOUNTS)
    roll = rng.random()
    if roll < 0.1:
        return rng.choice(("a hundred", "a thousand", "one", "ten"))
    if roll < 0.2:
        part, tenth = rng.randint(0, 99), rng.randint(1, 9)
        return f"{part}.{tenth}" if digits else f"{words_of(part)} point {words_of(tenth)}"
    high = 20 if roll < 0.5 else 200 if roll < 0.85 else 20_000
    return whole(rng, 1, high, digits)


def duration(values: Values, rng: Random, digits: bool) -> str:
    """A span of time such as "ten minutes" or "an hour and a half"."""
    if values.free and rng.random() < 0.12:
        return rng.choice(LOOSE_DURATIONS)
    roll = rng.random()
    if roll < 0.12:
        return rng.choice(
            ("half an hour", "an hour", "an hour and a half", "a minute", "a quarter of an hour")
        )
    minutes = rng.choice(
        (1, 2, 3, 5, 7, 10, 12, 15, 20, 25, 30, 40, 45, 50, 90, rng.randint(2, 99))
    )
    said = f"{numeral(minutes, digits)} minute{'s' if minutes > 1 else ''}"
    if roll < 0.62:
        return said
    if roll < 0.75:
        return f"{said} {'and ' if rng.random() < 0.6 else ''}{whole(rng, 2, 59, digits)} seconds"
    if roll < 0.85:
        return f"{whole(rng, 2, 90, digits)} seconds"
    hours = rng.randint(1, 12)
    said = f"{numeral(hours, digits)} hour{'s' if hours > 1 else ''}"
    if roll < 0.93:
        return said
    return f"{said} {'and ' if rng.random() < 0.6 else ''}{whole(rng, 2, 59, digits)} minutes"


def clock(values: Values, rng: Random, digits: bool) -> str:
    """A time of day such as "half past six", "seven thirty pm" or "7:30 PM"."""
    if values.free and rng.random() < 0.15:
        return loose_clock(rng, digits)
    hour = rng.randint(1, 12)
    minute = rng.choice((0, 0, 0, 0, 15, 30, 30, 45, 5 * rng.randint(1, 11)))
    if rng.random() < 0.1:
        minute = rng.randint(1, 59)
    half = rng.choice(("am", "pm", "in the morning", "in the evening", "in the afternoon"))
    half = half if rng.random() < 0.55 else ""
    if half in _HOURS and hour not in _HOURS[half]:
        half = "am" if half == "in the morning" else "pm"
    if digits:
        half = half.upper() if len(half) == 2 and rng.random() < 0.7 else half
        return f"{hour}{f':{minute:02d}' if minute or rng.random() < 0.3 else ''} {half}".strip()
    if len(half) == 2 and rng.random() < 0.3:
        half = f"{half[0]} m"
    roll = rng.random()
    if roll < 0.06:
        return rng.choice(("noon", "midnight", "midday"))
    if minute == 0:
        said = words_of(hour) + (" o'clock" if roll < 0.2 else "")
    elif minute in (15, 30, 45) and roll < 0.5:
        part = {15: "quarter past", 30: "half past", 45: "quarter to"}[minute]
        said = f"{part} {words_of(hour)}"
    elif roll < 0.6 and minute % 5 == 0:
        said = f"{words_of(minute)} past {words_of(hour)}"
    else:
        said = f"{words_of(hour)} {'oh ' if minute < 10 else ''}{words_of(minute)}"
    return f"{said} {half}".strip()


def day(_: Values, rng: Random, digits: bool) -> str:
    """A day such as "tomorrow", "next friday" or "the twelfth of may"."""
    roll = rng.random()
    if roll < 0.45:
        return rng.choice(("tomorrow", "today", "tomorrow", "tonight", "the day after tomorrow"))
    if roll < 0.72:
        return rng.choice(WEEKDAYS)
    if roll < 0.82:
        return f"next {rng.choice(WEEKDAYS)}"
    if roll < 0.88:
        return f"in {whole(rng, 2, 14, digits)} days"
    number, month = rng.randint(1, 28), rng.choice(MONTHS)
    if digits:
        return f"{month} {number}"
    return rng.choice((f"{month} {ordinal_of(number)}", f"the {ordinal_of(number)} of {month}"))


def date_day(values: Values, rng: Random, digits: bool) -> str:
    """A day whose date is asked for: one of `day` or a holiday."""
    if rng.random() < 0.3:
        return rng.choice(list(HOLIDAYS))
    said = day(values, rng, digits)
    return "tomorrow" if said == "tonight" else said


def target_day(values: Values, rng: Random, digits: bool) -> str:
    """A day to count the days until: a holiday, a date or a weekday."""
    if rng.random() < 0.45:
        return rng.choice(list(HOLIDAYS))
    said = day(values, rng, digits)
    while said.startswith(("in ", "to")):
        said = day(values, rng, digits)
    return said


def when(values: Values, rng: Random, digits: bool) -> str:
    """A moment such as "seven thirty tomorrow", "friday at noon" or "in ten minutes"."""
    roll = rng.random()
    if roll < 0.42:
        return clock(values, rng, digits)
    if roll < 0.58:
        return f"in {duration(values, rng, digits)}"
    named = rng.choice(
        ("tomorrow", "tomorrow", "tomorrow morning", "this evening", "tomorrow evening", *WEEKDAYS)
    )
    moment = clock(values, rng, digits)
    joint = "on " if named in WEEKDAYS else ""
    if " " in named and moment in ("noon", "midnight", "midday"):
        named = "tomorrow"
    elif " " in named:
        # The part of the day is already said; "this evening at 4 am" would be nonsense.
        moment = _HALF.sub("", moment)
    return f"{named} at {moment}" if roll < 0.8 else f"{moment} {joint}{named}"


def repeat(values: Values, rng: Random, digits: bool) -> str:
    """A repetition: "every weekday at half past six", "every two hours"."""
    roll = rng.random()
    if roll < 0.2:
        unit = rng.choice(("hours", "hours", "minutes", "days", "weeks"))
        count = rng.choice((2, 3, 4, 6)) if unit != "minutes" else rng.choice((10, 15, 20, 30, 45))
        return f"every {numeral(count, digits)} {unit}"
    if roll < 0.28:
        return rng.choice(("every hour", "every half hour", "hourly", "every half an hour"))
    return _repeated_days(rng) if roll < 0.45 else _repeated_time(values, rng, digits)


def _repeated_time(values: Values, rng: Random, digits: bool) -> str:
    days, moment = _repeated_days(rng), clock(values, rng, digits)
    if days.split()[-1] in ("morning", "evening", "afternoon", "night"):
        moment = _HALF.sub("", moment)
    return f"{days} at {moment}" if rng.random() < 0.75 else f"{moment} {days}"


def _repeated_days(rng: Random) -> str:
    """The days of a repetition."""
    roll = rng.random()
    if roll < 0.42:
        return rng.choice((
            "every day", "every day", "every weekday", "every weekday", "each day", "daily",
            "weekdays", "weekdays", "every weekend", "weekends", "every workday",
        ))  # fmt: skip
    if roll < 0.56:
        return f"every {rng.choice(('morning', 'morning', 'evening', 'night', 'afternoon'))}"
    name = rng.choice(WEEKDAYS)
    if roll < 0.8:
        return rng.choice((f"every {name}", f"every {name}", f"{name}s", f"each {name}"))
    if roll < 0.88:
        return f"every {name} {rng.choice(('morning', 'evening', 'afternoon'))}"
    if roll < 0.95:
        first, second = sorted(rng.sample(range(7), 2))
        return f"every {WEEKDAYS[first]} and {WEEKDAYS[second]}"
    return rng.choice((f"every other {name}", "every other day", "the first of every month"))


def when_or_repeat(values: Values, rng: Random, digits: bool) -> str:
    """A moment, or sometimes a repetition."""
    if values.free and rng.random() < 0.12:
        return loose_moment(rng)
    return (repeat if rng.random() < 0.22 else when)(values, rng, digits)


def alarm_when(values: Values, rng: Random, digits: bool) -> str:
    """When an alarm rings: a moment, or a time of day on repeated days."""
    return (_repeated_time if rng.random() < 0.2 else when)(values, rng, digits)


def alarm_named(values: Values, rng: Random, digits: bool) -> str:
    """What distinguishes an alarm from others: "seven o'clock", "tomorrow morning", "weekday"."""
    roll = rng.random()
    if roll < 0.6:
        return re.sub(r"^(?:about|around) | (?:on the dot|sharp)$", "", clock(values, rng, digits))
    if roll < 0.75:
        return rng.choice(("tomorrow", "tomorrow morning", *WEEKDAYS, "morning", "evening"))
    if roll < 0.85:
        return rng.choice(("weekday", "daily", "weekend", "weekly", "every day", "next", "first"))
    return when(values, rng, digits)


def adding(values: Values, rng: Random, digits: bool) -> str:
    """Time to add to a timer, with the verb: "add five minutes"."""
    more = rng.choice(("", "", "", "another ", "an extra "))
    length = duration(values, rng, digits)
    more = more if length[0] not in "ah" else ""
    return f"{rng.choice(('add', 'add', 'add', 'put'))} {more}{length}"


def longer(values: Values, rng: Random, digits: bool) -> str:
    """Time that a timer gains or loses: "five more minutes", "two minutes less"."""
    count = rng.choice((1, 2, 3, 5, 5, 10, 10, 15, 20, 30, rng.randint(2, 59)))
    unit = rng.choice(("minute", "minute", "minute", "second", "hour"))
    unit = unit + "s" if count > 1 else unit
    said, roll = numeral(count, digits), rng.random()
    if roll < 0.35:
        return f"{said} {rng.choice(('more', 'more', 'extra'))} {unit}"
    if roll < 0.55:
        return f"another {said} {unit}"
    if roll < 0.8:
        return f"{said} {unit} {rng.choice(('more', 'longer', 'longer', 'extra'))}"
    return f"{said} {unit} {rng.choice(('less', 'shorter'))}"


def counted_item(values: Values, rng: Random, digits: bool) -> str:
    """A thing to buy, sometimes with an amount: "two litres of milk"."""
    item = values.draw("item", rng)
    if rng.random() > 0.2 or item.split()[0] in ("a", "an", "two", "three", "six", "half", "some"):
        return item
    count = whole(rng, 2, 12, digits)
    if item.endswith("s") and rng.random() < 0.5:
        return f"{count} {item}"
    return rng.choice((
        f"{count} {rng.choice(_MEASURES)} of {item}", f"a {rng.choice(_MEASURES)[:-1]} of {item}",
        f"some {item}", f"{count} {rng.choice(_MEASURES)} of {item}",
    ))  # fmt: skip


def further(_: Values, rng: Random, digits: bool) -> str:
    """An operation on the previous result: "times three", "minus ten"."""
    operations = ("times", "times", "plus", "minus", "divided by", "take away", "over")
    if rng.random() < 0.15:
        return rng.choice(("squared", "cubed", "times two"))
    return f"{rng.choice(operations)} {whole(rng, 2, rng.choice((9, 20, 100)), digits)}"


def _loose_sum(rng: Random, digits: bool) -> str:
    a, b = whole(rng, 2, rng.choice((60, 500, 9000)), digits), whole(rng, 2, 40, digits)
    forms = (
        "{} take away {}", "{} take away {}", "{} lots of {}", "{} split between {}", "double {}",
        "{} shared between {}", "a third of {}", "a quarter of {}", "twice {}", "half of {}",
    )  # fmt: skip
    return rng.choice(forms).format(a, b)


def expression(values: Values, rng: Random, digits: bool) -> str:
    """A calculation as people say it: "twelve times seven", "15 percent of 80"."""
    if values.free and rng.random() < 0.15:
        return _loose_sum(rng, digits)
    high = rng.choice((12, 20, 100, 100, 1000))
    a, b = whole(rng, 2, high, digits), whole(rng, 2, high, digits)
    roll = rng.random()
    if roll < 0.1:
        return f"{whole(rng, 1, 99, digits)} percent of {b}"
    if roll < 0.14:
        return f"half of {whole(rng, 2, 300, digits)}"
    if roll < 0.18:
        return f"{whole(rng, 2, 30, digits)} {rng.choice(('squared', 'cubed'))}"
    if roll < 0.2:
        return f"{whole(rng, 2, 12, digits)} to the power of {whole(rng, 2, 6, digits)}"
    if roll > 0.98:
        return f"a {whole(rng, 5, 30, digits)} percent tip on {b} dollars"
    if roll < 0.22:
        return f"the square root of {numeral(rng.randint(2, 20) ** 2, digits)}"
    operations = ("times", "plus", "minus", "divided by", "multiplied by")
    said = f"{a} {rng.choice(operations)} {b}"
    if roll > 0.9:
        said += f" {rng.choice(('plus', 'minus'))} {whole(rng, 2, 50, digits)}"
    elif digits and roll > 0.75:
        for word, sign in (("times", "*"), ("plus", "+"), ("minus", "-"), ("divided by", "/")):
            said = said.replace(f" {word} ", f" {sign} ")
    return said


def sum_order(_: Values, rng: Random, digits: bool) -> str:
    """A calculation as an order: "multiply five by six"."""
    a, b = rng.randint(2, 500), whole(rng, 2, 99, digits)
    # "twenty and five" would be heard as one number.
    forms = ("multiply {} by {}", "divide {} by {}", "subtract {} from {}", "add {} to {}")
    apart = a < 100 and a % 10
    return rng.choice((*forms, "add {} and {}") if apart else forms).format(numeral(a, digits), b)


def other_units(measures: str, name: str) -> list[str]:
    """The units of a quantity, except one."""
    return [u for u, unit in UNITS.items() if unit.measures == measures and u != name]


def unit_pair(rng: Random) -> tuple[str, str]:
    """Two different units of the same quantity."""
    first = rng.choice(list(UNITS))
    return first, rng.choice(other_units(UNITS[first].measures, first))


def currency_pair(rng: Random) -> tuple[str, str]:
    """Two different currencies."""
    first, second = rng.sample(list(CURRENCIES), 2)
    return first, second


def person(values: Values, rng: Random, _: bool) -> str:
    """A person's first name, sometimes with a surname."""
    name = rng.choice(values.known("name"))
    return f"{name} {rng.choice(values.known('surname'))}" if rng.random() < 0.2 else name


def percent(_: Values, rng: Random, digits: bool) -> str:
    """A level: "fifty percent"."""
    value = rng.choice((10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100, rng.randint(1, 99)))
    return f"{value}%" if digits and rng.random() < 0.3 else f"{numeral(value, digits)} percent"


def degrees(_: Values, rng: Random, digits: bool) -> str:
    """A temperature: "twenty one degrees"."""
    said = whole(rng, 15, 30, digits) if rng.random() < 0.6 else whole(rng, 60, 80, digits)
    return said + (" degrees" if rng.random() < 0.8 else "")


def quantity(_: Values, rng: Random, digits: bool) -> str:
    """A number of drinks, mostly small."""
    if rng.random() < 0.05:
        return rng.choice(("a couple", "a couple", "a dozen", "half a dozen"))
    return whole(rng, 2, 4 if rng.random() < 0.8 else 12, digits)


def _with_amount(kind: str) -> Draw:
    def drawn(values: Values, rng: Random, _: bool) -> str:
        base = rng.choice(values.known(kind))
        counted = base.split()[0] in ("no", "a", "one", "two", "three")
        if not counted and rng.random() < 0.2:
            return f"{rng.choice(values.known('amount'))} {base}"
        if not counted and kind == "sweetener" and rng.random() < 0.1 and "sugar" in base:
            return f"{rng.choice(values.known('spoons'))} {base}"
        return base

    return drawn


def _flavor(_: Values, rng: Random, __: bool) -> str:
    """A dose of a flavour, such as "a shot of vanilla", which is not a shot of coffee."""
    return f"{rng.choice(_DOSES)} {rng.choice(_FLAVORS)}"


def _feet_and_inches(_: Values, rng: Random, digits: bool) -> str:
    """What follows a number of feet, or of pounds: "foot eleven", "pounds and six ounces"."""
    count = whole(rng, 1, 11, digits)
    if rng.random() < 0.15:
        return f"pounds {rng.choice(('and ', ''))}{count} ounces"
    first = rng.choice(("foot", "feet"))
    if rng.random() < 0.6:
        return f"{first} {count}"
    return f"{first} {rng.choice(('and ', ''))}{count} inches"


def _number_between(low: int, high: int) -> Draw:
    return lambda _, rng, digits: whole(rng, low, high, digits)


def _address(values: Values, rng: Random, digits: bool) -> str:
    known = values.known("address")
    if known and rng.random() < 0.3:
        return rng.choice(known)
    street = rng.choice(values.known("noun") + values.known("surname"))
    return (
        f"{whole(rng, 1, 400, digits)} {street} {rng.choice(('street', 'road', 'avenue', 'lane'))}"
    )


def _message(values: Values, rng: Random, digits: bool) -> str:
    forms = (
        f"i will be there {rng.choice(('at', 'around'))} {clock(values, rng, digits)}",
        f"please {rng.choice(values.known('task')).replace(' my ', ' the ')}",
        f"do not forget the {rng.choice(values.known('noun'))}",
        f"i am running {whole(rng, 5, 40, digits)} minutes late",
        f"see you {day(values, rng, digits)}",
        f"can you bring {rng.choice(values.known('item'))}",
        rng.choice(
            ("happy birthday", "good luck", "thank you for dinner", "on my way", "call me back")
        ),
    )
    return rng.choice(forms)


def _code(_: Values, rng: Random, digits: bool) -> str:
    figures = [rng.randint(0, 9) for _ in range(rng.randint(3, 6))]
    return "".join(map(str, figures)) if digits else " ".join(words_of(f) for f in figures)


COMPOSED: dict[str, Draw] = {
    "amount": amount,
    "duration": duration,
    "clock": clock,
    "day": day,
    "date_day": date_day,
    "target_day": target_day,
    "when": when,
    "repeat": repeat,
    "when_or_repeat": when_or_repeat,
    "alarm_when": alarm_when,
    "alarm_named": alarm_named,
    "adding": adding,
    "longer": longer,
    "counted_item": counted_item,
    "feet": _number_between(1, 9),
    "feet_and_inches": _feet_and_inches,
    "expression": expression,
    "further": further,
    "person": person,
    "percent": percent,
    "degrees": degrees,
    "quantity": quantity,
    "milk": _with_amount("milk"),
    "sweetener": _with_amount("sweetener"),
    "flavor": _flavor,
    "count": _number_between(2, 12),
    "number": _number_between(1, 100),
    "large_number": _number_between(20, 2000),
    "address": _address,
    "message": _message,
    "code": _code,
    "sum_order": sum_order,
    "drinks": lambda values, rng, _: plural(values.draw("drink", rng)),
    "made": lambda _, rng, __: pseudo_word(rng),
    "blend": lambda _, rng, __: blend(rng),
}
