"""Writes spoken numbers, times, codes and addresses in figures and signs.

Small numbers stay words unless they stand beside a unit or another number. The words are English.
"""

from __future__ import annotations

import re

from text_to_num import alpha2digit

_SMALL = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_COUNT = (
    rf"(?:{_SMALL}|zero|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|\d+)"
)
_NUMBER = rf"(?:{_COUNT}|oh|hundred|thousand|million|point)"
_UNIT = (
    r"(?:percent|dollars?|pounds?|euros?|pence|cents?|a\.? ?m|p\.? ?m|am|pm|o'clock|mill?i\w+"
    r"|kilo\w+|grams?|met(?:er|re)s?|miles?|point|hash|lit(?:er|re)s?)"
)
_ORDINAL = r"(?:first|second|third|\w+th)s?"
_ALONE = re.compile(
    rf"(?<![\w-])(?P<number>{_ORDINAL}|(?:{_SMALL}|zero)(?! {_UNIT}\b))(?![\w-])", re.I
)
_BEHIND_NUMBER = re.compile(
    rf"\b(?:{_NUMBER}|number|room|gate|flight|page|chapter|platform|[b-hj-z]) (?:and )?$", re.I
)
_BEHIND_TENS = re.compile(r"(?:ty|hundred|thousand) (?:and )?$", re.I)
_BEFORE_NUMBER = re.compile(rf" {_NUMBER}\b(?! of\b)", re.I)
_TWICE = re.compile(rf"\bdouble ({_SMALL}|zero|oh)\b", re.I)
_DIGIT = rf"(?:{_SMALL}|zero|(?<!\d)\d)"
_WITH_OH = re.compile(
    rf"\b(?:{_DIGIT} ){{1,30}}oh(?: oh)*\b|\boh(?: {_DIGIT}){{2,}}\b"
    rf"|\b(?:ten|eleven|twelve) oh(?= {_SMALL}\b)",
    re.I,
)
_HUNDREDS = re.compile(rf"(?<= )hundred(?=(?: {_DIGIT}){{3}})", re.I)
"""As in a telephone number: "one eight hundred five five five"."""
_A_HUNDRED_AND = re.compile(rf"\ba (?=(?:hundred|thousand) (?:and )?{_COUNT}\b)", re.I)
_LARGE = re.compile(
    r"\b(?:(?:m|b|tr)illions?|hundreds|thousands)\b"
    r"|(?:(?<=\ba )|(?<=\bfew )|(?<=\bseveral ))(?:hundred|thousand)\b",
    re.I,
)
"""Numbers that stay words: "2.3 million", "a hundred people"."""
_HIDDEN = "\ue000"
"""Put inside a number word to hide it from `alpha2digit`."""
_RULES = tuple(
    (re.compile(pattern, re.I), written)
    for pattern, written in (
        (r"(?<!\d )\b(19|20) (\d\d)\b(?! \d)", r"\1\2"),
        (r"\b(1[0-2]|[1-9]) (?:oh |0 )?([0-5]\d)(?= ?[ap]\.? ?m\b)", r"\1:\2"),
        (r"(?<=\bat )(1?\d|2[0-3]) ([0-5]\d)\b(?! \d)", r"\1:\2"),
        (r"(?<=\d) ?([ap])\.? ?m\b\.?", r" \1.m."),
        (r"\b([12]) (\d\d)(?= over \d\d)", r"\1\2"),
        (r"\b(\d{2,3}) over (\d{2,3})\b", r"\1/\2"),
        (r"\b(\d+) pounds and (\d\d) pence\b", r"£\1.\2"),
        (r"\b(\d+) dollars and (\d\d) cents\b", r"$\1.\2"),
        (r"\b(\d[\d.,]{0,30}) dollars?\b", r"$\1"),
        (r"\b(\d[\d.,]{0,30}) euros?\b", r"€\1"),
        (r"\b(\d[\d.,]{0,30}) ?percent\b", r"\1%"),
        (r"(?<=\d) hash\b", "#"),
    )
)
_RUN = re.compile(
    r"(?<![\d.:/])(?:\d(?: \d){2,}(?: \d+)*|\d(?: \d)?(?: 0\d+)+(?: \d)*|0\d*(?: \d+)+)(?!\.?\d)"
)
"""Digits said one by one."""
_CODE = re.compile(
    r"(?<!\b[a-z] )(?<![\w'’])(?:(?:[a-z][ .-]){1,3}(?=\d)(?<![ai] )|(?:[a-z] ){2}(?=\d))"
    r"|(?<=\d) [b-hj-z]\b(?![.'])(?! [a-z]\b)",
    re.I,
)
"""Letters before or after figures: "b a 286", "21 b"."""
_SIGNS = {"dot": ".", "underscore": "_", "dash": "-", "hyphen": "-", "slash": "/", "at": "@"}
_SIGN = rf",? ({'|'.join(_SIGNS)}),? "
_PIECE = rf"(?:\b[A-Za-z](?:[ -][A-Za-z]){{1,30}}|[\w'-]+(?: {_COUNT}\b){{0,12}})"
"""Bounded, because a search tries a run again from each of its letters or numbers."""
_ONLY_NUMBERS = re.compile(rf"{_COUNT}(?: {_COUNT}){{0,12}}", re.I)
_ADDRESS = re.compile(rf"(?<![\w'-]){_PIECE}(?:{_SIGN}{_PIECE}\b)+", re.I)


