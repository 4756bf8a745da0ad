"""The audio of one turn as a recogniser collects it.

It tells whether the audio since a final decode is more speech or only silence, so that a recogniser
need not decode silence again and again until the turn ends.
"""

from __future__ import annotations

import numpy as np

from voice.audio import level_dbfs
from voice.types import AudioFrame, Samples

_SILENCE_BELOW_PEAK_DB = 25.0
_SPEECH_FRAMES = 3
_AROUND_SPEECH_FRAMES = 10
_FAINT_BELOW_PEAK_DB = 35.0


class TurnAudio:
    """The audio of a turn, which grows frame by frame.

    Attributes:
        length: Samples so far.
        end_sample: Where they end in the session's audio.
    """

    def __init__(self) -> None:
        self.length = 0
        self.end_sample = 0
        self._frames: list[Samples] = []
        self._levels: list[float] = []
        self._peak_dbfs = -100.0
        self._loud_since_mark = 0

    def append(self, frame: AudioFrame) -> None:
        """Take the next frame."""
        self._frames.append(frame.samples)
        self.length += len(frame.samples)
        self.end_sample = frame.end_sample
        level = level_dbfs(frame.samples)
        self._levels.append(level)
        self._peak_dbfs = max(self._peak_dbfs, level)
        if level > self._peak_dbfs - _SILENCE_BELOW_PEAK_DB:
            self._loud_since_mark += 1

    def samples(self) -> Samples:
        """All of it, (T,) int16 at 16 kHz."""
        return np.concatenate(self._frames) if self._frames else np.empty(0, np.int16)

    def around_speech(self) -> Samples:
        """The frames within 200 ms of a loud one, joined: (T,) int16 at 16 kHz."""
        loud = np.array(self._levels) > self._peak_dbfs - _FAINT_BELOW_PEAK_DB
        reach = np.ones(2 * _AROUND_SPEECH_FRAMES + 1)
        near = np.convolve(loud, reach)[_AROUND_SPEECH_FRAMES:-_AROUND_SPEECH_FRAMES] > 0.5
        kept = [frame for frame, keep in zip(self._frames, near, strict=True) if keep]
        return np.concatenate(kept) if kept else np.empty(0, np.int16)

    def mark(self) -> None:
        """Mark everything so far as decoded."""
        self._loud_since_mark = 0

    def speech_since_mark(self) -> bool:
        """Whether sound about as loud as the speech before it has arrived since `mark`."""
        return self._loud_since_mark >= _SPEECH_FRAMES
