"""Says numbers in English: cardinals, ordinals, digits, fractions, telephone numbers, versions.

num2words has the grammar of numbers; this module only decides what a written number means. Money,
units, dates and times build on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from num2words import num2words

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]
"""A pattern tried where a token begins, and a function that says its match; None tries the next
rule."""

NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,6}(?!,?\d)(?:\.\d{1,30})?|\d{1,40}(?:\.\d{1,30})?|\.\d{1,30})(?!\d)"
)
"""A written number, with or without commas between thousands and a decimal point."""

FRACTION = r"(?:(?P<whole>\d{1,6})(?:-| {1,2}))?(?P<above>\d{1,3})/(?P<below>\d{1,3})(?![\d/])"

DATE_CUES = frozenset({"on", "by", "until", "since", "from", "before", "after", "due"})
"""Words before "1/2" that make it a date."""

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_LONGEST_CARDINAL = 15
_LONGEST_BARE_CARDINAL = 6
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64, 100})
_SCALES = {"k": "thousand", "M": "million", "bn": "billion", "B": "billion"}
_CODE_CUE = re.compile(
    r"(?:\b(?:(?:code|pin|passcode|password|zip)(?: number)?"
    r"|(?:order|confirmation|reference|booking|account|tracking|ticket|case|policy) number)"
    r"(?: (?:is|was))?"
    r"|\b(?:extension|ext|flight|call|dial|text|text \w+ to|end(?:ing|s) in)|(?-i:, [A-Z]{2}))"
    r"\W{0,3}$",
    re.I,
)
"""Text after which three to six digits are said one by one: "your code is 4839", "Reno, NV 89501".
"""
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
    """The digits one by one: "4-07" → "four zero seven"; other characters are left out."""
    return " ".join(_DIGITS[int(char)] for char in text if "0" <= char <= "9")


def cardinal(text: str) -> str:
    """A written number as said: "1,020.50" → "one thousand and twenty point five zero".

    Args:
        text: Matches `NUMBER`, with or without a leading "-".
    """
    sign = "minus " if text.startswith("-") else ""
    whole, _, decimals = text.lstrip("-").replace(",", "").partition(".")
    if len(whole) > _LONGEST_CARDINAL or (len(whole) > 1 and whole.startswith("0")):
        said = digits(whole)
    else:
        said = integer(int(whole or 0))
    return sign + said + (f" point {digits(decimals)}" if decimals else "")


def is_one(text: str) -> bool:
    """Whether the written number takes a singular noun."""
    return Decimal(text.replace(",", "")) == 1


def previous_word(match: re.Match[str]) -> str:
    """The word just before a match, in lower case; empty if there is none close by."""
    found = _LAST_WORD.search(text_before(match, 24))
    return found[1].lower() if found else ""


def text_before(match: re.Match[str], chars: int) -> str:
    """At most ``chars`` characters before a match."""
    return match.string[max(0, match.start() - chars) : match.start()]


def say_fraction(match: re.Match[str]) -> str | None:
    """What is said for a match of `FRACTION`: "2 1/2" → "two and a half"; None if it is not one."""
    above, below = int(match["above"]), int(match["below"])
    if below not in _DENOMINATORS or above >= below or above == 0:
        return None
    name = {2: "half", 4: "quarter"}.get(below) or ordinal(below)
    if above > 1:
        name = f"{integer(above)} {'halves' if below == 2 else name + 's'}"
    elif match["whole"]:
        name = f"an {name}" if below == 8 else f"a {name}"
    else:
        name = f"one {name}"
    return f"{integer(int(match['whole']))} and {name}" if match["whole"] else name


def _plain(said: str) -> str:
    return str(said).replace(",", "").replace("-", " ")


def _say_bare_fraction(match: re.Match[str]) -> str | None:
    dated = match["whole"] is None and previous_word(match) in DATE_CUES
    return None if dated else say_fraction(match)


def _say_rating(match: re.Match[str]) -> str | None:
    if match["above"] == "1" or previous_word(match) in DATE_CUES:
        return None
    return f"{cardinal(match['above'])} out of {cardinal(match['below'])}"


def _say_groups(match: re.Match[str]) -> str | None:
    groups = re.findall(r"\d+", match.group())
    international = match.group().startswith("+")
    if international and not 7 <= sum(map(len, groups)) <= 15:
        return None
    return ("plus " if international else "") + ", ".join(map(digits, groups))


def _say_version(match: re.Match[str]) -> str:
    parts = match.group().split(".")
    joint = " dot " if len(parts) > 3 else " point "
    return joint.join(
        digits(p) if len(p) > 2 or p.startswith("0") else integer(int(p)) for p in parts
    )


def _say_number(match: re.Match[str]) -> str:
    text = match["number"]
    sign = "minus " if match["sign"] else ""
    long = len(text) > _LONGEST_BARE_CARDINAL and not text.endswith("000")
    code = 3 <= len(text) <= 6 and _CODE_CUE.search(text_before(match, 32))
    return sign + (digits(text) if text.isdigit() and (long or code) else cardinal(text))


_PHONES = (
    r"\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){1,4}\d{2,4}(?![\w-])",
    r"(?:1[ .-])?\(\d{3}\) ?\d{3}[ .-]\d{4}(?![\w-])",
    r"(?<![\d.,] )(?:1 )?[2-9]\d\d \d{3} \d{4}(?![\w-]|[.,:]\d| \d)",
    r"[2-9]\d\d\.\d{3}\.\d{4}(?![\w-]|\.\d)",
    r"\d{3}-\d{4}(?![\w-])",
    r"(?<!\d )\(?0\d{1,4}\)?(?: \d{3,6}){1,3}(?![\w-]|[.,:]\d)",
    r"\d{4}(?:[ -]\d{4}){2,5}(?![\w-])",
    r"\d{1,12}(?:-\d{1,12}){2,8}(?![\w-])",
)

PHONE_RULES: tuple[Rule, ...] = tuple((re.compile(phone), _say_groups) for phone in _PHONES)

FRACTION_RULES: tuple[Rule, ...] = (
    (
        re.compile(r"(?:24/7|50/50)(?!\d)"),
        lambda match: " ".join(integer(int(part)) for part in match.group().split("/")),
    ),
    (
        re.compile(r"(?P<above>\d{1,3}(?:\.\d{1,2})?)/(?P<below>5|10|100)(?![\d/]|[.–-]\d| of )"),
        _say_rating,
    ),
    (re.compile(FRACTION), _say_bare_fraction),
)

NUMBER_RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<=\bGMT|\bUTC)-(?=\d)"), lambda match: "minus"),
    (re.compile(r"\d{1,9}(?:\.\d{1,9}){2,9}(?!\d)"), _say_version),
    (
        re.compile(r"(?P<above>\d{1,9})/(?P<below>\d{1,9})(?![\d/])"),
        lambda match: f"{cardinal(match['above'])} over {cardinal(match['below'])}",
    ),
    (
        re.compile(r"(?P<number>\d{1,3}(?:,\d{3}){1,3}|\d{1,9})(?:st|nd|rd|th)(?!\w)", re.I),
        lambda match: ordinal(int(match["number"].replace(",", ""))),
    ),
    (
        re.compile(rf"(?P<number>{NUMBER})(?:-|–| – )(?=[$€£]?\d)"),
        lambda match: f"{cardinal(match['number'])} to",
    ),
    (
        re.compile(rf"(?P<number>{NUMBER})(?: ?x(?= ?\d)|x(?!\w))"),
        lambda match: f"{cardinal(match['number'])} times",
    ),
    (
        re.compile(rf"(?P<number>{NUMBER}) ?(?P<scale>k|M|bn|(?<=\.\d)B)(?!\w)"),
        lambda match: f"{cardinal(match['number'])} {_SCALES[match['scale']]}",
    ),
    (re.compile(rf"(?P<sign>(?<![\w)])-)?(?P<number>{NUMBER})"), _say_number),
)
