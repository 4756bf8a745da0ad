"""Does to the user's side of a dialogue what a speaker and a recogniser do.

It works on pieces, so that each slot's words stay one contiguous run, and returns the slots as they
are in the final text: arguments taken from there are always spans of what the user said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from random import Random

from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.spoken_values import MONTHS, WEEKDAYS
from dlm.datagen.language.tables import read
from dlm.datagen.language.words import WORDS
from dlm.language.spoken_numbers import words_of


@dataclass(frozen=True, slots=True)
class _Table:
    fillers: tuple[str, ...]
    openers: tuple[str, ...]
    dropped: tuple[str, ...]
    homophones: dict[str, tuple[str, ...]]


_TABLE = read("noise", _Table)
_HOMOPHONES = _TABLE.homophones
_PROPER = {w: w.title() for w in (*WEEKDAYS, *MONTHS) if w not in ("may", "march")} | {
    "i": "I", "i'm": "I'm", "i'd": "I'd", "i'll": "I'll", "i've": "I've",
    "quicksilver": "Quicksilver", "siri": "Siri", "ai": "AI",
    "christmas": "Christmas", "halloween": "Halloween",
}  # fmt: skip
_VOICELESS = str.maketrans("bdgvzjqcn", "ptkfsskkm")


@dataclass(frozen=True, slots=True)
class Style:
    """How one user's side is transcribed.

    Attributes:
        cased: Whether there are capitals and punctuation, as Whisper writes; else bare lower case.
        digits: Whether numbers are in digits.
        rate: Strength of noise; 0 for clean.
    """

    cased: bool = False
    digits: bool = False
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Utterance:
    """A user's turn as transcribed, and the values of its slots in exactly that text."""

    text: str
    values: dict[str, str]


def draw_style(rng: Random) -> Style:
    """A random style; bare transcripts with number words are the most frequent."""
    cased = rng.random() < 0.35
    digits = rng.random() < (0.7 if cased else 0.12)
    rate = rng.choice((0.0, 0.0, 0.3, 0.6, 1.0, 1.6))
    return Style(cased, digits, rate)


def utter(rng: Random, pieces: list[Piece], style: Style, question: bool = False) -> Utterance:
    """The transcript of some pieces.

    Args:
        question: Whether it ends with a question mark in a cased style.
    """
    words: list[tuple[str, str]] = []
    for piece in pieces:
        text = piece.text if style.cased else plain(piece.text, style.digits)
        if not piece.slot:
            text = text.replace("?", " ")
        words.extend((word, piece.slot) for word in text.split())
    if style.rate and rng.random() < 0.6:
        words = _disturb(rng, words, style.rate)
    if not words:
        words = [("um", "")]
    return _written(words, style, question)


def plain(text: str, digits: bool) -> str:
    """Text as a bare transcript: lower case, no punctuation, numbers in words unless ``digits``."""
    text = text.lower().replace("&", " and ").replace("-", " ")
    text = text.replace("%", " percent") if not digits else text
    text = re.sub(r"[^\w\s'%:.+*/-]", " ", text)
    text = re.sub(r"\.(?!\d)", "", text)
    if not digits and any(c.isdigit() for c in text):
        text = re.sub(r"\d+", lambda m: f" {words_of(int(m[0][:9]))} ", text)
    return text


def _disturb(rng: Random, words: list[tuple[str, str]], rate: float) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if rng.random() < 0.25 * rate:
        found.extend((w, "") for w in rng.choice(_TABLE.openers).split())
    for index, (word, slot) in enumerate(words):
        roll = rng.random() / rate
        inside = bool(slot) and index > 0 and words[index - 1][1] == slot
        if not slot and roll < 0.02 and word.lower() in _TABLE.dropped and len(words) > 2:
            continue
        if not inside and 0.02 <= roll < 0.035:
            found.extend((w, "") for w in rng.choice(_TABLE.fillers).split())
        if not slot and 0.035 <= roll < 0.045:
            found.append((word, ""))
        if 0.045 <= roll < (0.049 if slot else 0.065) and word.lower() in _HOMOPHONES:
            found.extend((w, slot) for w in rng.choice(_HOMOPHONES[word.lower()]).split())
            continue
        if 0.065 <= roll < (0.072 if slot else 0.082):
            word = misheard(rng, word)
        found.append((word, slot))
    return found


def misheard(rng: Random, word: str) -> str:
    """A word that sounds like this one, or the word with an "s" added or dropped, or itself."""
    low = word.lower()
    alike = [w for w in _alike().get(_sound(low), ()) if abs(len(w) - len(low)) <= 2]
    roll = rng.random()
    if len(alike) > 1 and roll < 0.7:
        return rng.choice(alike)
    if not low.isalpha() or len(low) < 4:
        return word
    if low.endswith("s") and not low.endswith("ss"):
        return word[:-1]
    return f"{word}s" if roll < 0.85 else word


@cache
def _alike() -> dict[str, list[str]]:
    """Sound → the words of the lists that have it."""
    found: dict[str, list[str]] = {}
    words = {w.lower() for values in WORDS.values() for value in values for w in value.split()}
    for word in sorted(words | set(_HOMOPHONES)):
        if word.isalpha() and len(word) > 2:
            found.setdefault(_sound(word), []).append(word)
    return found


def _sound(word: str) -> str:
    """A word without what recognisers confuse: vowels, voicing, doubled and silent letters."""
    plain = word.translate(_VOICELESS)
    return word[:1].translate(_VOICELESS) + re.sub(r"[aeiouhwy]|(.)(?=\1)", "", plain[1:])


def _written(words: list[tuple[str, str]], style: Style, question: bool) -> Utterance:
    if style.cased:
        words = [(_PROPER.get(word, word), slot) for word, slot in words]
        first, slot = words[0]
        words[0] = (first[:1].upper() + first[1:], slot)
    values: dict[str, list[str]] = {}
    for word, slot in words:
        if slot:
            values.setdefault(slot, []).append(word)
    text = " ".join(word for word, _ in words).replace(" ,", ",")
    if style.cased:
        text = text.rstrip(",.") + ("?" if question else ".")
    return Utterance(text, {slot: _unstopped(found) for slot, found in values.items()})


def _unstopped(words: list[str]) -> str:
    """A slot's words without punctuation at the end; inside, it is part of the value."""
    text = " ".join(words)
    return text.rstrip(",.?!") if text[-1:] in ",?!" else text
