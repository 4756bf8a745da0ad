"""A virtual microphone and loudspeaker, exact to the sample on the event loop's clock.

The microphone delivers a packet at the moment its last sample would have been captured, and the
loudspeaker computes when each sample is heard. So the times of everything the user says and hears
are known exactly. Neither uses the network.

Shapes: T is a number of samples.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import numpy as np

from voice.types import Samples

PACKET_MS = 20
AUDIBLE_ABOVE = 330
"""A sample counts as audible when its magnitude is greater: -40 dBFS."""

Clock = Callable[[], float]


def speech_span(samples: Samples, rate_hz: int) -> tuple[int, int]:
    """Find where speech begins and ends in a recording, by energy in steps of 10 ms.

    A step is speech if its level is within 30 dB of the loudest one and well above the quietest
    tenth. A final sound that fades therefore ends early rather than late, and delays after it read
    longer.

    Args:
        samples: (T,) int16, speech with or without silence and noise around it.
        rate_hz: Rate of the samples.

    Returns:
        Index of the first sample of speech, and the index just past the last.

    Raises:
        ValueError: There is nothing but silence.
    """
    step = rate_hz // 100
    steps = samples[: len(samples) // step * step].astype(np.float64).reshape(-1, step)
    level = np.sqrt(np.mean(steps**2, axis=1))
    if not level.size or not level.max():
        raise ValueError(f"got {len(samples)} samples without any sound; expected speech")
    floor = float(np.quantile(level, 0.1))
    threshold = min(max(level.max() * 10 ** (-30 / 20), 3 * floor), level.max() / 2)
    speech = np.flatnonzero(level > threshold)
    return int(speech[0]) * step, (int(speech[-1]) + 1) * step


def room_tone(seconds: float, rate_hz: int, level_dbfs: float = -66.0) -> Samples:
    """Faint microphone noise: (T,) int16, the same on every call."""
    noise = np.random.default_rng(0).normal(size=round(seconds * rate_hz))
    return np.round(noise * 32768 * 10 ** (level_dbfs / 20)).astype(np.int16)


class Microphone:
    """Delivers speech in real time, mixed with background noise.

    Args:
        rate_hz: Rate of all samples given and delivered.
        clock: The event loop's clock, in seconds.
        background: (T,) int16, repeated without end.

    Attributes:
        start_s: When the first sample was captured, on the clock.
        latest_packet_s: The greatest delay with which a packet has been delivered.
    """

    def __init__(self, rate_hz: int, clock: Clock, background: Samples) -> None:
        self.rate_hz = rate_hz
        self.captured: list[Samples] = []
        self.latest_packet_s = 0.0
        self._clock = clock
        self._background = background
        self._packet = rate_hz * PACKET_MS // 1000
        self._waiting: Samples = np.zeros(0, dtype=np.int16)
        self._position = 0
        self.start_s = clock()

    def time_of(self, position: int) -> float:
        """When a sample, counted from the first, is captured; in seconds on the clock."""
        return self.start_s + position / self.rate_hz

    def say(self, samples: Samples) -> int:
        """Queue (T,) samples to be said; returns the position of their first sample."""
        start = self._position + len(self._waiting)
        self._waiting = np.concatenate((self._waiting, samples))
        return start

    async def run(self, deliver: Callable[[Samples], Awaitable[None]]) -> None:
        """Deliver packets of 20 ms until cancelled, each once its last sample has been captured."""
        self.start_s = self._clock()
        while True:
            due_s = self.time_of(self._position + self._packet)
            await asyncio.sleep(max(0.0, due_s - self._clock()))
            self.latest_packet_s = max(self.latest_packet_s, self._clock() - due_s)
            packet = self._take()
            self.captured.append(packet)
            await deliver(packet)

    def _take(self) -> Samples:
        at = np.arange(self._position, self._position + self._packet) % len(self._background)
        mixed = self._background[at].astype(np.int32)
        said, self._waiting = self._waiting[: self._packet], self._waiting[self._packet :]
        mixed[: len(said)] += said
        self._position += self._packet
        return np.clip(mixed, -32768, 32767).astype(np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class Sounding:
    """A piece of a reply's audio, and when its first sample is heard, in seconds on the clock."""

    item_id: str
    start_s: float
    samples: Samples


@dataclass(frozen=True, slots=True)
class Played:
    """How much of an item has been heard so far."""

    item_id: str
    played_ms: float


