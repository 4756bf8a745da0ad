"""The connection to one MCP server: lists and calls its tools, and reconnects when it is lost.

All of it belongs to one event loop. It does not know what the tools are for.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolResult,
    Tool,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from voice.config.mcp import McpServerConfig
from voice.errors import ConfigError
from voice.tools.registry import ToolError

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
"""Pauses between attempts to connect; each failure doubles the pause."""
STEADY_S = 60.0
"""A connection that lasted so long was no failure."""
LIST_PAUSE_S = 1.0
"""Shortest time between two readings of a server's list, which may change again and again."""
MOST_PAGES = 32
MOST_TOOLS = 256
LARGEST_ANSWER = 8 * 1024 * 1024
"""Most bytes of one answer over HTTP."""

logger = logging.getLogger(__name__)
# The SDK's log quotes messages, which may hold the user's words and secrets.
for _name in ("mcp", "client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server is, and how long to wait for it.

    Attributes:
        command: The program and its arguments; empty for a server at ``url``.
        variables: Variables of the program's environment.
    """

    name: str
    command: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    start_timeout_s: float = 10.0
    timeout_s: float = 30.0
    max_calls: int = 4

    @classmethod
    def of(cls, name: str, config: McpServerConfig) -> Endpoint:
        """The server that a group of options describes.

        Raises:
            ConfigError: An environment variable is not set.
        """
        wanted = {*config.env, *config.headers_env.values()}
        missing = sorted(variable for variable in wanted if not os.environ.get(variable))
        if missing:
            raise ConfigError(f"tools.mcp.{name}: the environment variable {missing[0]} is not set")
        return cls(
            name,
            (config.command, *config.args) if config.command else (),
            {variable: os.environ[variable] for variable in config.env},
            config.url,
            {header: os.environ[variable] for header, variable in config.headers_env.items()},
            config.start_timeout_s,
            config.timeout_s,
            config.max_calls,
        )


class Connection:
    """A server that `run` keeps connected.

    Args:
        endpoint: Where the server is.
        listed: Called with its tools whenever they have been listed.
        failed: Called with the reason, in a few words of ours, when it is lost or not reached.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        listed: Callable[[Sequence[Tool]], None],
        failed: Callable[[str], None],
    ) -> None:
        self._endpoint = endpoint
        self._listed = listed
        self._failed = failed
        self._client: Client | None = None
        self._status = 0
        self._look = asyncio.Event()
        self._calls = asyncio.Semaphore(endpoint.max_calls)

    async def run(self) -> None:
        """Keep it connected until cancelled."""
        pause_s, now_s = FIRST_PAUSE_S, asyncio.get_running_loop().time
        while True:
            steady_at_s = math.inf
            try:
                async with AsyncExitStack() as stack:
                    client = await self._connected(stack)
                    steady_at_s = now_s() + STEADY_S
                    await self._follow(client)
            except Exception as error:
                problem = _reason(error, self._status)
                logger.warning("mcp server %s: %s", self._endpoint.name, problem)
                self._failed(problem)
            finally:
                self._client = None
            if now_s() >= steady_at_s:
                pause_s = FIRST_PAUSE_S
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def call(
        self, name: str, arguments: dict[str, Any], report: Callable[[str], None]
    ) -> CallToolResult:
        """Call a tool.

        Args:
            name: The tool's name at the server.
            arguments: Arguments by the tool's schema.
            report: Called with the server's progress messages.

        Raises:
            ToolError: The server is not connected, is lost, takes too long or answers with rubbish.
        """

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            if message:
                report(message)

        said = self._endpoint.name.replace("_", " ")
        try:
            async with asyncio.timeout(self._endpoint.timeout_s), self._calls:
                if self._client is None:
                    raise ToolError(f"The {said} service cannot be reached at the moment.")
                return await self._client.call_tool(name, arguments, progress_callback=progressed)
        except TimeoutError as error:
            raise ToolError(f"The {said} service took too long.") from error
        except ToolError:
            raise
        except Exception as error:
            # Listing the tools again will show whether the server is still there.
            self._look.set()
            problem = _reason(error, self._status)
            logger.warning("mcp server %s: a call failed: %s", self._endpoint.name, problem)
            raise ToolError(_told(said, error)) from error

    async def _connected(self, stack: AsyncExitStack) -> Client:
        """Connect and list the tools, both within `Endpoint.start_timeout_s`."""
        self._posted(0)
        self._look.clear()
        client = Client(
            _transport(self._endpoint, self._look.set, self._posted),
            read_timeout_seconds=self._endpoint.timeout_s,
            message_handler=self._notice,
            cache=None,
        )
        async with asyncio.timeout(self._endpoint.start_timeout_s):
            await stack.enter_async_context(client)
            tools = await _tools(client)
        self._client = client
        self._listed(tools)
        return client

    async def _follow(self, client: Client) -> None:
        """List the tools again when asked to; raises if that fails, as the server is then lost."""
        async with asyncio.TaskGroup() as group:
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                group.create_task(self._listen(client))
            while True:
                await self._look.wait()
                self._look.clear()
                async with asyncio.timeout(self._endpoint.start_timeout_s):
                    tools = await _tools(client)
                self._listed(tools)
                await asyncio.sleep(LIST_PAUSE_S)

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes of the tools, as the protocol requires since version 2026-07-28."""
        tools = client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                self._look.set()

    def _posted(self, status: int) -> None:
        self._status = status

    async def _notice(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._look.set()


async def _tools(client: Client) -> list[Tool]:
    """All tools of a server, page by page."""
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) >= MOST_TOOLS:
            break
    return found[:MOST_TOOLS]


@asynccontextmanager
async def _transport(
    endpoint: Endpoint, ended: Callable[[], None], posted: Callable[[int], None]
) -> AsyncGenerator[Any, None]:
    """Open the streams of a server.

    Args:
        ended: Called when nothing more will come from it.
        posted: Called with the status of each answer to a message over HTTP.
    """
    async with AsyncExitStack() as stack:
        if endpoint.command:
            program, *arguments = endpoint.command
            given = StdioServerParameters(
                command=program, args=arguments, env=dict(endpoint.variables)
            )
            opened = stdio_client(given, sys.__stderr__ or sys.stderr)
        else:
            http = httpx2.AsyncClient(
                headers=dict(endpoint.headers),
                timeout=httpx2.Timeout(endpoint.timeout_s, read=None),
                transport=_Bounded(posted),
            )
            client = await stack.enter_async_context(http)
            opened = streamable_http_client(endpoint.url, http_client=client)
        read, write = await stack.enter_async_context(opened)
        passing, passed = anyio.create_memory_object_stream[Any](0)

        async def pass_on() -> None:
            async with passing:
                async for message in read:
                    await passing.send(message)
            ended()

        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(pass_on)
        yield passed, write
        group.cancel_scope.cancel()


class _Bounded(httpx2.AsyncHTTPTransport):
    """Refuses answers that are too large; the SDK itself bounds event streams.

    It reports each message's status, of which the SDK makes one of two error codes.
    """

    def __init__(self, posted: Callable[[int], None]) -> None:
        super().__init__()
        self._posted = posted

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `httpx2.AsyncBaseTransport.handle_async_request`."""
        response = await super().handle_async_request(request)
        if request.method == "POST":
            self._posted(response.status_code)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise httpx2.ReadError(f"the answer is larger than {LARGEST_ANSWER} bytes")
            yield chunk

    async def aclose(self) -> None:
        """See `httpx2.AsyncByteStream.aclose`."""
        await self._stream.aclose()


def _reason(error: BaseException, status: int) -> str:
    """What kind of error it was; its own message is not used, as it may quote a server's.

    Args:
        status: Of the newest answer over HTTP; 0 if there was none.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case MCPError() if error.code == CONNECTION_CLOSED:
            return "it has ended, or closed the connection"
        case MCPError() if status >= HTTPStatus.BAD_REQUEST:
            return f"it answered with HTTP status {status}"
        case MCPError():
            return f"it answered with error {error.code}"
        case TimeoutError():
            return "it does not answer"
        case FileNotFoundError():
            return f"there is no program {error.filename}"
        case OSError() if error.strerror:
            return error.strerror
        case httpx2.TransportError():
            return f"it cannot be reached ({type(error).__name__})"
    return f"it answered with what is no MCP ({type(error).__name__})"


def _told(said: str, error: Exception) -> str:
    if isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT:
        return f"The {said} service took too long."
    if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
        return f"The {said} service refused the request."
    if isinstance(error, MCPError | httpx2.TransportError | OSError):
        return f"The {said} service broke off."
    return f"The {said} service gave an answer that I cannot read."
