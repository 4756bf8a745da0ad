"""A realtime server of a few lines: it hears by loudness and answers every turn with a tone."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, serve

from voice.audio import pcm16_from_samples, samples_from_pcm16

RATE_HZ = 24_000
LOUD = 2_000


def tone(seconds: float, level: int = 8_000) -> np.ndarray:
    at = np.arange(round(seconds * RATE_HZ))
    return (level * np.sin(2 * np.pi * 440 * at / RATE_HZ)).astype(np.int16)


@dataclass
class FakeRealtime:
    """What it answers with, and what it was sent.

    Attributes:
        think_s: From the end of a turn to its answer.
        quiet_packets: Packets of silence that end a turn.
        reply: Audio of each reply; its first 50 ms are silent.
        transcripts: What it claims to have heard, turn by turn; an empty one is not answered.
        holds: Whether it has the sound of a reply held, for 100 ms, where speech begins over it.
    """

    think_s: float = 0.05
    quiet_packets: int = 10
    reply: np.ndarray = field(
        default_factory=lambda: np.concatenate([np.zeros(1200, np.int16), tone(0.5)])
    )
    transcripts: list[str] = field(default_factory=list)
    holds: bool = False
    close_after: int = 0
    received: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[str, None]:
        async with serve(self._converse, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            yield f"ws://127.0.0.1:{port}/v1/realtime"

    async def _converse(self, socket: ServerConnection) -> None:
        self.headers.append(dict(socket.request.headers.raw_items()))
        quiet, speaking, turns = 0, False, 0
        await self._send(socket, "session.created", session={})
        async with asyncio.TaskGroup() as replies:
            async for message in socket:
                event = json.loads(message)
                if event["type"] == "session.update":
                    await self._send(socket, "session.updated", session=event["session"])
                if event["type"] == "conversation.item.truncate":
                    await self._send(socket, "conversation.item.truncated", item_id="i")
                if event["type"] == "conversation.item.retrieve":
                    item = {"id": event["item_id"], "content": [{"transcript": "It is"}]}
                    await self._send(socket, "conversation.item.retrieved", item=item)
                if event["type"] != "input_audio_buffer.append":
                    self.received.append(event)
                    continue
                peak = np.abs(samples_from_pcm16(base64.b64decode(event["audio"]))).max()
                quiet = 0 if peak > LOUD else quiet + 1
                if peak > LOUD and not speaking:
                    speaking = True
                    if self.holds and turns:
                        replies.create_task(self._hold(socket))
                        continue
                    await self._send(socket, "input_audio_buffer.speech_started", item_id="u")
                elif speaking and quiet >= self.quiet_packets:
                    speaking, turns = False, turns + 1
                    if self.holds and turns > 1:
                        continue
                    replies.create_task(self._reply(socket, turns))

    async def _hold(self, socket: ServerConnection) -> None:
        for held in (True, False):
            await self._send(socket, "quicksilver.hold", response_id="r1", held=held)
            await asyncio.sleep(0.1)

    async def _reply(self, socket: ServerConnection, turn: int) -> None:
        text = self.transcripts.pop(0) if self.transcripts else "hello"
        await self._send(socket, "input_audio_buffer.committed", item_id="u")
        kind = "conversation.item.input_audio_transcription.completed"
        await self._send(socket, kind, item_id="u", transcript=text)
        if not text:
            return
        ids = {"response_id": f"r{turn}", "item_id": f"i{turn}"}
        await asyncio.sleep(self.think_s)
        await self._send(socket, "response.created", response={"id": f"r{turn}"})
        call = {"response_id": f"r{turn}", "call_id": "c", "name": "get_time"}
        await self._send(socket, "quicksilver.tool_call", **call, arguments={"place": "Rome"})
        await self._send(socket, "quicksilver.tool_result", **call, content="It is noon.")
        audio = base64.b64encode(pcm16_from_samples(self.reply)).decode()
        await self._send(socket, "response.output_audio.delta", **ids, delta=audio)
        kind = "response.output_audio_transcript.delta"
        await self._send(socket, kind, **ids, delta="It is noon.")
        kind = "response.output_audio_transcript.done"
        await self._send(socket, kind, **ids, transcript="It is noon.")
        response = {"id": f"r{turn}", "status": "completed"}
        await self._send(socket, "response.done", response=response)
        await self._send(socket, "quicksilver.latency", turn_id=turn, marks_ms={"asr_final": 9.0})
        if turn == self.close_after:
            await socket.close(1000, "goodbye")

    async def _send(self, socket: ServerConnection, kind: str, **fields: Any) -> None:
        await socket.send(json.dumps({"type": kind, "event_id": "e", **fields}))
