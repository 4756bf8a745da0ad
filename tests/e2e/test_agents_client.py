"""openai-agents' RealtimeRunner, unmodified and in its own environment, talks to the server."""

from pathlib import Path
from typing import Any

import pytest

from tests.clients.environments import python_with
from tests.e2e.realtime_clients import found
from tests.support.server_program import program

REQUIREMENT = "openai-agents"
SCRIPT = Path(__file__).with_name("agents_client.py")

pytestmark = pytest.mark.e2e


async def test_the_runner_calls_a_tool_and_is_talked_over(repo_root: Path, tmp_path: Path) -> None:
    async with program(cwd=repo_root) as (_, _, address):
        judge(await reported(address, tmp_path))


async def reported(address: str, folder: Path) -> dict[str, Any]:
    """What the runner has found of a server; its environment is made once and kept."""
    url = f"ws://{address}/v1/realtime?model=gpt-realtime"
    return await found(python_with("agents", REQUIREMENT), SCRIPT, url, folder=folder)


def judge(report: dict[str, Any]) -> None:
    """Whether all was as the runner expects it."""
    assert report["errors"] == []
    assert report["calls"][0] == {"duration": "ten minutes"}
    assert "audio_interrupted" in report["kinds"]
    assert report["audio_bytes"] > 48_000
    users = [item for item in report["history"] if item.get("role") == "user"]
    assert users[0]["content"][0]["transcript"] == "Set a timer for 10 minutes."
    assert users[-1]["content"][0]["transcript"] == "What time is it?"
    replies = [item for item in report["history"] if item.get("role") == "assistant"]
    assert all(reply["status"] == "completed" for reply in replies)
