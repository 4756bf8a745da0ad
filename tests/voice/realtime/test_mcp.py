"""MCP tools in a Realtime session: a real server asks a real MCP server over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter
from starlette.types import ASGIApp
from websockets.asyncio.client import ClientConnection, connect

from tests.support.serving import receive, receive_until, send, serving
from tests.voice.realtime.test_over_sockets import running
from voice.errors import ProtocolError
from voice.inputs import NamedServer
from voice.llm.base import AnswerDone, ModelEvent, Prompt, TextPiece
from voice.session.named_servers import check_address
from voice.session.resources import Resources
from voice.tools import Toolbox
from voice.types import Role, ToolCall, ToolSpec

EVENTS: TypeAdapter[RealtimeServerEvent] = TypeAdapter(RealtimeServerEvent)


class Caller:
    """A model that calls the tool whose name the user says first, and then says "Well."."""

    name = "caller"

    def __init__(self) -> None:
        self.offered: tuple[str, ...] = ()

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        self.offered = tuple(tool.name for tool in prompt.tools)
        newest = prompt.messages[-1]
        name = newest.content.split()[0] if newest.role is Role.USER else ""
        if name in self.offered:
            call = ToolCall(f"call_{len(prompt.messages)}", name, {"a": 2, "b": 3})
            yield AnswerDone((call,), False, 1, 1)
            return
        yield TextPiece("Well.")
        yield AnswerDone((), False, 1, 1)

    async def end_of_message(self, prompt: Prompt) -> float | None:
        return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        for tool in tools:
            if tool.name == "unheld":
                raise ProtocolError("it cannot be held", "unsupported_schema", path)

    def warm_up(self, prompt: Prompt) -> None:
        pass

    async def close(self) -> None:
        pass


class Sums:
    """An MCP server that adds, and counts how often."""

    def __init__(self) -> None:
        self.made = 0
        self.keys: set[str | None] = set()
        server = MCPServer("sums")

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        def add(a: int, b: int, context: Context) -> str:
            """Add two numbers. It is quick."""
            self.made += 1
            self.keys.add((context.headers or {}).get("authorization"))
            return f"The sum is {a + b}."

        @server.tool()
        def store(a: int, b: int) -> str:
            """Store two numbers."""
            self.made += 1
            raise ValueError("the disk is full")

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        def lose(a: int, b: int) -> str:
            """Lose a tool; after an error the client looks what there is."""
            server.remove_tool("store")
            raise MCPError(-32602, "There is one tool less now.")

        @server.tool()
        def unheld(a: int) -> str:
            """Do what no grammar holds."""
            return ""

        self.app = server.streamable_http_app()


@asynccontextmanager
async def started(app: ASGIApp) -> AsyncGenerator[str, None]:
    """Serve an application with its lifespan, which uvicorn takes care of."""
    async with serving(app) as address:
        yield address


@asynccontextmanager
async def session(
    parts: Resources, model: Caller, hosts: Sequence[str]
) -> AsyncGenerator[ClientConnection, None]:
    tools = parts.config.tools.model_copy(update={"mcp_hosts": tuple(hosts)})
    box = Toolbox(tools.model_copy(update={"database": ":memory:"}), parts.config.turn)
    await asyncio.to_thread(box.connect, lambda tools: None)
    config = parts.config.model_copy(update={"tools": tools})
    parts = replace(parts, config=config, toolbox=box)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(box.close)
        url = await stack.enter_async_context(running(parts, model))
        socket = await stack.enter_async_context(connect(url))
        assert (await receive(socket))["type"] == "session.created"
        yield socket


def tool(address: str, **more: Any) -> dict[str, Any]:
    """As OpenAI's clients declare one."""
    place = {"server_label": "sums", "server_url": f"http://{address}/mcp"}
    return {"type": "mcp", **place, "authorization": "sesame", **more}


async def declare(socket: ClientConnection, *tools: dict[str, Any]) -> list[dict[str, Any]]:
    changes = {"type": "realtime", "output_modalities": ["text"], "tools": list(tools)}
    await send(socket, "session.update", session=changes)
    return await receive_until(socket, "conversation.item.done")


