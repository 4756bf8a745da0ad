"""How telephone protocols write audio: G.711, and linear samples of either byte order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from voice.audio import (
    alaw_from_samples,
    mulaw_from_samples,
    samples_from_alaw,
    samples_from_mulaw,
)
from voice.errors import ProtocolError
from voice.types import Samples

RATES_HZ = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 96000, 192000)


class Encoding(StrEnum):
    """How a sample is written."""

    MULAW = "mulaw"
    ALAW = "alaw"
    L16_LITTLE = "l16-little"
    L16_BIG = "l16-big"


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """An encoding at a rate.

    Raises:
        ProtocolError: The rate is none that telephones use.
    """

    encoding: Encoding
    rate_hz: int = 8000

    def __post_init__(self) -> None:
        if self.rate_hz not in RATES_HZ:
            raise ProtocolError(f"got the sample rate {self.rate_hz}; expected one of {RATES_HZ}")

    @property
    def sample_bytes(self) -> int:
        """Bytes of a sample."""
        return 1 if self.encoding in (Encoding.MULAW, Encoding.ALAW) else 2

    def decode(self, data: bytes) -> Samples:
        """(T,) int16 samples of encoded audio.

        Raises:
            ProtocolError: The last sample is incomplete.
        """
        if len(data) % self.sample_bytes:
            raise ProtocolError(f"got {len(data)} bytes of 16-bit audio; expected an even number")
        match self.encoding:
            case Encoding.MULAW:
                return samples_from_mulaw(data)
            case Encoding.ALAW:
                return samples_from_alaw(data)
            case Encoding.L16_LITTLE:
                return np.frombuffer(data, "<i2").astype(np.int16)
            case Encoding.L16_BIG:
                return np.frombuffer(data, ">i2").astype(np.int16)

    def encode(self, samples: Samples) -> bytes:
        """Encoded audio of (T,) int16 samples."""
        match self.encoding:
            case Encoding.MULAW:
                return mulaw_from_samples(samples)
            case Encoding.ALAW:
                return alaw_from_samples(samples)
            case Encoding.L16_LITTLE:
                return samples.astype("<i2").tobytes()
            case Encoding.L16_BIG:
                return samples.astype(">i2").tobytes()


def padded(samples: Samples, multiple: int) -> Samples:
    """Samples with silence behind them up to a multiple of so many."""
    missing = -len(samples) % multiple
    return np.concatenate([samples, np.zeros(missing, np.int16)]) if missing else samples
