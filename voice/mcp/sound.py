"""Plays what is said and records what is heard, through a sound device or files.

All of it blocks, and belongs in a thread.
"""

from __future__ import annotations

import queue
import time
import wave
from collections.abc import Generator, Iterable
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
"""Length of silence that ends a recording once somebody has spoken."""
_LOST_S = 5.0
"""A microphone that delivers nothing for this long is gone."""


class Sound(Protocol):
    """A loudspeaker and a microphone."""

    def play(self, samples: Samples, rate_hz: int) -> None:
        """Play (T,) int16 samples to their end.

        Raises:
            DeviceError: The device or the file cannot be used.
        """

    def blocks(self) -> Generator[Samples, None, None]:
        """Audio from the microphone from now on, in blocks of (T,) int16 at 16 kHz.

        Raises:
            DeviceError: As for `play`.
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

    def blocks(self) -> Generator[Samples, None, None]:
        """See `Sound.blocks`."""
        from voice.local.sound_card import SoundCard

        card = SoundCard(self._config.input_device, self._config.output_device)
        # Needs no bound, because blocks are consumed faster than they come.
        heard: queue.SimpleQueue[Samples] = queue.SimpleQueue()
        stream = StreamResampler(card.input_rate_hz, SAMPLE_RATE_HZ)
        with card.running(lambda block, start_s: heard.put(block)):
            while True:
                try:
                    yield stream.push(heard.get(timeout=_LOST_S))
                except queue.Empty as error:
                    raise DeviceError("the microphone gives no sound") from error


class FileSound:
    """WAV files instead of devices: what is said overwrites one, and the other is heard."""

    def __init__(self, speaker: Path, microphone: Path) -> None:
        self._speaker = speaker
        self._microphone = microphone

    def play(self, samples: Samples, rate_hz: int) -> None:
        """See `Sound.play`."""
        try:
            write_wav(self._speaker, samples, rate_hz)
        except OSError as error:
            raise DeviceError(f"{self._speaker}: cannot be written: {error.strerror}") from error

    def blocks(self) -> Generator[Samples, None, None]:
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
    """Record the first thing that somebody says, with the silence around it, (T,) int16 at 16 kHz.

    Args:
        blocks: Blocks from a microphone.
        vad: A detector for this recording alone.
        threshold: Probability at which a frame counts as speech.
        most_s: Seconds after which the recording ends in any case.
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
