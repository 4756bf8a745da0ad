"""Speech recognition: audio frames in, interim and final transcripts out.

It knows nothing of turns beyond the id that it is given. Recognisers are loaded once and shared by
all sessions; a stream belongs to one turn. Everything here is synchronous and meant to be called
from a thread; calls on one stream must not overlap.
"""

from __future__ import annotations

from typing import Protocol

from voice.config import AgentConfig, AsrConfig
from voice.types import AudioFrame, Transcript


class RecognizerStream(Protocol):
    """Recognition of one turn."""

    def accept(self, frame: AudioFrame) -> Transcript | None:
        """Take the next frame; return an interim transcript when there is one with new words.

        Raises:
            ModelError: The recogniser failed.
        """
        ...

    def finish(self) -> Transcript:
        """Decode what has been accepted, and return the final transcript.

        More frames may be accepted afterwards and `finish` called again: it then answers for all of
        the audio. Calling it again with nothing but silence in between costs nothing.

        Raises:
            ModelError: The recogniser failed.
        """
        ...


class Recognizer(Protocol):
    """A loaded recogniser."""

    name: str

    def open(self, turn_id: int) -> RecognizerStream:
        """Begin the recognition of a turn; may be called from any thread."""
        ...


def make_recognizer(config: AsrConfig, agent: AgentConfig) -> tuple[Recognizer, str]:
    """Load the recogniser that the configuration names.

    Args:
        config: ``engine`` "auto" takes whisper when its model is on this machine, or can be had
            from the hub within ``hub_timeout_s``; else sphinx.
        agent: Its phrases and values tell the recogniser what to expect.

    Returns:
        The recogniser, and one line for people that says which it is and why.

    Raises:
        ModelError: The model cannot be loaded.
    """
    if config.engine == "sphinx":
        return _sphinx(config, agent), f"sphinx ({len(agent.phrases)} phrases), as configured"
    if config.engine == "whisper":
        from voice.asr.whisper import WhisperRecognizer

        whisper = WhisperRecognizer(config.whisper, agent)
        return whisper, f"whisper {config.whisper.model}, as configured"
    return _best(config, agent)


def _best(config: AsrConfig, agent: AgentConfig) -> tuple[Recognizer, str]:
    from voice.asr.hub import find_model

    found = find_model(config.whisper.model, config.hub_timeout_s)
    if found.path is None:
        return _sphinx(config, agent), f"sphinx: whisper {config.whisper.model} {found.reason}"
    from voice.asr.whisper import WhisperRecognizer

    whisper = WhisperRecognizer(config.whisper.model_copy(update={"model": str(found.path)}), agent)
    return whisper, f"whisper {config.whisper.model}: {found.reason}"


def _sphinx(config: AsrConfig, agent: AgentConfig) -> Recognizer:
    from voice.asr.sphinx import SphinxRecognizer

    return SphinxRecognizer(config.sphinx, agent)
