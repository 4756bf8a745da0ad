"""The far side of a telephone line, for tests: a caller, and a loudspeaker in real time.

It knows Twilio's framing and that of Asterisk's chan_websocket in JSON, each as its vendor
documents it, and shares no code with the product's codecs.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from voice.audio import mulaw_from_samples, samples_from_mulaw
from voice.types import Samples

RATE_HZ = 8000
FRAME = 160


class Framing(Protocol):
    """How a line writes its messages."""

    def opening(self) -> list[str]: ...

    def frame(self, samples: Samples) -> str | bytes: ...

    def read(self, message: str | bytes) -> tuple[str, Any]:
        """``audio`` and samples, ``mark`` and its name, ``clear``, or ``other``."""

    def marked(self, name: str) -> str: ...


class TwilioFraming:
    """Twilio Media Streams."""

    def __init__(self, **parameters: str) -> None:
        self.parameters = parameters
        self.sequence = 1
        self.chunk = 0

    def opening(self) -> list[str]:
        start = {
            "accountSid": "AC1",
            "streamSid": "MZ1",
            "callSid": "CA1",
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            "customParameters": self.parameters,
        }
        return [
            json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}),
            self._message("start", streamSid="MZ1", start=start),
        ]

    def frame(self, samples: Samples) -> str:
        self.chunk += 1
        media = {
            "track": "inbound",
            "chunk": str(self.chunk),
            "timestamp": str(20 * self.chunk),
            "payload": base64.b64encode(mulaw_from_samples(samples)).decode(),
        }
        return self._message("media", streamSid="MZ1", media=media)

    def read(self, message: str | bytes) -> tuple[str, Any]:
        data = json.loads(message)
        assert data["streamSid"] == "MZ1"
        assert data["event"] in ("media", "mark", "clear")
        if data["event"] == "media":
            return "audio", samples_from_mulaw(base64.b64decode(data["media"]["payload"]))
        return data["event"], data.get("mark", {}).get("name")

    def marked(self, name: str) -> str:
        return self._message("mark", streamSid="MZ1", mark={"name": name})

    def _message(self, event: str, **fields: Any) -> str:
        number, self.sequence = self.sequence, self.sequence + 1
        return json.dumps({"event": event, "sequenceNumber": str(number), **fields})


class AsteriskFraming:
    """chan_websocket with JSON control."""

    def opening(self) -> list[str]:
        return [
            json.dumps(
                {
                    "event": "MEDIA_START",
                    "connection_id": "media_connection1",
                    "channel": "WebSocket/media_connection1/0x5140001a0040",
                    "channel_id": "1761245643.1",
                    "format": "ulaw",
                    "optimal_frame_size": 160,
                    "ptime": 20,
                    "channel_variables": {"MEDIA_WEBSOCKET_OPTIMAL_FRAME_SIZE": "160"},
                }
            )
        ]

    def frame(self, samples: Samples) -> bytes:
        return mulaw_from_samples(samples)

    def read(self, message: str | bytes) -> tuple[str, Any]:
        if isinstance(message, bytes):
            return "audio", samples_from_mulaw(message)
        data = json.loads(message)
        kind = {"MARK_MEDIA": "mark", "FLUSH_MEDIA": "clear"}.get(data["command"], data["command"])
        return kind, data.get("correlation_id")

    def marked(self, name: str) -> str:
        return json.dumps({"event": "MEDIA_MARK_PROCESSED", "correlation_id": name})


class Phone:
    """A caller at the end of a line.

    Attributes:
        heard: All that has sounded so far.
        commands: All that was told besides audio, in order.
        cleared: How many samples were dropped before they sounded.
        hung_up: Set once the other side has ended the call.
        sounds: Set once something has sounded.
        quiet: Set while nothing sounds.
        source: Gives what the microphone takes in each 20 ms; None is what `say` was given.
        sink: Is given what sounds each 20 ms.
    """

    def __init__(self, socket: ClientConnection, framing: Framing) -> None:
        self.source: Callable[[], Samples] | None = None
        self.sink: Callable[[Samples], None] = lambda samples: None
        self.heard: list[Samples] = []
        self.commands: list[str] = []
        self.cleared = 0
        self.hung_up = asyncio.Event()
        self.quiet = asyncio.Event()
        self.sounds = asyncio.Event()
        self._socket = socket
        self._framing = framing
        self._queue: deque[Samples | str] = deque()
        self._waiting: Samples = np.zeros(0, np.int16)
        self._said = asyncio.Event()

    async def run(self) -> None:
        """Hold the line until the other side hangs up."""
        for message in self._framing.opening():
            await self._socket.send(message)
        async with asyncio.TaskGroup() as group:
            sound = group.create_task(self._sound())
            async for message in self._socket:
                self._take(message)
            self.hung_up.set()
            sound.cancel()

    async def say(self, samples: Samples) -> None:
        """Say (T,) int16 at 8 kHz; returns when it has been said."""
        self._said.clear()
        self._waiting = np.concatenate([self._waiting, samples])
        await self._said.wait()

    def seconds_heard(self) -> float:
        """How much audible speech has sounded."""
        audible = sum(int(np.abs(frame).max() > 330) for frame in self.heard)
        return audible * FRAME / RATE_HZ

    def _take(self, message: str | bytes) -> None:
        kind, value = self._framing.read(message)
        if kind == "audio":
            self._queue.extend(value[at : at + FRAME] for at in range(0, len(value), FRAME))
            self.quiet.clear()
            return
        self.commands.append(kind)
        if kind == "mark":
            self._queue.append(value)
        elif kind == "clear":
            self.cleared += sum(len(item) for item in self._queue if not isinstance(item, str))
            self._queue = deque(item for item in self._queue if isinstance(item, str))

    async def _sound(self) -> None:
        """Every 20 ms one frame goes each way."""
        loop = asyncio.get_running_loop()
        start_s = loop.time()
        noise = np.random.default_rng(0)
        for count in range(1, 10**6):
            try:
                while self._queue and isinstance(self._queue[0], str):
                    await self._socket.send(self._framing.marked(str(self._queue.popleft())))
                if self._queue:
                    self.heard.append(self._queue.popleft())  # type: ignore[arg-type]
                    self.sink(self.heard[-1])
                    self.sounds.set()
                else:
                    self.quiet.set()
                frame, self._waiting = self._waiting[:FRAME], self._waiting[FRAME:]
                if not len(self._waiting):
                    self._said.set()
                background = np.round(noise.normal(size=FRAME) * 8).astype(np.int16)
                background[: len(frame)] += frame
                taken = background if self.source is None else self.source()
                await self._socket.send(self._framing.frame(taken))
            except ConnectionClosed:
                return
            await asyncio.sleep(start_s + count * FRAME / RATE_HZ - loop.time())