async def ask(socket: ClientConnection, name: str) -> list[dict[str, Any]]:
    content = [{"type": "input_text", "text": f"{name} 2 and 3"}]
    item = {"type": "message", "role": "user", "content": content}
    await send(socket, "conversation.item.create", item=item)
    await receive_until(socket, "conversation.item.done")
    await send(socket, "response.create")
    return await receive_until(socket, "response.done")


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events if "mcp" in str(event["type"])]


async def test_tools_are_listed_called_and_approved(embedded_parts: Resources) -> None:
    sums, model = Sums(), Caller()
    async with (
        started(sums.app) as address,
        session(embedded_parts, model, [address]) as socket,
    ):
        asked = {"never": {"tool_names": ["add"]}}
        events = await declare(socket, tool(address, require_approval=asked))
        assert kinds(events) == ["mcp_list_tools.in_progress", "mcp_list_tools.completed"]
        (shown,) = events[0]["session"]["tools"]
        assert "sesame" not in str(events)
        assert shown["server_label"] == "sums"
        listed = {one["name"]: one for one in events[-1]["item"]["tools"]}
        assert sorted(listed) == ["add", "lose", "store"]
        assert listed["add"]["input_schema"]["required"] == ["a", "b"]
        assert listed["add"]["annotations"] == {"readOnlyHint": True}

        called = await ask(socket, "add")
        assert sorted(model.offered) == ["add", "lose", "store"]
        assert kinds(called) == [
            "response.mcp_call_arguments.delta",
            "response.mcp_call_arguments.done",
            "response.mcp_call.in_progress",
            "response.mcp_call.completed",
        ]
        call, message = called[-1]["response"]["output"]
        assert (call["type"], call["name"], call["arguments"]) == (
            "mcp_call",
            "add",
            '{"a":2,"b":3}',
        )
        assert (call["output"], call["error"]) == ("The sum is 5.", None)
        assert message["content"] == [{"type": "output_text", "text": "The sum is 5."}]
        assert sums.keys == {"Bearer sesame"}

        requested = await ask(socket, "store")
        (request,) = requested[-1]["response"]["output"]
        assert (request["type"], request["name"]) == ("mcp_approval_request", "store")
        assert sums.made == 1
        approved = await answer(socket, request["id"], approve=True)
        assert kinds(approved)[-1] == "response.mcp_call.failed"
        (failed, _) = approved[-1]["response"]["output"]
        assert failed["error"]["type"] == "tool_execution_error"
        assert failed["error"]["message"] == "Error: The tool failed and did not say why."
        assert sums.made == 2
        again = await answer(socket, request["id"], approve=True, until="error")
        assert again[-1]["error"]["param"] == "item.approval_request_id"
        assert sums.made == 2

        (request,) = (await ask(socket, "store"))[-1]["response"]["output"]
        declined = await answer(socket, request["id"], approve=False)
        (message,) = declined[-1]["response"]["output"]
        assert message["content"][0]["text"] == "This was not approved."
        assert sums.made == 2
        for event in (*events, *called, *requested, *approved):
            EVENTS.validate_python(event)

        await send(socket, "session.update", session={"type": "realtime", "tools": []})
        await receive_until(socket, "session.updated")
        await ask(socket, "add")
        assert "add" not in model.offered
        assert sums.made == 2


async def test_a_function_of_the_clients_keeps_its_name(embedded_parts: Resources) -> None:
    sums, own = Sums(), {"type": "function", "name": "add"}
    async with (
        started(sums.app) as address,
        session(embedded_parts, Caller(), [address]) as socket,
    ):
        theirs = tool(address, require_approval="never")
        await declare(socket, theirs, own)
        (call,) = (await ask(socket, "add"))[-1]["response"]["output"]
        assert (call["type"], call["name"]) == ("function_call", "add")
        assert (await ask(socket, "sums_add"))[-1]["response"]["output"][0]["name"] == "add"
        assert sums.made == 1

        await declare(socket, tool(address))
        changes = {"type": "realtime", "tools": [tool(address), own]}
        await send(socket, "session.update", session=changes)
        assert (await receive_until(socket, "error"))[-1]["error"]["param"] == "session.tools"


