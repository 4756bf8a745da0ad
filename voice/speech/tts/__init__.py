"""Speech synthesis: the interface of a voice, and the choice of one.

A synthesiser yields a segment's audio as it is made. It knows nothing of turns and listeners.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from voice.config import TtsConfig
from voice.errors import ModelError
from voice.speech.normalization import spoken
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.speech.tts.voices import download_voice, hub_answers, local_voice
from voice.types import Segment, SpeechChunk


class Synthesizer(Protocol):
    """A voice. It may be used by many threads at once.

    Attributes:
        name: Engine and voice, such as "espeak:en-us".
        sample_rate_hz: Rate of all the audio it makes.
    """

    name: str
    sample_rate_hz: int

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """Speak a segment.

        Sound begins within 10 ms of the first sample; a pause of fixed length ends it.

        Args:
            segment: Its ``spoken`` text is read; any text is allowed.
            speed: Speaking rate, 0.25 to 4; 1 is the voice's own.

        Yields:
            Chunks of audio as they are made. Exactly one, the final one, is ``last``; it brings the
            timing of all words, and may be empty where there was nothing to speak.

        Raises:
            ModelError: The voice failed.
        """
        ...


def make_synthesizer(config: TtsConfig) -> tuple[Synthesizer, str]:
    """The configured voice, warmed up, and one line on which it is and why.

    Raises:
        ModelError: The configured engine is not available; ``auto`` falls back to espeak.
    """
    if config.engine == "espeak":
        return _espeak(config), f"voice: espeak-ng {config.espeak.voice}, as configured"
    voice = config.piper.voice
    if config.engine == "piper":
        return _piper(local_voice(voice) or download_voice(voice)), f"voice: {voice}, as configured"
    return _auto(config)


def _auto(config: TtsConfig) -> tuple[Synthesizer, str]:
    voice = config.piper.voice
    try:
        path = local_voice(voice)
        if path is not None:
            return _piper(path), f"voice: {voice}, found on this machine"
        if hub_answers(voice, config.hub_timeout_s):
            return _piper(download_voice(voice)), f"voice: {voice}, downloaded from the hub"
        reason = f"{voice} is not on this machine and the hub does not answer"
    except ModelError as error:
        reason = str(error)
    return _espeak(config), f"voice: espeak-ng {config.espeak.voice}, because {reason}"


def _espeak(config: TtsConfig) -> Synthesizer:
    return _warm(EspeakSynthesizer(config.espeak.voice, config.espeak.pitch))


def _piper(model: Path) -> Synthesizer:
    from voice.speech.tts.piper import PiperSynthesizer

    return _warm(PiperSynthesizer(model))


def _warm(synthesizer: Synthesizer) -> Synthesizer:
    """Synthesise once, so that the first segment of a reply does not wait for lazy loading."""
    text = "Ready at 7:00, on May 5."
    for _ in synthesizer.synthesize(Segment(0, 0, text, spoken(text))):
        pass
    return synthesizer
