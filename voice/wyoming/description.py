"""How the server describes itself to Home Assistant."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from wyoming.info import (
    AsrModel,
    AsrProgram,
    Attribution,
    HandleModel,
    HandleProgram,
    Info,
    TtsProgram,
    TtsVoice,
)

from voice.session.resources import Resources

_ENGLISH = ["en"]


def description(resources: Resources) -> Info:
    """The ears, the voices and the agent."""
    had = resources
    own = had.synthesizer.name
    voices = [own, *(name for name in had.voices.names if name != own)]
    ears = AsrModel(**_artifact(had.recognizer.name), languages=list(had.recognizer.languages))
    agent = HandleModel(**_artifact(had.agent.name), languages=_ENGLISH)
    return Info(
        asr=[AsrProgram(**_program(), models=[ears], supports_transcript_streaming=True)],
        tts=[
            TtsProgram(
                **_program(),
                voices=[TtsVoice(**_artifact(name), languages=_ENGLISH) for name in voices],
                supports_synthesize_streaming=True,
            )
        ],
        handle=[HandleProgram(**_program(), models=[agent], supports_handled_streaming=True)],
    )


def _program() -> dict[str, Any]:
    return _artifact("quicksilver")


def _artifact(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "attribution": Attribution("Quicksilver", ""),
        "installed": True,
        "description": name,
        "version": version("quicksilver-voice"),
    }
