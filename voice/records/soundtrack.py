"""Both sides of a conversation as they were heard, on one clock.

The user's audio lies where it arrived, and where a line sends none there is silence. The agent's is
played by a loudspeaker that begins at once, pauses when the reply is held and stops with it; what
the client reports not to have played is taken back. No I/O. Positions are samples at `RATE_HZ`
since the conversation began.

Shapes: T is a number of samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voice.audio import StreamResampler
from voice.events import RECENT_REPLIES
from voice.speech.audio_files import RATE_HZ
from voice.types import SAMPLE_RATE_HZ, Samples

HELD_BACK = RATE_HZ
"""A client reports what it has played within a second; until then a sample may be taken back."""
LONGEST = 30 * RATE_HZ
"""Given out at a time, which bounds memory also where nobody asked for long."""
GAP = 3 * RATE_HZ // 10
"""Audio that comes so much later than it was due follows silence, and no jitter of the network."""
_KEPT = 256

Both = NDArray[np.int16]
"""(T, 2): the user's side and the agent's."""


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Audio of a reply, from a position in it on."""

    reply_id: str
    position: int
    samples: Samples


@dataclass(frozen=True, slots=True)
class _Run:
    """Audio of a reply that has sounded without a break, from ``at`` on."""

    reply_id: str
    position: int
    at: int
    length: int


class Soundtrack:
    """One conversation's sound.

    Args:
        clock: Seconds of any steady clock.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began_s = clock()
        # A client that sends audio sooner than it can have been spoken puts the clock forward.
        self._ahead = 0
        self._both: Both = np.zeros((0, 2), np.int16)
        self._taken = self._user_end = self._agent_end = self._heard = 0
        # How much silence lies before the user's audio from a position in it on.
        self._silences: deque[tuple[int, int]] = deque([(0, 0)], maxlen=_KEPT)
        self._waiting: deque[_Piece] = deque()
        self._runs: deque[_Run] = deque(maxlen=_KEPT)
        self._said: dict[str, int] = {}
        self._resamplers: dict[int | str, StreamResampler] = {}
        self._held = False

    @property
    def now_ms(self) -> float:
        """The time."""
        return self._now() * 1000 / RATE_HZ

    @property
    def heard(self) -> int:
        """How much of the user's audio there is, in samples of the session."""
        return self._heard * SAMPLE_RATE_HZ // RATE_HZ

    def hear(self, samples: Samples, rate_hz: int) -> None:
        """The user's audio goes on by (T,) int16."""
        stream = self._resamplers.setdefault(rate_hz, StreamResampler(rate_hz, RATE_HZ))
        samples = stream.push(samples)
        now = self._advance()
        late = now - len(samples) - self._user_end
        if late > (GAP if self._heard else 0):
            self._user_end += late
            self._silences.append((self._heard, self._user_end - self._heard))
        self._put(0, self._user_end, samples)
        self._user_end += len(samples)
        self._heard += len(samples)
        self._ahead += max(0, self._user_end - now)

    def say(self, reply_id: str, samples: Samples, rate_hz: int) -> None:
        """A reply goes on by (T,) int16."""
        self._advance()
        stream = self._resamplers.setdefault(reply_id, StreamResampler(rate_hz, RATE_HZ))
        self._queue(reply_id, stream.push(samples))

    def end(self, reply_id: str) -> None:
        """A reply goes on no more."""
        if stream := self._resamplers.pop(reply_id, None):
            self._queue(reply_id, stream.flush())

    def hold(self, held: bool) -> None:
        """The agent's sound pauses, or goes on."""
        self._advance()
        self._held = held

    def stop(self) -> None:
        """The agent's sound stops."""
        self._advance()
        self._waiting.clear()
        self._held = False

    def truncate(self, reply_id: str, played_ms: float) -> None:
        """No more than this was played of a reply."""
        self._advance()
        kept = round(played_ms * RATE_HZ / 1000)
        self._waiting = deque(p for p in self._waiting if p.reply_id != reply_id)
        for run in self._runs:
            end = run.at + run.length
            cut = max(self._taken, run.at + max(0, kept - run.position))
            if run.reply_id == reply_id and cut < end:
                self._both[cut - self._taken : end - self._taken, 1] = 0

    def ms_of(self, sample: int) -> float:
        """When a sample of the session's audio was spoken."""
        position = sample * RATE_HZ // SAMPLE_RATE_HZ
        before = [silence for at, silence in self._silences if at <= position]
        return (position + (before or [self._silences[0][1]])[-1]) * 1000 / RATE_HZ

    def ms_in_reply(self, reply_id: str, ms: float) -> float | None:
        """When a moment of a reply's audio sounded; None where it has not, or is long ago."""
        self._advance()
        position = round(ms * RATE_HZ / 1000)
        for run in reversed(self._runs):
            inside = position - run.position
            if run.reply_id == reply_id and 0 <= inside <= run.length:
                return (run.at + inside) * 1000 / RATE_HZ
        return None

    def take(self, last: bool = False) -> Both:
        """What has sounded since it was last asked for, and is certain; empty where nothing is.

        Args:
            last: Whether nothing will be added, so that all is certain.
        """
        now = self._advance()
        until = now if last else now - HELD_BACK
        until = min(max(until, self._taken), self._taken + LONGEST)
        self._room(until)
        count = until - self._taken
        taken, self._both = self._both[:count], self._both[count:].copy()
        self._taken = until
        self._user_end, self._agent_end = (
            max(end, until) for end in (self._user_end, self._agent_end)
        )
        return taken

    def _now(self) -> int:
        return round((self._clock() - self._began_s) * RATE_HZ) + self._ahead

    def _queue(self, reply_id: str, samples: Samples) -> None:
        position = self._said.pop(reply_id, 0)
        self._said[reply_id] = position + len(samples)
        if len(self._said) > RECENT_REPLIES:
            del self._said[next(iter(self._said))]
        self._waiting.append(_Piece(reply_id, position, samples))

    def _advance(self) -> int:
        """Let the loudspeaker sound until now."""
        now = self._now()
        while self._waiting and not self._held and self._agent_end < now:
            piece, room = self._waiting.popleft(), now - self._agent_end
            if len(piece.samples) > room:
                rest = replace(piece, position=piece.position + room, samples=piece.samples[room:])
                self._waiting.appendleft(rest)
            self._sound(replace(piece, samples=piece.samples[:room]))
        self._agent_end = max(self._agent_end, now)
        return now

    def _sound(self, piece: _Piece) -> None:
        at, length = self._agent_end, len(piece.samples)
        self._put(1, at, piece.samples)
        self._agent_end += length
        before = self._runs[-1] if self._runs else None
        if (
            before is not None
            and before.reply_id == piece.reply_id
            and (before.position + before.length, before.at + before.length) == (piece.position, at)
        ):
            self._runs[-1] = replace(before, length=before.length + length)
        else:
            self._runs.append(_Run(piece.reply_id, piece.position, at, length))

    def _put(self, channel: int, at: int, samples: Samples) -> None:
        self._room(at + len(samples))
        self._both[at - self._taken : at - self._taken + len(samples), channel] = samples

    def _room(self, end: int) -> None:
        more = end - self._taken - len(self._both)
        if more > 0:
            self._both = np.concatenate((self._both, np.zeros((max(more, RATE_HZ), 2), np.int16)))
