"""MCP servers as their users install them, each in an environment of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environments import npm_home, python_with
from tests.support.patience import PATIENCE_S
from tests.voice.tools.mcp.test_faulty_servers import check
from voice.config import ToolsConfig, TurnConfig
from voice.tools import SessionScope, Toolbox
from voice.types import ToolCall

pytestmark = pytest.mark.e2e

VERSION = "2026.8.31"
NPM = tuple(f"@modelcontextprotocol/server-{name}@{VERSION}" for name in ("filesystem", "memory"))


@asynccontextmanager
async def toolbox(name: str, **server: Any) -> AsyncGenerator[Toolbox, None]:
    # The first start of what was just installed compiles it.
    patient = {**server, "start_timeout_s": PATIENCE_S, "timeout_s": PATIENCE_S}
    config = ToolsConfig.model_validate({"database": ":memory:", "mcp": {name: patient}})
    box = Toolbox(config, TurnConfig(tool_timeout_s=PATIENCE_S))
    try:
        await asyncio.to_thread(box.connect, check)
        yield box
    finally:
        await box.close()


async def said(box: Toolbox, name: str, **arguments: Any) -> str:
    call = ToolCall(f"{name}{sorted(arguments.items())}", name, arguments)
    return (await box.run(call, SessionScope("session"))).content


def script(name: str) -> dict[str, Any]:
    home = npm_home("mcp-servers", *NPM)
    path = home / f"node_modules/@modelcontextprotocol/server-{name}/dist/index.js"
    return {"command": "node", "args": [str(path)]}


async def test_time() -> None:
    program = python_with("mcp-time", "mcp-server-time").parent / "mcp-server-time"
    async with toolbox("clock", command=str(program), read_only=["get_*"]) as box:
        assert box.is_read_only("get_current_time")
        assert not box.is_read_only("convert_time")
        found = json.loads(await said(box, "get_current_time", timezone="Asia/Tokyo"))
        assert found["datetime"].endswith("+09:00")
        wrong = await said(box, "get_current_time", timezone="Nowhere")
        assert wrong.startswith("Error: ")


async def test_sqlite(tmp_path: Path) -> None:
    # Its requirement of mcp has no upper bound, and it was written for the first major version.
    python = python_with("mcp-sqlite", "mcp-server-sqlite mcp<2")
    program, file = python.parent / "mcp-server-sqlite", tmp_path / "cups.db"
    async with toolbox("cups", command=str(program), args=["--db-path", str(file)]) as box:
        await said(box, "create_table", query="create table cups (size text)")
        await said(box, "write_query", query="insert into cups values ('large')")
        assert "large" in await said(box, "read_query", query="select * from cups")


async def test_filesystem(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside.txt").write_text("a secret")
    server = script("filesystem")
    server["args"].append(str(tmp_path / "inside"))
    async with toolbox("files", **server, deny=["move_file"], trust_annotations=True) as box:
        assert "move_file" not in box.names
        assert box.is_read_only("read_text_file")
        assert not box.is_read_only("write_file")
        note = str(tmp_path / "inside" / "note.txt")
        await said(box, "write_file", path=note, content="buy milk")
        assert await said(box, "read_text_file", path=note) == "buy milk"
        refused = await said(box, "read_text_file", path=str(tmp_path / "outside.txt"))
        assert refused.startswith("Error: Access denied")


async def test_memory() -> None:
    async with toolbox("notes", **script("memory")) as box:
        ada = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
        await said(box, "create_entities", entities=[ada])
        assert "likes tea" in await said(box, "search_nodes", query="tea")
        await said(box, "delete_entities", entityNames=["Ada"])
