"""openai-python's Realtime client, unmodified and in its own environment, talks to the server."""

from pathlib import Path
from typing import Any

import pytest

from tests.clients.environments import python_with
from tests.e2e.realtime_clients import found
from tests.support.server_program import program

REQUIREMENT = "openai[realtime]"
SCRIPT = Path(__file__).with_name("openai_client.py")

pytestmark = pytest.mark.e2e


async def test_the_client_talks_types_and_runs_a_function(repo_root: Path, tmp_path: Path) -> None:
    async with program(cwd=repo_root) as (_, _, address):
        judge(await reported(address, tmp_path))


async def reported(address: str, folder: Path) -> dict[str, Any]:
    """What the client has found of a server; its environment is made once and kept."""
    python = python_with("openai", REQUIREMENT)
    return await found(python, SCRIPT, f"http://{address}/v1", folder=folder)


def judge(report: dict[str, Any]) -> None:
    """Whether all was as the client expects it."""
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

    beside = report["beside"]
    assert beside["conversations"] == {"spoken": True, "reference": False, "pcmu": False}
    assert beside["statuses"] == {
        "spoken": "completed",
        "reference": "completed",
        "pcmu": "incomplete",
    }
    assert "84" in beside["texts"]["spoken"]
    assert beside["format"] == "audio/pcmu"
    assert beside["bytes_per_s"] == {"spoken": 48_000, "reference": 0, "pcmu": 8_000}
    assert beside["entered"]
    assert beside["unknown"] == "item_not_found"

    breath = report["push_to_talk"]
    assert breath["transcripts"] == ["What time is it?", "What time is it?"]
    assert breath["statuses"] == ["completed", "completed"]
    committed = [*turn[2:], "response.output_text.delta", "response.done"]
    firsts = [breath["kinds"].index(kind) for kind in committed]
    assert firsts == sorted(firsts)
    assert not {"input_audio_buffer.speech_started"} & set(breath["kinds"])

    silence = report["silence"]
    assert silence["kinds"][0] == "input_audio_buffer.timeout_triggered"
    firsts = [silence["kinds"].index(kind) for kind in [*turn[2:], "response.done"]]
    assert firsts == sorted(firsts)
    assert silence["texts"] == ["Are you still there?"] * 2
    assert silence["items"] == 2
    assert min(silence["silences_ms"]) > 0
