"""Removes the loudspeaker's sound from the microphone's: WebRTC's echo canceller, from livekit.

Played audio is passed in on one thread; the microphone's audio is cleaned on another, which does
all the work. The canceller infers the echo's delay from the numbers of samples on both sides. A
dropout of either device changes that delay, and the agent's voice comes through until the canceller
has found the new one.

Shapes: T is a number of samples.
"""

from __future__ import annotations

from collections import deque
from importlib.util import find_spec
from typing import Any

import numpy as np

from voice.audio import StreamResampler
from voice.types import SAMPLE_RATE_HZ, Samples

_STEP = SAMPLE_RATE_HZ // 100
"""WebRTC works on pieces of 10 ms."""
_WAITING_BLOCKS = 512
"""Played blocks that are kept while nothing is captured; the oldest go first."""
_LONGEST_DELAY_MS = 500
SETTLING_S = 4.0
"""How long echo may come through after a dropout; up to 3.5 s have been measured."""


def can_cancel() -> bool:
    """Whether the canceller's package is installed."""
    return find_spec("livekit") is not None


class EchoCanceller:
    """Removes the echo of one loudspeaker from one microphone.

    Args:
        played_hz: Sample rate of the loudspeaker.
        captured_hz: Sample rate of the microphone.
        delay_ms: Rough time from playback to capture, which the canceller refines.
    """

    def __init__(self, played_hz: int, captured_hz: int, delay_ms: float) -> None:
        from livekit.rtc import AudioFrame, AudioProcessingModule

        self._frame: Any = AudioFrame
        self._module: Any = AudioProcessingModule(echo_cancellation=True, high_pass_filter=True)
        self._delay_ms = round(min(_LONGEST_DELAY_MS, max(0.0, delay_ms)))
        self._played: deque[Samples] = deque(maxlen=_WAITING_BLOCKS)
        self._far = _Steps(played_hz)
        self._near = _Steps(captured_hz)

    def played(self, samples: Samples) -> None:
        """Take (T,) samples given to the loudspeaker, silence included; from any one thread."""
        self._played.append(samples)

    def clean(self, samples: Samples) -> Samples:
        """Remove the echo from (T,) microphone samples; takes about 20 ms of work per second.

        Returns:
            Samples at 16 kHz, in whole pieces of 10 ms; the rest comes with the next call.
        """
        while self._played:
            for step in self._far.push(self._played.popleft()):
                self._module.process_reverse_stream(self._of(step))
        cleaned = []
        for step in self._near.push(samples):
            frame = self._of(step)
            self._module.set_stream_delay_ms(self._delay_ms)
            self._module.process_stream(frame)
            cleaned.append(np.frombuffer(frame.data, np.int16).copy())
        return np.concatenate(cleaned) if cleaned else np.zeros(0, np.int16)

    def _of(self, step: Samples) -> Any:
        return self._frame(step.tobytes(), SAMPLE_RATE_HZ, 1, _STEP)


class _Steps:
    """Cuts audio of any rate and length into pieces of 10 ms at 16 kHz."""

    def __init__(self, rate_hz: int) -> None:
        resamples = rate_hz != SAMPLE_RATE_HZ
        self._resampler = StreamResampler(rate_hz, SAMPLE_RATE_HZ) if resamples else None
        self._rest: Samples = np.zeros(0, np.int16)

    def push(self, samples: Samples) -> list[Samples]:
        if self._resampler is not None:
            samples = self._resampler.push(samples)
        audio = np.concatenate([self._rest, samples])
        whole = len(audio) // _STEP * _STEP
        self._rest = audio[whole:]
        return [audio[at : at + _STEP] for at in range(0, whole, _STEP)]
