"""Words of a whole recording, utterance by utterance, each with its place in time."""

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
"""A silence so long separates two utterances."""
AROUND_MS = 200
"""What is decoded of the silence before and after one."""
LONGEST_MS = 20_000
"""An utterance is cut where the speaker is least heard before it grows longer."""


@dataclass(frozen=True, slots=True)
class Passage:
    """An utterance.

    Attributes:
        start_s: Where it begins in the recording.
        end_s: Where it ends.
        text: Its words as people are shown them.
        language: Code of the language that they are in.
        words: With their times in the recording, if they were asked for.
    """

    start_s: float
    end_s: float
    text: str
    language: str = "en"
    words: tuple[Word, ...] = ()


def passages(
    samples: Samples, vad: Vad, transcribe: Callable[[Samples], Transcribed], threshold: float
) -> Iterator[Passage]:
    """Recognise a recording.

    Args:
        samples: (T,) int16 mono at 16 kHz.
        vad: A detector of its own.
        transcribe: Recognises an utterance.
        threshold: Probability from which on a frame counts as speech.

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
            words = tuple(word.later(first * FRAME_MS / 1000) for word in heard.words)
            times = start * FRAME_MS / 1000, end * FRAME_MS / 1000
            yield Passage(*times, heard.text, heard.language, words)


def _utterances(spoken: np.ndarray, threshold: float) -> Iterator[tuple[int, int]]:
    """Ranges [start, end) of frames; ``spoken`` are (N,) probabilities."""
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
