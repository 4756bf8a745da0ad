"""`python -m voice.mcp` as other programs start it: the official client, and the inspector's."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import wave
from collections.abc import Generator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from tests.clients.environments import npm_home
from tests.support.embedded import embedded_config
from tests.support.patience import PATIENCE_S
from voice.config import load_agent
from voice.mcp.server import AgentServer
from voice.tools import Toolbox
from voice.types import Samples

INSPECTOR = ("@modelcontextprotocol/inspector-cli@0.15.0",)


def program(folder: Path) -> list[str]:
    """The server's command line; what it says is what it hears."""
    sound = str(folder / "said.wav")
    return [
        *(sys.executable, "-m", "voice.mcp", "--microphone", sound, "--speaker", sound),
        *("--set", "tools.database=:memory:", "--set", "tts.engine=espeak"),
    ]


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_the_official_client(repo_root: Path, tmp_path: Path) -> None:
    command, *arguments = program(tmp_path)
    given = StdioServerParameters(
        command=command, args=arguments, cwd=repo_root, env=dict(os.environ)
    )
    async with Client(given) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"set_timer", "get_time", "say", "listen"} <= set(tools)
        assert "end_conversation" not in tools
        assert tools["get_time"].annotations is not None
        assert tools["get_time"].annotations.read_only_hint
        sum_ = await client.call_tool("calculate", {"expression": "twelve times seven"})
        assert "84" in text(sum_)
        unreadable = await client.call_tool("set_timer", {"duration": "a while ago"})
        assert unreadable.is_error
        assert text(unreadable).startswith("Error: ")
        assert (await client.call_tool("no_such_tool", {})).is_error
        assert (await client.call_tool("say", {"text": ""})).is_error
        assert "nothing to speak" in text(await client.call_tool("say", {"text": "***"}))
        assert (await client.call_tool("listen", {"seconds": 0})).is_error
        assert (await client.call_tool("listen", {})).is_error, "nothing was recorded yet"

        said = await client.call_tool("say", {"text": "Set a timer for ten minutes."})
        assert text(said) == "Said."
        with wave.open(str(tmp_path / "said.wav")) as file:
            assert file.getnframes() > file.getframerate()
        assert "timer" in text(await client.call_tool("listen", {"seconds": 9})).lower()


class Loudspeaker:
    """Plays until it may end."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.playing = self.most = 0

    def play(self, samples: Samples, rate_hz: int) -> None:
        self.playing += 1
        self.most = max(self.most, self.playing)
        self.begun.set()
        assert self.may_end.wait(PATIENCE_S)
        self.playing -= 1

    def blocks(self) -> Generator[Samples, None, None]:
        raise AssertionError("nobody listens")


async def test_what_a_client_calls_off_is_over_before_the_next_begins() -> None:
    config = embedded_config("tools.database=:memory:", "tts.engine=espeak")
    toolbox, speaker = Toolbox(config.tools, config.turn), Loudspeaker()
    server = AgentServer(config, load_agent(config.agent), toolbox, speaker)
    async with Client(server.server()) as client:
        first = asyncio.create_task(client.call_tool("say", {"text": "one"}))
        await asyncio.to_thread(speaker.begun.wait, PATIENCE_S)
        first.cancel()
        second = asyncio.create_task(client.call_tool("say", {"text": "two"}))
        await asyncio.wait([second], timeout=1)
        speaker.may_end.set()
        assert text(await second) == "Said."
    assert speaker.most == 1
    await toolbox.close()


@pytest.mark.e2e
def test_the_inspectors_client(repo_root: Path, tmp_path: Path) -> None:
    cli = npm_home("inspector", *INSPECTOR) / "node_modules/.bin/mcp-inspector-cli"

    def ask(*arguments: str) -> dict[str, object]:
        done = subprocess.run(
            [cli, "--cli", *program(tmp_path), *arguments],
            cwd=repo_root, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        found: dict[str, object] = json.loads(done.stdout)
        return found

    called = ask(
        *("--method", "tools/call", "--tool-name", "convert_units"),
        *("--tool-arg", "amount=ten", "from_unit=miles", "to_unit=kilometers"),
    )
    assert "16" in json.dumps(called["content"])
