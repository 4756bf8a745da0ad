"""Numbers as people say them, in words or figures, read and written.

It reads a text that is a number, and finds the numbers that stand in a text. Knows no unit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = [
    "_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
]  # fmt: skip
VALUES = {w: i for i, w in enumerate(ONES)} | {w: 10 * i for i, w in enumerate(TENS) if i > 1}
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}


def words_of(number: int) -> str:
    """A whole number from 0 to below a billion in words: 125 is "one hundred and twenty five"."""
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


def number(text: str) -> float | None:
    """The number that a text says, in words or digits; None where it is not a number."""
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
    """The numbers that a text may say, as JSON writes them, and from where to where each stands.

    Small ones right behind one another are given as one besides: "four two seven" may be 427.
    """
    run: list[tuple[str, int, int]] = []
    for found in _NUMBER.finditer(text):
        value = _written(found[0])
        if not value or _PRONOUN.search(text, max(0, found.start() - _LONGEST_BEFORE), found.end()):
            continue
        joint = _JOINT.fullmatch(text, run[-1][2], found.start()) if run else None
        if joint is None:
            yield from _as_one(run)
            run = []
        yield value, found.start(), found.end()
        zeros = "0" * joint[1].lower().count("oh") if joint else ""
        run.append((zeros + value, found.start(), found.end()))
    yield from _as_one(run)


def is_unread(text: str) -> bool:
    """Whether a text may say numbers that `numbers_in` does not find: "half a dozen", "7:30"."""
    rest = _NUMBER.sub(lambda found: "" if _written(found[0]) else found[0], text)
    return _UNREAD.search(rest) is not None


def _as_one(run: Sequence[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    digits = "".join(value for value, _, _ in run)
    if len(run) > 1 and _JSON.fullmatch(digits):
        yield digits, run[0][1], run[-1][2]


def _written(said: str) -> str:
    """A number that `_NUMBER` finds as JSON writes it; empty where it cannot."""
    if " " not in said and said.lstrip("-")[0].isdigit():
        text = said.replace(",", "") if _GROUPED.fullmatch(said) else said
    else:
        value = number(said)
        text = "" if value is None else f"{value:.6f}"
    if not _JSON.fullmatch(text):
        return ""
    # The shortest form, as grammars have it: 23.9 for 23.90, 4 for 4.00, 0 for -0.
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
_NUMBER = re.compile(rf"(?<![\w.,])(?:{_SPELLED}|-?\d+(?:[.,:]\d+)*)(?!\w)", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_JSON = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?", re.ASCII)
_JOINT = re.compile(r" ((?:oh )*)", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:this|that|which|the|another|no|any|every|each|some|last|next|other) one$", re.IGNORECASE
)
_LONGEST_BEFORE = len("another ")
_UNREAD = re.compile(
    r"\d|\b(?:half|quarters?|dozens?|couple|pair|both|twice|double|triple|minus|negative|point)\b"
    r"|\b(?:hundred|thousand|(?:m|b|tr)illion)s?\b|\b(?:first|second|thirds?)\b"
    r"|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|teen|tie)ths?\b",
    re.IGNORECASE,
)