class Loudspeaker:
    """Plays pieces of audio one after the other, without any delay of its own.

    Args:
        rate_hz: Rate of all samples given.
        clock: The event loop's clock, in seconds.
    """

    def __init__(self, rate_hz: int, clock: Clock) -> None:
        self.rate_hz = rate_hz
        self.timeline: list[Sounding] = []
        self.underruns = 0
        self._clock = clock
        self._held: list[Sounding] | None = None

    @property
    def silent_from_s(self) -> float:
        """When the last queued sample will have been heard; in the past if nothing is queued."""
        if not self.timeline:
            return float("-inf")
        last = self.timeline[-1]
        return last.start_s + len(last.samples) / self.rate_hz

    @property
    def held(self) -> bool:
        """Whether playback is paused."""
        return self._held is not None

    def play(self, item_id: str, samples: Samples) -> None:
        """Queue audio of a reply's item; it plays at once if nothing else is queued."""
        now_s = self._clock()
        if self._held is not None:
            self._held.append(Sounding(item_id, now_s, samples))
            return
        if self.timeline and self.timeline[-1].item_id == item_id and now_s > self.silent_from_s:
            self.underruns += 1
        self.timeline.append(Sounding(item_id, max(now_s, self.silent_from_s), samples))

    def playing(self) -> Played | None:
        """How much of the current or latest item has been heard; None before any has."""
        now_s = self._clock()
        begun = [piece for piece in self.timeline if piece.start_s <= now_s]
        return self._heard(begun[-1].item_id) if begun else None

    def hold(self) -> None:
        """Pause playback; what has not been heard waits, and so does what is queued meanwhile."""
        if self._held is None:
            self._held = self._cut()

    def release(self) -> None:
        """Resume playback where it paused."""
        waiting, self._held = self._held or [], None
        for piece in waiting:
            start_s = max(self._clock(), self.silent_from_s)
            self.timeline.append(replace(piece, start_s=start_s))

    def flush(self) -> Played | None:
        """Stop and drop what has not been heard; None if nothing was left."""
        dropped = self._cut() if self._held is None else self._held
        self._held = None
        return self._heard(dropped[0].item_id) if dropped else None

    def first_audible_s(self, item_id: str) -> float | None:
        """When the first audible sample of an item is heard; None if there is none yet."""
        for piece in self._of(item_id):
            loud = np.flatnonzero(np.abs(piece.samples.astype(np.int32)) > AUDIBLE_ABOVE)
            if loud.size:
                return piece.start_s + int(loud[0]) / self.rate_hz
        return None

    async def drained(self) -> None:
        """Wait until everything queued has been heard; paused audio does not count."""
        left_s = self.silent_from_s - self._clock()
        if left_s > 0:
            await asyncio.sleep(left_s)
            await self.drained()

    def _cut(self) -> list[Sounding]:
        """Remove from the timeline what has not been heard by now, and return it."""
        now_s = self._clock()
        kept, rest = [], []
        for piece in self.timeline:
            sounded = min(len(piece.samples), round((now_s - piece.start_s) * self.rate_hz))
            if sounded > 0:
                kept.append(replace(piece, samples=piece.samples[:sounded]))
            if sounded < len(piece.samples):
                rest.append(replace(piece, samples=piece.samples[max(0, sounded) :]))
        self.timeline = kept
        return rest

    def _of(self, item_id: str) -> list[Sounding]:
        return [piece for piece in self.timeline if piece.item_id == item_id]

    def _heard(self, item_id: str) -> Played:
        now_s = self._clock()
        lasting = [
            min(len(piece.samples) / self.rate_hz, max(0.0, now_s - piece.start_s))
            for piece in self._of(item_id)
        ]
        return Played(item_id, 1000 * sum(lasting))


def stereo(microphone: Microphone, loudspeaker: Loudspeaker) -> Samples:
    """The conversation as a listener in the room would have recorded it.

    Returns:
        (T, 2) int16 at the microphone's rate: the user on the left, the agent on the right.

    Raises:
        ValueError: The two run at different rates.
    """
    if microphone.rate_hz != loudspeaker.rate_hz:
        raise ValueError(
            f"got {microphone.rate_hz} and {loudspeaker.rate_hz} Hz; expected the same rate"
        )
    left = np.concatenate([np.zeros(0, dtype=np.int16), *microphone.captured])
    placed = [
        (max(0, round((s.start_s - microphone.start_s) * microphone.rate_hz)), s.samples)
        for s in loudspeaker.timeline
    ]
    length = max([len(left), *(at + len(samples) for at, samples in placed)])
    both = np.zeros((length, 2), dtype=np.int16)
    both[: len(left), 0] = left
    for at, samples in placed:
        both[at : at + len(samples), 1] = samples
    return both
