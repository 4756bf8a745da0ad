"""The spoken words of a transcript that a recogniser wrote with figures and punctuation.

"I'd like a 12-ounce iced latte, $5." becomes "i'd like a twelve ounce iced latte five dollars".
The language model was trained on this form, drafts are compared in it, and the end of a turn is
judged by it. People are shown the written text, with its numbers in figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from text_to_num import alpha2digit

from voice.speech.normalization import spoken_words

_MARKS = ",;:.!?"
_TIME = re.compile(r"\b(1[0-2]|[1-9]) ([0-5]\d)(?= ?[ap]\.? ?m\b)")
_HALF_OF_DAY = re.compile(r"(?<=\d )([ap]) m\b\.?")
_SIDE_BY_SIDE = re.compile(r"\d\d \d|\d \d\d")
"""Two adjacent numbers, such as a year's, which read better in words than as "20 26"."""


def spoken_form(written: str) -> str:
    """Lower-case words without punctuation or hyphens; text already in this form is unchanged."""
    return " ".join(word for word, _ in spoken_with_places(written))


def spoken_with_places(written: str) -> Iterator[tuple[str, int]]:
    """Each word of `spoken_form`, with the index just past the written word it comes from."""
    for word in spoken_words(written):
        for part in word.text.lower().replace("-", " ").split():
            if bare := part.rstrip(_MARKS):
                yield bare, word.end_char


def in_figures(written: str) -> str:
    """An English transcript with its numbers in figures, unless that would change the spoken words.

    A recogniser writes "ten minutes" one time and "10 minutes" another.
    """
    figures = _HALF_OF_DAY.sub(r"\1.m.", _TIME.sub(r"\1:\2", alpha2digit(written, "en")))
    if figures == written or _SIDE_BY_SIDE.search(figures):
        return written
    return figures if spoken_form(figures) == spoken_form(written) else written
