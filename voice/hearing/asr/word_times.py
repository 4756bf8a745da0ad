"""When each word of a decoded text was said, from Whisper's cross-attention.

Dynamic time warping over the attention heads named in the weights' config.json aligns each token
with the frames it attends to. A word begins where its first token does.

Source: Whisper's own ``timing.py``; CTranslate2's ``Whisper.align``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from voice.hearing.asr.transcribed import Word

_STEPS_PER_S = 50
"""Frames per second of the encoder's output."""
_UNSPACED = ("zh", "ja", "th", "lo", "my", "yue")


def word_times(
    model: Any, tokenizer: Any, encoded: Any, text: str, seconds: float
) -> tuple[Word, ...]:
    """The words of a decoded text with their times.

    Args:
        model: CTranslate2's Whisper.
        tokenizer: faster-whisper's, for the text's language.
        encoded: The encoder's output.
        text: The decoded text, not empty.
        seconds: Length of the sound; the encoder's context may be longer.
    """
    tokens = tokenizer.encode(f" {text}")
    frames = min(encoded.shape[1] * 2, max(2, round(seconds * _STEPS_PER_S * 2)))
    aligned = model.align(encoded, list(tokenizer.sot_sequence), [tokens], frames)[0].alignments
    places = np.array(aligned, dtype=np.int64).reshape(-1, 2)
    # The frame at which the path enters each token, and the end of the last.
    first = np.searchsorted(places[:, 0], np.arange(len(tokens) + 1))
    entered = np.append(places[:, 1], places[-1:, 1] + 1)[np.minimum(first, len(places))]
    texts, parts = tokenizer.split_to_word_tokens(tokens)
    bounds = np.cumsum([0, *map(len, parts)])
    times = (entered[bounds] / _STEPS_PER_S).tolist()
    found: list[Word] = []
    for part, start, end in zip(texts, times[:-1], times[1:], strict=True):
        if found and not any(letter.isalnum() for letter in part):
            # A mark at the end of a sentence is aligned with silence, so it leaves the end alone.
            found[-1] = replace(found[-1], text=found[-1].text + part.strip())
        elif found and not part.startswith(" ") and tokenizer.language_code not in _UNSPACED:
            found[-1] = Word(found[-1].text + part, found[-1].start_s, end)
        else:
            found.append(Word(part.strip(), start, end))
    return tuple(found)