def with_figures(said: str) -> str:
    """The text with numbers, amounts, times and codes in figures.

    >>> with_figures("two cats since twenty twenty six at six thirty p m")
    'two cats since 2026 at 6:30 p.m.'
    """
    text = _TWICE.sub(r"\1 \1", said)
    text = _WITH_OH.sub(lambda run: re.sub(r"\boh\b", "zero", run[0], flags=re.I), text)
    text = _A_HUNDRED_AND.sub("one ", _HUNDREDS.sub("zero zero", text))
    text = _ALONE.sub(_kept, _LARGE.sub(lambda word: _hidden(word[0]), text))
    text = alpha2digit(text, "en").replace(_HIDDEN, "")
    for pattern, written in _RULES:
        text = pattern.sub(written, text)
    text = _RUN.sub(lambda run: run[0].replace(" ", ""), text)
    return _CODE.sub(lambda code: re.sub(r"\W", "", code[0]).upper(), text)


def with_addresses(said: str) -> str:
    """The text with web addresses, e-mail addresses and file names in one piece.

    >>> with_addresses("write to anna dot berg at example dot com")
    'write to anna.berg@example.com'
    """
    return _ADDRESS.sub(_address, said)


def _hidden(word: str) -> str:
    return word[0] + _HIDDEN + word[1:]


def _kept(word: re.Match[str]) -> str:
    """The number word, hidden unless it belongs to a longer number."""
    text = word.string
    before = text[max(0, word.start() - 30) : word.start()]
    if re.fullmatch(_ORDINAL, word["number"], re.I):
        longer = _BEHIND_TENS.search(before)
    else:
        longer = _BEHIND_NUMBER.search(before) or _BEFORE_NUMBER.match(text, word.end())
    return word[0] if longer else _hidden(word[0])


def _address(found: re.Match[str]) -> str:
    """An address made from words and the sign names between them, of which one must be "dot"."""
    head, at, rest = found[0].partition(" at ")
    if " at " in rest or head in ("me", "us", "him", "her", "them", "it", "look", "is", "are"):
        return head + at + _ADDRESS.sub(_address, rest)
    parts = re.split(_SIGN, found[0], flags=re.I)
    signs = [sign.lower() for sign in parts[1::2]]
    if "dot" not in (signs[signs.index("at") :] if "at" in signs else signs):
        return found[0]
    lead, _, numbers = found[0].partition(" ")
    # "version two dot one" is a word and a number.
    if " " in parts[0] and _ONLY_NUMBERS.fullmatch(parts[-1]) and not _ONLY_NUMBERS.fullmatch(lead):
        return f"{lead} {_ADDRESS.sub(_address, numbers)}"
    pieces: list[str] = [
        alpha2digit(re.sub(r"(?<=\b[a-z])-(?=[a-z]\b)", "", piece.lower()), "en", threshold=0)
        for piece in parts[::2]
    ]
    signed = (_SIGNS[sign] + piece for sign, piece in zip(signs, pieces[1:], strict=True))
    return (pieces[0] + "".join(signed)).replace(" ", "")
