"""What a loudspeaker still has to play, and how much of each reply has been heard.

The sound card's callback pulls; whoever receives the agent's audio pushes. Times are always passed
in, as seconds on the sound card's clock. PortAudio is not used here.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np

from voice.types import Samples

FADE_MS = 5
"""Length of the fade-out when playback is held, to avoid a click."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How much of a reply has been heard so far."""

    reply_id: str
    played_ms: float


@dataclass(frozen=True, slots=True)
class _Block:
    reply_id: str
    sounds_at_s: float
    samples: int


class PlaybackQueue:
    """The queue between the agent and a sound card; safe to use from both threads.

    It has no limit of its own: replies are limited by the agent, and `flush` empties the queue.

    Args:
        rate_hz: Rate of all samples.
    """

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, Samples]] = deque()
        self._handed: deque[_Block] = deque()
        self._total: dict[str, int] = {}
        self._held = False
        self._fade_left = 0

    def push(self, reply_id: str, samples: Samples) -> None:
        """Add (T,) int16 samples of a reply."""
        if not len(samples):
            return
        with self._lock:
            self._waiting.append((reply_id, samples))

    def pull(self, count: int, sounds_at_s: float) -> Samples:
        """Give the next samples to the sound card.

        Args:
            count: Number of samples wanted.
            sounds_at_s: When the first of them will be heard.

        Returns:
            (count,) int16, with zeros once there is nothing to play.
        """
        pulled = np.zeros(count, dtype=np.int16)
        with self._lock:
            wanted = min(count, self._fade_left) if self._held else count
            filled = 0
            while filled < wanted and self._waiting:
                reply_id, samples = self._waiting.popleft()
                taken = samples[: wanted - filled]
                pulled[filled : filled + len(taken)] = taken
                if len(taken) < len(samples):
                    self._waiting.appendleft((reply_id, samples[len(taken) :]))
                self._note(_Block(reply_id, sounds_at_s + filled / self.rate_hz, len(taken)))
                filled += len(taken)
            if self._held:
                self._fade_left -= filled
                pulled[:filled] = pulled[:filled] * np.linspace(1, 0, filled + 1)[1:]
        return pulled

    def hold(self) -> None:
        """Fade to silence within a few milliseconds and keep the position."""
        with self._lock:
            if not self._held:
                self._held, self._fade_left = True, self.rate_hz * FADE_MS // 1000

    def release(self) -> None:
        """Resume playback where it was held."""
        with self._lock:
            self._held = False

    def heard(self, now_s: float) -> Heard | None:
        """How much of the current or latest reply has been heard; None before any has."""
        with self._lock:
            begun = [block for block in self._handed if block.sounds_at_s <= now_s]
            return self._heard(begun[-1].reply_id, now_s) if begun else None

    def flush(self) -> Heard | None:
        """Drop what has not been given to the sound card; None if there was nothing to drop.

        What the sound card already has cannot be taken back, and counts as heard.
        """
        with self._lock:
            self._held = False
            if not self._waiting:
                return None
            reply_id = self._waiting[0][0]
            self._waiting.clear()
            return Heard(reply_id, 1000 * self._total.get(reply_id, 0) / self.rate_hz)

    def silent_from_s(self, now_s: float) -> float:
        """When everything pushed will have been heard; in the past, or -inf, if it has been.

        Held audio does not count, since nothing of it is heard before the release.
        """
        with self._lock:
            last = self._handed[-1] if self._handed else None
            end_s = last.sounds_at_s + last.samples / self.rate_hz if last else float("-inf")
            waiting = 0 if self._held else sum(len(samples) for _, samples in self._waiting)
            return max(end_s, now_s) + waiting / self.rate_hz if waiting else end_s

    def _note(self, block: _Block) -> None:
        if self._handed and block.reply_id != self._handed[-1].reply_id:
            # Only the last two replies can be audible at once, so totals of older ones are useless.
            self._total = {self._handed[-1].reply_id: self._total[self._handed[-1].reply_id]}
        self._total[block.reply_id] = self._total.get(block.reply_id, 0) + block.samples
        self._handed.append(block)
        while self._handed[0].sounds_at_s < block.sounds_at_s - 2.0:
            self._handed.popleft()

    def _heard(self, reply_id: str, now_s: float) -> Heard:
        unheard = sum(
            block.samples - min(block.samples, max(0.0, (now_s - block.sounds_at_s) * self.rate_hz))
            for block in self._handed
            if block.reply_id == reply_id
        )
        return Heard(reply_id, 1000 * (self._total[reply_id] - unheard) / self.rate_hz)
