"""The MCP servers of this process, in a thread with an event loop of its own.

That way no message of a server, however long, delays the audio of a conversation.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, TypeVar

import mcp_types as mcp

from voice.config.mcp import McpServerConfig
from voice.tools.mcp.connection import Connection, Endpoint
from voice.tools.mcp.tools import Check, Offer, Refused, Remote, is_read_only, offers, words_of

T = TypeVar("T")
Offers = tuple[Offer, ...]

CLOSE_S = 8.0
"""Longest wait for servers to end; the SDK kills a program that does not end."""

logger = logging.getLogger(__name__)


class Servers:
    """A thread that runs connections; `close` ends it. For ``most`` see `words_of`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._loop = asyncio.new_event_loop()
        self._running: dict[Connection, concurrent.futures.Future[None]] = {}
        self._thread = threading.Thread(target=self._run, name="mcp", daemon=True)
        self._thread.start()

    def add(
        self,
        endpoint: Endpoint,
        listed: Callable[[Sequence[mcp.Tool]], None],
        failed: Callable[[str], None],
    ) -> Connection:
        """Connect a server; see `Connection`. The callbacks run in the servers' thread."""
        connection = Connection(endpoint, listed, failed)
        self._running[connection] = self._submit(connection.run())
        return connection

    def remove(self, connection: Connection) -> None:
        """Disconnect a server."""
        if running := self._running.pop(connection, None):
            running.cancel()

    async def call(
        self,
        connection: Connection,
        name: str,
        arguments: dict[str, Any],
        report: Callable[[str], None],
    ) -> str:
        """Call a tool from any event loop and return its answer; see `Connection.call`.

        Raises:
            ToolError: See `Connection.call` and `words_of`.
        """

        async def work() -> str:
            return words_of(await connection.call(name, arguments, report), self._most)

        return await asyncio.wrap_future(self._submit(work()))

    async def close(self) -> None:
        """Disconnect all servers, waiting `CLOSE_S` at most; may be called again."""
        if not self._loop.is_closed() and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join, CLOSE_S)

    def _submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            # Leaving the runner cancels what still runs, and waits for it.
            runner.get_loop().run_forever()


class ConfiguredServers:
    """The servers of the configuration.

    Args:
        configs: Server's name → options.
        check: Raises `ProtocolError` if the model could not call a tool.
        taken: The names of all tools but a server's, by the server's name.
        put: Called with a server's name and its tools when they change, in the servers' thread.
        most: See `words_of`.

    Raises:
        ConfigError: An environment variable is not set.
    """

    def __init__(
        self,
        configs: Mapping[str, McpServerConfig],
        check: Check,
        taken: Callable[[str], set[str]],
        put: Callable[[str, Offers], None],
        most: int,
    ) -> None:
        self._configs = configs
        self._check = check
        self._taken = taken
        self._put = put
        self._refused: set[tuple[str, str]] = set()
        endpoints = [Endpoint.of(name, config) for name, config in configs.items()]
        self._servers = Servers(most)
        self._connections: dict[str, Connection] = {}
        self._tried = {name: threading.Event() for name in configs}
        for endpoint in endpoints:
            name = endpoint.name
            self._connections[name] = self._servers.add(
                endpoint, partial(self._changed, name), partial(self._failed, name)
            )

    def wait(self) -> None:
        """Wait for the first attempt to reach each server, up to its start timeout; blocks."""
        for name, tried in self._tried.items():
            tried.wait(self._configs[name].start_timeout_s)

    async def close(self) -> None:
        """See `Servers.close`."""
        await self._servers.close()

    def _failed(self, server: str, problem: str) -> None:
        self._tried[server].set()

    def _changed(self, server: str, tools: Sequence[mcp.Tool]) -> None:
        config = self._configs[server]

        def call(*given: Any) -> Coroutine[Any, Any, str]:
            return self._servers.call(self._connections[server], *given)

        remotes = [Remote(server, one.name, one) for one in tools if _is_wanted(one.name, config)]
        found = offers(remotes, call, self._check, self._taken(server), self._refuse)
        self._put(server, tuple(_trusted(offer, config) for offer in found))
        self._tried[server].set()

    def _refuse(self, remote: Remote, refused: Refused) -> None:
        if (remote.server, remote.name) not in self._refused:
            self._refused.add((remote.server, remote.name))
            logger.warning(
                "mcp server %s: tool %.64r is not offered: %.200s",
                remote.server, remote.name, refused,
            )  # fmt: skip


def _is_wanted(name: str, config: McpServerConfig) -> bool:
    return (not config.allow or _matches(name, config.allow)) and not _matches(name, config.deny)


def _trusted(offer: Offer, config: McpServerConfig) -> Offer:
    """An offer whose tool is read-only if the operator says so, or trusts the server's word."""
    tool, listed = offer.tool, offer.remote.listed
    believed = config.trust_annotations and is_read_only(listed)
    reads = believed or _matches(listed.name, config.read_only)
    return replace(offer, tool=replace(tool, spec=replace(tool.spec, read_only=reads)))


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
