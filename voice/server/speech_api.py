"""OpenAI's speech endpoint: streams a text as an audio file in one of the server's voices."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from voice.access.keys import Grant
from voice.access.requests import server_sent
from voice.errors import ProtocolError
from voice.realtime.wire import WireModel, parse_json, validated
from voice.speech.audio_files import MEDIA_TYPES, encoded
from voice.speech.normalization import spoken
from voice.speech.segmenter import SegmentCutter
from voice.types import Samples, Segment

if TYPE_CHECKING:
    from voice.session.resources import Resources
    from voice.speech.tts import Synthesizer

LONGEST_CHARS = 4096
"""Length of a text to speak, as in OpenAI's API."""


class _VoiceId(WireModel):
    id: str


class _SpeechRequest(WireModel):
    input: str = Field(min_length=1, max_length=LONGEST_CHARS)
    voice: str | _VoiceId = ""
    response_format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] = "mp3"
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    stream_format: Literal["audio", "sse"] = "audio"


class SpeechApi:
    """The endpoints for speech and voices; only the server's own key may have a text spoken.

    Args:
        resources: Hold the voices and the synthesis threads.
        body: Reads a request's body within the server's limits.
    """

    def __init__(self, resources: Resources, body: Callable[[Request], Awaitable[str]]) -> None:
        self._resources = resources
        self._body = body

    async def voices(self, request: Request, grant: Grant) -> Response:
        """``GET /v1/audio/voices``: the valid values of ``voice``, the server's own voice first."""
        own = self._resources.synthesizer.name
        others = [name for name in self._resources.voices.names if name != own]
        data = [{"id": name, "object": "voice"} for name in (own, *others)]
        return JSONResponse({"object": "list", "data": data})

    async def speech(self, request: Request, grant: Grant) -> Response:
        """``POST /v1/audio/speech``: streams a text in one of the voices while it is synthesised.

        As in a session, an unknown voice stands for the server's own.
        """
        grant.check_main()
        wanted = validated(_SpeechRequest, parse_json(await self._body(request)))
        threads = self._resources.synthesis_threads
        loop = asyncio.get_running_loop()
        name = wanted.voice if isinstance(wanted.voice, str) else wanted.voice.id
        voice = await loop.run_in_executor(threads, self._resources.voice, name)
        sound = spoken_text(voice, wanted.input, wanted.speed)
        if (first := await loop.run_in_executor(threads, next, sound, None)) is None:
            raise ProtocolError("input: there is nothing in it to be spoken", param="input")
        pieces = encoded(chain((first,), sound), wanted.response_format)

        async def stream() -> AsyncIterator[bytes]:
            # One piece at a time, so that conversations get their share of the threads.
            while (piece := await loop.run_in_executor(threads, next, pieces, None)) is not None:
                yield piece

        if wanted.stream_format == "sse":
            return StreamingResponse(_events(stream()), media_type="text/event-stream")
        return StreamingResponse(stream(), media_type=MEDIA_TYPES[wanted.response_format])


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The pieces of a file as OpenAI's server-sent events. Speech is not counted in tokens."""
    async for piece in pieces:
        audio = base64.b64encode(piece).decode()
        yield server_sent({"type": "speech.audio.delta", "audio": audio})
    usage = dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"), 0)
    yield server_sent({"type": "speech.audio.done", "usage": usage})


def spoken_text(voice: Synthesizer, text: str, speed: float) -> Iterator[tuple[Samples, int]]:
    """A text's audio, clause by clause: non-empty (T,) int16 samples, and their rate in Hz."""
    cutter = SegmentCutter()
    for index, piece in enumerate([*cutter.push(text), *cutter.flush()]):
        for chunk in voice.synthesize(Segment(0, index, piece, spoken(piece)), speed):
            if len(chunk.samples):
                yield chunk.samples, voice.sample_rate_hz
