"""Says what is not read as it stands: e-mail, web addresses, abbreviations, acronyms.

Also the home of the abbreviations whose full stop ends no sentence, which `voice.speech.segmenter`
needs.
"""

from __future__ import annotations

import re
from itertools import pairwise

from voice.speech.normalization.numbers import Rule, digits, integer, ordinal

TITLES = {
    "Mr": "mister",
    "Mrs": "missus",
    "Ms": "miss",
    "Dr": "doctor",
    "Prof": "professor",
    "St": "saint",
    "Gen": "general",
    "Col": "colonel",
    "Capt": "captain",
    "Lt": "lieutenant",
    "Sgt": "sergeant",
    "Sen": "senator",
    "Rep": "representative",
    "Gov": "governor",
    "Rev": "reverend",
    "Hon": "honorable",
    "Mt": "mount",
    "Ft": "fort",
    "vs": "versus",
    "e.g": "for example",
    "i.e": "that is",
    "cf": "compare",
    "approx": "approximately",
    "ca": "about",
    "ext": "extension",
    "tel": "telephone",
    "Tel": "telephone",
    "Fig": "figure",
    "fig": "figure",
    "Vol": "volume",
    "Ch": "chapter",
    "pp": "pages",
}
"""Abbreviation without its last full stop → what is said; more of the sentence always follows."""

ENDINGS = {
    "etc": "et cetera",
    "Jr": "junior",
    "Sr": "senior",
    "Inc": "incorporated",
    "Ltd": "limited",
    "Corp": "corporation",
    "Co": "company",
    "Ave": "avenue",
    "Blvd": "boulevard",
    "Rd": "road",
    "Ln": "lane",
    "Ph.D": "P H D",
    "PhD": "P H D",
    "Dept": "department",
    "dept": "department",
    "apt": "apartment",
    "Apt": "apartment",
}
"""The same for abbreviations that a sentence may end in."""

_SAID_AS_WORDS = frozenset((
    "A", "I", "OK", "NASA", "NATO", "UNESCO", "UNICEF", "OPEC", "FIFA", "UEFA", "NAFTA", "IKEA",
    "LEGO", "COVID", "AIDS", "RAM", "ROM", "SIM", "PIN", "LAN", "WAN", "GIF", "JPEG", "ZIP",
    "RADAR", "LASER", "SCUBA", "SQL", "ASCII", "AND", "ARE", "BUT", "FOR", "NOT", "NOW", "THE",
    "YES", "YOU", "ALL", "ANY", "CAN", "DO", "GO", "HOW", "IF", "IN", "IS", "IT", "NO", "OF",
    "ON", "OFF", "OR", "SO", "TO", "UP", "WE", "WHO", "WHY", "ONE", "TWO", "NEW", "OUT", "TOP",
    "END", "SET",
))  # fmt: skip
_SPELLED_THOUGH_PRONOUNCEABLE = frozenset({"ASAP", "AARP", "UCLA", "IEEE", "ISBN", "USSR", "AIIM"})
_SAID_OTHERWISE = {"OK": "okay", "SQL": "sequel", "w/o": "without", "w/": "with"}
_NO_NAMES = frozenset({"the", "an", "a", "your", "my", "his", "her", "this", "no", "and", "or"})
_MONARCHS = frozenset((
    "Henry", "Louis", "Charles", "George", "Edward", "Richard", "William", "James", "Elizabeth",
    "Philip", "Frederick", "Catherine", "Nicholas", "Alexander", "Napoleon", "Paul", "Benedict",
    "Pius", "Leo", "Gregory", "Ramses",
))  # fmt: skip
_WORDS_OF_ADDRESSES = frozenset(
    {"com", "org", "net", "edu", "gov", "info", "biz", "app", "dev", "mil"}
)
_ADDRESS_SIGNS = {
    ".": "dot", "@": "at", "-": "dash", "_": "underscore", "/": "slash", "+": "plus",
    ":": "colon", "%": "percent", "~": "tilde", "=": "equals", "#": "hash",
}  # fmt: skip
_ADDRESS_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+|.")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_LABEL = r"[A-Za-z0-9][\w-]{0,62}"

_FOLLOWED = r"\.(?=\s*[a-z0-9,;:)\]]|\s+I\b)"
"""A full stop that ends no sentence, judged by what comes next."""


def spell(letters: str) -> str:
    """Letters parted so that each is said by its name: "USB" → "U S B"."""
    return " ".join(letters)


def say_capitals(word: str) -> str:
    """What is said for a word in capitals: its letters, or the word where that is how it is known.

    Args:
        word: Two letters or more, all in capitals.
    """
    if word in _SAID_OTHERWISE:
        return _SAID_OTHERWISE[word]
    if word in _SAID_AS_WORDS:
        return word
    pronounceable = len(word) >= 4 and _VOWEL.search(word[1:-1]) is not None
    if pronounceable and word not in _SPELLED_THOUGH_PRONOUNCEABLE:
        return word
    return spell(word)


