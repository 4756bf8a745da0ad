"""The audio output of one session: segments in; audio, and what was heard of it, out.

Synthesis runs in a thread, chunk by chunk and one segment after the other; a reply that has been
stopped makes no further sound. Audio goes to the client as soon as it is made. The playback
position is the one that the client reports, or else an estimate from the elapsed time.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass, field

import numpy as np

from voice.audio import StreamResampler
from voice.errors import ModelError, ProtocolError, origins
from voice.events import (
    RECENT_REPLIES,
    ReplyAudio,
    ReplyHeard,
    ReplyHeld,
    ReplyReleased,
    SessionEvent,
)
from voice.inputs import AudioPlayed, AudioSent, SpeechFailed
from voice.speech.heard_text import Playout, PlayoutEstimate
from voice.speech.synthesis import Said, Synthesis
from voice.speech.tts import Synthesizer
from voice.speech.tts.level import amplified
from voice.types import Samples, Segment, SpeechChunk

HEARD_EVERY_S = 0.1
# A client's reports lag by its buffer. A reply counts as played this long after its estimated end,
# even if the client has not reported the end.
CLIENT_GRACE_MS = 1500.0
# Asides, spoken while a tool works, must not pile up in front of the answer.
ASIDE_WAITS_MS = 500.0

_log = logging.getLogger(__name__)

Progress = AudioSent | AudioPlayed | SpeechFailed


@dataclass(slots=True)
class _Speech:
    """The audio of one reply."""

    reply_id: str
    rate_hz: int
    speed: float
    voice: str
    loudness: float
    playout: Playout
    estimate: PlayoutEstimate = field(default_factory=PlayoutEstimate)
    waiting: deque[Segment] = field(default_factory=deque)
    synthesis: Synthesis | None = None
    client_position: bool = False
    ending: bool = False
    sent: bool = False
    stopped: bool = False
    failed: bool = False
    heard: int = 0


class AudioOutput:
    """Speaks to one user.

    Args:
        voices: Returns the voice of a name, or the server's own for an empty or unknown name;
            shared by all sessions. Called in the executor, because it may have to load the voice.
        executor: Runs the voices.
        emit: Called with audio and heard text for the client.
        feed: Called with inputs for the conversation.
        clock: Any steady clock, in milliseconds; by default the event loop's.
    """

    def __init__(
        self,
        voices: Callable[[str], Synthesizer],
        executor: Executor,
        emit: Callable[[SessionEvent], None],
        feed: Callable[[Progress], None],
        clock: Callable[[], float] = lambda: asyncio.get_running_loop().time() * 1000,
    ) -> None:
        self._voices = voices
        self._executor = executor
        self._emit = emit
        self._feed = feed
        self._clock = clock
        self._speeches: OrderedDict[str, _Speech] = OrderedDict()
        self._prepared: Synthesis | None = None
        self._group: asyncio.TaskGroup | None = None
        self._wake = asyncio.Event()
        self._sounds = asyncio.Event()

    def speak(
        self,
        reply_id: str,
        segment: Segment,
        rate_hz: int,
        speed: float,
        voice: str = "",
        loudness: float = 1.0,
    ) -> None:
        """Queue a segment of a reply behind those before it.

        An aside, which is not part of the reply's text, is dropped if it would have to wait.

        Args:
            reply_id: The reply's id.
            segment: Its next segment.
            rate_hz: Sample rate of the client's audio. This and the following are fixed by the
                reply's first segment.
            speed: Speaking rate; 1 is the voice's own.
            voice: Name of the voice.
            loudness: Gain; 1 is the voice's own.
        """
        speech = self._speeches.get(reply_id)
        if speech is None:
            speech = _Speech(reply_id, rate_hz, speed, voice, loudness, Playout(rate_hz))
            self._speeches[reply_id] = speech
            over = [one for one, said in self._speeches.items() if said.stopped]
            for oldest in over[: max(0, len(self._speeches) - RECENT_REPLIES)]:
                del self._speeches[oldest]
            self._sounds.set()
        if not segment.text and self._is_behind(speech):
            return
        speech.waiting.append(segment)
        self._wake.set()

    def prepare(self, said: Said) -> None:
        """Synthesise a segment that is likely to be said next, in place of one prepared before."""
        if self._prepared is None or self._prepared.said != said:
            self.drop_prepared()
            self._prepared = self._begin(said)

    def drop_prepared(self) -> None:
        """Drop the prepared segment, if there is one."""
        if self._prepared is not None:
            self._prepared.cancel()
            self._prepared = None

    def end(self, reply_id: str) -> None:
        """Mark a reply as complete; `AudioSent` and `AudioPlayed` will follow."""
        self._speeches[reply_id].ending = True
        self._wake.set()

    def heard(self, reply_id: str) -> str:
        """The part of a reply's text that has been heard so far."""
        speech = self._speeches.get(reply_id)
        if speech is None:
            return ""
        if not speech.stopped:
            self._move(speech)
        return speech.playout.heard_text()

    def stop(self, reply_id: str) -> None:
        """Make no further sound for a reply."""
        if speech := self._speeches.get(reply_id):
            self._move(speech)
            speech.stopped = True
            speech.waiting.clear()
            if speech.synthesis is not None:
                speech.synthesis.cancel()
            self._report(speech)

    def hold(self, reply_id: str) -> None:
        """Pause playback at the client; audio is still sent to it, and waits there."""
        if speech := self._speeches.get(reply_id):
            speech.estimate.hold(self._clock())
            self._emit(ReplyHeld(reply_id))

    def release(self, reply_id: str) -> None:
        """Resume playback at the client."""
        if speech := self._speeches.get(reply_id):
            speech.estimate.release(self._clock())
            self._emit(ReplyReleased(reply_id))

    def played(self, reply_id: str, position_ms: float) -> None:
        """Take the client's report of how much of a reply it has played."""
        speech = self._speeches.get(reply_id)
        if speech is not None and not speech.stopped:
            speech.client_position = True
            speech.playout.played(position_ms)

    def truncate(self, reply_id: str, position_ms: float) -> str:
        """Take the client's report of where it stopped playing a reply; return the text heard.

        Raises:
            ProtocolError: The reply is unknown or forgotten, or that much was never sent.
        """
        speech = self._speeches.get(reply_id)
        if speech is None:
            raise ProtocolError("the item has no audio", "item_not_found", "item_id")
        speech.playout.truncate(position_ms)
        self._report(speech)
        return speech.playout.heard_text()

    async def run(self) -> None:
        """Synthesise and track playback, until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            group.create_task(self._synthesize())
            group.create_task(self._watch())

    async def _synthesize(self) -> None:
        while True:
            speech = next((s for s in self._speeches.values() if _has_work(s)), None)
            if speech is None:
                self._wake.clear()
                await self._wake.wait()
            elif speech.waiting:
                await self._say(speech, speech.waiting.popleft())
            else:
                self._finish(speech)

    def _begin(self, said: Said) -> Synthesis:
        synthesis = Synthesis(said, self._voices, self._executor)
        if self._group is None:
            raise RuntimeError("the mouth is not running")
        self._group.create_task(synthesis.run())
        return synthesis

    def _take(self, said: Said) -> Synthesis:
        """The synthesis of a segment: the prepared one if it fits, else a new one."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared.said == said:
            return prepared
        if prepared is not None:
            prepared.cancel()
        return self._begin(said)

    async def _say(self, speech: _Speech, segment: Segment) -> None:
        resampler = None
        speech.synthesis = synthesis = self._take(Said(segment, speech.speed, speech.voice))
        try:
            async with aclosing(synthesis.chunks()) as chunks:
                async for chunk in chunks:
                    if resampler is None:
                        resampler = StreamResampler(chunk.sample_rate_hz, speech.rate_hz)
                    samples = resampler.push(chunk.samples)
                    if chunk.last:
                        samples = np.concatenate((samples, resampler.flush()))
                    self._send(speech, chunk, samples)
        except Exception as error:
            # An error in a voice must cost this reply only.
            _log.error("a reply could not be spoken: %s", origins(error))
            message = str(error) if isinstance(error, ModelError) else "speech synthesis failed"
            if not speech.stopped:
                speech.waiting.clear()
                speech.sent = speech.failed = True
                speech.playout.complete()
                self._feed(SpeechFailed(speech.reply_id, message))
        finally:
            speech.synthesis = None

    def _send(self, speech: _Speech, chunk: SpeechChunk, samples: Samples) -> None:
        if speech.stopped:
            return
        now_ms = self._clock()
        others = (one for one in self._speeches.values() if one is not speech and not one.stopped)
        behind_ms = max((one.estimate.left_ms(now_ms) for one in others), default=0.0)
        speech.estimate.sent(now_ms, len(samples) * 1000 / speech.rate_hz, behind_ms)
        speech.playout.sent(chunk, len(samples))
        if len(samples):
            if speech.loudness != 1.0:
                samples = amplified(samples, speech.loudness)
            words = speech.playout.newest_words() if chunk.last else ()
            self._emit(ReplyAudio(speech.reply_id, samples, speech.rate_hz, words))

    def _finish(self, speech: _Speech) -> None:
        speech.sent = True
        speech.playout.complete()
        self._feed(AudioSent(speech.reply_id))

    async def _watch(self) -> None:
        """Report what has been heard while audio plays; a silent session costs nothing."""
        while True:
            if all(speech.stopped for speech in self._speeches.values()):
                self._sounds.clear()
                await self._sounds.wait()
            await asyncio.sleep(HEARD_EVERY_S)
            for speech in list(self._speeches.values()):
                if speech.stopped:
                    continue
                self._move(speech)
                self._report(speech)
                if speech.sent and self._is_over(speech):
                    speech.stopped = True
                    heard = speech.playout.heard_text() if speech.failed else None
                    self._feed(AudioPlayed(speech.reply_id, heard))

    def _move(self, speech: _Speech) -> None:
        if not speech.client_position:
            left_ms = speech.estimate.left_ms(self._clock())
            speech.playout.played(speech.playout.total_ms - left_ms)

    def _is_behind(self, speech: _Speech) -> bool:
        """Whether an aside would be heard too late to be useful."""
        self._move(speech)
        left_ms = speech.playout.total_ms - speech.playout.position_ms
        return bool(speech.waiting) or left_ms > ASIDE_WAITS_MS

    def _is_over(self, speech: _Speech) -> bool:
        if speech.playout.finished:
            return True
        return not speech.estimate.left_ms(self._clock() - CLIENT_GRACE_MS)

    def _report(self, speech: _Speech) -> None:
        chars = speech.playout.heard_chars()
        if chars != speech.heard:
            speech.heard = chars
            self._emit(ReplyHeard(speech.reply_id, chars))


def _has_work(speech: _Speech) -> bool:
    return not speech.stopped and (bool(speech.waiting) or (speech.ending and not speech.sent))
