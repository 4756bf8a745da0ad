"""Writes text out as it is spoken: numbers, money, times, dates, units, addresses and signs.

`spoken_words` also tells where in the text each spoken word ends, so that playback progress can be
marked in the written text. The rules are English; letters of other languages pass unchanged. Each
kind of token has its rules in a module of this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from voice.speech.normalization.abbreviations import (
    ABBREVIATION_RULES,
    DOTTED_RULE,
    EMAIL_RULE,
    say_capitals,
)
from voice.speech.normalization.amounts import AMOUNT_RULES
from voice.speech.normalization.dates import DATE_RULES, MONTH_DAY_RULE, MONTHS
from voice.speech.normalization.markup import SIGNS, strip_markup
from voice.speech.normalization.numbers import FRACTION_RULES, NUMBER_RULES, PHONE_RULES

_LETTER = rf"(?:[A-Za-z]|[^\x00-\x7f{SIGNS}])"
_WORD = re.compile(rf"{_LETTER}+(?:['-]{_LETTER}+)*")
_LOWER_WORD = re.compile(r"(?<![a-z])[a-z]++(?=[ ,;!?\n]|:(?!/)|$)")
_DOTS = re.compile(r"\.{2,}(?=\s*(?P<lower>[a-z])?)")
_POWER = re.compile(r"\^(?P<exponent>[23](?!\d)|-?(?=[^\W_]))")
_ENDS_AMOUNT = re.compile(r"[\d%°$€£¥₹]")
_BEGINS_AMOUNT = re.compile(r"[\d$€£¥₹]")
_RANGES = tuple(
    (re.compile(f"{first}$", re.I), re.compile(f" ?{last}", re.I))
    for first, last in (
        (r"(?:[ap]\.?m\.?|\d:\d\d|noon|midnight)", r"(?:\d\d?(?::\d\d| ?[ap]\.?m)|noon|midnight)"),
        (r"(?<![\d.,$])\d\d?", r"\d\d?(?::\d\d)? ?[ap]\.?m(?!\w)"),
        (r"\d ?(?:°[CF]?|%)", r"-?\d{1,3}(?:\.\d{1,2})? ?[°%]"),
        (r"[$€£]\d[\d,.]{0,12}[km]?", r"[$€£]\d"),
        (rf"(?:{MONTHS})[a-z]{{0,6}}\.? \d\d?(?:st|nd|rd|th)?", rf"(?:{MONTHS})"),
    )
)
"""Patterns before and after a dash that is read as "to": a pair for each kind of range."""
_ORDER = re.compile(r"#[A-Z]{1,4}-?\d")
_PATH = re.compile(r"[A-Za-z]{2} > [A-Za-z]{2}")
_LINES = re.compile(r"[ \n]*\n[ \n]*")
_NUMBER_RULES = (
    EMAIL_RULE, *DATE_RULES, *PHONE_RULES, *AMOUNT_RULES, *FRACTION_RULES, MONTH_DAY_RULE,
    *NUMBER_RULES, DOTTED_RULE,
)  # fmt: skip
_LETTER_RULES = (*DATE_RULES, *AMOUNT_RULES, *ABBREVIATION_RULES)
_NUMBER_STARTS = frozenset("0123456789$€£¥₹+-.('")
_MARKS = {",": 1, ";": 2, ":": 2, ".": 3, "!": 4, "?": 4}
"""Marks that voices pause at → strength; the strongest of adjacent marks is kept."""

_PAUSES = frozenset("—–()[]{}|")
_POWERS = {
    "2": "squared",
    "3": "cubed",
    "": "to the power of",
    "-": "to the power of minus",
}
_OPERATOR = re.compile(r"[<>!=]=|[-=]>")
_OPERATORS = {"<=": "at most", ">=": "at least", "!=": "is not", "==": "equals"}
_SIGN_WORDS = {
    "&": "and", "+": "plus", "=": "equals", "%": "percent", "@": "at", "<": "less than",
    ">": "greater than", "≤": "at most", "≥": "at least", "±": "plus or minus", "≠": "is not",
    "√": "the square root of", "∞": "infinity", "°": "degrees", "$": "dollars", "€": "euros",
    "£": "pounds", "¥": "yen", "₹": "rupees", "¢": "cents",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word as given to a voice.

    Attributes:
        text: Letters, apostrophes and inner hyphens, with the punctuation mark that follows, if
            any.
        end_char: Index just past the written word it comes from, including punctuation. All words
            that come from one written word ("$5" gives two) share it.
    """

    text: str
    end_char: int


def spoken(text: str) -> str:
    """The text as it is read aloud; empty if nothing in it can be.

    Returns:
        Words of letters, apostrophes and hyphens, separated by single spaces; marks ``,;:.!?``.
    """
    return " ".join(word.text for word in spoken_words(text))


def spoken_words(text: str) -> tuple[SpokenWord, ...]:
    """The words of `spoken`, each with the index in ``text`` where its written word ends."""
    plain = strip_markup(text)
    words = []
    run_end = 0
    for said, end in _Reader(plain.text).read():
        position = plain.origin[end - 1] + 1
        if position > run_end:
            run_end = _end_of_run(text, position)
        words.append(SpokenWord(said, run_end))
    return tuple(words)


def _end_of_run(text: str, position: int) -> int:
    while position < len(text) and not text[position].isspace():
        position += 1
    return position


