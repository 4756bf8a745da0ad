"""Says numbers in English: cardinals, ordinals, digits, fractions, telephone numbers, versions.

The grammar of numbers is num2words'; here is only what decides how a written number is meant. Knows
nothing of money, units, dates and times, which build on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from num2words import num2words

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]
"""A pattern tried where a token begins, and what is said for it; None lets the next rule try."""

NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,6}(?!,?\d)(?:\.\d{1,30})?|\d{1,40}(?:\.\d{1,30})?|\.\d{1,30})(?!\d)"
)
"""A written number: thousands separated by commas or not at all, a decimal point."""

FRACTION = r"(?:(?P<whole>\d{1,6})(?:-| {1,2}))?(?P<above>\d{1,3})/(?P<below>\d{1,3})(?![\d/])"

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_LONGEST_CARDINAL = 15
_LONGEST_BARE_CARDINAL = 6
_CODE_CUES = frozenset({"code", "pin", "extension", "ext", "zip", "flight", "call", "dial", "text"})
_TOLD_CODE = re.compile(
    r"(?:\b(?:code|pin|passcode|password|postcode)(?: number)? (?:is|was):?"
    r"|\bend(?:ing|s) in|\btext \w+ to|(?-i:, [A-Z]{2}))\W{0,3}$",
    re.I,
)
"""Before four to six digits that are said one by one: "your code is 483920", "Reno, NV 89501"."""
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64, 100})
_DATE_CUES = frozenset({"on", "by", "until", "since", "from", "before", "after", "due"})
_RATED = re.compile(
    r"\b(?:rat(?:e[sd]?|ings?)|scor(?:e[sd]?|ing)|g[ai]ves? it)\b[^.!?\d]{0,24}$", re.I
)
_LAST_WORD = re.compile(r"([^\W\d_]+)[^\w]*$")


@lru_cache(maxsize=4096)
def integer(value: int) -> str:
    """1234 → "one thousand two hundred and thirty four"."""
    return _plain(num2words(value))


@lru_cache(maxsize=1024)
def ordinal(value: int) -> str:
    """21 → "twenty first"."""
    return _plain(num2words(value, to="ordinal"))


@lru_cache(maxsize=1024)
def year(value: int) -> str:
    """1999 → "nineteen ninety nine", 2005 → "two thousand and five"."""
    return _plain(num2words(value, to="year"))


def digits(text: str) -> str:
    """The digits one by one: "4-07" → "four zero seven"; whatever is no digit is left out."""
    return " ".join(_DIGITS[int(char)] for char in text if "0" <= char <= "9")


def cardinal(text: str) -> str:
    """A written number as said: "1,020.50" → "one thousand and twenty point five zero".

    Args:
        text: Matches `NUMBER`, with or without a leading "-".
    """
    sign = "minus " if text.startswith("-") else ""
    whole, _, decimals = text.lstrip("-").replace(",", "").partition(".")
    said = _whole(whole)
    if decimals:
        said += " point " + digits(decimals)
    return sign + said


def is_one(text: str) -> bool:
    """Whether the written number takes a singular noun."""
    return Decimal(text.replace(",", "")) == 1


def previous_word(match: re.Match[str]) -> str:
    """The word just before a match, in lower case; empty where there is none close by."""
    before = match.string[max(0, match.start() - 24) : match.start()]
    found = _LAST_WORD.search(before)
    return found[1].lower() if found else ""


def _plain(said: str) -> str:
    return str(said).replace(",", "").replace("-", " ")


def _whole(text: str) -> str:
    if not text:
        return "zero"
    if len(text) > _LONGEST_CARDINAL or (len(text) > 1 and text.startswith("0")):
        return digits(text)
    return integer(int(text))


def _say_number(match: re.Match[str]) -> str:
    text = match["number"]
    sign = "minus " if match["sign"] else ""
    bare = text.isdigit()
    before = match.string[max(0, match.start() - 32) : match.start()]
    if bare and 1 < len(text) <= 6 and previous_word(match) in _CODE_CUES:
        return sign + digits(text)
    if bare and 4 <= len(text) <= 6 and _TOLD_CODE.search(before):
        return digits(text)
    if bare and len(text) > _LONGEST_BARE_CARDINAL and not text.endswith("000"):
        return sign + digits(text)
    return sign + cardinal(text)


def _say_ordinal(match: re.Match[str]) -> str:
    return ordinal(int(match["number"].replace(",", "")))


def say_fraction(match: re.Match[str]) -> str | None:
    """A match of `FRACTION`: "2 1/2" → "two and a half"; None where it is none."""
    above, below = int(match["above"]), int(match["below"])
    if below not in _DENOMINATORS or above >= below or above == 0:
        return None
    if match["whole"] is None and previous_word(match) in ("on", "by", "until", "since"):
        return None
    said = integer(above) + " " + _denominator(below, above)
    if match["whole"] is None:
        return said
    if above == 1:
        said = ("an " if below == 8 else "a ") + _denominator(below, 1)
    return f"{integer(int(match['whole']))} and {said}"


def _denominator(below: int, above: int) -> str:
    singular = {2: "half", 4: "quarter"}.get(below) or ordinal(below)
    if above == 1:
        return singular
    return "halves" if below == 2 else singular + "s"


def _say_rating(match: re.Match[str]) -> str | None:
    above, below = match["above"], match["below"]
    before = match.string[max(0, match.start() - 40) : match.start()]
    rated = _RATED.search(before) or match["rating"] is not None or "." in above
    if not rated and (above != below or previous_word(match) in _DATE_CUES):
        return None
    return f"{cardinal(above)} out of {cardinal(below)}"


def _say_plan(match: re.Match[str]) -> str:
    return f"four oh {_DIGITS[int(match['last'])]} {match['letter']}"


def _say_over(match: re.Match[str]) -> str:
    return f"{cardinal(match['above'])} over {cardinal(match['below'])}"


def _say_groups(match: re.Match[str]) -> str | None:
    groups = re.findall(r"\d+", match.group())
    if match.group().startswith("+") and not 7 <= sum(map(len, groups)) <= 15:
        return None
    said = ", ".join(digits(group) for group in groups)
    return "plus " + said if match.group().startswith("+") else said


def _say_always(match: re.Match[str]) -> str:
    return " ".join(integer(int(part)) for part in match.group().split("/"))


def _say_times(match: re.Match[str]) -> str:
    return cardinal(match["number"]) + " times"


def _say_version(match: re.Match[str]) -> str:
    parts = match.group().split(".")
    joint = " dot " if len(parts) > 3 else " point "
    return joint.join(
        digits(p) if len(p) > 2 or p.startswith("0") else integer(int(p)) for p in parts
    )


def _say_range(match: re.Match[str]) -> str:
    return cardinal(match["number"]) + " to"


def _say_scaled(match: re.Match[str]) -> str:
    scale = {"k": "thousand", "M": "million", "bn": "billion", "B": "billion"}[match["scale"]]
    return f"{cardinal(match['number'])} {scale}"


_PHONES = (
    r"\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){1,4}\d{2,4}(?![\w-])",
    r"(?:1[ .-])?\(\d{3}\) ?\d{3}[ .-]\d{4}(?![\w-])",
    r"(?:1[.-])?\d{3}([.-])\d{3}\1\d{4}(?![\w-])",
    r"(?<![\d.,] )(?:1 )?[2-9]\d\d \d{3} \d{4}(?![\w-]|[.,:]\d| \d)",
    r"\d{3}-\d{4}(?![\w-])",
    r"(?<!\d )\(?0\d{1,4}\)?(?: \d{3,6}){1,3}(?![\w-]|[.,:]\d)",
    r"1-8\d\d(?=-[A-Z])",
    r"\d{4}(?:[ -]\d{4}){2,5}(?![\w-])",
    r"\d{1,12}(?:-\d{1,12}){2,8}(?![\w-])",
)

PHONE_RULES: tuple[Rule, ...] = tuple((re.compile(phone), _say_groups) for phone in _PHONES)

FRACTION_RULES: tuple[Rule, ...] = (
    (re.compile(r"(?:24/7|50/50|20/20)(?!\d)"), _say_always),
    (
        re.compile(
            r"(?P<above>\d{1,3}(?:\.\d{1,2})?)/(?P<below>5|10|100)(?![\d/]|[.–-]\d| of )"
            r"(?=(?P<rating> (?:stars?|ratings?|scores?|reviews?)(?!\w))?)"
        ),
        _say_rating,
    ),
    (
        re.compile(FRACTION),
        say_fraction,
    ),
)

NUMBER_RULES: tuple[Rule, ...] = (
    (re.compile(r"40(?P<last>[13])\(?(?P<letter>(?<=[1(])k|(?<=[3(])b)\)?(?!\w)"), _say_plan),
    (re.compile(r"(?<=\bGMT|\bUTC)-(?=\d)"), lambda match: "minus"),
    (re.compile(r"\d{1,9}(?:\.\d{1,9}){2,9}(?!\d)"), _say_version),
    (re.compile(r"(?P<above>\d{1,9})/(?P<below>\d{1,9})(?![\d/])"), _say_over),
    (
        re.compile(r"(?P<number>\d{1,3}(?:,\d{3}){1,3}|\d{1,9})(?:st|nd|rd|th)(?!\w)", re.I),
        _say_ordinal,
    ),
    (re.compile(rf"(?P<number>{NUMBER})(?:-|–| – )(?=[$€£]?\d)"), _say_range),
    (re.compile(rf"(?P<number>{NUMBER})(?: ?x(?= ?\d)|x(?!\w))"), _say_times),
    (re.compile(rf"(?P<number>{NUMBER}) ?(?P<scale>k|M|bn|(?<=\.\d)B)(?!\w)"), _say_scaled),
    (re.compile(rf"(?P<sign>(?<![\w)])-)?(?P<number>{NUMBER})"), _say_number),
)
