"""The words that were said, from a transcript as a recogniser of written language puts it down.

"I'd like a 12-ounce iced latte, $5." becomes "i'd like a twelve ounce iced latte five dollars":
what the language model was trained on, what the drafts compare and what the cues for the end of a
turn read. People are shown the written text.
"""

from __future__ import annotations

import re

from voice.speech.normalization import spoken


def spoken_form(written: str) -> str:
    """Lower-case words without marks and hyphens; words that are in this form stay as they are."""
    said = spoken(written).lower().replace("-", " ")
    return " ".join(re.sub(r"(?<![,;:.!?])[,;:.!?]++(?=\s|$)", " ", said).split())
