"""Recordings of people with noise around them: kitchen, people talking, a room.

The noise does not begin and end with the words: the microphone picks it up all the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from benchmarks.voice.corpus import SHARED, Utterance, read_audio
from voice.demo.virtual_audio import speech_span
from voice.prove.sound import level, scaled
from voice.types import SAMPLE_RATE_HZ, Samples

KINDS = ("kitchen", "people-talking", "room-background")
SNRS_DB = (20, 10, 5)


def with_noise(
    utterances: Sequence[Utterance], noises: Sequence[Samples], snrs_db: Sequence[int]
) -> list[Utterance]:
    """Each utterance at each ratio of speech to noise; the kinds of noise take turns.

    Args:
        utterances: Recordings without added noise.
        noises: (T,) int16 at 16 kHz each.
        snrs_db: Mean power of a recording, from its first sample of speech to its last, relative
            to the noise's.
    """
    noisy = []
    for number, utterance in enumerate(utterances):
        noise = noises[number % len(noises)]
        begin, end = speech_span(utterance.samples, SAMPLE_RATE_HZ)
        for snr_db in snrs_db:
            wanted = level(utterance.samples[begin:end]) * 10 ** (-snr_db / 20)
            around = scaled(noise, wanted / level(noise))
            noisy.append(replace(utterance, around=around, snr_db=snr_db))
    return noisy


@cache
def recorded(kind: str) -> Samples:
    """A recording of noise, (T,) int16 at 16 kHz.

    Raises:
        FileNotFoundError: The recordings are absent.
    """
    return read_audio(SHARED / "noise" / f"{kind}.flac")
