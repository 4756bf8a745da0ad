"""What is said is heard here, and what is heard is recorded here: a sound device, or files.

All of it blocks, and belongs in a thread.
"""

from __future__ import annotations

import queue
import time
import wave
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import soxr

from voice.audio import Framer, StreamResampler, write_wav
from voice.config import LocalConfig
from voice.errors import DeviceError
from voice.hearing.vad import Vad
from voice.types import FRAME_MS, SAMPLE_RATE_HZ, Samples

SILENCE_MS = 900
"""Ends a recording once somebody has spoken."""
_LOST_S = 5.0
"""A microphone that gives nothing for so long is gone."""


class Sound(Protocol):
    """A loudspeaker and a microphone."""

    def play(self, samples: Samples, rate_hz: int) -> None:
        """Play (T,) int16 samples to their end.

        Raises:
            DeviceError: The device or the file cannot be used.
        """

    def blocks(self) -> Iterator[Samples]:
        """What the microphone hears from now on, (T,) int16 at 16 kHz each.

        Raises:
            DeviceError: As `play`.
        """


class DeviceSound:
    """PortAudio's devices, opened for each use."""

    def __init__(self, config: LocalConfig) -> None:
        self._config = config

    def play(self, samples: Samples, rate_hz: int) -> None:
        """See `Sound.play`."""
        from voice.local.sound_card import SoundCard

        card = SoundCard(self._config.input_device, self._config.output_device)
        with card.running(lambda block, start_s: None):
            card.queue.push("say", soxr.resample(samples, rate_hz, card.queue.rate_hz))
            time.sleep(len(samples) / rate_hz)
            time.sleep(max(0.0, card.queue.silent_from_s(card.now_s) - card.now_s))

    def blocks(self) -> Iterator[Samples]:
        """See `Sound.blocks`."""
        from voice.local.sound_card import SoundCard

        card = SoundCard(self._config.input_device, self._config.output_device)
        # Unbounded in name: who takes blocks from it is faster than they come.
        heard: queue.SimpleQueue[Samples] = queue.SimpleQueue()
        stream = StreamResampler(card.input_rate_hz, SAMPLE_RATE_HZ)
        with card.running(lambda block, start_s: heard.put(block)):
            while True:
                try:
                    yield stream.push(heard.get(timeout=_LOST_S))
                except queue.Empty as error:
                    raise DeviceError("the microphone gives no sound") from error


class FileSound:
    """WAV files in place of devices: what is said replaces the one, what is heard is the other."""

    def __init__(self, speaker: Path, microphone: Path) -> None:
        self._speaker = speaker
        self._microphone = microphone

    def play(self, samples: Samples, rate_hz: int) -> None:
        """See `Sound.play`."""
        try:
            write_wav(self._speaker, samples, rate_hz)
        except OSError as error:
            raise DeviceError(f"{self._speaker}: cannot be written: {error.strerror}") from error

    def blocks(self) -> Iterator[Samples]:
        """See `Sound.blocks`."""
        try:
            with wave.open(str(self._microphone), "rb") as file:
                if file.getsampwidth() != 2:
                    raise DeviceError(f"{self._microphone}: expected 16 bits a sample")
                shape = (-1, file.getnchannels())
                samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(shape)
                mono = samples[:, 0].astype(np.int16)
                yield soxr.resample(mono, file.getframerate(), SAMPLE_RATE_HZ)
        except (OSError, EOFError, wave.Error) as error:
            raise DeviceError(f"{self._microphone}: cannot be read: {error}") from error


def utterance(blocks: Iterable[Samples], vad: Vad, threshold: float, most_s: float) -> Samples:
    """What somebody says first, with the silence around it, (T,) int16 at 16 kHz.

    Args:
        blocks: Of a microphone.
        vad: A detector of its own.
        threshold: Probability from which on a frame counts as speech.
        most_s: Seconds after which it ends in any case.
    """
    framer, kept = Framer(), [np.empty(0, np.int16)]
    spoke, silent_ms = False, 0
    for block in blocks:
        for frame in framer.push(block):
            kept.append(frame.samples)
            speech = vad.probability(frame) >= threshold
            spoke, silent_ms = spoke or speech, 0 if speech else silent_ms + FRAME_MS
            if len(kept) * FRAME_MS >= most_s * 1000 or (spoke and silent_ms >= SILENCE_MS):
                return np.concatenate(kept)
    return np.concatenate(kept)