def _say_address(match: re.Match[str]) -> str:
    text = re.sub(r"^(?:https?://)?(?:www\.)?", "", match.group(), flags=re.I)
    text = re.split(r"[?#]", text, maxsplit=1)[0].rstrip("/")
    return " ".join(filter(None, (_say_part(part) for part in _ADDRESS_PART.findall(text))))


def _say_part(part: str) -> str:
    if part.isdigit():
        return integer(int(part)) if len(part) <= 2 and part[0] != "0" else digits(part)
    if part in _ADDRESS_SIGNS:
        return _ADDRESS_SIGNS[part]
    if not part.isalpha():
        return ""
    known = part.lower() in _WORDS_OF_ADDRESSES or (len(part) > 2 and _VOWEL.search(part))
    return part if known else spell(part)


def _say_dotted(match: re.Match[str]) -> str:
    # "v1.2" and "config.toml": a point between figures, a dot elsewhere.
    text = re.sub(r"(?<=\d)\.(?=\d)", " point ", match.group())
    return " ".join(
        " ".join(filter(None, (_say_part(part) for part in _ADDRESS_PART.findall(piece))))
        if piece != "point"
        else piece
        for piece in text.split()
    )


def _say_title(match: re.Match[str]) -> str:
    return TITLES[match["short"]]


def _say_ending(match: re.Match[str]) -> str:
    return ENDINGS[match["short"]]


def _say_street(match: re.Match[str]) -> str | None:
    before = match.string[max(0, match.start() - 64) : match.start()].split()
    named = before and (before[-1][0].isupper() or before[-1][0].isdigit())
    # Only behind a house's number is "Dr" no doctor.
    housed = any(word[0].isdigit() for word in before[-4:-1])
    said = {**ENDINGS, "Dr": "drive", "St": "street"}[match["short"]]
    return said if named and (housed or said != "drive") else None


def _say_roman(match: re.Match[str]) -> str | None:
    before = match.string[max(0, match.start() - 64) : match.start()].split()[-1]
    if not before[0].isupper() or before.lower() in _NO_NAMES:
        return None
    ones = {"I": 1, "V": 5, "X": 10}
    values = [ones[letter] for letter in match.group()]
    less = sum(2 * one for one, following in pairwise(values) if one < following)
    number = sum(values) - less
    return f"the {ordinal(number)}" if before in _MONARCHS else integer(number)


def _say_drive_or_street(match: re.Match[str]) -> str:
    return {"Dr": "drive", "St": "street"}[match["short"]]


def _say_initials(match: re.Match[str]) -> str:
    letters = match.group().replace(".", "").replace(" ", "")
    return spell(letters.lower() if letters.lower() in ("am", "pm") else letters)


def _say_alike(match: re.Match[str]) -> str:
    return _SAID_OTHERWISE[match.group()]


def _any_of(words: dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


EMAIL_RULE: Rule = (
    re.compile(rf"[A-Za-z0-9][\w.%+-]{{0,63}}@{_LABEL}(?:\.{_LABEL}){{1,8}}"),
    _say_address,
)
DOTTED_RULE: Rule = (
    re.compile(rf"{_LABEL}(?:\.[a-z0-9][\w-]{{0,62}}){{1,8}}(?:/[\w.~/-]{{0,500}}[\w/])?"),
    _say_dotted,
)

NAME_RULES: tuple[Rule, ...] = (
    EMAIL_RULE,
    (re.compile(r"(?:https?://|www\.)[^\s<>\"']{0,2000}[\w/]", re.I), _say_address),
    (re.compile(r"w/o(?!\w)"), _say_alike),
    (re.compile(r"w/(?= )"), _say_alike),
    (re.compile(rf"(?<=[a-z] )(?P<short>Dr|St)(?:{_FOLLOWED}|(?=\.\s*$))"), _say_drive_or_street),
    (re.compile(r"(?<=\w )(?P<short>St|Ave|Blvd|Rd|Ln)(?=,| [a-z]|\.?\s*$)"), _say_street),
    (re.compile(r"(?<=\w )(?P<short>Dr)(?=,|\s*$)"), _say_street),
    (re.compile(r"(?<=[a-z] )(?=[IVX]{2})X{0,2}(?:IX|IV|V?I{0,3})(?!\w|['-]\w|\.\w)"), _say_roman),
    (re.compile(rf"(?P<short>{_any_of(TITLES)})\.(?=\s*\S)"), _say_title),
    (re.compile(rf"(?P<short>{_any_of(ENDINGS)})(?:{_FOLLOWED}|(?=\.))"), _say_ending),
    (re.compile(r"No\.(?= ?\d)"), lambda match: "number"),
    (re.compile(r"[apAP]\. ?[mM](?:\.(?=\s*[a-z0-9,;:)])|(?=\.))"), _say_initials),
    (re.compile(r"(?:[A-Za-z]\.){1,9}[A-Za-z](?:\.(?=\s*\S)|(?=\.)|(?!\w))"), _say_initials),
    (re.compile(r"[A-HJ-Z]\.(?= [A-Z])"), _say_initials),
    DOTTED_RULE,
)
"""Rules for tokens that begin with a letter, most particular first."""
