"""Recognition of a whole recording, utterance by utterance, each with its times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voice.audio import Framer
from voice.hearing.asr.transcribed import Transcribed, Word
from voice.types import FRAME_MS, FRAME_SAMPLES, Samples

if TYPE_CHECKING:
    from voice.hearing.vad import Vad

GAP_MS = 500
"""A silence longer than this separates two utterances."""
AROUND_MS = 200
"""Silence before and after an utterance that is decoded with it."""
LONGEST_MS = 20_000
"""A longer utterance is cut where speech is least likely."""


@dataclass(frozen=True, slots=True)
class Passage:
    """An utterance.

    Attributes:
        start_s: When it begins in the recording, in seconds.
        end_s: When it ends.
        text: Its words in written form.
        language: Code of their language.
        words: The words with their times in the recording, if times were asked for.
        confidence: Mean probability of the recogniser's tokens, in [0, 1].
        tokens: The recogniser's tokens; empty if it has none.
        speech: Mean probability that this is speech, in [0, 1].
    """

    start_s: float
    end_s: float
    text: str
    language: str = "en"
    words: tuple[Word, ...] = ()
    confidence: float = 1.0
    tokens: tuple[int, ...] = ()
    speech: float = 1.0


def passages(
    samples: Samples, vad: Vad, transcribe: Callable[[Samples], Transcribed], threshold: float
) -> Iterator[Passage]:
    """Recognise a recording.

    Args:
        samples: (T,) int16 mono at 16 kHz.
        vad: A detector that nothing else uses.
        transcribe: Recognises an utterance.
        threshold: Probability at and above which a frame counts as speech.

    Yields:
        The utterances in which words were understood, in order.

    Raises:
        ModelError: The recogniser failed.
    """
    frames = Framer().push(np.pad(samples, (0, -len(samples) % FRAME_SAMPLES)))
    spoken = np.array([vad.probability(frame) for frame in frames])
    around = AROUND_MS // FRAME_MS
    for start, end in _utterances(spoken, threshold):
        first = max(0, start - around)
        heard = transcribe(samples[first * FRAME_SAMPLES : (end + around) * FRAME_SAMPLES])
        if heard.text:
            times = start * FRAME_MS / 1000, end * FRAME_MS / 1000
            # The first word is aligned with the silence before it.
            words = [word.later(first * FRAME_MS / 1000).within(*times) for word in heard.words]
            yield Passage(
                *times,
                heard.text,
                heard.language,
                tuple(words),
                heard.confidence,
                heard.tokens,
                float(spoken[start:end].mean()),
            )


def _utterances(spoken: np.ndarray, threshold: float) -> Iterator[tuple[int, int]]:
    """Utterances as frame ranges [start, end); ``spoken`` are (N,) speech probabilities."""
    (speech,) = np.nonzero(spoken >= threshold)
    if not len(speech):
        return
    breaks = np.nonzero(np.diff(speech) > GAP_MS // FRAME_MS)[0]
    starts, ends = speech[[0, *(breaks + 1)]], speech[[*breaks, -1]] + 1
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield from _cut(spoken, start, end)


def _cut(spoken: np.ndarray, start: int, end: int) -> Iterator[tuple[int, int]]:
    longest = LONGEST_MS // FRAME_MS
    while end - start > longest:
        half = start + longest // 2
        place = half + int(spoken[half : start + longest].argmin())
        yield start, place
        start = place
    yield start, end
