"""openai-agents' RealtimeRunner, unmodified and in its own environment, talks to the server."""

from pathlib import Path

import pytest

from tests.clients.environments import python_with
from tests.e2e.realtime_clients import found
from tests.support.server_program import program

REQUIREMENT = "openai-agents"
SCRIPT = Path(__file__).with_name("agents_client.py")

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def client_python() -> Path:
    """The interpreter of an environment that holds the client alone; made once and kept."""
    return python_with("agents", REQUIREMENT)


async def test_the_runner_calls_a_tool_and_is_talked_over(
    client_python: Path, repo_root: Path, tmp_path: Path
) -> None:
    async with program(cwd=repo_root) as (_, _, address):
        url = f"ws://{address}/v1/realtime?model=gpt-realtime"
        report = await found(client_python, SCRIPT, url, folder=tmp_path)

    assert report["errors"] == []
    assert report["calls"][0] == {"duration": "ten minutes"}
    assert "audio_interrupted" in report["kinds"]
    assert report["audio_bytes"] > 48_000
    users = [item for item in report["history"] if item.get("role") == "user"]
    assert users[0]["content"][0]["transcript"] == "Set a timer for 10 minutes."
    assert users[-1]["content"][0]["transcript"] == "What time is it?"
    replies = [item for item in report["history"] if item.get("role") == "assistant"]
    assert all(reply["status"] == "completed" for reply in replies)
