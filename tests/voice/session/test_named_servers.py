"""What two servers of a client's list at once, before the event loop has heard of either."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

from mcp_types import Tool

from voice.events import ServerListing
from voice.inputs import NamedServer, SessionOptions
from voice.session.named_servers import NamedServers
from voice.tools import SessionScope, Toolbox
from voice.tools.mcp.connection import Connection, Endpoint

ADD = Tool(name="add", description="Add.", input_schema={"type": "object", "properties": {}})


class Thread:
    """Takes the place of the servers' thread: the test lists."""

    def __init__(self) -> None:
        self.lists: list[Callable[[Sequence[Tool]], None]] = []

    def add(
        self,
        endpoint: Endpoint,
        listed: Callable[[Sequence[Tool]], None],
        failed: Callable[[str], None],
    ) -> Connection:
        self.lists.append(listed)
        return Connection(endpoint, listed, failed)

    def remove(self, connection: Connection) -> None:
        pass


class Box:
    """As much of a toolbox as is asked for."""

    names = ("look_up",)

    def __init__(self) -> None:
        self.named_servers = Thread()


async def test_tools_of_one_name_are_told_apart_and_go_one_by_one() -> None:
    box, told, scope = Box(), list[ServerListing](), SessionScope("s")
    servers = NamedServers(cast(Toolbox, box), lambda _: None, scope, {}, told.append)
    named = tuple(NamedServer(label, f"http://{label}") for label in ("one", "two"))
    options = SessionOptions(servers=named)
    for server in servers.unknown(options):
        servers.ask(server)
    for listed in box.named_servers.lists:
        listed([ADD, Tool(name="look_up", input_schema={"type": "object"})])
    await asyncio.sleep(0)
    names = ["add", "one_look_up", "two_add", "two_look_up"]
    assert sorted(tool.name for tool in servers.with_tools(options).client_tools) == names
    assert sorted(scope.tools) == sorted(servers.specs) == names
    for listed in box.named_servers.lists:
        # What a server has had by its own name it keeps.
        listed([ADD])
    await asyncio.sleep(0)
    assert sorted(scope.tools) == ["add", "two_add"]
    assert servers.unknown(SessionOptions(servers=named[1:])) == []
    assert sorted(scope.tools) == sorted(servers.specs) == ["two_add"]
    servers.close()
    assert scope.tools == servers.specs == {}
    assert len(told) == 6
