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
# Looked up once, since that reads files.
_VERSION = version("quicksilver-voice")


def description(resources: Resources) -> Info:
    """Describe the recogniser, the voices and the agent."""
    had, program = resources, _artifact("quicksilver")
    own = had.synthesizer.name
    voices = [own, *(name for name in had.voices.names if name != own)]
    ears = AsrModel(**_artifact(had.recognizer.name), languages=list(had.recognizer.languages))
    spoken = [TtsVoice(**_artifact(name), languages=_ENGLISH) for name in voices]
    agent = HandleModel(**_artifact(had.agent.name), languages=_ENGLISH)
    return Info(
        asr=[AsrProgram(**program, models=[ears], supports_transcript_streaming=True)],
        tts=[TtsProgram(**program, voices=spoken, supports_synthesize_streaming=True)],
        handle=[HandleProgram(**program, models=[agent], supports_handled_streaming=True)],
    )


def _artifact(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "attribution": Attribution("Quicksilver", ""),
        "installed": True,
        "description": name,
        "version": _VERSION,
    }
