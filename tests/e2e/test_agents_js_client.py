"""@openai/agents-realtime on Node, unmodified and in a folder of its own, talks to the server."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environments import npm_home
from tests.e2e.realtime_clients import found
from tests.support.server_program import program

REQUIREMENTS = ("@openai/agents-realtime", "ws", "zod")
SCRIPT = Path(__file__).with_name("agents_client.mjs")

pytestmark = pytest.mark.e2e


async def test_the_session_calls_a_tool_and_is_talked_over(repo_root: Path, tmp_path: Path) -> None:
    async with program(cwd=repo_root) as (_, _, address):
        judge(await reported(address, tmp_path))


async def reported(address: str, folder: Path) -> dict[str, Any]:
    """What the client has found of a server; its folder is made once and kept."""
    script = client_home() / SCRIPT.name
    return await found("node", script, f"ws://{address}/v1/realtime", folder=folder)


def client_home() -> Path:
    """A folder that holds the client alone, and the program that uses it."""
    home = npm_home("agents-js", *REQUIREMENTS)
    shutil.copy(SCRIPT, home)
    return home


def judge(report: dict[str, Any]) -> None:
    """Whether all was as the client expects it."""
    assert report["calls"][0] == {"duration": "ten minutes"}
    assert report["seen"]["errors"] == []
    assert report["seen"]["interrupted"] == 1
    assert report["seen"]["bytes"] > 48_000
    users = [item for item in report["history"] if item.get("role") == "user"]
    assert users[0]["content"][0]["transcript"] == "Set a timer for 10 minutes."
    assert users[-1]["content"][0]["transcript"] == "What time is it?"
