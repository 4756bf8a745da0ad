"""Detects a user who speaks another language than the agent, and says which it speaks."""

from __future__ import annotations

import re

from voice.dialogue.history import History
from voice.types import Transcript

AGENTS_LANGUAGE = "en"
SPEAKS_ENGLISH = "I am sorry, I only speak English. Could you say that in English?"

SURE = 0.5
"""Lowest probability at which a detected language is believed."""
LEAST_WORDS, LEAST_LETTERS = 2, 8
"""Shorter texts are ignored: a noise is easily taken for a word of some language.

One word that is not ASCII is enough if it is long: not all languages use spaces.
"""


class OtherLanguage:
    """Tells whether the last message of a conversation is in another language."""

    def __init__(self) -> None:
        self._item_id: str | None = None
        self._is_told = False

    def hear(self, item_id: str, transcript: Transcript) -> None:
        """Take a user message: its id in the dialogue and its transcript."""
        words = re.findall(r"\w+", transcript.text)
        enough = len(words) >= LEAST_WORDS and len("".join(words)) >= LEAST_LETTERS
        unspaced = len(words) == 1 and not words[0].isascii() and len(words[0]) >= LEAST_LETTERS
        other = transcript.language != AGENTS_LANGUAGE
        sure = transcript.language_confidence >= SURE
        self._item_id = item_id if other and sure and (enough or unspaced) else None

    def answer(self, dialogue: History, again: str) -> str | None:
        """The answer to the dialogue's last message if it was in another language, else None.

        From the second time on it is the text ``again``. The model is not asked: it would take the
        words for English ones that sound alike.
        """
        if self._item_id is None or dialogue.last_id != self._item_id:
            return None
        told, self._is_told = self._is_told, True
        return again if told else SPEAKS_ENGLISH
