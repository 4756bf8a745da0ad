"""A satellite's conversation: a microphone and a loudspeaker in a room, which stream over Wyoming.

The protocol cannot stop audio that has been sent, so the agent cannot be interrupted: the
microphone is muted while the agent speaks.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from dataclasses import replace

import numpy as np
from wyoming.asr import Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event, Eventable

from voice import events
from voice.audio import pcm16_from_samples
from voice.callers import LOCAL
from voice.session.resources import Resources
from voice.session.session import Session
from voice.types import Samples

OUTPUT_HZ = 22_050
"""Rate of the agent's audio, and the default of satellites."""
ECHO_TAIL_S = 0.3
NOTHING_S = 15.0
"""Audio without speech after which a satellite that waits for words is told to stop."""

Outbox = asyncio.Queue[Event | None]
"""Events to send to a client, then None. If full, answers wait, but a satellite's session ends."""


class Satellite:
    """The conversation of one connection, once the satellite begins it.

    Args:
        resources: What the session is made of.
        outbox: Takes the events for the satellite.
        group: The task group in which the conversation runs.
    """

    def __init__(self, resources: Resources, outbox: Outbox, group: asyncio.TaskGroup) -> None:
        self._resources = resources
        self._outbox = outbox
        self._group = group
        self._session: Session | None = None
        self._lengths_ms: Counter[str] = Counter()
        self._silent_at_s = 0.0
        self._waited_s = 0.0
        self._sounding = False
        self.begun = False

    async def begin(self) -> None:
        """Begin to listen, since somebody is about to speak."""
        self.begun, self._waited_s = True, 0.0
        if self._session is None:
            options = replace(
                self._resources.options(),
                output_rate_hz=OUTPUT_HZ,
                interrupt_response=False,
                idle_timeout_s=0.0,
            )
            self._session = Session(self._resources, options, None, LOCAL)
            self._group.create_task(self._run(self._session))
            # A session accepts audio only once it runs.
            await asyncio.sleep(0)

    async def hear(self, samples: Samples, rate_hz: int) -> None:
        """Take audio from the microphone, (T,) int16 mono."""
        if self._session is None:
            # The agent has said goodbye, but the satellite goes on streaming.
            await self.begin()
        if asyncio.get_running_loop().time() < self._silent_at_s + ECHO_TAIL_S:
            samples = np.zeros_like(samples)
        else:
            self._waited_s += len(samples) / rate_hz
        if self._session is not None:
            self._session.append_audio(samples, rate_hz)
        if self._waited_s > NOTHING_S:
            self._waited_s = 0.0
            self._tell(Transcript(text=""))

    def close(self) -> None:
        """End the conversation, because the satellite has left."""
        if self._session is not None:
            self._session.close("client disconnected")

    def _tell(self, told: Eventable) -> None:
        self._outbox.put_nowait(told.event())

    async def _run(self, session: Session) -> None:
        try:
            await session.run(lambda event: self._on(session, event))
        finally:
            self._session, self._sounding = None, False

    def _on(self, session: Session, event: events.SessionEvent) -> None:
        match event:
            case events.UserSpeechStarted():
                # However long somebody speaks: who is told to stop would be cut off.
                self._waited_s = -math.inf
            case events.FinalTranscript(text=text):
                self._waited_s = 0.0
                if text:
                    self._tell(Transcript(text=text))
            case events.TranscriptFailed():
                self._waited_s = 0.0
            case events.ReplyAudio(reply_id=reply_id, samples=samples):
                self._play(session, reply_id, samples)
            case events.ReplyEnded(reply_id=reply_id):
                self._end(reply_id)

    def _play(self, session: Session, reply_id: str, samples: Samples) -> None:
        if not self._sounding:
            self._sounding = True
            self._tell(AudioStart(OUTPUT_HZ, 2, 1))
        self._tell(AudioChunk(OUTPUT_HZ, 2, 1, pcm16_from_samples(samples)))
        loop, length_s = asyncio.get_running_loop(), len(samples) / OUTPUT_HZ
        self._silent_at_s = max(loop.time(), self._silent_at_s) + length_s
        self._lengths_ms[reply_id] += round(length_s * 1000)
        # The protocol does not report what was heard, so go by the clock.
        loop.call_at(self._silent_at_s, session.played, reply_id, self._lengths_ms[reply_id])

    def _end(self, reply_id: str) -> None:
        del self._lengths_ms[reply_id]
        if self._sounding:
            self._sounding = False
            self._tell(AudioStop())
