"""Speech recognition: audio frames in, interim and final transcripts out.

Of turns it knows only the id. Recognisers are loaded once and shared by all sessions; a stream
belongs to one turn. Everything here is synchronous and meant to be called from a thread; calls on
one stream must not overlap.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from voice.config import AgentConfig, AsrConfig, WhisperConfig
from voice.errors import ModelError
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.asr.transcribed import Transcribed
from voice.types import AudioFrame, Samples, Transcript

if TYPE_CHECKING:
    from voice.hearing.asr.whisper import WhisperRecognizer

SLOWEST_S = 1.5
"""Longest acceptable decode of a second of sound: about five times that of one busy core."""


class RecognizerStream(Protocol):
    """Recognition of one turn."""

    def accept(self, frame: AudioFrame) -> None:
        """Take the next frame.

        Raises:
            ModelError: The recogniser failed.
        """
        ...

    def interim(self, fell_silent: bool = False) -> Transcript | None:
        """An interim transcript, if one is due and has new words.

        Args:
            fell_silent: Whether the last frame is the first without speech, so that the turn may
                have ended.

        Raises:
            ModelError: The recogniser failed.
        """
        ...

    def finish(self) -> Transcript:
        """Decode what has been accepted, and return the final transcript.

        More frames may be accepted afterwards and `finish` called again; its transcript then covers
        all of the audio.

        Raises:
            ModelError: The recogniser failed.
        """
        ...


class Recognizer(Protocol):
    """A loaded recogniser.

    Attributes:
        tells_times: Whether it can tell when each word was said.
    """

    name: str
    tells_times: bool

    @property
    def translates(self) -> bool:
        """Whether it can `translate`."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that it recognises."""
        ...

    def open(self, turn_id: int, domain: Domain = ANYTHING) -> RecognizerStream:
        """Begin the recognition of a turn; may be called from any thread.

        Args:
            turn_id: The turn's id.
            domain: What the user is likely to say. The first turn of a domain is slow to open.
        """
        ...

    def transcribe(self, audio: Samples, language: str = "", times: bool = False) -> Transcribed:
        """Recognise a recording of a few seconds.

        Args:
            audio: (T,) int16 at 16 kHz.
            language: One of `languages`; empty detects it from the sound.
            times: Whether the words' times are wanted, if it can tell them.

        Raises:
            ModelError: The recogniser failed.
        """
        ...

    def translate(self, audio: Samples, language: str = "") -> Transcribed:
        """Recognise a recording as `transcribe` does, but with the text in English."""
        ...


MakesRecognizer = Callable[[AsrConfig, AgentConfig, Iterable[Recognizer]], tuple[Recognizer, str]]
"""Loads a recogniser, as `make_recognizer` does."""


def make_recognizer(
    config: AsrConfig, agent: AgentConfig, loaded: Iterable[Recognizer] = ()
) -> tuple[Recognizer, str]:
    """Load the recogniser that the configuration names.

    Args:
        config: ``engine`` "auto" is whisper, or sphinx if whisper cannot be loaded or takes longer
            than `SLOWEST_S` for a second of sound.
        agent: Its phrases and values tell the recogniser what to expect.
        loaded: Recognisers that may be reused.

    Returns:
        The recogniser, and a line that tells people which one it is and why.

    Raises:
        ModelError: The model cannot be loaded.
    """
    if config.engine == "sphinx":
        return _sphinx(config, agent), f"sphinx ({len(agent.phrases)} phrases), as configured"
    if config.engine == "whisper":
        whisper = _whisper(config.whisper, loaded)
        return whisper, f"whisper {config.whisper.model}, as configured"
    try:
        whisper = _whisper(config.whisper, loaded)
    except ModelError as error:
        return _sphinx(config, agent), f"sphinx: {error}"
    if whisper.decode_s > SLOWEST_S:
        reason = f"whisper {config.whisper.model} takes {whisper.decode_s:.1f} s for a decode"
        return _sphinx(config, agent), f"sphinx: {reason}"
    return whisper, f"whisper {config.whisper.model}"


class Recognizers:
    """The recognisers loaded so far, so that none is loaded twice.

    Agents with the same settings, phrases and values share a recogniser; with whisper the settings
    alone matter. May be used from any thread.

    Args:
        make: Loads a recogniser.
    """

    def __init__(self, make: MakesRecognizer = make_recognizer) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._loaded: dict[str, tuple[Recognizer, str]] = {}

    def of(self, config: AsrConfig, agent: AgentConfig) -> tuple[Recognizer, str]:
        """As `make_recognizer`; slow the first time an agent's words are seen."""
        expected = [config.model_dump(mode="json"), agent.phrases, agent.values]
        key = json.dumps(expected, sort_keys=True)
        with self._lock:
            if key not in self._loaded:
                loaded = [recognizer for recognizer, _ in self._loaded.values()]
                self._loaded[key] = self._make(config, agent, loaded)
            return self._loaded[key]


def _whisper(config: WhisperConfig, loaded: Iterable[Recognizer]) -> WhisperRecognizer:
    from voice.hearing.asr.whisper import WhisperRecognizer

    for recognizer in loaded:
        if isinstance(recognizer, WhisperRecognizer) and recognizer.config == config:
            return recognizer
    return WhisperRecognizer(config)


def _sphinx(config: AsrConfig, agent: AgentConfig) -> Recognizer:
    from voice.hearing.asr.sphinx import SphinxRecognizer

    return SphinxRecognizer(config.sphinx, agent)
