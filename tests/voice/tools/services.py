"""What the tools' tests share: a clock to move, and real HTTP services on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from tests.support.patience import PATIENCE_S
from voice.config import ToolsConfig
from voice.tools.web import Web

NOW = datetime(2026, 11, 21, 15, 42, tzinfo=ZoneInfo("America/New_York"))
"""A Saturday."""


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, moment: datetime = NOW) -> None:
        self.moment = moment
        self._up = timedelta(hours=1)

    def __call__(self) -> datetime:
        return self.moment

    def uptime_s(self) -> float:
        return self._up.total_seconds()

    def advance(self, **length: float) -> None:
        self.moment += timedelta(**length)
        self._up += timedelta(**length)

    def step(self, **length: float) -> None:
        """Set it; no time passes by that."""
        self.moment += timedelta(**length)


@asynccontextmanager
async def served(routes: Sequence[Route]) -> AsyncGenerator[str, None]:
    """Serve routes over real HTTP; gives the base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            Starlette(routes=list(routes)), ws="none", lifespan="off", log_level="error"
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            await task


def closed_url() -> str:
    """A URL where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}/"


@asynccontextmanager
async def connections(timeout_s: float = PATIENCE_S) -> AsyncGenerator[Web, None]:
    """What network tools are given."""
    web = Web(timeout_s)
    try:
        yield web
    finally:
        await web.close()


def config_at(base: str, **options: object) -> ToolsConfig:
    """A configuration whose public services are all at one place."""
    values = {
        "database": ":memory:",
        "weather_url": f"{base}/forecast",
        "geocoding_url": f"{base}/search",
        "currency_url": f"{base}/latest",
        "stock_url": f"{base}/quote",
    }
    return ToolsConfig.model_validate(values | options)
