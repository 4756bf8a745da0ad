"""When each word of a decoded text was said, from Whisper's cross-attention.

Each token is put at the frames that its attention rests on (dynamic time warping over the heads
that the weights' config.json names), and a word begins where its first token does.

Source: Whisper's own ``timing.py``; CTranslate2's ``Whisper.align``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from voice.hearing.asr.transcribed import Word

_STEPS_PER_S = 50
"""Of the encoder."""
_UNSPACED = ("zh", "ja", "th", "lo", "my", "yue")


def word_times(
    model: Any, tokenizer: Any, encoded: Any, text: str, seconds: float
) -> tuple[Word, ...]:
    """The words of a text that was decoded.

    Args:
        model: CTranslate2's Whisper.
        tokenizer: faster-whisper's, for the text's language.
        encoded: The encoder's output.
        text: Not empty.
        seconds: Of sound; the encoder's context may be longer.
    """
    tokens = tokenizer.encode(f" {text}")
    frames = min(encoded.shape[1] * 2, max(2, round(seconds * _STEPS_PER_S * 2)))
    aligned = model.align(encoded, list(tokenizer.sot_sequence), [tokens], frames)[0].alignments
    places = np.array(aligned, dtype=np.int64).reshape(-1, 2)
    # Where the path enters each token, and the end behind the last.
    first = np.searchsorted(places[:, 0], np.arange(len(tokens) + 1))
    entered = np.append(places[:, 1], places[-1:, 1] + 1)[np.minimum(first, len(places))]
    texts, parts = tokenizer.split_to_word_tokens(tokens)
    bounds = np.cumsum([0, *map(len, parts)])
    times = (entered[bounds] / _STEPS_PER_S).tolist()
    found: list[Word] = []
    for part, start, end in zip(texts, times[:-1], times[1:], strict=True):
        if found and not any(letter.isalnum() for letter in part):
            # What ends a sentence is silence: the word before it does not last as long.
            found[-1] = replace(found[-1], text=found[-1].text + part.strip())
        elif found and not part.startswith(" ") and tokenizer.language_code not in _UNSPACED:
            found[-1] = Word(found[-1].text + part, found[-1].start_s, end)
        else:
            found.append(Word(part.strip(), start, end))
    return tuple(found)
