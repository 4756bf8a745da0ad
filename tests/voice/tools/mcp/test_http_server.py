"""An MCP server over streamable HTTP: its headers, what is too large, and its restart."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from tests.voice.tools.mcp.test_faulty_servers import check, run
from voice.config import ServerConfig, ToolsConfig, TurnConfig
from voice.serve import listen
from voice.tools import Toolbox
from voice.tools.mcp.connection import Connection, Endpoint


def application() -> MCPServer:
    server = MCPServer("tickets")

    @server.tool()
    def whose(context: Context) -> str:
        """Say who asks."""
        return (context.headers or {}).get("authorization", "nobody")

    @server.tool()
    def everything() -> str:
        """List all tickets."""
        return "ticket " * 1_500_000

    return server


@asynccontextmanager
async def served(port: int) -> AsyncGenerator[None, None]:
    with listen(ServerConfig(port=port)) as listener:
        app = application().streamable_http_app(json_response=True)
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        )
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield
        finally:
            server.should_exit = True
            await task


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
async def test_a_refusal_is_told_with_its_status(status: int) -> None:
    async def refuse(_: Request) -> Response:
        return Response("no", status)

    async with (
        serving(Starlette(routes=[Route("/mcp", refuse, methods=["POST"])])) as address,
        asyncio.timeout(PATIENCE_S),
    ):
        told = asyncio.get_running_loop().create_future()
        endpoint = Endpoint("tickets", url=f"http://{address}/mcp", start_timeout_s=PATIENCE_S)
        running = asyncio.create_task(Connection(endpoint, lambda _: None, told.set_result).run())
        assert await told == f"it answered with HTTP status {status}"
        running.cancel()
        await asyncio.wait({running})


async def test_over_http(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("TICKETS_AUTHORIZATION", "Bearer sesame")
    with socket.socket() as place:
        # It listens to nothing; nobody else gets the port while the server is away.
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind(("127.0.0.1", 0))
        await over_http(place.getsockname()[1])
    assert "sesame" not in caplog.text


async def over_http(port: int) -> None:
    headers = {"Authorization": "TICKETS_AUTHORIZATION"}
    async with served(port):
        patient = {"start_timeout_s": PATIENCE_S, "timeout_s": PATIENCE_S}
        server = {"url": f"http://127.0.0.1:{port}/mcp", "headers_env": headers, **patient}
        config = ToolsConfig.model_validate({"database": ":memory:", "mcp": {"tickets": server}})
        box = Toolbox(config, TurnConfig(tool_timeout_s=PATIENCE_S))
        await asyncio.to_thread(box.connect, check)
        assert (await run(box, "whose")).content == "Bearer sesame"
        assert (await run(box, "everything")).content == "Error: The tickets service broke off."
    assert (await run(box, "whose", key="2")).error
    async with served(port), asyncio.timeout(PATIENCE_S):
        keys = iter(range(3, 10_000))
        while (await run(box, "whose", key=str(next(keys)))).error:
            await asyncio.sleep(0.05)
        await box.close()