class _Reader:
    """Reads plain text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: list[str] = []
        self._ends: list[int] = []
        self._marked = True
        self._shouting = _is_shouting(text)

    def read(self) -> Iterator[tuple[str, int]]:
        """Each spoken word with the index in the text just past what it was read from."""
        position = 0
        while position < len(self._text):
            position = self._step(position)
        return zip(self._words, self._ends, strict=True)

    def _step(self, position: int) -> int:
        """Read the token that begins here; return where the next one begins."""
        text = self._text
        char = text[position]
        if char == " ":
            return position + 1
        if char in "-–—" and self._is_range(position):
            self._add("to", position + 1)
            return position + 1
        lower = _LOWER_WORD.match(text, position)
        if lower is not None:
            self._add(lower.group(), lower.end())
            return lower.end()
        if char in _NUMBER_STARTS or char.isalpha():
            for pattern, say in _LETTER_RULES if char.isalpha() else _NUMBER_RULES:
                match = pattern.match(text, position)
                if match is not None and (words := say(match)) is not None:
                    self._add(words, match.end())
                    return match.end()
        word = _WORD.match(text, position)
        if word is not None:
            self._add(self._say_word(word.group()), word.end())
            return word.end()
        return self._read_sign(char, position)

    def _is_range(self, position: int) -> bool:
        """Whether a dash here stands between two times, dates or amounts: "9 AM – 5 PM"."""
        text, after = self._text, position + 1
        before = text[max(0, position - 24) : position]
        if before.endswith(" ") != text.startswith(" ", after):
            return False
        before = before.rstrip(" ")
        return any(first.search(before) and last.match(text, after) for first, last in _RANGES)

    def _add(self, words: str, end: int) -> None:
        for word in words.split():
            self._words.append(word)
            self._ends.append(end)
            self._marked = word[-1] in _MARKS

    def _mark(self, mark: str) -> None:
        """Put a mark after the last word, unless it has a stronger one."""
        if not self._words:
            return
        last = self._words[-1]
        if not self._marked:
            self._words[-1] = last + mark
        elif _MARKS[mark] > _MARKS.get(last[-1], 9):
            self._words[-1] = last[:-1] + mark
        self._marked = True

    def _say_word(self, word: str) -> str:
        if self._shouting and word.isupper():
            return word.lower()
        parts = word.split("-")
        if any(_is_acronym(part) for part in parts):
            return " ".join(_say_acronym(part) for part in parts)
        return word

    def _read_sign(self, char: str, position: int) -> int:
        text = self._text
        before = text[position - 1] if position else " "
        after = text[position + 1] if position + 1 < len(text) else " "
        if char == "\n":
            lines = _LINES.match(text, position)
            end = lines.end() if lines else position + 1
            if not self._marked:
                self._mark("." if text.count("\n", position, end) > 1 else ",")
            return end
        dots = _DOTS.match(text, position)
        if dots is not None:
            self._mark("," if dots["lower"] else ".")
            return dots.end()
        power = _POWER.match(text, position)
        if power is not None:
            self._add(_POWERS[power["exponent"]], power.end())
            return power.end()
        operator = _OPERATOR.match(text, position)
        if operator is not None:
            if said := _OPERATORS.get(operator.group()):
                self._add(said, operator.end())
            elif not self._marked:  # an arrow
                self._mark(",")
            return operator.end()
        if char in _MARKS:
            self._mark(char)
        elif char in "-–" and _ENDS_AMOUNT.match(before) and _BEGINS_AMOUNT.match(after):
            self._add("to", position + 1)
        elif (
            char in _PAUSES
            or _PATH.match(text, max(0, position - 3))
            or (char == "-" and before == after == " " and not self._is_sum(position))
        ):
            if not self._marked:
                self._mark(",")
        else:
            self._add(self._say_sign(char, before, after, position), position + 1)
        return position + 1

    def _say_sign(self, char: str, before: str, after: str, position: int) -> str:
        if char in _SIGN_WORDS:
            return _SIGN_WORDS[char]
        if char in "*-":
            return ("times" if char == "*" else "minus") if self._is_sum(position) else ""
        if char == "/":
            if self._is_sum(position):
                return "divided by"
            # "and/or" is read as two words.
            joined = not before.isspace() and not self._text.endswith("and", 0, position)
            return "slash" if joined and after.isalnum() else ""
        if char == "~":
            return "about" if _BEGINS_AMOUNT.match(self._text[position + 1 :].lstrip()) else ""
        if char == "#":
            numbered = after.isdigit() or _ORDER.match(self._text, position)
            return "number" if numbered else "hashtag" if after.isalpha() else ""
        return ""

    def _is_sum(self, position: int) -> bool:
        """Whether the sign here stands between two numbers."""
        before = self._text[max(0, position - 2) : position].rstrip()
        after = self._text[position + 1 : position + 3].lstrip()
        return before[-1:].isdigit() and after[:1].isdigit()


def _is_shouting(text: str) -> bool:
    """Whether nearly all words are in capitals; they are then not acronyms."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    capitals = sum(word.isupper() for word in words)
    return len(words) > 2 and capitals * 4 > len(words) * 3


def _is_acronym(word: str) -> bool:
    capitals = word.removesuffix("'s").removesuffix("s")
    return len(capitals) > 1 and capitals.isascii() and capitals.isupper() and capitals.isalpha()


def _say_acronym(word: str) -> str:
    if not _is_acronym(word):
        return word
    capitals = word.removesuffix("'s").removesuffix("s")
    return say_capitals(capitals) + ("'s" if capitals != word else "")
