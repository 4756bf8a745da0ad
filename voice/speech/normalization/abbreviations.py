"""Says e-mail and web addresses, abbreviations and words in capitals.

It also lists the abbreviations whose full stop does not end a sentence, for
`voice.speech.segmenter`.
"""

from __future__ import annotations

import re

from voice.speech.normalization.numbers import Rule, digits, integer, text_before

TITLES = {
    "Mr": "mister", "Mrs": "missus", "Ms": "miss", "Dr": "doctor", "Prof": "professor",
    "St": "saint", "Gen": "general", "Col": "colonel", "Capt": "captain", "Lt": "lieutenant",
    "Sgt": "sergeant", "Sen": "senator", "Rep": "representative", "Gov": "governor",
    "Rev": "reverend", "Mt": "mount", "Ft": "fort", "vs": "versus", "e.g": "for example",
    "i.e": "that is", "cf": "compare", "approx": "approximately", "ca": "about",
    "ext": "extension", "tel": "telephone", "Tel": "telephone", "Fig": "figure", "fig": "figure",
    "Vol": "volume", "pp": "pages",
}  # fmt: skip
"""Abbreviation without its last full stop → what is said. None of these ends a sentence."""

ENDINGS = {
    "etc": "et cetera", "Jr": "junior", "Sr": "senior", "Inc": "incorporated", "Ltd": "limited",
    "Corp": "corporation", "Co": "company", "Ave": "avenue", "Blvd": "boulevard", "Rd": "road",
    "Ln": "lane", "Ph.D": "P H D", "PhD": "P H D", "Dept": "department", "dept": "department",
    "apt": "apartment", "Apt": "apartment",
}  # fmt: skip
"""The same for abbreviations that may end a sentence."""

_STREETS = {**ENDINGS, "Dr": "drive", "St": "street"}

_SAID_AS_WORDS = frozenset((
    "RAM", "ROM", "SIM", "PIN", "LAN", "WAN", "GIF", "ZIP", "AND", "ARE", "BUT", "FOR", "NOT",
    "NOW", "THE", "YES", "YOU", "ALL", "ANY", "CAN", "DO", "GO", "HOW", "IF", "IN", "IS", "IT",
    "NO", "OF", "ON", "OFF", "OR", "SO", "TO", "UP", "WE", "WHO", "WHY", "ONE", "TWO", "NEW",
    "OUT", "TOP", "END", "SET",
))  # fmt: skip
"""Words in capitals that are not spelled out. Words of four letters or more with a vowel inside
are not spelled out either."""
_SPELLED_THOUGH_PRONOUNCEABLE = frozenset({"ASAP", "AARP", "UCLA", "IEEE", "ISBN", "USSR"})
_SAID_OTHERWISE = {"OK": "okay", "SQL": "sequel", "w/o": "without", "w/": "with", "No.": "number"}
_ROMAN = {
    tens + units: 10 * ten + unit
    for ten, tens in enumerate(("", "X", "XX", "XXX"))
    for unit, units in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))
    if units and tens + units not in ("I", "V")
}
"""Roman numerals below 40, but for those that are letters or sizes as well: I, V, X, XX, XXX."""
_WORDS_OF_ADDRESSES = frozenset({"com", "org", "net", "edu", "gov", "info", "app", "dev"})
_ADDRESS_SIGNS = {
    ".": "dot", "@": "at", "-": "dash", "_": "underscore", "/": "slash", "+": "plus",
    ":": "colon", "%": "percent", "~": "tilde",
}  # fmt: skip
_ADDRESS_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+|.")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_LABEL = r"[A-Za-z0-9][\w-]{0,62}"

_FOLLOWED = r"\.(?=\s*[a-z0-9,;:)\]]|\s+I\b)"
"""A full stop that does not end a sentence, judged by what follows."""


def say_capitals(word: str) -> str:
    """What is said for a word in capitals: its letters, or the word if it is known as one.

    Args:
        word: Two letters or more, all in capitals.
    """
    if word in _SAID_OTHERWISE or word in _SAID_AS_WORDS:
        return _SAID_OTHERWISE.get(word, word)
    pronounceable = len(word) >= 4 and _VOWEL.search(word[1:-1]) is not None
    spelled = not pronounceable or word in _SPELLED_THOUGH_PRONOUNCEABLE
    return " ".join(word) if spelled else word


def _say_address(match: re.Match[str]) -> str:
    text = re.sub(r"^(?:https?://)?(?:www\.)?", "", match.group(), flags=re.I)
    return _say_parts(re.split(r"[?#]", text, maxsplit=1)[0].rstrip("/"))


def _say_dotted(match: re.Match[str]) -> str:
    # "v1.2" and "config.toml": a point between figures, a dot elsewhere.
    return " point ".join(map(_say_parts, re.split(r"(?<=\d)\.(?=\d)", match.group())))


def _say_parts(text: str) -> str:
    return " ".join(filter(None, map(_say_part, _ADDRESS_PART.findall(text))))


def _say_part(part: str) -> str:
    if part.isdigit():
        return integer(int(part)) if len(part) <= 2 and part[0] != "0" else digits(part)
    if not part.isalpha():
        return _ADDRESS_SIGNS.get(part, "")
    known = part.lower() in _WORDS_OF_ADDRESSES or (len(part) > 2 and _VOWEL.search(part))
    return part if known else " ".join(part)


def _say_street(match: re.Match[str]) -> str | None:
    name = text_before(match, 64).split()[-1]
    return _STREETS[match["short"]] if name[0].isupper() or name[0].isdigit() else None


def _say_roman(match: re.Match[str]) -> str | None:
    name = text_before(match, 64).split()[-1]
    return None if name[0].islower() or name in ("A", "An", "The") else integer(_ROMAN[match[0]])


def _say_initials(match: re.Match[str]) -> str:
    letters = match.group().replace(".", "").replace(" ", "")
    return " ".join(letters.lower() if letters.lower() in ("am", "pm") else letters)


def _say_otherwise(match: re.Match[str]) -> str:
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

ABBREVIATION_RULES: tuple[Rule, ...] = (
    EMAIL_RULE,
    (re.compile(r"(?:https?://|www\.)[^\s<>\"']{0,2000}[\w/]", re.I), _say_address),
    (re.compile(r"w/o(?!\w)|w/(?= )|No\.(?= ?\d)"), _say_otherwise),
    (
        re.compile(rf"(?<=\w )(?P<short>St|Dr|Ave|Blvd|Rd|Ln)(?:{_FOLLOWED}|(?=,| [a-z]|\.?\s*$))"),
        _say_street,
    ),
    (re.compile(rf"(?<=[a-z] )(?:{'|'.join(_ROMAN)})(?!\w|['-]\w|\.\w)"), _say_roman),
    (
        re.compile(rf"(?P<short>{_any_of(TITLES)})\.(?=\s*\S)"),
        lambda match: TITLES[match["short"]],
    ),
    (
        re.compile(rf"(?P<short>{_any_of(ENDINGS)})(?:{_FOLLOWED}|(?=\.))"),
        lambda match: ENDINGS[match["short"]],
    ),
    (re.compile(r"[apAP]\. ?[mM](?:\.(?=\s*[a-z0-9,;:)])|(?=\.))"), _say_initials),
    (re.compile(r"(?:[A-Za-z]\.){1,9}[A-Za-z](?:\.(?=\s*\S)|(?=\.)|(?!\w))"), _say_initials),
    (re.compile(r"[A-HJ-Z]\.(?= [A-Z])"), _say_initials),
    DOTTED_RULE,
)
"""Rules for tokens that begin with a letter, most specific first."""
