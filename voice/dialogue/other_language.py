"""Whether the user speaks another language than the agent, who then says which it speaks."""

from __future__ import annotations

import re

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
        self._is_spoken = False
        self._is_told = False

    def hear(self, transcript: Transcript) -> None:
        """Take what the user said last."""
        words = re.findall(r"\w+", transcript.text)
        enough = len(words) >= LEAST_WORDS and len("".join(words)) >= LEAST_LETTERS
        unspaced = len(words) == 1 and not words[0].isascii() and len(words[0]) >= LEAST_LETTERS
        other = transcript.language != AGENTS_LANGUAGE
        sure = transcript.language_confidence >= SURE
        self._is_spoken = other and sure and (enough or unspaced)

    def answer(self, again: str) -> str | None:
        """What is said to it, ``again`` from the second time on; None where it is none.

        The model would take such words for whatever sounds like them.
        """
        if not self._is_spoken:
            return None
        told, self._is_told = self._is_told, True
        return again if told else SPEAKS_ENGLISH
