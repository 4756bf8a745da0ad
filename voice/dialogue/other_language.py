"""Whether the user speaks another language than the agent, who then says which it speaks."""

from __future__ import annotations

import re

from voice.dialogue.history import History
from voice.types import Transcript

AGENTS_LANGUAGE = "en"
SPEAKS_ENGLISH = "I am sorry, I only speak English. Could you say that in English?"

SURE = 0.5
"""Probability of the language from which on it is taken to be spoken."""
LEAST_WORDS, LEAST_LETTERS = 2, 8
"""A noise is easily taken for a word of some language; not all languages put spaces."""


class OtherLanguage:
    """Of one conversation."""

    def __init__(self) -> None:
        self._item_id: str | None = None
        self._is_told = False

    def hear(self, item_id: str, transcript: Transcript) -> None:
        """Take what the user said, and the id that it has in the dialogue."""
        words = re.findall(r"\w+", transcript.text)
        enough = len(words) >= LEAST_WORDS and len("".join(words)) >= LEAST_LETTERS
        unspaced = len(words) == 1 and not words[0].isascii() and len(words[0]) >= LEAST_LETTERS
        other = transcript.language != AGENTS_LANGUAGE
        sure = transcript.language_confidence >= SURE
        self._item_id = item_id if other and sure and (enough or unspaced) else None

    def answer(self, dialogue: History, again: str) -> str | None:
        """What is said to the dialogue's last message, ``again`` from the second time on.

        The model would take such words for whatever sounds like them. None where the message is
        another than the one of another language.
        """
        if self._item_id is None or dialogue.last_id != self._item_id:
            return None
        told, self._is_told = self._is_told, True
        return again if told else SPEAKS_ENGLISH
