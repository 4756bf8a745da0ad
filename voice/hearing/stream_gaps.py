"""Tells a stream that has fallen silent from one whose audio comes in bursts.

Some clients send nothing while nobody speaks, but a turn can only end in audio, so silence is fed
in for them. Others collect a second or more before they send it. Such a burst was recorded since
the one before, so it is no longer than that time, and the next one comes after as long again. A
recording that is sent faster than it was spoken is longer than that time.

Time is counted in calls of `StreamGaps.check`, because a busy event loop has not yet read what has
arrived.
"""

from __future__ import annotations

import math

CHECK_S = 0.25
SILENT_STREAM_S = 1.0
"""A stream is silent when its audio is late by this much."""


class StreamGaps:
    """The gaps of one stream, which is checked every `CHECK_S`."""

    def __init__(self) -> None:
        self._arrived_s = 0.0
        self._gap_s = 0.0
        self._gap_before_s = 0.0
        # A stream has to begin before it can fall silent.
        self._longest_gap_s = math.inf

    def check(self, arrived_s: float) -> float:
        """Take the length of the audio that has arrived since the last check.

        Returns:
            The length of the silence to feed in now, in seconds.
        """
        # A burst may be in the middle of being read.
        burst_s, self._arrived_s = self._arrived_s + arrived_s, arrived_s
        if arrived_s:
            if self._gap_s:
                self._gap_before_s, self._gap_s = self._gap_s, 0.0
            early_s = max(0.0, burst_s - 2 * CHECK_S)
            live = early_s <= self._gap_before_s + SILENT_STREAM_S
            self._longest_gap_s = SILENT_STREAM_S + (early_s if live else 0.0)
            return 0.0
        fed = self._gap_s + CHECK_S > self._longest_gap_s
        self._gap_s += CHECK_S
        if self._gap_s + CHECK_S <= self._longest_gap_s:
            return 0.0
        return CHECK_S if fed else self._gap_s
