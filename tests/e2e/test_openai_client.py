"""openai-python's Realtime client, unmodified and in its own environment, talks to the server."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import soxr

from tests.server_program import program
from voice.audio import pcm16_from_samples
from voice.recordings import load

REQUIREMENT = "openai[realtime]"
SCRIPT = Path(__file__).with_name("openai_client.py")

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def client_python(repo_root: Path) -> Path:
    """The interpreter of an environment that holds the client alone; made once and kept."""
    home = repo_root / ".venv-clients" / "openai"
    python = home / "bin" / "python"
    complete = home / "complete"
    if not complete.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
        complete.write_text(REQUIREMENT)
    return python


def spoken(name: str, folder: Path) -> Path:
    """A recording as the client sends it."""
    path = folder / f"{name}.pcm"
    path.write_bytes(pcm16_from_samples(soxr.resample(load(name), 16_000, 24_000)))
    return path


async def found(python: Path, address: str, folder: Path) -> dict[str, Any]:
    """What the client's script reports."""
    client = await asyncio.create_subprocess_exec(
        python,
        SCRIPT,
        f"http://{address}/v1",
        spoken("assistant-1-timer", folder),
        spoken("assistant-6-time", folder),
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
    report: dict[str, Any] = json.loads(out)
    return report


async def test_the_client_talks_types_and_runs_a_function(
    client_python: Path, repo_root: Path, tmp_path: Path
) -> None:
    async with program(cwd=repo_root) as (_, _, address):
        report = await found(client_python, address, tmp_path)

    assert report["typed"]["first"] == "session.created"
    assert report["typed"]["modalities"] == ["text"]
    assert "84" in report["typed"]["text"]

    talk = report["conversation"]
    first, second = talk["first"], talk["second"]
    turn = [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
    ]
    reply = [
        "response.output_item.added",
        "response.content_part.added",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.done",
    ]
    for spoken_turn in (first, second):
        firsts = [spoken_turn["kinds"].index(kind) for kind in (*turn, *reply)]
        assert firsts == sorted(firsts), spoken_turn["kinds"]
        assert spoken_turn["deltas"] == spoken_turn["transcript"]
        assert spoken_turn["status"] == "completed"
        assert spoken_turn["audio_ms"] > 500
        assert spoken_turn["first_delta_ms"] <= 40
        assert spoken_turn["usage"] > 0
    assert "timer" in first["transcript"].lower()
    assert "10 minutes" in first["said"].lower()
    assert "time" in second["transcript"].lower()
    assert len(talk["heard"]) < len(first["said"])
    assert first["said"].startswith(talk["heard"].rstrip())
    assert talk["error"] == {"code": "response_cancel_not_active", "event_id": "mine"}

    function = report["function"]
    assert function["name"] == "get_weather"
    assert "response.output_item.added" in function["kinds"]
    assert "rain" in function["answer"].lower()
