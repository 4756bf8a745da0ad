"""Both sides of a conversation as they were heard, on one clock.

The user's audio is placed where it arrived, with silence where the line sent none. The agent's is
played by a simulated loudspeaker, which begins at once, pauses while a reply is held, and stops
when it is stopped; what the client reports as unplayed is removed again. No I/O. Positions are
samples at `RATE_HZ` since the conversation began.

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
"""A client reports what it has played within a second; until then audio may be removed again."""
LONGEST = 30 * RATE_HZ
"""Most audio taken at a time, which bounds memory even after a long time without a `take`."""
GAP = 3 * RATE_HZ // 10
"""Audio that comes this much later than due follows a silence; less is jitter of the network."""
_KEPT = 256

Both = NDArray[np.int16]
"""(T, 2): the user's side, then the agent's."""


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Audio of a reply, from a position in the reply onwards."""

    reply_id: str
    position: int
    samples: Samples


@dataclass(frozen=True, slots=True)
class _Run:
    """Audio of a reply that was played without a break, beginning at ``at``."""

    reply_id: str
    position: int
    at: int
    length: int


class Soundtrack:
    """The sound of one conversation.

    Args:
        clock: Returns the seconds of any monotonic clock.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began_s = clock()
        # A client that sends audio sooner than it can have been spoken advances the clock.
        self._ahead = 0
        self._both: Both = np.zeros((0, 2), np.int16)
        self._taken = self._user_end = self._agent_end = self._heard = 0
        # (position in the user's audio, silence inserted before it so far).
        self._silences: deque[tuple[int, int]] = deque([(0, 0)], maxlen=_KEPT)
        self._waiting: deque[_Piece] = deque()
        self._runs: deque[_Run] = deque(maxlen=_KEPT)
        self._said: dict[str, int] = {}
        self._resamplers: dict[int | str, StreamResampler] = {}
        self._held = False

    @property
    def now_ms(self) -> float:
        """The time since the conversation began."""
        return self._now() * 1000 / RATE_HZ

    @property
    def heard(self) -> int:
        """How much of the user's audio there has been, in samples of the session."""
        return self._heard * SAMPLE_RATE_HZ // RATE_HZ

    def hear(self, samples: Samples, rate_hz: int) -> None:
        """Add (T,) int16 of the user's audio."""
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
        """Add (T,) int16 to a reply."""
        self._advance()
        stream = self._resamplers.setdefault(reply_id, StreamResampler(rate_hz, RATE_HZ))
        self._queue(reply_id, stream.push(samples))

    def end(self, reply_id: str) -> None:
        """Note that a reply is complete."""
        if stream := self._resamplers.pop(reply_id, None):
            self._queue(reply_id, stream.flush())

    def hold(self, held: bool) -> None:
        """Pause the agent's audio, or resume it."""
        self._advance()
        self._held = held

    def stop(self) -> None:
        """Stop the agent's audio."""
        self._advance()
        self._waiting.clear()
        self._held = False

    def truncate(self, reply_id: str, played_ms: float) -> None:
        """Remove whatever of a reply was not played."""
        self._advance()
        kept = round(played_ms * RATE_HZ / 1000)
        self._waiting = deque(p for p in self._waiting if p.reply_id != reply_id)
        for run in self._runs:
            end = run.at + run.length
            cut = max(self._taken, run.at + max(0, kept - run.position))
            if run.reply_id == reply_id and cut < end:
                self._both[cut - self._taken : end - self._taken, 1] = 0

    def ms_of(self, sample: int) -> float:
        """When a sample of the session's audio was spoken, in this track's time."""
        position = sample * RATE_HZ // SAMPLE_RATE_HZ
        before = [silence for at, silence in self._silences if at <= position]
        return (position + (before or [self._silences[0][1]])[-1]) * 1000 / RATE_HZ

    def ms_in_reply(self, reply_id: str, ms: float) -> float | None:
        """When a position in a reply was heard; None if it was not, or too long ago."""
        self._advance()
        position = round(ms * RATE_HZ / 1000)
        for run in reversed(self._runs):
            inside = position - run.position
            if run.reply_id == reply_id and 0 <= inside <= run.length:
                return (run.at + inside) * 1000 / RATE_HZ
        return None

    def take(self, last: bool = False) -> Both:
        """What was heard since the last call and can no longer change; empty if nothing was.

        Args:
            last: Whether nothing will be added, so that everything is final.
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
        """Let the loudspeaker play until now."""
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
