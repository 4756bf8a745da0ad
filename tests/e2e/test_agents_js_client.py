"""@openai/agents-realtime on Node, unmodified and in a folder of its own, talks to the server."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.realtime_clients import found
from tests.support.server_program import program

REQUIREMENTS = ("@openai/agents-realtime", "ws", "zod")
SCRIPT = Path(__file__).with_name("agents_client.mjs")

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def client_home(repo_root: Path) -> Path:
    """A folder that holds the client alone; made once and kept."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    home = repo_root / ".venv-clients" / "agents-js"
    complete = home / "complete"
    if not complete.exists():
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text('{"private": true}')
        subprocess.run([npm, "install", "--silent", *REQUIREMENTS], cwd=home, check=True)
        complete.write_text(" ".join(REQUIREMENTS))
    shutil.copy(SCRIPT, home)
    return home


async def test_the_session_calls_a_tool_and_is_talked_over(
    client_home: Path, repo_root: Path, tmp_path: Path
) -> None:
    async with program(cwd=repo_root) as (_, _, address):
        url = f"ws://{address}/v1/realtime"
        report = await found("node", client_home / SCRIPT.name, url, folder=tmp_path)

    assert report["calls"][0] == {"duration": "ten minutes"}
    assert report["seen"]["errors"] == []
    assert report["seen"]["interrupted"] == 1
    assert report["seen"]["bytes"] > 48_000
    users = [item for item in report["history"] if item.get("role") == "user"]
    assert users[0]["content"][0]["transcript"] == "Set a timer for 10 minutes."
    assert users[-1]["content"][0]["transcript"] == "What time is it?"
