"""WebRTC's detector behind a level gate that follows the noise floor.

On its own, WebRTC's Gaussian mixtures take keyboards, dishes and steady noise for speech, and go on
reporting speech for 140 ms after it ends. Here a frame counts only if it also stands out from the
background (the quietest of the last seconds) and is not far below the loudest recent speech.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from voice.audio import level_dbfs, pcm16_from_samples
from voice.types import FRAME_MS, SAMPLE_RATE_HZ, AudioFrame

_FLOOR_WINDOW_MS = 3000
_LOWEST_FLOOR_DBFS = -65.0
_ABOVE_FLOOR_DB = 12.0
_BELOW_PEAK_DB = 32.0
_PEAK_DECAY_DB = 0.1
_SMOOTHING = 0.5


class WebRtcVad:
    """WebRTC VAD over a stream, smoothed to a probability.

    Args:
        aggressiveness: 0 lets most through, 3 rejects most.
    """

    def __init__(self, aggressiveness: int) -> None:
        import webrtcvad

        self._new_detector: Callable[[], Any] = partial(webrtcvad.Vad, aggressiveness)
        self.reset()

    def reset(self) -> None:
        """Forget the stream: the next frame begins a new one."""
        self._detector = self._new_detector()
        self._levels: deque[float] = deque(maxlen=_FLOOR_WINDOW_MS // FRAME_MS)
        self._peak_dbfs = -100.0
        self._probability = 0.0

    def probability(self, frame: AudioFrame) -> float:
        """Share of recent frames that hold speech, newer ones weighted more; in [0, 1]."""
        level = level_dbfs(frame.samples)
        self._levels.append(level)
        says_speech = self._detector.is_speech(pcm16_from_samples(frame.samples), SAMPLE_RATE_HZ)
        active = bool(says_speech) and self._stands_out(level)
        self._peak_dbfs = max(level if active else -100.0, self._peak_dbfs - _PEAK_DECAY_DB)
        self._probability += _SMOOTHING * (active - self._probability)
        return self._probability

    def _stands_out(self, level: float) -> bool:
        floor = max(_LOWEST_FLOOR_DBFS, min(self._levels))
        return level > floor + _ABOVE_FLOOR_DB and level > self._peak_dbfs - _BELOW_PEAK_DB
