"""A real server in this process, for tests of what goes over the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from websockets.asyncio.client import ClientConnection

from tests.support.patience import PATIENCE_S
from voice.config import ServerConfig
from voice.serve import listen, uvicorn_config


@asynccontextmanager
async def serving(app: ASGIApp, config: ServerConfig | None = None) -> AsyncGenerator[str, None]:
    """Serve on a free port; gives host and port."""
    config = config or ServerConfig(port=0)
    with listen(config.model_copy(update={"port": 0})) as listener:
        server = uvicorn.Server(uvicorn_config(app, config))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


async def receive(socket: ClientConnection) -> dict[str, Any]:
    """The next server event."""
    async with asyncio.timeout(PATIENCE_S):
        event: dict[str, Any] = json.loads(await socket.recv())
        return event


async def receive_until(socket: ClientConnection, kind: str) -> list[dict[str, Any]]:
    """The server events up to and with the next of a type."""
    events = [await receive(socket)]
    while events[-1]["type"] != kind:
        events.append(await receive(socket))
    return events


async def send(socket: ClientConnection, kind: str, **fields: Any) -> None:
    """Send a client event."""
    await socket.send(json.dumps({"type": kind, **fields}))
