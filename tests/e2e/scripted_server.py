"""The page's server with its lines in the test's hands: static files, and a socket to script.

It checks nothing of what the page sends; tests wait for events and look at them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import mimetypes
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tests.support.patience import PATIENCE_S
from voice.demo.server import free_port

WEB_DIR = Path(__file__).resolve().parents[2] / "web"
POLICY = "default-src 'self'; connect-src 'self' ws: wss:; style-src 'self'; script-src 'self'"
RATE_HZ = 24_000


class ScriptedServer:
    """A server that says what it is told to.

    Attributes:
        received: What the page has sent on the connection that is open now, audio included.
        key: What the page must present; empty asks for nothing.
        agent: Who is there, as the page is told.
        others: Who is there as well, by name.
        path: Of the connection, with its query.
        admits: Cleared, the page waits for its connection.
    """

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.connections = 0
        self.key = ""
        self.agent: dict[str, Any] = {}
        self.others: dict[str, dict[str, Any]] = {}
        self.path = ""
        self.admits = asyncio.Event()
        self.admits.set()
        self.port = free_port()
        self._socket: ServerConnection | None = None
        self._server: Server | None = None
        self._changed = asyncio.Condition()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.port}/"

    async def open(self) -> None:
        """Listen, on the same port every time."""
        self._server = await serve(
            self._talk,
            "127.0.0.1",
            self.port,
            process_request=self._answer,
            subprotocols=[Subprotocol("realtime")],
            open_timeout=None,
            close_timeout=1,
        )

    async def close(self) -> None:
        """Stop listening and drop the connection."""
        if self._server:
            self._server.close()
            await self._server.wait_closed()

    async def hang_up(self, code: int = 1000) -> None:
        """Close the conversation from this side."""
        assert self._socket is not None
        await self._socket.close(code)

    async def connected(self, count: int = 1) -> None:
        """Wait until the page has connected so many times and has said which session it wants."""
        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(
                lambda: self.connections >= count and self._find("session.update", 0) is not None
            )

    async def expect(self, kind: str, since: int = 0) -> dict[str, Any]:
        """The first event of a type among ``received[since:]``, waited for."""
        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: self._find(kind, since) is not None)
        found = self._find(kind, since)
        assert found is not None
        return found

    async def send(self, *events: dict[str, Any]) -> None:
        """Send events in this order."""
        for event in events:
            await self.send_raw(json.dumps(event))

    async def send_raw(self, text: str) -> None:
        """Send a message as it is."""
        assert self._socket is not None
        await self._socket.send(text)

    def _find(self, kind: str, since: int) -> dict[str, Any] | None:
        return next((event for event in self.received[since:] if event["type"] == kind), None)

    async def _talk(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.path = socket.request.path if socket.request else ""
        self.received = []
        self.connections += 1
        try:
            async for message in socket:
                async with self._changed:
                    self.received.append(json.loads(message))
                    self._changed.notify_all()
        except ConnectionClosed:
            return

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        path, _, query = request.path.partition("?")
        if path == "/v1/realtime":
            await self.admits.wait()
        if path.startswith("/v1/"):
            offered = request.headers.get("Sec-WebSocket-Protocol", "")
            shown = f"api-key.{self.key}" in offered or (
                request.headers.get("Authorization") == f"Bearer {self.key}"
            )
            if self.key and not shown:
                return connection.respond(HTTPStatus.UNAUTHORIZED, "key\n")
            (agent,) = parse_qs(query).get("agent", [""])
            if agent and agent not in self.others:
                return connection.respond(HTTPStatus.BAD_REQUEST, "agent\n")
            who = self.others.get(agent, self.agent)
            told = json.dumps(who if path == "/v1/agent" else {})
            return None if path == "/v1/realtime" else connection.respond(HTTPStatus.OK, told)
        file = WEB_DIR / (path.lstrip("/") or "index.html")
        if not file.is_file():
            return connection.respond(HTTPStatus.NOT_FOUND, "not found\n")
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        body = file.read_bytes()
        headers = Headers(
            {
                "Content-Type": kind,
                "Content-Length": str(len(body)),
                "Content-Security-Policy": POLICY,
                "Cache-Control": "no-store",
                "Connection": "close",
            }
        )
        return Response(200, "OK", headers, body)


@asynccontextmanager
async def scripted_server() -> AsyncIterator[ScriptedServer]:
    """A server that listens, closed in the end."""
    server = ScriptedServer()
    await server.open()
    try:
        yield server
    finally:
        await server.close()


def speech_events(item_id: str, text: str, start_ms: int, end_ms: int) -> list[dict[str, Any]]:
    """What a server sends while the user says something."""
    turn = {"item_id": item_id}
    return [
        {"type": "input_audio_buffer.speech_started", "audio_start_ms": start_ms, **turn},
        {"type": "quicksilver.transcript", "text": text.rpartition(" ")[0], **turn},
        {"type": "input_audio_buffer.speech_stopped", "audio_end_ms": end_ms, **turn},
        {"type": "input_audio_buffer.committed", "previous_item_id": None, **turn},
        {
            "type": "conversation.item.input_audio_transcription.completed",
            "content_index": 0,
            "transcript": text,
            **turn,
        },
    ]


def reply_begins(response_id: str, item_id: str) -> list[dict[str, Any]]:
    """The events before a spoken reply's first words."""
    item = {"id": item_id, "type": "message", "role": "assistant", "content": []}
    return [
        {"type": "response.created", "response": {"id": response_id, "status": "in_progress"}},
        {
            "type": "response.output_item.added",
            "response_id": response_id,
            "output_index": 0,
            "item": item,
        },
    ]


def reply_goes_on(
    response_id: str, item_id: str, text: str, audio: Iterable[str]
) -> list[dict[str, Any]]:
    """A segment's text and its audio, base64 pieces."""
    place = {"response_id": response_id, "item_id": item_id, "output_index": 0, "content_index": 0}
    return [
        {"type": "response.output_audio_transcript.delta", "delta": text, **place},
        *({"type": "response.output_audio.delta", "delta": piece, **place} for piece in audio),
    ]


def reply_ends(response_id: str, item_id: str, status: str = "completed") -> list[dict[str, Any]]:
    """The events after a reply's last sample."""
    place = {"response_id": response_id, "item_id": item_id, "output_index": 0, "content_index": 0}
    return [
        {"type": "response.output_audio.done", **place},
        {"type": "response.done", "response": {"id": response_id, "status": status}},
    ]


def tone(seconds: float, level: float = 0.3) -> list[str]:
    """A tone at 24 kHz in base64 pieces of 200 ms."""
    time_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    samples = (level * 32767 * np.sin(2 * np.pi * 330 * time_s)).astype("<i2")
    step = RATE_HZ // 5
    pieces = [samples[at : at + step] for at in range(0, len(samples), step)]
    return [base64.b64encode(piece.tobytes()).decode() for piece in pieces]
