"""Connects MCP servers that a client names, lists their tools and offers them to the model.

Only hosts that the operator allows are contacted; otherwise a client could make this server send
requests anywhere. Such a server is not trusted, so none of its tools runs inside a draft.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from voice.errors import ProtocolError
from voice.events import ServerListing
from voice.inputs import NamedServer, SessionOptions
from voice.tools import SessionScope, Toolbox
from voice.tools.registry import Tool
from voice.types import ServerTool, ToolSpec

if TYPE_CHECKING:
    from mcp_types import Tool as Listed

    from voice.tools.mcp.connection import Connection
    from voice.tools.mcp.tools import Check, Offer

_PORTS = {"http": 80, "https": 443}


def check_address(server: NamedServer, hosts: Sequence[str]) -> None:
    """Refuse an address that the operator has not allowed.

    Raises:
        ProtocolError: The address is malformed, or its host is not among ``hosts``.
    """
    path = "session.tools"
    if not hosts:
        raise ProtocolError(
            f"{path}: MCP servers of a client's are off; the operator allows hosts in "
            "tools.mcp_hosts",
            "mcp_not_allowed",
            path,
        )
    try:
        address = urlsplit(server.url)
        usual = _PORTS.get(address.scheme)
        port = usual and (address.port or usual)
    except ValueError:
        port = None
    if port is None or not address.hostname or "@" in address.netloc:
        raise ProtocolError(f"{path}: server_url: expected http(s)://host/path", param=path)
    names = {f"{address.hostname}:{port}", *([address.hostname] if port == usual else [])}
    if not names & {host.lower() for host in hosts}:
        raise ProtocolError(
            f"{path}: server_url: {address.hostname}:{port} is not among the hosts that the "
            "operator allows (tools.mcp_hosts)",
            "mcp_not_allowed",
            path,
        )


class NamedServers:
    """The servers of one conversation; all methods are for the event loop's thread.

    Args:
        toolbox: Connects the servers; its own tools keep their names if names collide.
        check: Raises if the model cannot call some tools; may be called from any thread.
        scope: Given the tools that are found.
        specs: Declarations of the tools that this server runs already.
        changed: Called with what an MCP server has listed.

    Attributes:
        specs: Declarations of all tools that run here, including those found.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        check: Check,
        scope: SessionScope,
        specs: dict[str, ToolSpec],
        changed: Callable[[ServerListing], None],
    ) -> None:
        self._toolbox = toolbox
        self._check = check
        self._scope = scope
        self.specs = specs
        self._changed = changed
        self._servers: dict[NamedServer, Connection] = {}
        self._offers: dict[NamedServer, tuple[Offer, ...]] = {}
        self._names_here = frozenset(specs)
        # Written by the servers' thread, which may name tools before the loop knows of others'.
        self._names: dict[NamedServer, set[str]] = {}
        # What `with_tools` may have added to options, by identity: what is offered, and was before.
        self._added: list[ToolSpec] = []
        self._own_names: frozenset[str] = frozenset()

    def with_tools(self, options: SessionOptions) -> SessionOptions:
        """The options with the tools, as far as known, of the servers that they name."""
        agent = [name for name in options.agent_tools if name not in self._scope.tools]
        client = self._own(options)
        for server in options.servers:
            for offer in self._offers.get(server, ()):
                spec, reads = offer.tool.spec, _reads(offer)
                if server.asks(offer.remote.name, reads):
                    client.append(spec)
                else:
                    agent.append(spec.name)
        return replace(options, agent_tools=tuple(agent), client_tools=tuple(client))

    def check_names(self, options: SessionOptions, path: str) -> None:
        """Refuse a function of the client's that has the name of a server's tool.

        Functions that are declared before the server has listed its tools keep their names.

        Raises:
            ProtocolError: There is such a function; ``path`` is where it was declared.
        """
        found = (offer for one in options.servers for offer in self._offers.get(one, ()))
        taken = {offer.tool.spec.name for offer in found}
        for tool in self._own(options):
            if tool.name in taken:
                problem = f"got {tool.name!r}, which is already a tool of an MCP server"
                raise ProtocolError(f"{path}: {problem}", param=path)

    def _own(self, options: SessionOptions) -> list[ToolSpec]:
        """The functions that the client itself runs."""
        added = {id(spec) for spec in self._added}
        return [tool for tool in options.client_tools if id(tool) not in added]

    def unknown(self, options: SessionOptions) -> list[NamedServer]:
        """The servers of the options not yet asked; servers no longer named are disconnected."""
        self._own_names = frozenset(tool.name for tool in self._own(options))
        for server in self._servers.keys() - set(options.servers):
            self._forget(server)
        return [server for server in options.servers if server not in self._servers]

    def ask(self, server: NamedServer) -> None:
        """Connect a server and keep track of the tools it lists."""
        from voice.tools.mcp.connection import Endpoint

        running = self._toolbox.named_servers
        assert running is not None, "hosts are allowed"
        loop = asyncio.get_running_loop()

        def listed(tools: Sequence[Listed]) -> None:
            # Runs in the servers' thread, where nobody waits while grammars are tried.
            try:
                offers = self._offers_of(server, tools)
            except ProtocolError:
                failed("its tools have no room in the model's context")
                return
            loop.call_soon_threadsafe(self._listed, server, offers)

        def failed(problem: str) -> None:
            loop.call_soon_threadsafe(self._fail, server, problem)

        self._changed(ServerListing(server.label, server.url))
        endpoint = Endpoint(server.label, url=server.url, headers=dict(server.headers))
        self._servers[server] = running.add(endpoint, listed, failed)

    def close(self) -> None:
        """Disconnect all servers."""
        for server in list(self._servers):
            self._forget(server)

    def _forget(self, server: NamedServer) -> None:
        connection = self._servers.pop(server)
        self._names.pop(server, None)
        if self._toolbox.named_servers is not None:
            self._toolbox.named_servers.remove(connection)
        self._take(server, ())

    def _fail(self, server: NamedServer, problem: str) -> None:
        # Attempts continue; the client is told only of the first failure.
        if server in self._servers and server not in self._offers:
            self._offers[server] = ()
            self._changed(ServerListing(server.label, server.url, problem=problem))

    def _listed(self, server: NamedServer, offers: tuple[Offer, ...]) -> None:
        if server in self._servers:
            self._take(server, offers)
            self._changed(ServerListing(server.label, server.url, tuple(map(_shown, offers))))

    def _offers_of(self, server: NamedServer, tools: Sequence[Listed]) -> tuple[Offer, ...]:
        from voice.tools.mcp.tools import Remote, is_read_only, offers

        running = self._toolbox.named_servers
        assert running is not None

        def call(*given: Any) -> Coroutine[Any, Any, str]:
            return running.call(self._servers[server], *given)

        others = [names for one, names in list(self._names.items()) if one != server]
        taken = {*self._toolbox.names, *self._names_here, *self._own_names}.union(*others)
        remotes = [
            Remote(server.label, listed.name, listed)
            for listed in tools
            if server.allows(listed.name, is_read_only(listed))
        ]
        # No report of tools left out: the client sees which ones are listed.
        found = offers(remotes, call, self._check, taken, lambda *_: None)
        self._check([offer.tool.spec for offer in found])
        self._names[server] = {offer.tool.spec.name for offer in found}
        return found

    def _take(self, server: NamedServer, offers: tuple[Offer, ...]) -> None:
        """Replace the tools offered from a server."""
        tools: dict[str, Tool] = dict(self._scope.tools)
        self._added = [tool.spec for tool in tools.values()]
        for offer in self._offers.pop(server, ()):
            del tools[offer.tool.spec.name], self.specs[offer.tool.spec.name]
        for offer in offers:
            tools[offer.tool.spec.name] = offer.tool
            self.specs[offer.tool.spec.name] = offer.tool.spec
        if server in self._servers:
            self._offers[server] = offers
        self._added += [offer.tool.spec for offer in offers]
        self._scope.tools = tools


def _reads(offer: Offer) -> bool:
    from voice.tools.mcp.tools import is_read_only

    return is_read_only(offer.remote.listed)


def _shown(offer: Offer) -> ServerTool:
    spec, listed = offer.tool.spec, offer.remote.listed
    annotations = listed.annotations
    return ServerTool(
        spec.name,
        offer.remote.name,
        listed.description or "",
        listed.input_schema,
        annotations.model_dump(by_alias=True, exclude_none=True) if annotations else None,
    )
