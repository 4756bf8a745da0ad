"""Reads and writes numbers as people say them, in words or figures.

It reads a text that is a number, and finds the numbers in a longer text. It knows no units.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import numpy as np

ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = [
    "_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
]  # fmt: skip
ORDINALS = [
    "_", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
    "seventeenth", "eighteenth", "nineteenth", "twentieth",
]  # fmt: skip
VALUES = {w: i for i, w in enumerate(ONES)} | {w: 10 * i for i, w in enumerate(TENS) if i > 1}
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
COMPUTED = frozenset((
    "total", "sum", "difference", "average", "mean", "combined", "overall", "remaining", "result",
    "product", "count",
))  # fmt: skip
"""Words in the names of numbers that may be computed and so need not be said."""

_Said = tuple[str, int, int]
"""A number as JSON writes it, and the start and end of its place in the text."""


def words_of(number: int) -> str:
    """A whole number, from 0 to below a billion, in words: "one hundred and twenty five"."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f" {ONES[number % 10]}" if number % 10 else "")
    for scale, name in ((1_000_000, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= scale:
            rest = number % scale
            joint = " and " if scale == 100 or 0 < rest < 100 else " "
            return f"{words_of(number // scale)} {name}" + (joint + words_of(rest) if rest else "")
    raise AssertionError(number)


def figures(value: float) -> str:
    """A number in figures, without an exponent."""
    return np.format_float_positional(value, trim="-")


def number(text: str) -> float | None:
    """The number that a text says, in words or digits; None if it is not a number."""
    words = text.lower().replace("-", " ").replace(",", "").split()
    if not words:
        return None
    if len(words) == 1 and re.fullmatch(r"\d+(\.\d+)?", words[0]):
        return float(words[0])
    if "point" in words:
        at = words.index("point")
        whole = number(" ".join(words[:at])) if at else 0.0
        digits = [_digit(w) for w in words[at + 1 :]]
        if whole is None or None in digits or not digits:
            return None
        return float(f"{int(whole)}.{''.join(str(d) for d in digits)}")
    if words[-2:] == ["a", "half"] and len(words) > 3 and words[-3] == "and":
        whole = number(" ".join(words[:-3]))
        return None if whole is None else whole + 0.5
    return _whole(words)


def _digit(word: str) -> int | None:
    return int(word) if word.isdigit() else VALUES.get(word)


def _whole(words: list[str]) -> float | None:
    total, group, seen = 0.0, 0.0, False
    for index, word in enumerate(words):
        if word == "and" and seen:
            continue
        if word in ("a", "an") and index == 0 and len(words) > 1:
            group = 1
            continue
        if word in SCALES:
            scale = SCALES[word]
            if scale == 100:
                group = (group or 1) * 100
            else:
                total, group = total + (group or 1) * scale, 0
        elif word in VALUES:
            value = VALUES[word]
            if seen and group % 10 and value < 100 and group < 100:
                return None
            group += value
        elif re.fullmatch(r"\d+(\.\d+)?", word):
            group += float(word)
        else:
            return None
        seen = True
    return total + group if seen and words[-1] != "and" else None


def numbers_in(text: str) -> Iterator[tuple[str, int, int]]:
    """The numbers that a text may say, as JSON writes them, each with its start and end.

    Numbers in a row are also given as one: "four two seven" may be 427. If something can be read in
    several ways, each reading is given: "5m" may be 5 metres or 5 million, and "7:30" says 7 and
    30.
    """
    run: list[_Said] = []
    for found in _NUMBER.finditer(text):
        said = _readings(found)
        if not said or _PRONOUN.search(text, max(0, found.start() - _LONGEST_BEFORE), found.end()):
            continue
        joint = _JOINT.fullmatch(text, run[-1][2], found.start()) if run else None
        if joint is None:
            yield from _as_one(run)
            run = []
        yield from said
        if len(said) == 1 and not found["nth"]:
            zeros = "0" * joint[1].lower().count("oh") if joint else ""
            run.append((zeros + said[0][0], found.start(), found.end()))
    yield from _as_one(run)


def scaled_in(text: str, name: str) -> list[float]:
    """The numbers said in the scale that a name states: 5.5 of "5.5 million" for "millions".

    Args:
        text: What is said.
        name: The name, in words.
    """
    scales = (SCALES[_NAMED_SCALES[word]] for word in name.split() if word in _NAMED_SCALES)
    scale = next(scales, 0)
    if not scale:
        return []
    ends = re.compile(rf"(?:{'|'.join(_SAID_SCALES[scale])})$", re.IGNORECASE)
    values = ((json.loads(one), text[start:end]) for one, start, end in numbers_in(text))
    return [value / scale for value, said in values if ends.search(said) and value >= scale]


def is_unread(text: str) -> bool:
    """Whether a text may say numbers that `numbers_in` does not find: "two thirds"."""
    # "The third quarter" is not a fraction.
    rest = _NUMBER.sub(
        lambda found: ("nth" if found["nth"] else "") if _readings(found) else found[0], text
    )
    return _UNREAD.search(rest) is not None


def _as_one(run: Sequence[_Said]) -> Iterator[_Said]:
    digits = "".join(value for value, _, _ in run)
    if len(run) > 1 and _JSON.fullmatch(digits):
        yield digits, run[0][1], run[-1][2]


def _readings(found: re.Match[str]) -> list[_Said]:
    """The numbers that a match of `_NUMBER` may say."""
    start, end = found.span()
    if found["many"]:
        times = {"half a": 0.5, "a": 1.0}.get(found["times"].lower()) or number(found["times"])
        return [(_shortest(12 * times), start, end)] if times else []
    if found["pair"]:
        return [("2", start, end)]
    if found["nth"]:
        return [(_shortest(_ordinal(found["nth"].lower())), start, end)]
    if found["minus"]:
        return [(f"-{value}", start, end) for value in filter(None, [_written(found["minus"])])]
    said = found["digits"]
    if said is None:
        return [(value, start, end) for value in filter(None, [_written(found[0])])]
    if _COMMA.fullmatch(said):
        said = said.replace(".", "").replace(",", ".")
    if value := _written(said):
        scaled = (
            _shortest(float(value) * _SUFFIXES[found["scale"].lower()]) if found["scale"] else ""
        )
        return [(one, start, end) for one in (value, scaled) if one]
    # A time of day, a list without spaces, or parts of a date: "07" of 2024-03-07.
    parts = list(_TWO_DIGITS.finditer(said))
    whole = re.sub("[,:.]", "", said) == "".join(part[0] for part in parts)
    return [(str(int(p[0])), start + p.start(), start + p.end()) for p in parts if whole]


def _ordinal(said: str) -> int:
    if said[0].isdigit():
        return int(said[:-2])
    tens, _, unit = said.replace("-", " ").rpartition(" ")
    return VALUES.get(tens, 0) + ORDINALS.index(unit)


def _shortest(value: float) -> str:
    """A number in the shortest form, as grammars write it: 4 for 4.0."""
    return _written(f"{round(value, 6):f}")


def _written(said: str) -> str:
    """A number found by `_NUMBER`, as JSON writes it; empty if JSON cannot."""
    if " " not in said and said.lstrip("-")[0].isdigit():
        text = said.replace(",", "") if _GROUPED.fullmatch(said) else said
    else:
        value = number(said)
        text = "" if value is None else f"{value:.6f}"
    if not _JSON.fullmatch(text):
        return ""
    # The shortest form, as grammars write it: 23.9 for 23.90, 4 for 4.00, 0 for -0.
    value = json.loads(text)
    text = json.dumps(int(value) if value == int(value) else value)
    return text if _JSON.fullmatch(text) else ""


_UNIT = "|".join(ONES[1:10])
_SMALL = rf"(?:(?:{'|'.join(TENS[2:])})(?:[ -](?:{_UNIT})\b)?|{'|'.join(ONES[::-1])})\b"
_LARGE = rf"(?:{'|'.join(SCALES)})\b"
_PART = rf"(?:(?:{_SMALL}|an?|\d+(?:\.\d+)?)(?: {_LARGE})+|{_SMALL})"
_BEHIND_LARGE = f"(?:{'|'.join(f'(?<={scale})' for scale in SCALES)})"
_FRACTION = rf"(?: point(?: (?:{_UNIT}|zero)\b)+| and a half\b)"
_SPELLED = rf"{_PART}(?:{_BEHIND_LARGE}(?: and)? {_PART})*{_FRACTION}?"
_TENTHS = "|".join(TENS[2:])
_NTH = rf"(?:(?:{_TENTHS})[ -](?:{'|'.join(ORDINALS[1:10])})|{'|'.join(ORDINALS[:0:-1])})"
_NUMBER = re.compile(
    r"(?:(?<![\w.,])|(?<=\d[x×]))(?:"
    rf"(?P<many>(?P<times>half a|a|{_SPELLED}|\d+) dozen)(?!\w)"
    r"|(?P<pair>a couple|a pair|twice)(?!\w)"
    rf"|(?P<nth>{_NTH}|\d+(?:st|nd|rd|th))(?!\w)"
    rf"|(?:minus|negative) (?P<minus>{_SPELLED}|\d+(?:\.\d+)?)(?!\w)"
    rf"|{_SPELLED}(?!\w)"
    r"|(?P<digits>-?\d+(?:[.,:]\d+)*)(?:(?P<scale>[km]|mn|bn)(?!\w))?)",
    re.IGNORECASE,
)
_NAMED_SCALES = {
    word: scale
    for scale, others in (("thousand", "k"), ("million", "mn"), ("billion", "bn"))
    for word in (scale, f"{scale}s", others)
}
_SAID_SCALES = {
    SCALES["thousand"]: ("thousand", "k"),
    SCALES["million"]: ("million", "mn", "m"),
    SCALES["billion"]: ("billion", "bn"),
}
_SUFFIXES = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9}
_COMMA = re.compile(r"-?(?:\d+|\d{1,3}(?:\.\d{3})+),\d{1,2}")
_TWO_DIGITS = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_JSON = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?", re.ASCII)
_JOINT = re.compile(r" ((?:oh )*)", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:this|that|which|the|another|no|any|every|each|some|last|next|other) one$", re.IGNORECASE
)
_LONGEST_BEFORE = len("another ")
_UNREAD = re.compile(
    r"(?<!nth )\bquarters?\b"
    r"|\b(?:half|dozens?|both|double|triple|point|thirds?)\b"
    r"|\b(?:hundred|thousand|(?:m|b|tr)illion)s?\b"
    r"|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|teen|tie)ths?\b",
    re.IGNORECASE,
)
