"""The words that were said, from a transcript as a recogniser of written language puts it down.

"I'd like a 12-ounce iced latte, $5." becomes "i'd like a twelve ounce iced latte five dollars":
what the language model was trained on, what the drafts compare and what the cues for the end of a
turn read. People are shown the written text.
"""

from __future__ import annotations

from collections.abc import Iterator

from voice.speech.normalization import spoken_words

_MARKS = ",;:.!?"


def spoken_form(written: str) -> str:
    """Lower-case words without marks and hyphens; words that are in this form stay as they are."""
    return " ".join(word for word, _ in spoken_with_places(written))


def spoken_with_places(written: str) -> Iterator[tuple[str, int]]:
    """Each word of `spoken_form`, and the index just past the written word that it belongs to."""
    for word in spoken_words(written):
        for part in word.text.lower().replace("-", " ").split():
            if bare := part.rstrip(_MARKS):
                yield bare, word.end_char