async def test_a_tool_that_a_server_has_no_more_is_not_offered(embedded_parts: Resources) -> None:
    sums, model = Sums(), Caller()
    async with (
        started(sums.app) as address,
        session(embedded_parts, model, [address]) as socket,
    ):
        await declare(socket, tool(address, require_approval={"never": {"read_only": True}}))
        # The list may come before the reply has ended.
        if "mcp_list_tools.completed" not in kinds(await ask(socket, "lose")):
            await receive_until(socket, "mcp_list_tools.completed")
        await ask(socket, "store")
        assert sorted(model.offered) == ["add", "lose"]


async def answer(
    socket: ClientConnection, request: str, approve: bool, until: str = "response.done"
) -> list[dict[str, Any]]:
    fields = {"approval_request_id": request, "approve": approve}
    item = {"type": "mcp_approval_response", **fields}
    await send(socket, "conversation.item.create", item=item)
    return await receive_until(socket, until)


async def test_a_server_that_cannot_be_listed(embedded_parts: Resources) -> None:
    async with session(embedded_parts, Caller(), ["127.0.0.1:9"]) as socket:
        events = await declare(socket, tool("127.0.0.1:9"))
        assert kinds(events) == ["mcp_list_tools.in_progress", "mcp_list_tools.failed"]
        error = await receive_until(socket, "error")
        assert error[-1]["error"]["code"] == "mcp_list_tools_failed"
        behind = {"previous_item_id": events[-1]["item"]["id"]}
        content = [{"type": "input_text", "text": "Be brief."}]
        item = {"type": "message", "role": "system", "content": content}
        await send(socket, "conversation.item.create", item=item, **behind)
        added = await receive(socket)
        assert (added["type"], added.get("previous_item_id")) == (
            "conversation.item.added",
            behind["previous_item_id"],
        )
        assert (await receive(socket))["type"] == "conversation.item.done"
        await send(socket, "conversation.item.delete", item_id=events[-1]["item"]["id"])
        assert (await receive(socket))["type"] == "conversation.item.deleted"
        assert (await ask(socket, "add"))[-1]["response"]["status"] == "completed"


@pytest.mark.parametrize(
    ("hosts", "wanted", "code"),
    [
        ([], {}, "mcp_not_allowed"),
        (["example.com"], {}, "mcp_not_allowed"),
        (["127.0.0.1:9"], {"server_url": "file:///etc/passwd"}, "invalid_value"),
        (["127.0.0.1:9"], {"headers": {"Host": "example.com"}}, "invalid_value"),
        (["127.0.0.1:9"], {"headers": {"X": "a\r\nb"}}, "invalid_value"),
        (["127.0.0.1:9"], {"server_url": None, "connector_id": "connector_gmail"}, None),
    ],
)
async def test_what_is_refused(
    embedded_parts: Resources, hosts: list[str], wanted: dict[str, Any], code: str | None
) -> None:
    async with session(embedded_parts, Caller(), hosts) as socket:
        given = {k: v for k, v in tool("127.0.0.1:9", **wanted).items() if v is not None}
        await send(socket, "session.update", session={"type": "realtime", "tools": [given]})
        error = (await receive_until(socket, "error"))[-1]["error"]
        assert error["code"] == (code or "missing_required_parameter")
        assert (await ask(socket, "hello"))[-1]["response"]["status"] == "completed"


def test_hosts() -> None:
    for url in ("https://tools.example/mcp", "https://TOOLS.example:443/mcp", "http://[::1]:8/"):
        check_address(NamedServer("x", url), ["tools.example", "::1:8"])
    for url in (
        "https://tools.example:444/mcp",
        "https://tools.example@evil.example/mcp",
        "https://evil.example/tools.example",
        "https://tools.example.evil.example/",
        "ftp://tools.example/",
        "ftp://tools.example:21/",
        "//tools.example:443/",
        "https://[",
    ):
        with pytest.raises(ProtocolError):
            check_address(NamedServer("x", url), ["tools.example"])
