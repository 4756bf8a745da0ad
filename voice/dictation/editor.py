"""The text that was meant, of all that was said so far in an utterance.

It is made anew from each transcript: an interim one gives a text that the next may revise.
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
"""What clients name to have their words edited."""

_SENTENCE_END = re.compile(r"(?<!\b[MD][rs]\.)(?<!\bMrs\.)(?<=[.?!…]) +(?=[A-Z\"])")


def is_dictation(model: str) -> bool:
    """Whether a client that names this model wants dictation: its name ends so."""
    return model.endswith("dictation")


def edited(said: str) -> str:
    r"""What a speaker meant to write; empty where they have only hesitated.

    Args:
        said: A transcript, with the recogniser's marks and capitals or without.

    Returns:
        Lines; a break at either end was dictated there.

    >>> edited("um the meeting, uh, started at nine. New line. Ask for jeff g e o f f today.")
    'The meeting started at nine.\nAsk for Geoff today.'
    """
    lines = with_lists(with_marks(said.strip())).split("\n")
    text = "\n".join(" ".join(map(_fluent, _SENTENCE_END.split(line))).strip() for line in lines)
    return as_written(with_figures(with_spelled_names(with_addresses(text))))


def _fluent(sentence: str) -> str:
    """A sentence without hesitations, slips and what it takes back."""
    words = sentence.rstrip(",.;:!?…")
    text = without_repeats(without_hesitations(without_corrections(words)))
    return text.rstrip(",") + sentence[len(words) :] if text else ""
