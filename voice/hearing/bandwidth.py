"""Whether audio carries only a telephone's band, whatever its sample rate.

A gateway that passes a telephone call on at 16 or 24 kHz leaves nothing above 4 kHz but the noise
of rounding, -104 to -96 dBFS. In recordings by microphone it was never below -89 over 20 loud
frames.
"""

from __future__ import annotations

import numpy as np

from voice.audio import level_dbfs
from voice.types import FRAME_SAMPLES, SAMPLE_RATE_HZ, AudioFrame

_FROM_HZ = 4300
_LOUD_DBFS = -45.0
_ROUNDING_DBFS = -92.0
_LOUD_FRAMES = 40
_WINDOW = np.hanning(FRAME_SAMPLES)
_ABOVE = np.fft.rfftfreq(FRAME_SAMPLES, 1 / SAMPLE_RATE_HZ) > _FROM_HZ
_SCALE = 2 / (32768.0**2 * FRAME_SAMPLES * float(np.sum(_WINDOW**2)))


class Bandwidth:
    """Listens to a stream until it is known that it is a telephone's."""

    def __init__(self) -> None:
        self._levels: list[float] = []

    def is_narrow(self, frame: AudioFrame) -> bool:
        """Take the next frame of speech; whether the loud ones so far have a telephone's band.

        The mean level of the last 40 of them above 4.3 kHz decides, and of fewer nothing is said.
        """
        if level_dbfs(frame.samples) < _LOUD_DBFS:
            return False
        spectrum = np.fft.rfft(frame.samples * _WINDOW)[_ABOVE]
        power = float(np.sum(np.abs(spectrum) ** 2)) * _SCALE
        self._levels = [*self._levels[1 - _LOUD_FRAMES :], 10 * np.log10(power + 1e-12)]
        full = len(self._levels) == _LOUD_FRAMES
        return full and sum(self._levels) / _LOUD_FRAMES <= _ROUNDING_DBFS
