"""The agent's audio on its way to a telephone: cut into frames, paced, and followed by marks.

Only a little audio is sent ahead, which keeps interruptions short. Marks tell what has been played,
or the clock if the protocol has none. There is no I/O: the caller passes the time.

Shapes: T is a number of samples.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from voice.telephony.codec import Traits
from voice.types import Samples

MARK_EVERY_MS = 200
MAX_QUEUED_SAMPLES = 32 * 1024 * 1024
"""64 MiB, more than an hour at 8 kHz. A whole reply is often queued long before it is heard."""
MARK_LATE_S = 5.0
"""A mark this late never comes: the far side answers none, and has played what it got."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a reply has been played."""

    reply_id: str
    played_ms: float


@dataclass(slots=True)
class _Reply:
    """A reply that has not been played to its end.

    Attributes:
        waiting: Audio that has not been sent.
        samples: Number of samples waiting.
        sent_ms: How much has been sent.
        marked_ms: Position of its last mark.
        played_ms: Position up to which it has certainly been played.
        since_s: When that position was reached, or when the first sample was to sound.
        ended: Whether nothing will be added.
        closed: Whether all of it has been sent and marked.
    """

    reply_id: str
    waiting: deque[Samples] = field(default_factory=deque)
    samples: int = 0
    sent_ms: float = 0.0
    marked_ms: float = 0.0
    played_ms: float = 0.0
    since_s: float | None = None
    ended: bool = False
    closed: bool = False


@dataclass(frozen=True, slots=True)
class _Point:
    """A mark in a reply; ``due_s`` is when playback reaches it if nothing delays the audio."""

    name: str
    reply: _Reply
    ms: float
    due_s: float


class Playback:
    """The audio that is to be played, and how much has been.

    Args:
        rate_hz: Sample rate of all audio.
        traits: Traits of the protocol.

    Attributes:
        dry_s: When everything sent will have been played, if nothing delays it.
    """

    def __init__(self, rate_hz: int, traits: Traits) -> None:
        self.dry_s = 0.0
        self._rate_hz = rate_hz
        self._traits = traits
        self._late_s = MARK_LATE_S if traits.marks else 0.0
        self._frame = rate_hz * traits.frame_ms // 1000
        self._replies: dict[str, _Reply] = {}
        self._points: deque[_Point] = deque()
        self._marks = 0
        self._open = True
        self._held = False

    @property
    def idle(self) -> bool:
        """Whether everything has been sent and played."""
        return not self._replies

    @property
    def sounding(self) -> tuple[str, ...]:
        """The replies of which something has been sent but not everything has been played."""
        return tuple(name for name, reply in self._replies.items() if reply.since_s is not None)

    @property
    def waiting_s(self) -> float:
        """Seconds of audio that have not been sent."""
        return sum(reply.samples for reply in self._replies.values()) / self._rate_hz

    def say(self, reply_id: str, samples: Samples) -> bool:
        """Queue samples of a reply for playback; False if far too much is waiting."""
        # Replies that are made at the same time send pieces of audio in turns.
        reply = self._replies.setdefault(reply_id, _Reply(reply_id))
        reply.waiting.append(samples)
        reply.samples += len(samples)
        return sum(waiting.samples for waiting in self._replies.values()) <= MAX_QUEUED_SAMPLES

    def flow(self, is_open: bool) -> None:
        """Set whether the line accepts audio."""
        self._open = is_open

    def hold(self) -> None:
        """Send nothing until it is clear whether the user speaks."""
        self._held = True

    def release(self) -> None:
        """Resume sending where it was held."""
        self._held = False

    def end(self, reply_id: str) -> None:
        """Note that a reply is complete."""
        if reply := self._replies.get(reply_id):
            reply.ended = True

    def due(self, now_s: float) -> list[Samples | str]:
        """What is due to be sent by now, in order: frames, (T,) int16, and names of marks."""
        out: list[Samples | str] = []
        while (reply := self._next()) and self._send_s() <= now_s:
            if reply.samples:
                out.append(self._send(reply, now_s))
            reply.closed = reply.ended and not reply.samples
            if reply.closed or reply.sent_ms - reply.marked_ms >= MARK_EVERY_MS:
                name = self._mark(reply)
                out += [name] if self._traits.marks else []
        return out

    def wait_s(self, now_s: float) -> float | None:
        """Seconds until something may be due; None if nothing is until the next change."""
        times = [self._send_s()] if self._next() else []
        if self._points:
            times.append(self._points[0].due_s + self._late_s)
        return max(0.0, min(times) - now_s) if times else None

    def elapsed(self, now_s: float) -> list[Progress]:
        """What must have been played by now, for marks that are not used or have not come back."""
        out = []
        while self._points and self._points[0].due_s + self._late_s <= now_s:
            out.append(self._settle(self._points.popleft(), now_s))
        return out

    def played(self, name: str, now_s: float) -> Progress | None:
        """Handle a mark that has come back; None if it was cleared or never sent."""
        if all(point.name != name for point in self._points):
            return None
        while True:
            progress = self._settle(point := self._points.popleft(), now_s)
            if point.name == name:
                return progress

    def clear(self, now_s: float) -> list[Progress]:
        """Drop what has not been played; returns how much was played of each reply cut short."""
        cut = [Progress(name, self._position_ms(r, now_s)) for name, r in self._replies.items()]
        self._replies.clear()
        self._points.clear()
        self.dry_s = now_s
        self._held = False
        return cut

    def _next(self) -> _Reply | None:
        """The reply to send from next; None if nothing can be sent now."""
        reply = next((r for r in self._replies.values() if not r.closed), None)
        if reply is None or not self._open or self._held:
            return None
        return reply if reply.ended or reply.samples >= self._frame else None

    def _send_s(self) -> float:
        return self.dry_s - self._traits.ahead_ms / 1000

    def _send(self, reply: _Reply, now_s: float) -> Samples:
        pieces, count = [], 0
        while reply.waiting and count < self._frame:
            piece = reply.waiting.popleft()
            taken = piece[: self._frame - count]
            if len(taken) < len(piece):
                reply.waiting.appendleft(piece[len(taken) :])
            pieces.append(taken)
            count += len(taken)
        begins_s = max(self.dry_s, now_s)
        if reply.since_s is None:
            reply.since_s = begins_s
        reply.samples -= count
        reply.sent_ms += count * 1000 / self._rate_hz
        self.dry_s = begins_s + count / self._rate_hz
        return np.concatenate(pieces)

    def _mark(self, reply: _Reply) -> str:
        self._marks += 1
        name = f"m{self._marks}"
        reply.marked_ms = reply.sent_ms
        # A millisecond past the end, because the length is a sum of rounded parts.
        ms = reply.sent_ms + (1 if reply.closed else 0)
        self._points.append(_Point(name, reply, ms, self.dry_s))
        return name

    def _settle(self, point: _Point, now_s: float) -> Progress:
        reply = point.reply
        reply.played_ms, reply.since_s = point.ms, now_s
        if reply.closed and all(other.reply is not reply for other in self._points):
            del self._replies[reply.reply_id]
        return Progress(reply.reply_id, point.ms)

    def _position_ms(self, reply: _Reply, now_s: float) -> float:
        """Estimate how much has been played: by the clock, but not past the next mark."""
        if reply.since_s is None:
            return 0.0
        certain = max(0.0, now_s - reply.since_s) * 1000 + reply.played_ms
        ahead = [point.ms for point in self._points if point.reply is reply]
        limit = ahead[0] if self._traits.marks and ahead else reply.sent_ms
        return min(certain, limit, reply.sent_ms)
