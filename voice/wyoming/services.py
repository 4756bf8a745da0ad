"""What a Wyoming client may ask for: transcripts, speech, answers, a satellite's conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Literal

from pydantic import Field
from wyoming.asr import Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event, Eventable
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled
from wyoming.ping import Pong
from wyoming.tts import SynthesizeStopped

from voice.audio import pcm16_from_samples, samples_from_pcm16
from voice.errors import ModelError, ProtocolError
from voice.realtime.wire import WireModel, audio_chunks, new_id, validated
from voice.server.speech_api import LONGEST_CHARS, spoken_text
from voice.session.resources import Resources
from voice.speech.segmenter import SegmentCutter
from voice.speech.tts import Synthesizer
from voice.types import Samples
from voice.wyoming.conversations import Conversations
from voice.wyoming.description import description
from voice.wyoming.ears import Ears
from voice.wyoming.satellite import Outbox, Satellite


class _Audio(WireModel):
    rate: int = Field(ge=8000, le=48000)
    width: Literal[2]
    channels: Literal[1, 2]


class _Ping(WireModel):
    text: str | None = Field(default=None, max_length=256)


class _Transcribe(WireModel):
    language: str | None = None


class _Voice(WireModel):
    name: str | None = None


class _Start(WireModel):
    voice: _Voice | None = None
    text_format: Literal["text"] | None = None


class _Text(_Start):
    text: str = Field(max_length=LONGEST_CHARS)


class _Context(WireModel):
    conversation_id: str | None = Field(default=None, max_length=128)


class _Request(_Text):
    context: _Context | None = None


class Services:
    """Answers the events of one connection.

    Args:
        resources: Shared by all connections.
        conversations: The typed conversations of all connections.
        outbox: Takes the events for the client.
        group: The task group of a satellite's conversation, which ends with the connection.
    """

    def __init__(
        self,
        resources: Resources,
        conversations: Conversations,
        outbox: Outbox,
        group: asyncio.TaskGroup,
    ) -> None:
        self._resources = resources
        self._conversations = conversations
        self._outbox = outbox
        self._own_id = new_id("connection")
        """Id of the conversation of a client that names none."""
        self._satellite = Satellite(resources, outbox, group)
        self._ears: Ears | None = None
        self._heard: list[str] = []
        self._cut = b""
        self._voice: Synthesizer | None = None
        self._cutter = SegmentCutter()
        self._characters = 0
        self._sounding = False

    def close(self) -> None:
        """End what belongs to the connection, because the client has left."""
        self._satellite.close()
        self._conversations.forget(self._own_id)

    async def take(self, event: Event) -> None:
        """Answer an event; unknown types are ignored.

        Raises:
            VoiceError: Something in the event is wrong, or what it asks for failed.
        """
        match event.type:
            case "describe":
                await self._tell(description(self._resources))
            case "ping":
                await self._tell(Pong(text=validated(_Ping, event.data).text))
            case "run-pipeline":
                await self._satellite.begin()
            case "transcribe":
                self._heard = []
                self._ears = Ears(self._resources, validated(_Transcribe, event.data).language)
            case "audio-start":
                validated(_Audio, event.data)
                self._cut = b""
            case "audio-chunk":
                await self._hear(event)
            case "audio-stop" if not self._satellite.begun:
                await self._transcript()
            case "synthesize" if self._voice is None:
                wanted = validated(_Text, event.data)
                await self._start(wanted)
                await self._say(wanted.text)
                await self._stop()
            case "synthesize-start":
                await self._start(validated(_Start, event.data))
            case "synthesize-chunk" if self._voice is not None:
                await self._say(validated(_Text, event.data).text)
            case "synthesize-stop" if self._voice is not None:
                await self._stop()
                await self._tell(SynthesizeStopped())
            case "transcript":
                await self._handle(validated(_Request, event.data))

    async def _tell(self, told: Eventable) -> None:
        await self._outbox.put(told.event())

    async def _hear(self, event: Event) -> None:
        form = validated(_Audio, event.data)
        # A chunk may end within a sample: Home Assistant sends a request's body as it arrives.
        data = self._cut + (event.payload or b"")
        whole = len(data) - len(data) % (form.width * form.channels)
        data, self._cut = data[:whole], data[whole:]
        samples = _mono(data, form.channels)
        if self._satellite.begun:
            await self._satellite.hear(samples, form.rate)
            return
        self._ears = self._ears or Ears(self._resources)
        await self._understand(self._ears, self._ears.push(samples, form.rate))

    async def _understand(self, ears: Ears, utterances: Iterable[Samples]) -> None:
        for utterance in utterances:
            if text := await ears.words(utterance):
                if not self._heard:
                    await self._tell(TranscriptStart())
                await self._tell(TranscriptChunk(text=f" {text}" if self._heard else text))
                self._heard.append(text)

    async def _transcript(self) -> None:
        if self._ears is not None:
            await self._understand(self._ears, self._ears.rest())
        await self._tell(Transcript(text=" ".join(self._heard)))
        if self._heard:
            await self._tell(TranscriptStop())
        self._heard, self._ears, self._cut = [], None, b""

    async def _handle(self, wanted: _Request) -> None:
        """Let the agent answer a message; its tools run in this process."""
        named = wanted.context and wanted.context.conversation_id
        text = ""
        try:
            async for delta in self._conversations.answer(wanted.text, named or self._own_id):
                if not text:
                    await self._tell(HandledStart())
                await self._tell(HandledChunk(text=delta))
                text += delta
        except ModelError as error:
            await self._tell(NotHandled(text=f"Sorry, {error}."))
            return
        await self._tell(Handled(text=text))
        if text:
            await self._tell(HandledStop())

    async def _start(self, wanted: _Start) -> None:
        name = (wanted.voice and wanted.voice.name) or ""
        threads = self._resources.synthesis_threads
        loop = asyncio.get_running_loop()
        self._voice = await loop.run_in_executor(threads, self._resources.voice, name)
        self._cutter, self._characters = SegmentCutter(), 0

    async def _say(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > LONGEST_CHARS:
            self._voice, self._sounding = None, False
            raise ProtocolError(f"text: longer than {LONGEST_CHARS} characters", "too_large")
        for piece in self._cutter.push(text):
            await self._sound(piece)

    async def _stop(self) -> None:
        for piece in self._cutter.flush():
            await self._sound(piece)
        assert self._voice is not None
        if not self._sounding:
            await self._tell(AudioStart(self._voice.sample_rate_hz, 2, 1))
        await self._tell(AudioStop())
        self._voice, self._sounding = None, False

    async def _sound(self, text: str) -> None:
        assert self._voice is not None
        chunks = spoken_text(self._voice, text, 1.0)
        step = partial(next, chunks, None)
        loop, threads = asyncio.get_running_loop(), self._resources.synthesis_threads
        while True:
            try:
                # One piece at a time, so that conversations get their share of the threads.
                made = await loop.run_in_executor(threads, step)
            except ModelError:
                self._voice, self._sounding = None, False
                raise
            if made is None:
                return
            samples, rate_hz = made
            if not self._sounding:
                self._sounding = True
                await self._tell(AudioStart(rate_hz, 2, 1))
            for part in audio_chunks(samples, rate_hz, first=False):
                await self._tell(AudioChunk(rate_hz, 2, 1, pcm16_from_samples(part)))


def _mono(data: bytes, channels: int) -> Samples:
    samples = samples_from_pcm16(data)
    mean: Samples = samples.reshape(-1, channels).mean(axis=1).astype(samples.dtype)
    return mean
