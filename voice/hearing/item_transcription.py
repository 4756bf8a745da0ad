"""Recognition of audio that arrives whole, as an item of the dialogue, not from the microphone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import numpy as np

from voice.audio import Framer, StreamResampler
from voice.errors import ModelError, origins
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.inputs import ItemTranscribed, ItemTranscriptionFailed
from voice.types import FRAME_SAMPLES, SAMPLE_RATE_HZ, Samples, Transcript

if TYPE_CHECKING:
    from voice.hearing.asr import Recognizer

_log = logging.getLogger(__name__)


class ItemTranscription:
    """Recognises the audio items of one session.

    Args:
        recognizer: Opens a stream for each item.
        executor: Runs the recogniser.
        emit: Called on the event loop with the result.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        executor: Executor,
        emit: Callable[[ItemTranscribed | ItemTranscriptionFailed], None],
    ) -> None:
        self._recognizer = recognizer
        self._executor = executor
        self._emit = emit
        self._domain = ANYTHING
        # Items may be long, and somebody who speaks meanwhile needs a thread too.
        self._one_at_a_time = asyncio.Lock()

    def expect(self, domain: Domain) -> None:
        """Set what is likely to be said in the next items."""
        self._domain = domain

    async def transcribe(self, item_id: str, samples: Samples, rate_hz: int) -> None:
        """Recognise an item's audio and emit its words or the reason for failure.

        Args:
            item_id: The item's id.
            samples: (T,) int16 mono.
            rate_hz: Sample rate of the samples.
        """
        loop = asyncio.get_running_loop()
        seconds = len(samples) / rate_hz
        try:
            async with self._one_at_a_time:
                transcript = await loop.run_in_executor(
                    self._executor, self._recognise, samples, rate_hz
                )
        except Exception as error:
            # An error in the recogniser must cost this item only.
            _log.error("recognition of an item failed: %s", origins(error))
            message = str(error) if isinstance(error, ModelError) else "recognition failed"
            self._emit(ItemTranscriptionFailed(item_id, message))
        else:
            self._emit(ItemTranscribed(item_id, transcript, seconds))

    def _recognise(self, samples: Samples, rate_hz: int) -> Transcript:
        if rate_hz != SAMPLE_RATE_HZ:
            resampler = StreamResampler(rate_hz, SAMPLE_RATE_HZ)
            samples = np.concatenate((resampler.push(samples), resampler.flush()))
        framer, stream = Framer(), self._recognizer.open(0, self._domain)
        for frame in framer.push(np.pad(samples, (0, -len(samples) % FRAME_SAMPLES))):
            stream.accept(frame)
        return stream.finish()
