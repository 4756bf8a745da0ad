"""Which words of a reply have been heard.

It tracks what was sent to a client and how much of it the client has played; a word counts as heard
once it has been played to its end. It has no clock and does no I/O: the caller reports what was
sent and how far playback is, in milliseconds of the reply's audio.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from voice.errors import ProtocolError
from voice.speech.tts.timing import estimated_timings
from voice.types import Segment, SpeechChunk, WordTiming

_MS_PER_CHARACTER = 75.0
"""A slow pace, assumed while a segment's length is unknown: better to count too few words heard."""

_ROUNDING_MS = 1.0
"""Clients count in whole milliseconds."""


@dataclass(slots=True)
class _Sent:
    """A segment of which some audio has been sent.

    Attributes:
        segment: The segment, with its text as it is in the reply.
        start_ms: Where its audio begins in the reply's.
        ms: How much of its audio has been sent.
        complete: Whether that is all of it.
        timed: Whether the voice has told where words end; otherwise ``words`` is an estimate.
        words: End of each word, in order: index just past it in the segment's text, and ms from
            ``start_ms``.
    """

    segment: Segment
    start_ms: float
    ms: float = 0.0
    complete: bool = False
    timed: bool = False
    words: list[tuple[int, float]] = field(default_factory=list)


class Playout:
    """What has been sent of one reply, and how much of it has been heard.

    The reply's text is the texts of its segments joined with nothing between them, which is how
    `voice.speech.segmenter` cuts it. ``heard_chars`` never falls, except by `truncate`, because the
    client knows better than an estimate.

    Args:
        sample_rate_hz: Rate of the audio that the client gets.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._rate = sample_rate_hz
        self._segments: list[_Sent] = []
        self._position_ms = 0.0
        self._heard = 0
        self._all_sent = False
        self._truncated = False

    def sent(self, chunk: SpeechChunk, samples_at_client_rate: int) -> None:
        """Record that a chunk has gone to the client.

        Args:
            chunk: As the synthesiser made it; the segments of a reply come one after the other.
            samples_at_client_rate: Its length in samples at the client's rate.

        Raises:
            ValueError: Another segment is still incomplete, or the reply is complete.
        """
        sent = self._sent_of(chunk.segment)
        sent.ms += samples_at_client_rate * 1000 / self._rate
        sent.complete = chunk.last
        if chunk.words:
            sent.words = _ends_ms(chunk.words, chunk.sample_rate_hz)
            sent.timed = True
        elif not sent.timed:
            slow = 0.0 if chunk.last else len(chunk.segment.text) * _MS_PER_CHARACTER
            guess = estimated_timings(chunk.segment, round(max(sent.ms, slow)))
            sent.words = _ends_ms(guess, 1000)
        self._update()

    def complete(self) -> None:
        """Record that all audio of the reply has been sent."""
        self._all_sent = True

    def played(self, position_ms: float) -> None:
        """Record the playback position, which never moves back, nor beyond what was sent."""
        if not self._truncated:
            self._position_ms = max(self._position_ms, min(position_ms, self.total_ms))
            self._update()

    def truncate(self, position_ms: float) -> None:
        """Record where the client stopped: nothing beyond was heard, whatever was reported before.

        Raises:
            ProtocolError: The position is negative or beyond what was sent.
        """
        if not 0 <= position_ms <= self.total_ms + _ROUNDING_MS:
            raise ProtocolError(
                f"got audio_end_ms {position_ms:.0f};"
                f" expected 0 to {self.total_ms:.0f}, which is what was sent",
                param="audio_end_ms",
            )
        self._position_ms = min(position_ms, self.total_ms)
        self._truncated = True
        self._heard = 0
        self._update()

    @property
    def total_ms(self) -> float:
        """How much audio has been sent, in milliseconds."""
        return self._segments[-1].start_ms + self._segments[-1].ms if self._segments else 0.0

    @property
    def position_ms(self) -> float:
        """How much of it has been played, in milliseconds."""
        return self._position_ms

    @property
    def finished(self) -> bool:
        """Whether the whole reply has been sent, and played as far as it will be."""
        left_ms = self.total_ms - self._position_ms
        return self._all_sent and (self._truncated or left_ms < _ROUNDING_MS)

    @property
    def sent_text(self) -> str:
        """The text of all segments of which audio has been sent."""
        return "".join(sent.segment.text for sent in self._segments)

    def newest_words(self) -> tuple[tuple[int, float], ...]:
        """End of each word of the newest segment: index past it in the reply's text, and ms."""
        newest = self._segments[-1]
        before = len(self.sent_text) - len(newest.segment.text)
        return tuple((before + char, newest.start_ms + end_ms) for char, end_ms in newest.words)

    def heard_chars(self) -> int:
        """How many characters of the reply have been heard: always up to the end of a word."""
        return self._heard

    def heard_text(self) -> str:
        """The part of the reply that has been heard."""
        return self.sent_text[: self._heard]

    def _sent_of(self, segment: Segment) -> _Sent:
        if self._all_sent:
            raise ValueError(
                f"got audio of segment {segment.index}; expected none after complete()"
            )
        last = self._segments[-1] if self._segments else None
        if last is None or last.complete:
            last = _Sent(segment, self.total_ms)
            self._segments.append(last)
        elif last.segment != segment:
            raise ValueError(
                f"got audio of segment {segment.index}; expected segment {last.segment.index},"
                " which is not complete"
            )
        return last

    def _update(self) -> None:
        self._heard = max(self._heard, self._heard_at(self._position_ms))

    def _heard_at(self, position_ms: float) -> int:
        before = 0
        for sent in self._segments:
            inside = position_ms - sent.start_ms
            if not sent.complete or inside < sent.ms:
                ends = [char for char, end_ms in sent.words if end_ms <= inside]
                return before + (ends[-1] if ends else 0)
            before += len(sent.segment.text)
        return before


class PlayoutEstimate:
    """Estimates what a client has yet to play, assuming that it plays audio as it arrives."""

    def __init__(self) -> None:
        self._runs_dry_ms = 0.0
        self._held_ms: float | None = None

    def hold(self, now_ms: float) -> None:
        """Record that playback has paused; while it is paused this changes nothing."""
        if self._held_ms is None:
            self._held_ms = now_ms

    def release(self, now_ms: float) -> None:
        """Record that playback has resumed where it paused."""
        if self._held_ms is not None:
            self._runs_dry_ms += max(0.0, now_ms - self._held_ms)
            self._held_ms = None

    def sent(self, now_ms: float, duration_ms: float, behind_ms: float = 0.0) -> None:
        """Record that audio of a duration has gone to the client; ``now_ms`` is any steady clock's.

        It plays after the ``behind_ms`` of other replies that the client has yet to play.
        """
        begins_ms = self._playing_at(now_ms) + behind_ms
        self._runs_dry_ms = max(self._runs_dry_ms, begins_ms) + duration_ms

    def left_ms(self, now_ms: float) -> float:
        """Milliseconds of the sent audio not yet played; 0 once all has been."""
        return max(0.0, self._runs_dry_ms - self._playing_at(now_ms))

    def _playing_at(self, now_ms: float) -> float:
        return now_ms if self._held_ms is None else min(now_ms, self._held_ms)


def _ends_ms(timings: tuple[WordTiming, ...], rate_hz: int) -> list[tuple[int, float]]:
    return [(timing.end_char, timing.end_sample * 1000 / rate_hz) for timing in timings]
