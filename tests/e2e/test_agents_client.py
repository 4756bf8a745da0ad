"""openai-agents' RealtimeRunner, unmodified and in its own environment, talks to the server."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_openai_client import spoken
from tests.server_program import program

REQUIREMENT = "openai-agents"
SCRIPT = Path(__file__).with_name("agents_client.py")

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def client_python(repo_root: Path) -> Path:
    """The interpreter of an environment that holds the client alone; made once and kept."""
    home = repo_root / ".venv-clients" / "agents"
    python = home / "bin" / "python"
    complete = home / "complete"
    if not complete.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
        complete.write_text(REQUIREMENT)
    return python


async def test_the_runner_calls_a_tool_and_is_talked_over(
    client_python: Path, repo_root: Path, tmp_path: Path
) -> None:
    async with program(cwd=repo_root) as (_, _, address):
        client = await asyncio.create_subprocess_exec(
            client_python,
            SCRIPT,
            f"ws://{address}/v1/realtime?model=gpt-realtime",
            spoken("assistant-1-timer", tmp_path),
            spoken("assistant-6-time", tmp_path),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(100):
                out, errors = await client.communicate()
        finally:
            if client.returncode is None:
                client.kill()
                await client.wait()
    assert client.returncode == 0, errors.decode()
    report = json.loads(out)

    assert report["errors"] == []
    assert report["calls"][0] == {"duration": "ten minutes"}
    assert "audio_interrupted" in report["kinds"]
    assert report["audio_bytes"] > 48_000
    users = [item for item in report["history"] if item.get("role") == "user"]
    assert users[0]["content"][0]["transcript"] == "set a timer for ten minutes"
    assert users[-1]["content"][0]["transcript"] == "what time is it"
    replies = [item for item in report["history"] if item.get("role") == "assistant"]
    assert all(reply["status"] == "completed" for reply in replies)
