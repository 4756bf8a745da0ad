"""Recognises streamed audio, one utterance at a time while the rest still arrives."""

from __future__ import annotations

import asyncio
from functools import partial

import numpy as np

from voice.audio import Framer, StreamResampler
from voice.errors import ProtocolError
from voice.hearing.passages import AROUND_MS, GAP_MS, LONGEST_MS
from voice.session.resources import Resources
from voice.types import FRAME_MS, SAMPLE_RATE_HZ, Samples

LONGEST_S = 600
"""Longest stream."""


class Ears:
    """Recognises the speech of one stream.

    Args:
        resources: Hold the recogniser and its threads.
        language: Code of the speaker's language; None or empty lets the recogniser detect it.

    Raises:
        ProtocolError: The recogniser does not know that language.
    """

    def __init__(self, resources: Resources, language: str | None = None) -> None:
        code = (language or "").partition("-")[0].partition("_")[0].lower()
        heard = resources.recognizer.languages
        if code and code not in heard:
            text = f"language: got {code[:20]!r}; expected one of {', '.join(heard[:9])}"
            raise ProtocolError(text, param="language")
        self._resources = resources
        self._language = code
        self._vad = resources.vad()
        self._framer = Framer()
        self._resampler = StreamResampler(SAMPLE_RATE_HZ, SAMPLE_RATE_HZ)
        self._kept: list[Samples] = []
        self._spoke = False
        self._silent_ms = 0
        self._length_s = 0.0

    def push(self, samples: Samples, rate_hz: int) -> list[Samples]:
        """Take the next samples; returns the utterances now complete, (T,) int16 at 16 kHz each.

        Raises:
            ProtocolError: The stream is too long.
        """
        self._length_s += len(samples) / rate_hz
        if self._length_s > LONGEST_S:
            raise ProtocolError(f"audio: longer than {LONGEST_S} s", "too_large")
        if rate_hz != self._resampler.from_hz:
            self._resampler = StreamResampler(rate_hz, SAMPLE_RATE_HZ)
        return self._framed(self._resampler.push(samples))

    def rest(self) -> list[Samples]:
        """The utterances that the end of the stream completes, as from `push`."""
        complete = self._framed(self._resampler.flush())
        return [*complete, np.concatenate(self._kept)] if self._spoke else complete

    async def words(self, utterance: Samples) -> str:
        """Recognise the words of an utterance."""
        had, loop = self._resources, asyncio.get_running_loop()
        work = partial(had.recognizer.transcribe, utterance, language=self._language)
        return (await loop.run_in_executor(had.recognition_threads, work)).text

    def _framed(self, samples: Samples) -> list[Samples]:
        complete = []
        for frame in self._framer.push(samples):
            self._kept.append(frame.samples)
            speech = self._vad.probability(frame) >= self._resources.config.vad.threshold
            self._silent_ms = 0 if speech else self._silent_ms + FRAME_MS
            self._spoke = self._spoke or speech
            if not self._spoke:
                del self._kept[: -AROUND_MS // FRAME_MS]
            elif self._silent_ms > GAP_MS or len(self._kept) * FRAME_MS > LONGEST_MS:
                complete.append(np.concatenate(self._kept))
                self._kept, self._spoke = [], False
        return complete
