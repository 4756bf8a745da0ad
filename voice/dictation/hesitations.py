"""Removes fillers: "um", and "like" or "you know" where they mean nothing.

The words are English.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from voice.dictation.corrections import HUM, OPENING
from voice.understanding.english import ARTICLES, word_set

_ASIDES = ("you know", "i mean", "like")
_MARKERS = (
    *_ASIDES, "so yeah", "okay so", "alright so", "well", "so", "okay", "right", "basically",
)  # fmt: skip
"""Words that otherwise have a meaning, but none beside an "um" or between commas."""
_SUBJECT = 3
"""Most words of a subject that begins with an article."""
_BE = word_set("be is was are were been it's")
_JOINING = word_set("and but so the a an my your")
_LIKING = word_set("looks look feels sounds i we you they would")
_ASKS = word_set("do did does if as let what that than who might")
_KNOWN = word_set("""
    what that how who whom where when why if whether the a an this these those more about of me him
    her it them my your his our their i he she we they better all and or everything
""")
"""Words that may follow a real "you know": "you know the way"."""


class _Word(NamedTuple):
    """A word, and the punctuation after it."""

    text: str
    marks: str

    @property
    def plain(self) -> str:
        return self.text.lower()


def without_hesitations(sentence: str) -> str:
    """A sentence without fillers and their commas.

    >>> without_hesitations("So, um, the dressing is, you know, dry, uh, and like clean.")
    'the dressing is dry, and clean.'
    """
    found = ((word.rstrip(",.;:!?…"), word) for word in sentence.split())
    words = [_Word(text, word[len(text) :]) for text, word in found]
    kept: list[_Word] = []
    at, behind_hum = 0, False
    while at < len(words):
        hum = _is_hum(words, at)
        length = int(hum) or _marker(words, at, kept, behind_hum)
        if not length:
            kept.append(words[at])
        elif kept:
            kept[-1] = _closed(kept, words[at + length - 1].marks)
        at, behind_hum = at + (length or 1), hum or (behind_hum and bool(length))
    return " ".join(word.text + word.marks for word in kept)


def _closed(kept: list[_Word], marks: str) -> _Word:
    """The last word before a filler, with a comma only if a phrase may end there.

    None ends after an opening word, nor within a subject at the beginning of a phrase.
    """
    word = kept[-1]
    begun = max((at for at in range(len(kept) - 1) if kept[at].marks), default=-1) + 1
    subject = kept[begun].plain in ARTICLES and len(kept) - begun <= _SUBJECT
    own = "" if word.plain in OPENING or subject else word.marks
    return word._replace(marks=own.strip(",") or marks.strip(",") or own)


def _is_hum(words: list[_Word], at: int) -> bool:
    """Whether a word is a hum; with a capital inside a sentence it would be a name."""
    if at >= len(words) or not re.fullmatch(HUM, words[at].text, re.I):
        return False
    return words[at].text.islower() or at == 0 or bool(words[at - 1].marks)


def _marker(words: list[_Word], at: int, kept: list[_Word], behind_hum: bool) -> int:
    """How many words the meaningless marker here has; 0 if there is none."""
    following = " ".join(word.plain + word.marks for word in words[at : at + 2])
    marker = next((one for one in _MARKERS if re.match(rf"{one}(?![\w'-])", following)), "")
    if not marker:
        return 0
    length = len(marker.split())
    last, rest = words[at + length - 1], words[at + length :]
    before = kept[-1] if kept else _Word("", ".")
    opens = before.marks[-1:] in (*",.?!",) and not (marker == "i mean" and kept)
    if kept:
        in_time = behind_hum and marker in (*_ASIDES, "basically") and before.plain not in _LIKING
    else:
        in_time = behind_hum or _is_hum(words, at + length) or marker == "so yeah"
    apart = opens and last.marks == "," and marker in _ASIDES
    idle = bool(rest) and _is_idle(marker, before, last, rest[0].plain)
    return length if in_time or apart or idle else 0


def _is_idle(marker: str, before: _Word, last: _Word, following: str) -> bool:
    """Whether "you know" or "like" means nothing in a sentence, though no comma sets it off."""
    if before.marks or last.marks:
        return False
    if marker == "like":
        part = before.plain in _BE and following.endswith(("ed", "ly"))
        joins = before.plain in _JOINING and following not in _KNOWN | (OPENING - {"have"})
        return part or joins
    return marker == "you know" and following not in _KNOWN and before.plain not in _ASKS
