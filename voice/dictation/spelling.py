"""Corrects names that are spelled out: "jeff g e o f f" is Geoff, "thompson no p" is Thomson.

The letters replace what the recogniser has written, and are themselves removed. The words are
English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from voice.dictation.names import is_name, is_word

_SIZES = r"(?:(?:capital|small|double) ){0,3}"
_NEXT = r",? new word,? "
_LETTER = rf"{_SIZES}[A-Za-z](?![\w'])"
_SPELLED = re.compile(
    r"(?<![\w'.])(?P<before>(?:[\w'.]+ ){0,3}[\w'.]{2,}?)"
    r"(?P<gap>[,.]? (?:spelled |spelt |that's |that is )?|^)"
    rf"(?P<letters>(?<![\w']){_LETTER}(?:(?:[ ,.-]+|{_NEXT}){_LETTER}){{2,}}),?",
    re.I,
)
_DETAIL = re.compile(
    r"\b(?P<name>[A-Za-z]{3,}),? (?:and )?"
    r"(?:with an?|with(?= double)|(?P<none>without an?|no(?! i\b)))"
    r" (?P<twice>double )?(?P<letter>[b-z])(?:'s)?(?![\w'])"
    r"(?:,? not (?:an? )?[a-z]\b)?(?: as well| too)?",
    re.I,
)
_LIKE_WORDS = re.compile(r"(?<![\w'’])([a-z]) (?:for|as in) (?=\1)\w+,?", re.I)
"""Spelling as on the telephone: "s for sugar"."""
_SOUND_ALIKE = ("ck", "iy", "sz", "fv", "jg", "cs")
_SILENT = "eh"
"""Letters that may be silent at the end of a name."""
_LEAST_ALIKE, _BESIDE = 0.4, 0.1
"""Least likeness of a word to the letters for it to be replaced, and a bonus if it stands right
before them."""
_LONGEST_CODE = 3
"""Up to this many letters, if they match no word, are an abbreviation and become capitals."""


def with_spelled_names(said: str) -> str:
    """The text with names as they were spelled.

    >>> with_spelled_names("ask jeff g e o f f or mrs thompson no p")
    'ask Geoff or mrs Thomson'
    """
    text = _SPELLED.sub(_joined, _LIKE_WORDS.sub(r"\1", said))
    # One after the other, as the next detail may be about the name that this one gives.
    while found := next(_details(text), None):
        detail, name = found
        text = text.replace(detail[0], name)
        text = re.sub(rf"\b{detail['name']}\b", name, text, flags=re.I)
    return re.sub(r"\b([A-Z]\w+) (?=\1\b)", "", text)


def _joined(found: re.Match[str]) -> str:
    """The words before some letters, with the one that the letters spell replaced by them."""
    names = [_name(part) for part in re.split(_NEXT, found["letters"], flags=re.I)]
    before = found["before"].split(" ")
    # A word may have been heard as two, and another may stand between it and its letters.
    spans = [(a, b) for b in range(1, len(before) + 1) for a in range(max(0, b - 2), b)]

    def likeness(span: tuple[int, int]) -> float:
        heard = "".join(before[slice(*span)]).lower().strip(".")
        alike = SequenceMatcher(None, heard, "".join(names).lower(), autojunk=False)
        return alike.ratio() + _BESIDE * (span[1] == len(before))

    start, end = max(spans, key=likeness)
    if likeness((start, end)) < _LEAST_ALIKE:
        plain = (name if len(name) > _LONGEST_CODE else name.upper() for name in names)
        return f"{found['before']}{found['gap']}{' '.join(plain)}"
    heard = "".join(before[start:end])
    if len(names) == 1 and heard.lower().startswith(names[0].lower()):
        # Only the beginning of a long name was spelled: keep the rest as heard.
        names = [names[0] + heard[len(names[0]) :]]
    return " ".join([*before[:start], *names, *before[end:]])


def _name(letters: str) -> str:
    """Letters as a name: the first is a capital, others only if that was said."""
    out = ""
    for sizes, letter in re.findall(rf"({_SIZES})([a-z])\b", letters.lower()):
        capital = "capital" in sizes or not out
        out += (letter.upper() if capital else letter) * (2 if "double" in sizes else 1)
    return out


def _details(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The details of names in a text, each with the name as it is spelled."""
    for detail in _DETAIL.finditer(text):
        heard = detail["name"]
        named = heard[0].isupper() or is_name(heard) or not is_word(heard)
        if named and (name := _changed(heard.lower(), detail)):
            yield detail, name


def _changed(name: str, detail: re.Match[str]) -> str:
    """A name with a letter added, removed or doubled; empty if the letter does not fit the name."""
    letter = detail["letter"].lower()
    if detail["none"] or detail["twice"]:
        written = "" if detail["none"] else letter * 2
        spelled = name if written and written in name else name.replace(letter, written, 1)
        return spelled.capitalize() if letter in name else ""
    if letter in _SILENT and not name.endswith(letter):
        return f"{name}{letter}".capitalize()
    others = (pair.replace(letter, "") for pair in _SOUND_ALIKE if letter in pair)
    other = next((one for one in others if one in name and letter not in name), "")
    return name.replace(other, letter, 1).capitalize() if other else ""
