"""Edits all that was said so far in an utterance into the text that was meant.

Each transcript is edited from scratch, so the text of an interim one may be revised by the next.
"""

from __future__ import annotations

import re

from voice.dictation.corrections import without_corrections, without_repeats
from voice.dictation.figures import with_addresses, with_figures
from voice.dictation.hesitations import without_hesitations
from voice.dictation.lists import with_lists
from voice.dictation.marks import with_marks
from voice.dictation.spelling import with_spelled_names
from voice.dictation.written import as_written

MODEL_NAME = "quicksilver-dictation"
"""The model that clients name to have their words edited."""

_SENTENCE_END = re.compile(r"(?<!\b[MD][rs]\.)(?<!\bMrs\.)(?<=[.?!…]) +(?=[A-Z\"])")


def is_dictation(model: str) -> bool:
    """Whether a model's name, by its ending, asks for dictation."""
    return model.endswith("dictation")


def edited(said: str) -> str:
    r"""The text that a speaker meant to write; empty if they have only hesitated.

    Args:
        said: A transcript, with or without punctuation and capitals.

    Returns:
        One or more lines; a line break at either end is one that was dictated.

    >>> edited("um the meeting, uh, started at nine. New line. Ask for jeff g e o f f today.")
    'The meeting started at nine.\nAsk for Geoff today.'
    """
    lines = with_lists(with_marks(said.strip())).split("\n")
    text = "\n".join(" ".join(map(_fluent, _SENTENCE_END.split(line))).strip() for line in lines)
    return as_written(with_figures(with_spelled_names(with_addresses(text))))


def _fluent(sentence: str) -> str:
    """A sentence without hesitations, repeated words and words that it takes back."""
    words = sentence.rstrip(",.;:!?…")
    text = without_repeats(without_hesitations(without_corrections(words)))
    return text.rstrip(",") + sentence[len(words) :] if text else ""
