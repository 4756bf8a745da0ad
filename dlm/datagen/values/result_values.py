"""Values in the results of tools that no agent ships: as a tool writes them, and as they are told.

A time written "19:30" is told as "7:30 PM", and a state "OUT_FOR_DELIVERY" as "out for delivery".
Numbers keep their digits. Tools and sentences are not known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

from dlm.datagen.language.spoken_values import MONTHS, WEEKDAYS
from dlm.datagen.language.tables import Lists, read
from dlm.datagen.language.words import WORDS
from dlm.datagen.tools.renaming import styled
from dlm.datagen.tools.world import capital, title
from dlm.datagen.values.made_up import pseudo_word
from dlm.datagen.values.slots import Values
from dlm.language.spoken_numbers import words_of

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its singular and plural, suffixes of keys, and signs in a text with the number."""

    one: str
    many: str
    suffixes: tuple[str, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    units: dict[str, Unit]
    currencies: dict[str, Unit]
    extras: dict[str, tuple[str, ...]]
    failures: dict[str, str]


WORDING = read("results", Lists)
_TABLE = read("results_values", _Table)
UNITS = _TABLE.units
CURRENCIES = _TABLE.currencies
FAILURES = _TABLE.failures
"""Error as the tool writes it → how it is told."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a result.

    Attributes:
        raw: The value in JSON.
        said: The value as it is told.
        suffix: Suffix of its key, if that gives the unit.
        size: What it is compared by, a number or minutes since midnight; None if it has no order.
        unit: Unit of a number, if it has one.
    """

    raw: Any
    said: str
    suffix: str = ""
    size: float | None = None
    unit: Unit | None = None


def draw(spec: str, rng: Random, values: Values) -> Value:
    """A value of a kind, in the notation of ``data/results_facts.toml``.

    Raises:
        ValueError: The kind is unknown.
    """
    kind, *rest = spec.split(" ")
    if "/" in spec:
        return state(rng.choice(spec.split("/")), rng)
    if kind in ("int", "dec"):
        return _number(kind, int(rest[0]), int(rest[1]), rest[2:], rng)
    if kind == "money":
        return _money(int(rest[0]), int(rest[1]), rng)
    if kind == "bool":
        held = rng.random() < 0.5
        raw = held if rng.random() < 0.85 else ("yes" if held else "no")
        return Value(raw, "", size=float(held))
    if kind in _TIMES:
        return _TIMES[kind](rng)
    text = _NAMES[kind](rng) if kind in _NAMES else values.draw(kind, rng, True)
    proper = kind in ("name", "surname", "place", "company", "title", "made")
    text = title(text) if proper else text
    return Value(text, text)


def state(words: str, rng: Random) -> Value:
    """A state as a tool may write it: as words, in snake case or in capitals."""
    roll, joined = rng.random(), words.replace(" ", "_")
    if roll < 0.5:
        return Value(words, words)
    if roll < 0.8:
        return Value(joined, words)
    return Value(joined.upper() if roll < 0.92 else capital(words), words)


def drawn_alike(specs: Sequence[str], count: int, rng: Random, values: Values) -> list[list[Value]]:
    """``count`` rows of values of some kinds, with each kind in one notation, as in a list."""
    rows: list[list[Value]] = []
    for _ in range(count):
        row = []
        for at, spec in enumerate(specs):
            value = draw(spec, rng, values)
            for _ in range(_TRIES):
                if not rows or notation(value) == notation(rows[0][at]):
                    break
                value = draw(spec, rng, values)
            row.append(value)
        rows.append(row)
    return rows


_TRIES = 30


def notation(value: Value) -> str:
    """How a value is written, apart from its content; values in one list share it."""
    text = re.sub(r"\d+(?:\.\d+)?", "0", json.dumps(value.raw))
    named = re.sub(r"[a-z]+", "a", text, flags=re.IGNORECASE)
    return value.suffix + (text if value.unit else named if "0" in text else "")


def counted(number: str, unit: Unit) -> str:
    """A number with its unit, as it is said."""
    return f"{number} {unit.one if number in ('1', 'one') else unit.many}"


def _number(kind: str, low: int, high: int, unit: list[str], rng: Random) -> Value:
    number: float = rng.randint(low, high)
    if kind == "dec" and low <= number < high and (tenth := rng.randrange(10)):
        number = round(number + tenth / 10, 1)
    said = f"minus {-number}" if number < 0 else str(number)
    if not unit:
        return Value(str(number) if rng.random() < 0.1 else number, said, size=number)
    of = UNITS[unit[0]]
    told = counted(said, of)
    bare = 0.25 if unit[0] in ("C", "F", "pc") else 0.0
    raw, suffix = _with_unit(number, of, bare, rng)
    return Value(raw, told, suffix, number, of)


def _with_unit(number: float, of: Unit, bare: float, rng: Random) -> tuple[Any, str]:
    roll = rng.random()
    if roll < bare:
        return number, ""
    if roll < 0.6:
        return number, rng.choice(of.suffixes)
    if roll < 0.9:
        return f"{number}{rng.choice(of.signs)}", ""
    key = rng.choice(("value", "amount", "number"))
    return {key: number, "unit": rng.choice(of.signs).strip()}, ""


def _money(low: int, high: int, rng: Random) -> Value:
    code = rng.choice(("usd", "usd", "usd", "eur", "gbp"))
    of = CURRENCIES[code]
    number: float = rng.randint(low, high)
    if high < 1000 and rng.random() < 0.6:
        # No zero at the end, as JSON would drop it.
        number = round(number + (10 * rng.randrange(10) + rng.randint(1, 9)) / 100, 2)
    text, told = str(number), counted(str(number), of)
    roll = rng.random()
    if roll < 0.5:
        return Value(number, told, rng.choice(of.suffixes), number, of)
    if roll < 0.65:
        return Value(f"{of.signs[0]}{text}", told, "", number, of)
    if roll < 0.85:
        return Value(f"{text} {code.upper()}", told, "", number, of)
    return Value({"amount": number, "currency": code.upper()}, told, "", number, of)


def _drawn_clock(rng: Random) -> tuple[int, int]:
    return rng.choice((*range(6, 23), rng.randrange(24))), 5 * rng.randrange(12)


def clock_said(hour: int, minute: int) -> str:
    """A time of day as it is told: "7:30 PM"."""
    return f"{hour % 12 or 12}:{minute:02d} {'PM' if hour >= 12 else 'AM'}"


def clock(rng: Random) -> Value:
    """A time of day."""
    hour, minute = _drawn_clock(rng)
    return clock_at(60 * hour + minute, rng)


def clock_at(minutes: int, rng: Random) -> Value:
    """The time of day that is ``minutes`` after midnight."""
    hour, minute = divmod(minutes % 1440, 60)
    said, plain = clock_said(hour, minute), f"{hour:02d}:{minute:02d}"
    roll, size = rng.random(), float(60 * hour + minute)
    if roll < 0.45:
        return Value(said if roll < 0.35 else said.lower(), said, size=size)
    if roll < 0.88:
        return Value(plain if roll < 0.8 else f"{plain}:00", said, size=size)
    return Value(f"{_date(rng).isoformat()}T{plain}:00", said, size=size)


def _date(rng: Random) -> date:
    """A day of one year, so that dates without a year can be compared."""
    return date(2026, 1, 1) + timedelta(days=rng.randrange(365))


def _date_said(of: date) -> str:
    return f"{MONTHS[of.month - 1].title()} {of.day}"


def _plain_date(rng: Random) -> Value:
    of = _date(rng)
    said = _date_said(of)
    day, month = said.split()[::-1]
    forms = of.isoformat(), f"{of.isoformat()}T00:00:00Z", f"{said}, {of.year}", f"{day} {month}"
    raw = said if rng.random() < 0.3 else forms[max(0, rng.randrange(9) - 5)]
    return Value(raw, said, size=float(of.toordinal()))


def _day(rng: Random, near: tuple[str, ...] = ("today", "tomorrow")) -> Value:
    roll = rng.random()
    if roll < 0.25:
        said = rng.choice(near)
        return Value(said, said)
    if roll < 0.5:
        named = rng.choice(WEEKDAYS).title()
        return Value(named, f"on {named}")
    found = _plain_date(rng)
    return Value(found.raw, f"on {found.said}")


def _moment(rng: Random, near: tuple[str, ...] = ("today", "tomorrow")) -> Value:
    hour, minute = _drawn_clock(rng)
    said, plain = clock_said(hour, minute), f"{hour:02d}:{minute:02d}"
    if rng.random() < 0.5:
        of = _date(rng)
        raw = f"{of.isoformat()}{rng.choice('TT ')}{plain}{rng.choice(('', ':00', ':00Z'))}"
        return Value(raw, f"on {_date_said(of)} at {said}")
    day = rng.choice((*near, *(w.title() for w in WEEKDAYS)))
    when = day if day[0].islower() else f"on {day}"
    raw = f"{day}{rng.choice((' ', ', ', ' at '))}{rng.choice((said, said, plain))}"
    return Value(raw, f"{when} at {said}")


_PAST = ("today", "yesterday")
_TIMES: dict[str, Callable[[Random], Value]] = {
    "clock": clock, "date": _plain_date, "day": _day, "moment": _moment,
    "past_day": lambda rng: _day(rng, _PAST), "past_moment": lambda rng: _moment(rng, _PAST),
}  # fmt: skip
_CHORES = tuple(t for t in WORDS["task"] if " my " not in t and "'" not in t)
_NAMES = {
    "gate": lambda rng: f"{rng.choice('ABCDEFG')}{rng.randint(1, 60)}",
    "plate": lambda rng: f"{rng.choice('BKLMRT')}{rng.choice('ACEX')} {rng.randint(100, 9999)}",
    "street": lambda rng: title(
        f"{rng.choice(WORDS['noun'])} {rng.choice(('street', 'road', 'lane', 'avenue'))}"
    ),
    "chore": lambda rng: rng.choice(_CHORES),
    "made": pseudo_word,
}


def asked_limit(value: Value, rng: Random, digits: bool) -> tuple[str, float]:
    """A limit that a number is above or below, never equal to, in words and as a number."""
    assert value.size is not None
    spread = max(2, round(abs(value.size) * 0.4))
    limit = round(value.size) + rng.choice((-1, 1)) * rng.randint(1, spread)
    limit = max(limit if value.size < 100 else 10 * (limit // 10), 1)
    if value.unit is UNITS["pc"]:
        limit = min(limit, 99)
    if limit == value.size:
        limit += 1 if limit < 50 else -1
    said = str(limit) if digits else words_of(limit)
    return (counted(said, value.unit) if value.unit and rng.random() < 0.7 else said), limit


def asked_hour(value: Value, rng: Random, digits: bool) -> tuple[str, float]:
    """A full hour that a time of day is before or after, in words and in minutes since midnight."""
    assert value.size is not None
    hour = min(23, max(1, int(value.size // 60) + rng.choice((-2, -1, 0, 1, 2))))
    if 60 * hour == value.size:
        hour += 1 if hour < 23 else -1
    number = str(hour % 12 or 12) if digits else words_of(hour % 12 or 12)
    half = "pm" if hour >= 12 else "am"
    return f"{number} {half.upper() if digits else half}", 60.0 * hour


_MEASURED = {s for unit in UNITS.values() for s in unit.suffixes if len(s) > 3}
"""Words of keys that already give a unit."""


def written_key(name: str, suffix: str, case: str) -> str:
    """A key, followed by its unit unless it has one.

    Args:
        case: A style of `dlm.datagen.tools.renaming.styled`, or "words" or "kebab".
    """
    if not _MEASURED.isdisjoint(name.split("_")):
        suffix = ""
    words = f"{name}_{suffix}".strip("_").split("_")
    joint = {"words": " ", "kebab": "-"}.get(case)
    return styled(words, case) if joint is None else joint.join(words)


def as_object(
    fields: Mapping[str, tuple[str, ...]],
    values: Mapping[str, Value | None],
    case: str,
    rng: Random,
) -> Row:
    """The fields of a result in random order, with others that nobody asks for."""
    pairs: list[tuple[str, Any]] = []
    for name, value in values.items():
        key = rng.choice(fields[name][0].split(", "))
        if value is not None:
            pairs.append((written_key(key, value.suffix, case), value.raw))
        elif rng.random() < 0.75:
            pairs.append(
                (written_key(key, "", case), rng.choice((None, None, "unknown", "n/a", "")))
            )
    extras = rng.sample(list(_TABLE.extras), rng.choice((0, 0, 1, 1, 2)))
    known = {key for key, _ in pairs}
    for name in extras:
        if written_key(name, "", case) not in known:
            pairs.append((written_key(name, "", case), rng.choice(_TABLE.extras[name])))
    rng.shuffle(pairs)
    return dict(pairs)


def wrapped(found: Row, rng: Random) -> Row:
    """A result as it is, or with all or half of its fields in an inner object."""
    roll = rng.random()
    if roll < 0.2:
        return {rng.choice(WORDING["wraps"]): found}
    if roll < 0.3:
        return {"ok": True, rng.choice(WORDING["wraps"]): found}
    if roll < 0.4 and len(found) > 3:
        cut = len(found) // 2
        pairs = list(found.items())
        return {**dict(pairs[:cut]), rng.choice(("details", "more", "values")): dict(pairs[cut:])}
    return found


def failure_text(error: str, rng: Random) -> str:
    """A failure as tools write them, without a reason if the error is empty."""
    if not error:
        bare: tuple[Row, ...] = ({"ok": False}, {"success": False}, {"status": "failed"})
        return as_json(rng.choice(bare), rng)
    code = rng.choice((400, 403, 404, 409, 500, 503))
    forms: tuple[Row, ...] = (
        {"error": error}, {"ok": False, "error": error}, {"success": False, "reason": error},
        {"status": "error", "message": error}, {"error": {"code": code, "message": error}},
        {"status": "failed", "detail": error}, {"error": error, "code": code}, {"error": error},
    )  # fmt: skip
    return f"Error: {error}" if rng.random() < 0.15 else as_json(rng.choice(forms), rng)


def plain_text(value: Any) -> str:
    """A value as JSON, but strings without quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def as_json(value: Any, rng: Random) -> str:
    """JSON, with or without spaces."""
    close = rng.random() < 0.4
    return json.dumps(value, ensure_ascii=False, separators=(",", ":") if close else None)


def lowered(sentence: str) -> str:
    """A sentence as it continues after "Yes,"."""
    return sentence if sentence.startswith(("{", "IT ")) else sentence[0].lower() + sentence[1:]
