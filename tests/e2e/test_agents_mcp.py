"""@openai/agents-realtime on Node, unmodified, has the server call a tool of an MCP server."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from mcp.server.mcpserver import MCPServer

from tests.clients.environments import npm_home
from tests.e2e.test_agents_js_client import REQUIREMENTS
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import serving

SCRIPT = Path(__file__).with_name("agents_mcp.mjs")

pytestmark = pytest.mark.e2e


async def test_a_tool_is_called_and_approved(repo_root: Path) -> None:
    home = npm_home("agents-mcp", *REQUIREMENTS)
    shutil.copy(SCRIPT, home)
    server = MCPServer("notes")

    @server.tool()
    def find_note(topic: str) -> str:
        """Find a note about a topic."""
        return f"The note about {topic} says buy milk."

    async with serving(server.streamable_http_app()) as notes:
        hosts = f'tools.mcp_hosts=["{notes}"]'
        async with program("--set", hosts, cwd=repo_root) as (_, _, address):
            for approval, asked in (("never", []), ("always", ["find_note"])):
                client = await asyncio.create_subprocess_exec(
                    *("node", home / SCRIPT.name, f"ws://{address}/v1/realtime"),
                    *(f"http://{notes}/mcp", approval),
                    stdout=asyncio.subprocess.PIPE,
                )
                async with asyncio.timeout(2 * PATIENCE_S):
                    out, _ = await client.communicate()
                found = json.loads(out)
                assert found["errors"] == []
                assert found["tools"] == ["find_note"]
                assert found["approvals"] == asked
                (call,) = found["calls"]
                assert json.loads(call["arguments"]) == {"topic": "shopping"}
                assert call["output"] == "The note about shopping says buy milk."
                assert found["said"] == call["output"]
